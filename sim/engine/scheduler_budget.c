// SPDX-License-Identifier: GPL-3.0-or-later
//
// See scheduler_budget.h. The decode batch is scheduled as a whole while its new blocks fit (one look at a counter); else request by request, in running order, as the semantics
// are written. max_num_batched_tokens >= max_num_seqs, so the budget always covers it.
#include <assert.h>

#include "sim/engine/scheduler_budget.h"

static uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

uint32_t sim_budget_room(const sim_engine *engine) {
    return sim_kv_tree_capacity(engine->kv) - sim_kv_tree_active(engine->kv);
}

uint32_t sim_budget_blocks_to_end(const sim_engine *engine, const sim_sequence *sequence) {
    return sim_blocks_for(engine, (uint64_t)sequence->input_tokens + sequence->n_final);
}

// n blocks for running requests. What was promised to them is there.
static bool take(sim_engine *engine, const sim_budget_rules *rules, uint32_t n_blocks) {
    if (!sim_kv_tree_take(engine->kv, n_blocks)) return false;
    if (rules->promises_blocks) engine->n_promised_blocks -= n_blocks;
    return true;
}

// --- preemption -------------------------------------------------------------------------------------------------------

// A running request loses its blocks and goes to the front of the queue; what it generated is kept and will be recomputed. `is_scheduled`: it already had its
// token of this pass, which is undone; the block its newest token may have filled stays known, as in vLLM, where blocks are hashed when scheduled.
static sim_status preempt(sim_engine *engine, uint32_t index, bool is_scheduled, int64_t now_ns, sim_error *error) {
    sim_sequence *victim = &engine->sequences[index];
    if (victim->is_member) {
        sim_batch_leave(&engine->batch, engine->sequences, index);
        if (is_scheduled) {
            victim->n_computed++;
            victim->n_blocks = sim_blocks_for(engine, victim->n_computed);
        }
    }
    if (!sim_sequence_release(engine, victim)) return no_memory(error);
    if (engine->partial == index) engine->partial = SIM_NO_SEQUENCE;
    victim->n_computed = 0;
    victim->n_pass_tokens = 0;
    victim->is_preempted = true;
    sim_running_remove(engine, index);
    sim_waiting_push_front(engine, index);
    engine->is_head_blocked = false;
    engine->n_pass_preemptions++;
    engine->events->on_preempted(engine->events->self, victim->request, now_ns);
    return SIM_OK;
}

// Take `n_blocks` for running request `index`, preempting until they fit. *is_kept = false: it had to give itself up.
static sim_status take_or_preempt(sim_engine *engine, const sim_budget_rules *rules, uint32_t index, uint32_t n_blocks,
                                  bool *is_kept, int64_t now_ns, sim_error *error) {
    while (!take(engine, rules, n_blocks)) {
        assert(!rules->promises_blocks);
        bool is_lifo = engine->config->preemption == SIM_PREEMPT_LIFO;
        uint32_t victim = is_lifo ? engine->running_tail : engine->running_head;
        *is_kept = victim != index;
        // Everybody in front of `index` has been scheduled, nobody behind it.
        sim_status status = preempt(engine, victim, *is_kept && !is_lifo, now_ns, error);
        if (status || !*is_kept) return status;
    }
    *is_kept = true;
    return SIM_OK;
}

// --- step B: running requests -----------------------------------------------------------------------------------------

// Not enough room for everybody's next block: one after the other.
static sim_status schedule_batch_under_pressure(sim_engine *engine, const sim_budget_rules *rules, int64_t now_ns,
                                                sim_error *error) {
    uint32_t index = engine->running_head;
    while (index != SIM_NO_SEQUENCE && engine->sequences[index].is_member) {
        bool is_kept = true;
        sim_status status = SIM_OK;
        uint32_t next = engine->sequences[index].after;
        if (sim_batch_needs_block(&engine->batch, &engine->sequences[index])) {
            status = take_or_preempt(engine, rules, index, 1, &is_kept, now_ns, error);
            // A victim behind it may have been the next; one that gave itself up stands in the waiting queue now.
            next = is_kept ? engine->sequences[index].after : next;
            if (!is_kept && engine->config->preemption == SIM_PREEMPT_LIFO) next = SIM_NO_SEQUENCE; // it was the last
        }
        if (status) return status;
        index = next;
    }
    return SIM_OK;
}

