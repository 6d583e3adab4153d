// SPDX-License-Identifier: GPL-3.0-or-later
//
// Inside of an engine, shared by its files only: sequences, queues, the open pass, and the table a scheduler policy fills.
#ifndef SIM_ENGINE_ENGINE_STATE_H
#define SIM_ENGINE_ENGINE_STATE_H

#include "sim/engine/block_pool.h"
#include "sim/engine/engine.h"
#include "sim/engine/square_sum.h"

#define SIM_NO_SEQUENCE UINT32_MAX

// One request inside the engine. Its sequence is the prompt followed by the tokens generated so far. The newest generated token has no KV
// entry yet: it is computed by the next pass (the "dangling token").
typedef struct sim_sequence {
    uint32_t request;
    uint32_t input_tokens;
    uint32_t output_tokens; // asked for
    uint32_t n_generated;
    uint32_t n_computed;    // tokens of the sequence with a KV entry, the open pass included
    uint32_t n_pass_tokens; // of these, computed by the open pass
    uint32_t *blocks;       // held, in sequence order
    uint32_t n_blocks, n_blocks_allocated;
    uint32_t n_published;   // leading blocks that have an identity
    uint64_t tail_identity; // of the last published one; 0 for none
    int64_t last_token_ns;
    uint32_t next; // in the waiting queue, or in the free list
    bool was_admitted;
    bool is_preempted;
} sim_sequence;

typedef struct sim_rejection {
    uint32_t request;
    sim_reject_reason reason;
} sim_rejection;

typedef struct sim_scheduler sim_scheduler;

struct sim_engine {
    const sim_engine_config *config;
    const sim_kv_cache_config *kv_cache;
    const sim_content_source *content;
    const sim_engine_events *events;
    const sim_scheduler *scheduler;
    sim_block_pool *pool;

    sim_sequence *sequences; // pool; everything refers to them by index
    uint32_t n_sequences, n_sequences_allocated;
    uint32_t free_sequence;

    uint32_t waiting_head, waiting_tail;
    sim_square_sum queued_prefills; // input_tokens of waiting requests that never ran or were rejected
    sim_square_sum queued_decodes;  // sequence lengths of preempted ones

    uint32_t *running; // in order of admission
    uint32_t n_running, n_running_allocated;

    bool is_pass_open;
    uint32_t n_pass_preemptions;
    sim_rejection *rejections; // of the open pass, told at its end
    uint32_t n_rejections, n_rejections_allocated;
};

// A backend's policy: put this pass's tokens on running and waiting sequences (n_computed, n_pass_tokens, blocks, queues).
struct sim_scheduler {
    const char *name; // as in sim_backend_names
    sim_status (*schedule)(sim_engine *engine, int64_t now_ns, sim_error *error);
};
extern const sim_scheduler sim_scheduler_vllm;

static inline uint32_t sim_sequence_length(const sim_sequence *sequence) {
    return sequence->input_tokens + sequence->n_generated;
}
static inline bool sim_sequence_is_new(const sim_sequence *sequence) { return !sequence->was_admitted; }

// --- queues (engine.c) ---
void sim_waiting_push_back(sim_engine *engine, uint32_t index);
void sim_waiting_push_front(sim_engine *engine, uint32_t index);
uint32_t sim_waiting_pop(sim_engine *engine);
// Take the head of the waiting queue out of the run. Its event comes at the end of the pass.
sim_status sim_reject_head(sim_engine *engine, sim_reject_reason reason, sim_error *error);

// --- KV blocks of a sequence (sequence_blocks.c) ---
// Hold blocks for `n_tokens` tokens of the sequence; all or nothing.
sim_take sim_sequence_grow(sim_engine *engine, sim_sequence *sequence, uint32_t n_tokens);
// Give every block that `n_computed` fills an identity. False: no memory.
bool sim_sequence_publish(sim_engine *engine, sim_sequence *sequence);
// Release all blocks, last one first.
void sim_sequence_release(sim_engine *engine, sim_sequence *sequence);

typedef struct sim_prefix_hit {
    uint32_t n_blocks; // leading blocks found
    uint32_t n_active; // of these, held by somebody
} sim_prefix_hit;
// Longest chain of found blocks, at most max_blocks; fills nothing.
sim_prefix_hit sim_sequence_find_prefix(const sim_engine *engine, const sim_sequence *sequence, uint32_t max_blocks);
// Hold the first n_blocks of that chain and take their tokens as computed. False: no memory.
bool sim_sequence_hold_prefix(sim_engine *engine, sim_sequence *sequence, uint32_t n_blocks);

// --- ForwardPassMetrics of the open pass (pass_metrics.c) ---
sim_status sim_pass_describe(const sim_engine *engine, sim_pass *pass, sim_error *error);

#endif
