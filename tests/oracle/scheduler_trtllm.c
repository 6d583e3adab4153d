// SPDX-License-Identifier: GPL-3.0-or-later
//
// TensorRT-LLM with GUARANTEED_NO_EVICT (simulation-semantics.md 3.1, "TRT-LLM differences"): whoever is admitted has its blocks to the end promised,
// so nobody ever gives any up.
#include "tests/oracle/oracle.h"

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

static int64_t capacity_tokens(const oracle *o) {
    return o->settings->kv_cache.num_blocks * o->settings->kv_cache.block_size;
}

// "output length is clamped at enqueue to pool capacity after the prompt and to max_model_len"
static uint32_t final_tokens(const oracle *o, const oracle_request *request) {
    const int64_t prompt = request->prompt_tokens, limit = o->settings->engine.max_model_len;
    int64_t n = request->output_tokens;
    if (n > capacity_tokens(o) - prompt) n = capacity_tokens(o) - prompt;
    if (limit > 0 && n > limit - prompt) n = limit - prompt;
    return n > 0 ? (uint32_t)n : 0;
}

// Why a request can never be served; SIM_REJECT_REASONS: it can.
static sim_reject_reason unservable(const oracle *o, const oracle_request *request) {
    const sim_engine_config *engine = &o->settings->engine;
    const int64_t prompt = request->prompt_tokens;
    if (engine->max_model_len > 0 && prompt >= engine->max_model_len) return SIM_REJECT_MODEL_LENGTH;
    if (prompt + (request->output_tokens > 0 ? 1 : 0) > capacity_tokens(o)) return SIM_REJECT_KV_CACHE;
    if (!engine->chunked_prefill && prompt > engine->max_num_batched_tokens) return SIM_REJECT_BATCHED_TOKENS;
    return SIM_REJECT_REASONS;
}

static uint32_t blocks_to_completion(const oracle_rank *rank, const oracle_request *request) {
    return oracle_blocks_for(rank, request->prompt_tokens + request->final_tokens);
}

// Running requests compute what they have not yet, in order, while there is budget.
static void schedule_running(oracle_rank *rank, uint32_t *budget) {
    for (uint32_t at = 0; at<rank->running.n && * budget> 0; at++) {
        oracle_request *request = oracle_running_at(rank, at);
        const uint32_t n_needed = oracle_known_tokens(request) - request->computed_tokens;
        if (!rank->oracle->settings->engine.chunked_prefill && n_needed > *budget) break;
        const uint32_t n_taken = smaller(n_needed, *budget);
        if (!oracle_grow(rank, request, request->computed_tokens + n_taken)) abort(); // a promise is broken
        oracle_compute(rank, request, n_taken);
        *budget -= n_taken;
    }
}

// "blocks-to-completion - active cached blocks <= free - sum over running of their blocks-to-completion still unallocated"
static bool has_room(const oracle_rank *rank, const oracle_request *request, const oracle_list *hits) {
    int64_t n_left = (int64_t)rank->pool.n_blocks - oracle_pool_active(&rank->pool);
    for (uint32_t i = 0; i < rank->running.n; i++) {
        const oracle_request *other = oracle_running_at(rank, i);
        n_left -= (int64_t)blocks_to_completion(rank, other) - other->blocks.n;
    }
    return (int64_t)blocks_to_completion(rank, request) - oracle_count_active(rank, hits) <= n_left;
}

// Admit the head of the queue; false: it has to wait, and everybody behind it.
static bool admit_head(oracle_rank *rank, uint32_t *budget) {
    const sim_settings *settings = rank->oracle->settings;
    const uint32_t block_size = (uint32_t)settings->kv_cache.block_size;
    oracle_request *request = oracle_waiting_at(rank, 0);
    const uint32_t n_known = request->prompt_tokens; // nobody comes back
    oracle_list hits = oracle_find_prefix(rank, request, n_known / block_size);
    uint32_t n_cached = hits.n * block_size;
    if (n_cached == n_known && request->output_tokens > 0) n_cached--; // the last token is computed in any case
    const uint32_t n_new = n_known - n_cached;
    const bool can_be = has_room(rank, request, &hits) && (settings->engine.chunked_prefill || n_new <= *budget);
    if (can_be) oracle_admit_head(rank, &hits, n_cached);
    oracle_list_clear(&hits);
    if (!can_be) return false;
    const uint32_t n_taken = smaller(n_new, *budget);
    if (!oracle_grow(rank, request, n_cached + n_taken)) abort();
    if (n_taken > 0) oracle_compute(rank, request, n_taken); // 0: a prompt without output that is cached to its end
    *budget -= n_taken;
    return true;
}

static sim_status schedule(oracle_rank *rank, uint64_t pass, sim_error *error) {
    const sim_engine_config *engine = &rank->oracle->settings->engine;
    uint32_t budget = (uint32_t)engine->max_num_batched_tokens;
    sim_status status = SIM_OK;
    (void)pass;
    schedule_running(rank, &budget);
    while (!status && rank->waiting.n > 0 && budget > 0 && rank->running.n < engine->max_num_seqs) {
        const sim_reject_reason reason = unservable(rank->oracle, oracle_waiting_at(rank, 0));
        if (reason != SIM_REJECT_REASONS)
            status = oracle_reject(rank, 0, reason, error);
        else if (!admit_head(rank, &budget))
            break;
    }
    return status;
}

const oracle_scheduler oracle_trtllm = {
    .name = "trtllm", .final_tokens = final_tokens, .schedule = schedule, .emit = oracle_emit
};
