// SPDX-License-Identifier: GPL-3.0-or-later
//
// One rank of one worker: a queue of requests goes in, one pass after another comes out.
//
// The caller (cluster) drives it: enqueue requests; when the rank is idle, ask it to schedule a pass; price the pass; at its end, complete
// it. Time does not advance inside a scheduling decision, and everything a pass does becomes visible at its end, through the events
// below. Which requests run is decided by a scheduler policy (`sim_scheduler`), one per backend.
#ifndef SIM_ENGINE_ENGINE_H
#define SIM_ENGINE_ENGINE_H

#include "perfmodel/perfmodel.h"
#include "sim/config/config.h"
#include "sim/engine/content.h"

typedef enum sim_backend { SIM_BACKEND_VLLM, SIM_BACKEND_SGLANG, SIM_BACKEND_TRTLLM } sim_backend;
typedef enum sim_preemption { SIM_PREEMPT_LIFO, SIM_PREEMPT_FIFO } sim_preemption;
typedef enum sim_schedule_policy { SIM_POLICY_FIFO, SIM_POLICY_LPM } sim_schedule_policy;
typedef enum sim_unservable { SIM_UNSERVABLE_REJECT, SIM_UNSERVABLE_FAIL } sim_unservable;

typedef struct sim_engine_config { // section [engine]
    int backend;                   // sim_backend
    int64_t max_num_seqs;
    int64_t max_num_batched_tokens;
    int64_t max_model_len; // 0 = no limit
    bool chunked_prefill;
    int64_t admission_passes;          // passes a busy engine lets go by before it takes in an arrival
    int64_t prefill_schedule_interval; // vllm with several ranks: prompts on every Nth pass
    int preemption;                    // sim_preemption
    int on_unservable;                 // sim_unservable
    // sglang
    int64_t prefill_decode_interval; // rounds without prompts after one with prompts
    int schedule_policy;             // sim_schedule_policy
    int64_t chunked_prefill_size;    // 0 = max_num_batched_tokens
    int64_t max_prefill_tokens;
    int64_t clip_max_new_tokens;
    double schedule_conservativeness;
} sim_engine_config;

typedef struct sim_kv_cache_config { // section [kv_cache]
    int64_t block_size;
    bool prefix_caching;
    int64_t num_blocks;     // 0 = auto
    double memory_fraction; // what an automatic num_blocks may use of the GPU's memory
} sim_kv_cache_config;

extern const sim_key_table sim_engine_keys;
extern const sim_key_table sim_kv_cache_keys;
extern const char *const sim_backend_names[];

// Rules between keys: max_num_batched_tokens >= max_num_seqs (the fast path rests on it), a backend's keys only with it, budgets of sglang that let a prompt
// through. SIM_USAGE. Resolves an empty block_size and memory_fraction; num_blocks = auto is the deployment's affair.
sim_status sim_engine_check(const sim_config *config, const sim_engine_config *engine, sim_kv_cache_config *kv_cache,
                            sim_error *error);

// Why a request can never be served.
#define SIM_REJECT_LIST(X)                              \
    X(SIM_REJECT_MODEL_LENGTH, "exceeds_max_model_len") \
    X(SIM_REJECT_KV_CACHE, "exceeds_kv_cache")          \
    X(SIM_REJECT_BATCHED_TOKENS, "exceeds_max_num_batched_tokens")
typedef enum sim_reject_reason {
#define X(code, name) code,
    SIM_REJECT_LIST(X)
#undef X
        SIM_REJECT_REASONS
} sim_reject_reason;
extern const char *const sim_reject_reason_names[SIM_REJECT_REASONS];

// What a rank tells the room above. All are called from sim_engine_schedule or sim_engine_complete; none may call back into the engine.
// Token events come at the end of a pass, in the order of the running list.
typedef struct sim_engine_events {
    void *self;
    // `cached_tokens`: prompt and retained tokens found in the prefix cache. Readmissions after a preemption have is_first = false.
    void (*on_admitted)(void *self, uint32_t request, uint32_t cached_tokens, bool is_first, int64_t now_ns);
    void (*on_preempted)(void *self, uint32_t request, int64_t now_ns);
    void (*on_rejected)(void *self, uint32_t request, sim_reject_reason reason, int64_t now_ns);
    void (*on_first_token)(void *self, uint32_t request, int64_t now_ns);
    void (*on_second_token)(void *self, uint32_t request, int64_t now_ns);
    // n_tokens tokens were each emitted gap_ns after the token before them.
    void (*on_token_gaps)(void *self, int64_t gap_ns, uint64_t n_tokens, int64_t now_ns);
    // The request got its last token (or, with no output asked for, its prefill) in this pass.
    void (*on_finished)(void *self, uint32_t request, uint32_t n_output_tokens, int64_t now_ns);
} sim_engine_events;

