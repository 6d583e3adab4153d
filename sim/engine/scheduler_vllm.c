// SPDX-License-Identifier: GPL-3.0-or-later
//
// The vLLM (v1) scheduler: one token budget for prefill and decode, running requests first, then the waiting queue in strict FIFO order;
// preemption by recomputation (simulation-semantics.md 3.1, steps A to C).
#include "sim/engine/engine_state.h"

#include <string.h>

static uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

// --- preemption -------------------------------------------------------------------------------------------------------

// Running request `position` loses its blocks and goes to the front of the queue; what it generated is kept and will be recomputed. If it
// was already scheduled in this pass, that is undone and its tokens return to the budget.
static void preempt(sim_engine *engine, uint32_t position, uint32_t *budget, int64_t now_ns) {
    uint32_t index = engine->running[position];
    sim_sequence *victim = &engine->sequences[index];
    *budget += victim->n_pass_tokens;
    victim->n_pass_tokens = 0;
    victim->n_computed = 0;
    victim->is_preempted = true;
    sim_sequence_release(engine, victim);
    engine->n_running--;
    memmove(engine->running + position, engine->running + position + 1,
            (engine->n_running - position) * sizeof *engine->running);
    sim_waiting_push_front(engine, index);
    engine->n_pass_preemptions++;
    engine->events->on_preempted(engine->events->self, victim->request, now_ns);
}

typedef enum growth { GROWTH_DONE, GROWTH_SELF_PREEMPTED, GROWTH_NO_MEMORY } growth;

// Make room for `n_tokens` tokens of running request *position, preempting until they fit. Preempting a request in front of it moves *position.
static growth grow_or_preempt(sim_engine *engine, uint32_t *position, uint32_t n_tokens, uint32_t *budget,
                              int64_t now_ns) {
    uint32_t index = engine->running[*position];
    for (;;) {
        sim_take outcome = sim_sequence_grow(engine, &engine->sequences[index], n_tokens);
        if (outcome == SIM_TAKE_OK) return GROWTH_DONE;
        if (outcome == SIM_TAKE_NO_MEMORY) return GROWTH_NO_MEMORY;
        uint32_t victim = engine->config->preemption == SIM_PREEMPT_LIFO ? engine->n_running - 1 : 0;
        preempt(engine, victim, budget, now_ns);
        if (victim == *position) return GROWTH_SELF_PREEMPTED;
        if (victim < *position) --*position;
    }
}

// --- step B: running requests -----------------------------------------------------------------------------------------

static bool compute(sim_engine *engine, sim_sequence *sequence, uint32_t n_tokens, uint32_t *budget) {
    sequence->n_computed += n_tokens;
    sequence->n_pass_tokens = n_tokens;
    *budget -= n_tokens;
    return sim_sequence_publish(engine, sequence);
}

static sim_status schedule_running(sim_engine *engine, uint32_t *budget, int64_t now_ns, sim_error *error) {
    uint32_t position = 0;
    while (position<engine->n_running && * budget> 0) {
        sim_sequence *sequence = &engine->sequences[engine->running[position]];
        uint32_t need = sim_sequence_length(sequence) - sequence->n_computed;
        if (!engine->config->chunked_prefill && need > *budget) break;
        uint32_t n_tokens = min_u32(need, *budget);
        growth outcome = grow_or_preempt(engine, &position, sequence->n_computed + n_tokens, budget, now_ns);
        if (outcome == GROWTH_NO_MEMORY) return no_memory(error);
        if (outcome == GROWTH_SELF_PREEMPTED) continue; // the next request now stands at `position`
        if (!compute(engine, sequence, n_tokens, budget)) return no_memory(error);
        position++;
    }
    return SIM_OK;
}

// --- step C: waiting requests -----------------------------------------------------------------------------------------

