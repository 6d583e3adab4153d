// SPDX-License-Identifier: GPL-3.0-or-later
//
// TensorRT-LLM, GUARANTEED_NO_EVICT: a request is admitted when all blocks to its end fit beside all blocks that running requests will still need, so nobody is
// ever preempted (simulation-semantics.md 3.1, "TRT-LLM differences"). Output is clamped to what the pool can hold behind the prompt. The whole known sequence may
// come from the cache, all but its last token, which is computed for its logits.
#include "sim/engine/scheduler_budget.h"

static uint64_t capacity_tokens(const sim_engine *engine) {
    return (uint64_t)sim_kv_tree_capacity(engine->kv) * (uint64_t)engine->kv_cache->block_size;
}

static uint32_t final_tokens(const sim_engine *engine, uint32_t input_tokens, uint32_t output_tokens) {
    uint64_t limit = (uint64_t)engine->config->max_model_len, capacity = capacity_tokens(engine);
    uint64_t most = limit > 0 && limit < capacity ? limit : capacity;
    return most > input_tokens && most - input_tokens < output_tokens ? (uint32_t)(most - input_tokens) : output_tokens;
}

static bool is_unservable(const sim_engine *engine, const sim_sequence *sequence, sim_reject_reason *reason) {
    uint64_t needed = (uint64_t)sequence->input_tokens + (sequence->output_tokens > 0); // room for a token
    bool exceeds = sim_budget_exceeds_limits(engine, sequence, reason);
    if (exceeds && *reason == SIM_REJECT_MODEL_LENGTH) return true;
    if (needed > capacity_tokens(engine)) *reason = SIM_REJECT_KV_CACHE;
    return exceeds || needed > capacity_tokens(engine);
}

static uint32_t max_prefix_blocks(const sim_engine *engine, const sim_sequence *sequence) {
    return sim_sequence_length(&engine->batch, sequence) / (uint32_t)engine->kv_cache->block_size;
}

// Only blocks that somebody holds are discounted; found but inactive ones use capacity as new ones do.
static bool fits(const sim_engine *engine, const sim_sequence *sequence, sim_prefix_hit hit) {
    uint64_t wanted = sim_budget_blocks_to_end(engine, sequence) - hit.n_active;
    return wanted + engine->n_promised_blocks <= sim_budget_room(engine);
}

static void on_finish(sim_engine *engine, const sim_sequence *sequence) {
    engine->n_promised_blocks -= sim_budget_blocks_to_end(engine, sequence) - sequence->n_blocks;
}

static const sim_budget_rules rules = { is_unservable, max_prefix_blocks, fits, true };

static bool is_steady(sim_engine *engine) { return sim_budget_is_steady(engine, &rules); }

static sim_status schedule(sim_engine *engine, int64_t now_ns, sim_error *error) {
    return sim_budget_schedule(engine, &rules, now_ns, error);
}

const sim_scheduler sim_scheduler_trtllm = { .name = "trtllm",
                                             .final_tokens = final_tokens,
                                             .on_finish = on_finish,
                                             .is_steady = is_steady,
                                             .schedule = schedule,
                                             SIM_BUDGET_SCHEDULER };
