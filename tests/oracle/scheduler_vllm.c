// SPDX-License-Identifier: GPL-3.0-or-later
//
// vLLM v1 (simulation-semantics.md 3.1, steps B, C and E).
#include <inttypes.h>

#include "tests/oracle/oracle.h"

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

// "all blocks of the victim are released, computed := 0, status Preempted, pushed to the front of waiting; generated tokens are kept"
// Returns the tokens of this round that come back to the budget.
static uint32_t preempt(oracle_rank *rank, uint32_t at) {
    oracle_request *victim = oracle_running_at(rank, at);
    oracle_list_remove(&rank->running, at);
    const uint32_t n_given_back = oracle_undo(rank, victim);
    oracle_release(rank, victim);
    victim->computed_tokens = 0;
    victim->state = ORACLE_PREEMPTED;
    victim->n_preemptions++;
    rank->round.n_preempted++;
    oracle_list_insert(&rank->waiting, 0, victim->index);
    return n_given_back;
}

// Step B: running requests, in order, while there is budget.
static void schedule_running(oracle_rank *rank, uint32_t *budget) {
    const sim_engine_config *engine = &rank->oracle->settings->engine;
    uint32_t at = 0;
    while (at<rank->running.n && * budget> 0) {
        oracle_request *request = oracle_running_at(rank, at);
        const uint32_t n_needed = oracle_known_tokens(request) - request->computed_tokens;
        if (!engine->chunked_prefill && n_needed > *budget) break;
        const uint32_t n_taken = smaller(n_needed, *budget);
        assert(n_taken > 0);
        bool is_victim = false;
        while (!is_victim && !oracle_grow(rank, request, request->computed_tokens + n_taken)) {
            const uint32_t victim_at = engine->preemption == SIM_PREEMPT_LIFO ? rank->running.n - 1 : 0;
            is_victim = victim_at == at;
            *budget += preempt(rank, victim_at);
            if (victim_at < at) at--; // everybody moved up
        }
        if (is_victim) continue; // the next one now stands at this place
        oracle_compute(rank, request, n_taken);
        *budget -= n_taken;
        at++;
    }
}

// Why a request that was never admitted can never be served; SIM_REJECT_REASONS: it can.
static sim_reject_reason unservable(const oracle_rank *rank, const oracle_request *request) {
    const sim_settings *settings = rank->oracle->settings;
    const int64_t prompt = request->prompt_tokens;
    if (settings->engine.max_model_len > 0 && prompt >= settings->engine.max_model_len) return SIM_REJECT_MODEL_LENGTH;
    if (prompt > settings->kv_cache.num_blocks * settings->kv_cache.block_size) return SIM_REJECT_KV_CACHE;
    if (!settings->engine.chunked_prefill && prompt > settings->engine.max_num_batched_tokens)
        return SIM_REJECT_BATCHED_TOKENS;
    return SIM_REJECT_REASONS;
}

// The blocks of the longest chain of full blocks that is in the cache. With a token to come the last known token is computed in any
// case, and as blocks are whole, its block is.
static oracle_list look_up(oracle_rank *rank, oracle_request *request) {
    oracle_list hits = { .n = 0 };
    if (!rank->oracle->settings->kv_cache.prefix_caching) return hits;
    const uint32_t block_size = (uint32_t)rank->oracle->settings->kv_cache.block_size;
    const uint32_t known = oracle_known_tokens(request);
    const uint32_t n_most = request->output_tokens == 0 ? known / block_size : (known - 1) / block_size;
    while (hits.n < n_most) {
        uint32_t block = oracle_pool_find(&rank->pool, oracle_block_identity(rank->oracle, request, hits.n));
        if (block == ORACLE_NO_BLOCK) break;
        oracle_list_append(&hits, block);
    }
    return hits;
}

// "needed new blocks (inactive hits also consume free capacity) <= num_gpu_blocks - active_blocks", for the whole known sequence.
static bool has_room(const oracle_rank *rank, const oracle_request *request, const oracle_list *hits) {
    uint32_t n_active_hits = 0;
    for (uint32_t i = 0; i < hits->n; i++) n_active_hits += rank->pool.blocks[hits->values[i]].n_holders > 0;
    const uint32_t n_needed = oracle_blocks_for(rank, oracle_known_tokens(request)) - n_active_hits;
    return n_needed <= rank->pool.n_blocks - oracle_pool_active(&rank->pool);
}