// Can the head of the queue ever be served? Only requests that never ran are refused; what grew too long while running is a dead end.
static bool is_unservable(const sim_engine *engine, const sim_sequence *sequence, sim_reject_reason *reason) {
    int64_t limit = engine->config->max_model_len;
    uint64_t capacity_tokens = (uint64_t)sim_block_pool_capacity(engine->pool) * (uint64_t)engine->kv_cache->block_size;
    if (!sim_sequence_is_new(sequence)) return false;
    if (limit > 0 && sequence->input_tokens >= limit)
        *reason = SIM_REJECT_MODEL_LENGTH;
    else if (sequence->input_tokens > capacity_tokens)
        *reason = SIM_REJECT_KV_CACHE;
    else if (!engine->config->chunked_prefill && sequence->input_tokens > engine->config->max_num_batched_tokens)
        *reason = SIM_REJECT_BATCHED_TOKENS;
    else
        return false;
    return true;
}

// A context that is cached to its exact end recomputes its last block, for the logits come from computing; a request without output needs
// none and keeps the full hit.
static uint32_t max_prefix_blocks(const sim_engine *engine, const sim_sequence *sequence) {
    uint32_t known = sim_sequence_length(sequence);
    uint32_t usable = sequence->output_tokens == 0 ? known : known - 1;
    return usable / (uint32_t)engine->kv_cache->block_size;
}

// Do the blocks of the whole known sequence fit beside what is active? Found but inactive blocks use capacity as new ones do.
static bool fits(const sim_engine *engine, const sim_sequence *sequence, sim_prefix_hit hit) {
    uint64_t block_size = (uint64_t)engine->kv_cache->block_size;
    uint64_t wanted = (sim_sequence_length(sequence) + block_size - 1) / block_size - hit.n_active;
    return wanted <= sim_block_pool_capacity(engine->pool) - sim_block_pool_active(engine->pool);
}

static sim_status admit_head(sim_engine *engine, sim_prefix_hit hit, uint32_t *budget, int64_t now_ns,
                             sim_error *error) {
    uint32_t index = sim_waiting_pop(engine);
    sim_sequence *sequence = &engine->sequences[index];
    if (!sim_sequence_hold_prefix(engine, sequence, hit.n_blocks)) return no_memory(error);
    uint32_t cached_tokens = sequence->n_computed;
    uint32_t n_tokens = min_u32(sim_sequence_length(sequence) - cached_tokens, *budget);
    if (sim_sequence_grow(engine, sequence, cached_tokens + n_tokens) != SIM_TAKE_OK) return no_memory(error);
    if (!compute(engine, sequence, n_tokens, budget)) return no_memory(error);
    engine->running[engine->n_running++] = index;
    engine->events->on_admitted(engine->events->self, sequence->request, cached_tokens, !sequence->was_admitted,
                                now_ns);
    sequence->was_admitted = true;
    sequence->is_preempted = false;
    return SIM_OK;
}

static sim_status schedule_waiting(sim_engine *engine, uint32_t *budget, int64_t now_ns, sim_error *error) {
    while (*budget > 0 && engine->waiting_head != SIM_NO_SEQUENCE && engine->n_running < engine->config->max_num_seqs) {
        const sim_sequence *head = &engine->sequences[engine->waiting_head];
        sim_reject_reason reason;
        sim_status status = SIM_OK;
        if (is_unservable(engine, head, &reason)) {
            status = sim_reject_head(engine, reason, error);
        } else {
            sim_prefix_hit hit = sim_sequence_find_prefix(engine, head, max_prefix_blocks(engine, head));
            if (!fits(engine, head, hit)) break;
            uint32_t n_new = sim_sequence_length(head) - hit.n_blocks * (uint32_t)engine->kv_cache->block_size;
            if (!engine->config->chunked_prefill && n_new > *budget) break;
            status = admit_head(engine, hit, budget, now_ns, error);
        }
        if (status) return status;
    }
    return SIM_OK;
}

static sim_status schedule(sim_engine *engine, int64_t now_ns, sim_error *error) {
    uint32_t budget = (uint32_t)engine->config->max_num_batched_tokens;
    sim_status status = schedule_running(engine, &budget, now_ns, error);
    if (!status && engine->n_pass_preemptions == 0) status = schedule_waiting(engine, &budget, now_ns, error);
    return status;
}

const sim_scheduler sim_scheduler_vllm = { "vllm", schedule };
