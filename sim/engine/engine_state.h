// SPDX-License-Identifier: GPL-3.0-or-later
//
// Inside of an engine, shared by its files only: sequences, queues, the decode batch, the open pass, and the table a scheduler policy fills.
#ifndef SIM_ENGINE_ENGINE_STATE_H
#define SIM_ENGINE_ENGINE_STATE_H

#include "sim/engine/batch.h"
#include "sim/engine/engine.h"
#include "sim/engine/kv_tree.h"

typedef struct sim_rejection {
    uint32_t request;
    sim_reject_reason reason;
} sim_rejection;

// A request turned away on arrival.
typedef struct sim_refusal {
    uint32_t request, input_tokens;
    sim_reject_reason reason;
} sim_refusal;

// KV blocks of a rank, for messages.
typedef struct sim_room {
    uint32_t capacity, held;
} sim_room;

// Indices of sequences, in order.
typedef struct sim_index_list {
    uint32_t *items;
    uint32_t n, n_allocated;
} sim_index_list;

typedef struct sim_scheduler sim_scheduler;
typedef struct sim_sglang sim_sglang;

struct sim_engine {
    const sim_engine_config *config;
    const sim_kv_cache_config *kv_cache;
    const sim_content_source *content;
    const sim_engine_events *events;
    const sim_scheduler *scheduler;
    sim_kv_tree *kv;        // vllm, trtllm
    sim_radix_cache *radix; // sglang
    sim_sglang *sglang;

    sim_sequence *sequences; // pool; everything refers to them by index
    uint32_t n_sequences, n_sequences_allocated;
    uint32_t free_sequence;

    uint32_t waiting_head, waiting_tail;
    sim_square_sum queued_prefills; // input_tokens of waiting requests that never ran
    sim_square_sum queued_decodes;  // sequence lengths of preempted ones
    uint64_t n_queue_changes;
    // Nothing has happened since the head of the queue was found not to fit that could make it fit.
    bool is_head_blocked;

    // Running sequences, linked in order of admission: first the decode batch, then those that still compute what they know. Of these at most one, the
    // last, is left over from an earlier pass: it took the whole budget, so nobody was admitted behind it. (sglang: between passes it heads the waiting
    // queue instead.)
    uint32_t running_head, running_tail, n_running;
    sim_batch batch;
    uint32_t partial; // the one left over, SIM_NO_SEQUENCE for none
    uint64_t n_admissions;

    bool is_pass_open;
    uint64_t n_steady_left; // steady passes that may follow the open one, if that is steady
    bool batch_takes_part;  // the decode batch is part of this pass: all of it, or (sglang) none
    sim_index_list items;   // sequences outside the batch that are part of the open pass, in running order
    uint32_t n_pass_preemptions;
    bool defers_prefills;       // in this pass: prompts neither begin nor go on
    uint64_t n_promised_blocks; // trtllm: blocks that running requests will need to their end and do not hold yet
    sim_rejection *rejections;  // of the open pass, told at its end
    uint32_t n_rejections, n_rejections_allocated;
    sim_refusal *refusals; // arrivals that never entered the queue: rejected in the next pass
    uint32_t n_refusals, n_refusals_allocated;
    bool wants_variances;
};

// A backend's policy. Functions that return bool: false = no memory. Those marked (0) may be NULL: nothing to do.
struct sim_scheduler {
    const char *name;                 // as in sim_backend_names
    uint32_t n_ahead;                 // of the batch
    bool (*init)(sim_engine *engine); // KV cache and state of its own
    void (*clear)(sim_engine *engine);
    bool (*reserve)(sim_engine *engine, uint32_t n_sequences); // (0) so that no list grows later
    sim_room (*room)(const sim_engine *engine);

    // Tokens the request will generate at most.
    uint32_t (*final_tokens)(const sim_engine *engine, uint32_t input_tokens, uint32_t output_tokens);
    // (0) Asked on arrival: can it never be served?
    bool (*is_refused)(const sim_engine *engine, const sim_sequence *sequence, sim_reject_reason *reason);
    // Schedule a pass of the batch alone, if that decides nothing (its new blocks fit, nothing is due at its end but tokens); false: nothing was done. Asked
    // while nobody can be admitted. NULL: there are no such passes.
    bool (*is_steady)(sim_engine *engine);
    // Put this pass's tokens on running and waiting sequences, and say whether the batch takes part.
    sim_status (*schedule)(sim_engine *engine, int64_t now_ns, sim_error *error);
    // It could start nothing: has it changed anything that may let it now?
    bool (*is_worth_retrying)(const sim_engine *engine);
    // After a round that started nothing: another one under the same conditions would change nothing either. NULL: always so.
    bool (*is_settled)(const sim_engine *engine);

    // End of a pass: every member of the batch that runs before `admission` has its token, nobody finished by it has left yet. (0)
    bool (*on_member_tokens)(sim_engine *engine, uint64_t admission);
    bool (*on_computed)(sim_engine *engine, sim_sequence *sequence); // an item, before its token (0)
    void (*on_unfinished)(sim_engine *engine, uint32_t index);       // an item that has more to compute
    bool (*on_joined)(sim_engine *engine, uint32_t index);           // an item that is a member of the batch now (0)
    // The sequence leaves for good and still holds its blocks. (0)
    void (*on_finish)(sim_engine *engine, const sim_sequence *sequence);
    bool (*release)(sim_engine *engine, sim_sequence *sequence); // its blocks
};
extern const sim_scheduler sim_scheduler_vllm, sim_scheduler_sglang, sim_scheduler_trtllm;

// Output, cut at max_model_len: final_tokens of vllm and sglang.
uint32_t sim_final_tokens(const sim_engine *engine, uint32_t input_tokens, uint32_t output_tokens);

// --- queues (engine.c) ---
void sim_waiting_push_back(sim_engine *engine, uint32_t index);
void sim_waiting_push_front(sim_engine *engine, uint32_t index);
uint32_t sim_waiting_pop(sim_engine *engine);
// Take the head of the waiting queue out of the run. Its event comes at the end of the pass.
sim_status sim_reject_head(sim_engine *engine, sim_reject_reason reason, sim_error *error);
void sim_running_append(sim_engine *engine, uint32_t index);
void sim_running_remove(sim_engine *engine, uint32_t index);

// --- vllm, trtllm: a sequence and its KV blocks (sequence_kv.c). False: no memory ---
bool sim_kv_init(sim_engine *engine);
void sim_kv_clear(sim_engine *engine);
sim_room sim_kv_room(const sim_engine *engine);
uint32_t sim_blocks_for(const sim_engine *engine, uint64_t n_tokens);
// The blocks that `n_computed` fills become known.
bool sim_sequence_publish(sim_engine *engine, sim_sequence *sequence);
// Release everything, last block first.
bool sim_sequence_release(sim_engine *engine, sim_sequence *sequence);

// --- ForwardPassMetrics of the open pass (pass_metrics.c) ---
sim_status sim_pass_describe(const sim_engine *engine, sim_pass *pass, sim_error *error);

#endif