// Admit the head of the queue; false: it has to wait, and everybody behind it.
static bool admit_head(oracle_rank *rank, uint32_t *budget) {
    const sim_settings *settings = rank->oracle->settings;
    oracle_request *request = oracle_waiting_at(rank, 0);
    oracle_list hits = look_up(rank, request);
    const uint32_t n_cached = hits.n * (uint32_t)settings->kv_cache.block_size;
    const uint32_t n_new = oracle_known_tokens(request) - n_cached;
    if (!has_room(rank, request, &hits) || (!settings->engine.chunked_prefill && n_new > *budget)) {
        oracle_list_clear(&hits);
        return false;
    }
    assert(request->blocks.n == 0 && request->computed_tokens == 0);
    for (uint32_t i = 0; i < hits.n; i++) {
        oracle_pool_hold(&rank->pool, hits.values[i]);
        oracle_list_append(&request->blocks, hits.values[i]);
    }
    oracle_list_clear(&hits);
    request->computed_tokens = n_cached;
    if (!request->was_admitted) request->cached_tokens = n_cached;
    request->was_admitted = true;
    request->state = ORACLE_RUNNING;
    oracle_list_append(&rank->running, oracle_list_remove(&rank->waiting, 0));
    const uint32_t n_taken = smaller(n_new, *budget);
    const bool has_blocks = oracle_grow(rank, request, n_cached + n_taken);
    assert(has_blocks), (void)has_blocks;
    if (n_taken > 0) oracle_compute(rank, request, n_taken); // 0: a prompt without output that is cached to its end
    *budget -= n_taken;
    return true;
}

// Step C: waiting requests, strictly first come first served.
static sim_status schedule_waiting(oracle_rank *rank, uint32_t *budget, sim_error *error) {
    const sim_engine_config *engine = &rank->oracle->settings->engine;
    while (rank->waiting.n > 0 && *budget > 0 && rank->running.n < engine->max_num_seqs) {
        const oracle_request *head = oracle_waiting_at(rank, 0);
        const sim_reject_reason reason = head->was_admitted ? SIM_REJECT_REASONS : unservable(rank, head);
        if (reason != SIM_REJECT_REASONS) {
            if (engine->on_unservable == SIM_UNSERVABLE_FAIL)
                return sim_error_set(error, SIM_DEAD_END, NULL, 0, "request %" PRIu32 " can never be served: %s",
                                     head->index, sim_reject_reason_names[reason]);
            oracle_list_append(&rank->round.rejected, oracle_list_remove(&rank->waiting, 0));
        } else if (!admit_head(rank, budget)) {
            break;
        }
    }
    return SIM_OK;
}

static sim_status schedule(oracle_rank *rank, sim_error *error) {
    uint32_t budget = (uint32_t)rank->oracle->settings->engine.max_num_batched_tokens;
    schedule_running(rank, &budget);
    return rank->round.n_preempted > 0 ? SIM_OK : schedule_waiting(rank, &budget, error);
}

// Step E: in running order, whoever has computed all that is known gets one more token; its place in the cache comes with the next pass.
static void emit(oracle_rank *rank) {
    oracle *o = rank->oracle;
    uint32_t at = 0;
    while (at < rank->running.n) {
        oracle_request *request = oracle_running_at(rank, at);
        bool is_finished = false;
        if (request->computed_tokens == oracle_known_tokens(request)) {
            if (request->output_tokens > 0) {
                request->generated_tokens++;
                if (request->generated_tokens == 1) request->first_token_ns = o->now_ns;
            }
            is_finished = request->generated_tokens == request->output_tokens ||
                          oracle_known_tokens(request) == o->settings->engine.max_model_len;
        }
        if (is_finished) {
            oracle_list_remove(&rank->running, at);
            oracle_release(rank, request);
            oracle_end_request(o, request, ORACLE_COMPLETED);
        } else {
            at++;
        }
    }
}

const oracle_scheduler oracle_vllm = { .name = "vllm", .schedule = schedule, .emit = emit };
