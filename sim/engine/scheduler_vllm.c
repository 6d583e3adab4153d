// SPDX-License-Identifier: GPL-3.0-or-later
//
// vLLM (v1): admission asks for the whole known sequence beside what is active; what then runs out is made up for by preemption.
#include "sim/engine/scheduler_budget.h"

static bool is_unservable(const sim_engine *engine, const sim_sequence *sequence, sim_reject_reason *reason) {
    uint64_t capacity_tokens = (uint64_t)sim_kv_tree_capacity(engine->kv) * (uint64_t)engine->kv_cache->block_size;
    bool exceeds = sim_budget_exceeds_limits(engine, sequence, reason);
    if (exceeds && *reason == SIM_REJECT_MODEL_LENGTH) return true;
    if (sequence->input_tokens > capacity_tokens) *reason = SIM_REJECT_KV_CACHE;
    return exceeds || sequence->input_tokens > capacity_tokens;
}

// A context that is cached to its exact end recomputes its last block, for the logits come from computing; a request without output needs none and keeps
// the full hit.
static uint32_t max_prefix_blocks(const sim_engine *engine, const sim_sequence *sequence) {
    uint32_t known = sim_sequence_length(&engine->batch, sequence);
    uint32_t usable = sequence->output_tokens == 0 ? known : known - 1;
    return usable / (uint32_t)engine->kv_cache->block_size;
}

// Found but inactive blocks use capacity as new ones do.
static bool fits(const sim_engine *engine, const sim_sequence *sequence, sim_prefix_hit hit) {
    uint32_t wanted = sim_blocks_for(engine, sim_sequence_length(&engine->batch, sequence));
    return wanted - hit.n_active <= sim_budget_room(engine);
}

static const sim_budget_rules rules = { is_unservable, max_prefix_blocks, fits, false };

static bool is_steady(sim_engine *engine) { return sim_budget_is_steady(engine, &rules); }

static sim_status schedule(sim_engine *engine, int64_t now_ns, sim_error *error) {
    return sim_budget_schedule(engine, &rules, now_ns, error);
}

const sim_scheduler sim_scheduler_vllm = {
    .name = "vllm", .final_tokens = sim_final_tokens, .is_steady = is_steady, .schedule = schedule, SIM_BUDGET_SCHEDULER
};