static bool compute(sim_engine *engine, uint32_t index, uint32_t n_tokens, uint32_t *budget) {
    sim_sequence *sequence = &engine->sequences[index];
    sequence->n_computed += n_tokens;
    sequence->n_pass_tokens = n_tokens;
    sequence->n_blocks = sim_blocks_for(engine, sequence->n_computed);
    *budget -= n_tokens;
    engine->items.items[engine->items.n++] = index;
    return sim_sequence_publish(engine, sequence);
}

// The prompt that an earlier pass left unfinished goes on with what the batch leaves of the budget.
static sim_status schedule_partial(sim_engine *engine, const sim_budget_rules *rules, uint32_t *budget, int64_t now_ns,
                                   sim_error *error) {
    uint32_t index = engine->partial;
    const sim_sequence *sequence = &engine->sequences[index];
    uint32_t n_tokens = min_u32(sim_sequence_length(&engine->batch, sequence) - sequence->n_computed, *budget);
    if (n_tokens == 0) return SIM_OK;
    bool is_kept;
    uint32_t n_blocks = sim_blocks_for(engine, (uint64_t)sequence->n_computed + n_tokens) - sequence->n_blocks;
    sim_status status = take_or_preempt(engine, rules, index, n_blocks, &is_kept, now_ns, error);
    if (status || !is_kept) return status;
    return compute(engine, index, n_tokens, budget) ? SIM_OK : no_memory(error);
}

static sim_status schedule_running(sim_engine *engine, const sim_budget_rules *rules, uint32_t *budget, int64_t now_ns,
                                   sim_error *error) {
    sim_status status = SIM_OK;
    uint32_t n_needed = sim_batch_block_need(&engine->batch);
    if (n_needed <= sim_budget_room(engine))
        take(engine, rules, n_needed);
    else
        status = schedule_batch_under_pressure(engine, rules, now_ns, error);
    *budget -= engine->batch.n_members;
    if (status || engine->partial == SIM_NO_SEQUENCE || engine->defers_prefills) return status;
    return schedule_partial(engine, rules, budget, now_ns, error);
}

// --- step C: waiting requests -----------------------------------------------------------------------------------------

bool sim_budget_exceeds_limits(const sim_engine *engine, const sim_sequence *sequence, sim_reject_reason *reason) {
    int64_t limit = engine->config->max_model_len;
    if (limit > 0 && sequence->input_tokens >= limit) {
        *reason = SIM_REJECT_MODEL_LENGTH;
        return true;
    }
    *reason = SIM_REJECT_BATCHED_TOKENS;
    return !engine->config->chunked_prefill && sequence->input_tokens > engine->config->max_num_batched_tokens;
}

static sim_status admit_head(sim_engine *engine, const sim_budget_rules *rules, sim_prefix_hit hit, uint32_t n_cached,
                             uint32_t *budget, int64_t now_ns, sim_error *error) {
    uint32_t index = sim_waiting_pop(engine);
    sim_sequence *sequence = &engine->sequences[index];
    sim_kv_sequence content = { sequence->request, sequence->input_tokens };
    if (!sim_kv_tree_hold(engine->kv, &sequence->chain, content, hit.n_blocks)) return no_memory(error);
    uint32_t n_tokens = min_u32(sim_sequence_length(&engine->batch, sequence) - n_cached, *budget);
    sequence->n_computed = n_cached;
    if (rules->promises_blocks) engine->n_promised_blocks += sim_budget_blocks_to_end(engine, sequence) - hit.n_blocks;
    bool has_room = take(engine, rules, sim_blocks_for(engine, (uint64_t)n_cached + n_tokens) - hit.n_blocks);
    assert(has_room); // `fits` asked for the whole sequence
    (void)has_room;
    sim_running_append(engine, index);
    if (!compute(engine, index, n_tokens, budget)) return no_memory(error);
    engine->events->on_admitted(engine->events->self, sequence->request, n_cached, !sequence->was_admitted, now_ns);
    sequence->was_admitted = true;
    sequence->is_preempted = false;
    return SIM_OK;
}

