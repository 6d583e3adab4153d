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

static bool has_decodes(const oracle_rank *rank) {
    for (uint32_t i = 0; i < rank->running.n; i++)
        if (!oracle_running_at(rank, i)->is_prefilling) return true;
    return false;
}

static bool has_unfinished_prefill(const oracle_rank *rank) {
    for (uint32_t i = 0; i < rank->running.n; i++) {
        const oracle_request *request = oracle_running_at(rank, i);
        if (request->is_prefilling && request->computed_tokens < oracle_known_tokens(request)) return true;
    }
    return false;
}

// Step A, under attention-DP.
static bool defers_prefills(const oracle_rank *rank, uint64_t pass) {
    const uint64_t interval = (uint64_t)rank->oracle->settings->engine.prefill_schedule_interval;
    return rank->oracle->n_ranks > 1 && pass % interval != 0 && !rank->left_waiting && has_decodes(rank);
}

// Step B: running requests, in order, while there is budget.
static void schedule_running(oracle_rank *rank, bool defers, uint32_t *budget) {
    const sim_engine_config *engine = &rank->oracle->settings->engine;
    uint32_t at = 0;
    while (at<rank->running.n && * budget> 0) {
        oracle_request *request = oracle_running_at(rank, at);
        if (defers && request->is_prefilling) {
            at++;
            continue;
        }
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

// With a token to come the last known token is computed in any case, and as blocks are whole, its block is.
static oracle_list look_up(oracle_rank *rank, oracle_request *request) {
    const uint32_t block_size = (uint32_t)rank->oracle->settings->kv_cache.block_size;
    const uint32_t n_known = oracle_known_tokens(request);
    return oracle_find_prefix(rank, request, (request->output_tokens == 0 ? n_known : n_known - 1) / block_size);
}

// "needed new blocks (inactive hits also consume free capacity) <= num_gpu_blocks - active_blocks", for the whole known sequence.
static bool has_room(const oracle_rank *rank, const oracle_request *request, const oracle_list *hits) {
    const uint32_t n_needed = oracle_blocks_for(rank, oracle_known_tokens(request)) - oracle_count_active(rank, hits);
    return n_needed <= rank->pool.n_blocks - oracle_pool_active(&rank->pool);
}

// Admit the head of the queue; false: it has to wait, and everybody behind it.
static bool admit_head(oracle_rank *rank, bool defers, uint32_t *budget) {
    const sim_settings *settings = rank->oracle->settings;
    oracle_request *request = oracle_waiting_at(rank, 0);
    oracle_list hits = look_up(rank, request);
    const uint32_t n_cached = hits.n * (uint32_t)settings->kv_cache.block_size;
    const uint32_t n_new = oracle_known_tokens(request) - n_cached;
    const bool can_be = has_room(rank, request, &hits) && (settings->engine.chunked_prefill || n_new <= *budget) &&
                        !(defers && (n_new > 1 || has_unfinished_prefill(rank)));
    if (can_be) oracle_admit_head(rank, &hits, n_cached);
    oracle_list_clear(&hits);
    if (!can_be) return false;
    const uint32_t n_taken = smaller(n_new, *budget);
    const bool has_blocks = oracle_grow(rank, request, n_cached + n_taken);
    assert(has_blocks), (void)has_blocks;
    if (n_taken > 0) oracle_compute(rank, request, n_taken); // 0: a prompt without output that is cached to its end
    *budget -= n_taken;
    return true;
}

// Step C: waiting requests, strictly first come first served.
static sim_status schedule_waiting(oracle_rank *rank, bool defers, uint32_t *budget, sim_error *error) {
    sim_status status = SIM_OK;
    while (!status && rank->waiting.n > 0 && *budget > 0 &&
           rank->running.n < rank->oracle->settings->engine.max_num_seqs) {
        const oracle_request *head = oracle_waiting_at(rank, 0);
        const sim_reject_reason reason = head->was_admitted ? SIM_REJECT_REASONS : unservable(rank, head);
        if (reason != SIM_REJECT_REASONS)
            status = oracle_reject(rank, 0, reason, error);
        else if (!admit_head(rank, defers, budget))
            break;
    }
    return status;
}

static sim_status schedule(oracle_rank *rank, uint64_t pass, sim_error *error) {
    uint32_t budget = (uint32_t)rank->oracle->settings->engine.max_num_batched_tokens;
    const bool defers = defers_prefills(rank, pass);
    schedule_running(rank, defers, &budget);
    sim_status status = rank->round.n_preempted > 0 ? SIM_OK : schedule_waiting(rank, defers, &budget, error);
    if (!defers) rank->left_waiting = rank->waiting.n > 0;
    return status;
}

// "generation stops when prompt + generated = max_model_len"
static uint32_t final_tokens(const oracle *o, const oracle_request *request) {
    const int64_t limit = o->settings->engine.max_model_len, prompt = request->prompt_tokens;
    return limit > prompt && limit - prompt < request->output_tokens ? (uint32_t)(limit - prompt)
                                                                     : request->output_tokens;
}

const oracle_scheduler oracle_vllm = {
    .name = "vllm", .final_tokens = final_tokens, .schedule = schedule, .emit = oracle_emit
};
