// SPDX-License-Identifier: GPL-3.0-or-later
//
// The scheduling of vLLM (v1) and TensorRT-LLM: one token budget for prefill and decode, running requests first, then the waiting queue in strict FIFO
// order; when blocks run out, preemption by recomputation (simulation-semantics.md 3.1, steps A to C). What the two do differently is a table of rules.
#ifndef SIM_ENGINE_SCHEDULER_BUDGET_H
#define SIM_ENGINE_SCHEDULER_BUDGET_H

#include "sim/engine/engine_state.h"

typedef struct sim_budget_rules {
    // Can a request that never ran ever be served? It is asked when it heads the queue.
    bool (*is_unservable)(const sim_engine *engine, const sim_sequence *sequence, sim_reject_reason *reason);
    // Blocks of the known sequence that may come from the prefix cache.
    uint32_t (*max_prefix_blocks)(const sim_engine *engine, const sim_sequence *sequence);
    // Is there room to admit the sequence, given what of it is found?
    bool (*fits)(const sim_engine *engine, const sim_sequence *sequence, sim_prefix_hit hit);
    // Running requests are promised all blocks to their end (engine->n_promised_blocks), so nobody is ever preempted.
    bool promises_blocks;
} sim_budget_rules;

sim_status sim_budget_schedule(sim_engine *engine, const sim_budget_rules *rules, int64_t now_ns, sim_error *error);

// The batch alone, while its new blocks fit.
bool sim_budget_is_steady(sim_engine *engine, const sim_budget_rules *rules);

// The rest of a scheduler's table.
bool sim_budget_is_worth_retrying(const sim_engine *engine);
void sim_budget_on_unfinished(sim_engine *engine, uint32_t index);
#define SIM_BUDGET_SCHEDULER                                                                          \
    .init = sim_kv_init, .clear = sim_kv_clear, .room = sim_kv_room, .release = sim_sequence_release, \
    .is_worth_retrying = sim_budget_is_worth_retrying, .on_unfinished = sim_budget_on_unfinished

// Blocks that are not active.
uint32_t sim_budget_room(const sim_engine *engine);
// Blocks of a sequence at its end: ceil((input + n_final) / block size).
uint32_t sim_budget_blocks_to_end(const sim_engine *engine, const sim_sequence *sequence);
// Shared by the rules: prompts beyond max_model_len, and beyond the budget where they cannot be split.
bool sim_budget_exceeds_limits(const sim_engine *engine, const sim_sequence *sequence, sim_reject_reason *reason);

#endif