typedef struct sim_engine sim_engine;

// The configs, source and what `events` points to must outlive the engine. `wants_variances`: passes are described in full, for a log; else without
// variances, longest context and queue, which cost more than the rest and price nothing.
sim_status sim_engine_new(sim_engine **engine, const sim_engine_config *config, const sim_kv_cache_config *kv_cache,
                          const sim_content_source *content, const sim_engine_events *events, bool wants_variances,
                          sim_error *error);
void sim_engine_free(sim_engine *engine);

// Append a request to the waiting queue. O(1).
sim_status sim_engine_enqueue(sim_engine *engine, uint32_t request, uint32_t input_tokens, uint32_t output_tokens,
                              sim_error *error);
bool sim_engine_has_work(const sim_engine *engine); // waiting or running requests
bool sim_engine_has_waiting(const sim_engine *engine);
// After a round that started nothing: would another one under the same conditions change nothing either?
bool sim_engine_is_settled(const sim_engine *engine);
bool sim_engine_has_decodes(const sim_engine *engine);  // running requests past their prefill
bool sim_engine_has_prefills(const sim_engine *engine); // in the open pass: prompts, and what is recomputed

typedef struct sim_pass {
    // `scheduled`, `moments` and, for a log, `queued` are written by each pass; the rest is the caller's, who begins with fpm_metrics_idle().
    fpm_metrics *metrics;
    bool has_queue_overflow; // queued sums beyond 32 bits: cannot be logged
} sim_pass;

// Decide the next pass at `now_ns`. *is_started = false: nothing can be scheduled until something else happens (the pass is then described as idle).
// `defers_prefills`: prompts neither begin nor go on in this pass. Requests that can never be
// served are rejected on the way (SIM_DEAD_END when on_unservable = fail). Needs a rank without an open pass.
sim_status sim_engine_schedule(sim_engine *engine, int64_t now_ns, bool defers_prefills, sim_pass *pass,
                               bool *is_started, sim_error *error);
// End the open pass: emit tokens, release what finished. Fails only for want of memory.
sim_status sim_engine_complete(sim_engine *engine, int64_t now_ns, sim_error *error);

// What passes that decide nothing need of the room above.
typedef struct sim_pricer {
    void *self;
    // How long a pass that begins at now_ns takes: its end. May write the wall time of the metrics.
    sim_status (*price)(void *self, fpm_metrics *metrics, int64_t now_ns, int64_t *end_ns, sim_error *error);
    // It ends, before its tokens are told; NULL: nobody wants to know.
    sim_status (*end)(void *self, int64_t end_ns, sim_error *error);
} sim_pricer;

typedef struct sim_steady {
    int64_t now_ns;      // no pass is open: the time; out: the end of the last complete pass, if there is one
    int64_t open_end_ns; // end of the steady pass that is open, which began at now_ns; 0 when none is open
    uint64_t n_passes;   // complete ones, added to
    uint64_t n_begun;    // added to
} sim_steady;
// Run passes in which nothing is decided, if the next ones are such, one after the other: the same as scheduling and completing each, and much quicker. Ends
// when a decision may be needed, after most_passes have begun, or with a pass that ends at until_ns or later, which is left open; the next call may go on
// from there, as may sim_engine_complete. Passes are not described in full; metrics->counter_id is the number of the first one and goes on with them.
sim_status sim_engine_run_steady(sim_engine *engine, fpm_metrics *metrics, int64_t until_ns, uint64_t most_passes,
                                 const sim_pricer *pricer, sim_steady *steady, sim_error *error);

// For an engine that has work and can start nothing: which request is stuck and why, into `text`.
void sim_engine_explain_stuck(const sim_engine *engine, char *text, size_t capacity);

#endif