// Known tokens that need not be computed. The logits come from computing the last one, so that one is never among them, unless nothing is to be generated.
static uint32_t cached_tokens(const sim_engine *engine, const sim_sequence *sequence, sim_prefix_hit hit) {
    uint32_t n_found = hit.n_blocks * (uint32_t)engine->kv_cache->block_size;
    uint32_t known = sim_sequence_length(&engine->batch, sequence);
    return n_found == known && sequence->output_tokens > 0 ? known - 1 : n_found;
}

// Admit, reject or leave the head; *goes_on = false: the queue waits behind it.
static sim_status try_head(sim_engine *engine, const sim_budget_rules *rules, uint32_t *budget, bool *goes_on,
                           int64_t now_ns, sim_error *error) {
    const sim_sequence *head = &engine->sequences[engine->waiting_head];
    sim_reject_reason reason;
    *goes_on = true;
    if (!head->was_admitted && rules->is_unservable(engine, head, &reason))
        return sim_reject_head(engine, reason, error);
    sim_kv_sequence content = { head->request, head->input_tokens };
    uint32_t max_blocks = engine->kv_cache->prefix_caching ? rules->max_prefix_blocks(engine, head) : 0;
    sim_prefix_hit hit = sim_kv_tree_find(engine->kv, content, max_blocks);
    if (!rules->fits(engine, head, hit)) {
        engine->is_head_blocked = true;
        *goes_on = false;
        return SIM_OK;
    }
    uint32_t n_cached = cached_tokens(engine, head, hit);
    uint32_t n_new = sim_sequence_length(&engine->batch, head) - n_cached;
    bool is_whole = engine->config->chunked_prefill || n_new <= *budget;
    // While prompts are deferred a sequence that lacks one token may still join; not behind an unfinished prompt, which must stay the last one running.
    bool is_deferred = engine->defers_prefills && (n_new > 1 || engine->partial != SIM_NO_SEQUENCE);
    *goes_on = is_whole && !is_deferred;
    return *goes_on ? admit_head(engine, rules, hit, n_cached, budget, now_ns, error) : SIM_OK;
}

static sim_status schedule_waiting(sim_engine *engine, const sim_budget_rules *rules, uint32_t *budget, int64_t now_ns,
                                   sim_error *error) {
    bool goes_on = true;
    sim_status status = SIM_OK;
    while (!status && goes_on && *budget > 0 && engine->waiting_head != SIM_NO_SEQUENCE &&
           engine->n_running < engine->config->max_num_seqs)
        status = try_head(engine, rules, budget, &goes_on, now_ns, error);
    return status;
}

// Preemptions and rejections may have made room. Each round removes a running or a waiting request, so this ends.
bool sim_budget_is_worth_retrying(const sim_engine *engine) {
    return engine->n_pass_preemptions > 0 || engine->n_rejections > 0;
}

void sim_budget_on_unfinished(sim_engine *engine, uint32_t index) { engine->partial = index; }

bool sim_budget_is_steady(sim_engine *engine, const sim_budget_rules *rules) {
    uint32_t n_needed = sim_batch_block_need(&engine->batch);
    return n_needed == 0 || take(engine, rules, n_needed);
}

sim_status sim_budget_schedule(sim_engine *engine, const sim_budget_rules *rules, int64_t now_ns, sim_error *error) {
    uint32_t budget = (uint32_t)engine->config->max_num_batched_tokens;
    sim_status status = schedule_running(engine, rules, &budget, now_ns, error);
    if (status || engine->n_pass_preemptions > 0 || engine->is_head_blocked) return status;
    return schedule_waiting(engine, rules, &budget, now_ns, error);
}
