// SPDX-License-Identifier: GPL-3.0-or-later
//
// The moves that a scheduler is made of.
#include <inttypes.h>

#include "tests/oracle/oracle.h"

oracle_request *oracle_waiting_at(const oracle_rank *rank, uint32_t at) {
    assert(at < rank->waiting.n);
    return &rank->oracle->requests[rank->waiting.values[at]];
}

oracle_request *oracle_running_at(const oracle_rank *rank, uint32_t at) {
    assert(at < rank->running.n);
    return &rank->oracle->requests[rank->running.values[at]];
}

uint32_t oracle_blocks_for(const oracle_rank *rank, uint32_t n_tokens) {
    const uint32_t block_size = (uint32_t)rank->oracle->settings->kv_cache.block_size;
    return n_tokens / block_size + (n_tokens % block_size > 0);
}

bool oracle_grow(oracle_rank *rank, oracle_request *request, uint32_t n_tokens) {
    const uint32_t n_needed = oracle_blocks_for(rank, n_tokens);
    const uint32_t n_takable = rank->pool.n_blocks - oracle_pool_active(&rank->pool);
    if (n_needed > request->blocks.n + n_takable) return false;
    while (request->blocks.n < n_needed) oracle_list_append(&request->blocks, oracle_pool_take(&rank->pool));
    return true;
}

void oracle_release(oracle_rank *rank, oracle_request *request) {
    while (request->blocks.n > 0)
        oracle_pool_release(&rank->pool, oracle_list_remove(&request->blocks, request->blocks.n - 1));
}

void oracle_add_item(oracle_rank *rank, oracle_item item) {
    oracle_round *round = &rank->round;
    round->items = oracle_memory(round->items, round->n_items + (size_t)1, sizeof *round->items);
    round->items[round->n_items++] = item;
}

void oracle_compute(oracle_rank *rank, oracle_request *request, uint32_t n_tokens) {
    const uint32_t n_past = request->computed_tokens, n_known = oracle_known_tokens(request);
    // One token, the newest of the sequence, of a request past its prompt.
    const bool is_decode = n_tokens == 1 && n_past + 1 == n_known && n_past >= request->prompt_tokens;
    oracle_add_item(
        rank,
        (oracle_item){ .request = request, .past_tokens = n_past, .new_tokens = n_tokens, .is_decode = is_decode });
    const uint32_t block_size = (uint32_t)rank->oracle->settings->kv_cache.block_size;
    const uint32_t n_full_before = n_past / block_size;
    request->computed_tokens += n_tokens;
    assert(request->computed_tokens <= n_known);
    if (!rank->oracle->settings->kv_cache.prefix_caching) return;
    for (uint32_t k = n_full_before; k < request->computed_tokens / block_size; k++)
        if (!rank->pool.blocks[request->blocks.values[k]].is_published) // it is where a cached token is computed again
            oracle_pool_publish(&rank->pool, request->blocks.values[k],
                                oracle_block_identity(rank->oracle, request, k));
}

uint32_t oracle_undo(oracle_rank *rank, const oracle_request *request) {
    oracle_round *round = &rank->round;
    for (uint32_t i = 0; i < round->n_items; i++) {
        if (round->items[i].request != request) continue;
        const uint32_t n_tokens = round->items[i].new_tokens;
        round->n_items--;
        for (; i < round->n_items; i++) round->items[i] = round->items[i + 1];
        return n_tokens;
    }
    return 0;
}

oracle_list oracle_find_prefix(oracle_rank *rank, oracle_request *request, uint32_t n_most) {
    oracle_list hits = { .n = 0 };
    if (!rank->oracle->settings->kv_cache.prefix_caching) return hits;
    while (hits.n < n_most) {
        uint32_t block = oracle_pool_find(&rank->pool, oracle_block_identity(rank->oracle, request, hits.n));
        if (block == ORACLE_NO_BLOCK) break;
        oracle_list_append(&hits, block);
    }
    return hits;
}

uint32_t oracle_count_active(const oracle_rank *rank, const oracle_list *blocks) {
    uint32_t n_active = 0;
    for (uint32_t i = 0; i < blocks->n; i++) n_active += rank->pool.blocks[blocks->values[i]].n_holders > 0;
    return n_active;
}

void oracle_admit_head(oracle_rank *rank, const oracle_list *hits, uint32_t n_cached) {
    oracle_request *request = oracle_waiting_at(rank, 0);
    assert(request->blocks.n == 0 && request->computed_tokens == 0);
    for (uint32_t i = 0; i < hits->n; i++) {
        oracle_pool_hold(&rank->pool, hits->values[i]);
        oracle_list_append(&request->blocks, hits->values[i]);
    }
    request->computed_tokens = n_cached;
    if (!request->was_admitted) request->cached_tokens = n_cached;
    request->was_admitted = true;
    request->state = ORACLE_RUNNING;
    request->is_prefilling = true;
    oracle_list_append(&rank->running, oracle_list_remove(&rank->waiting, 0));
}

sim_status oracle_reject(oracle_rank *rank, uint32_t at, sim_reject_reason reason, sim_error *error) {
    if (rank->oracle->settings->engine.on_unservable == SIM_UNSERVABLE_FAIL)
        return sim_error_set(error, SIM_DEAD_END, NULL, 0, "request %" PRIu32 " can never be served: %s",
                             rank->waiting.values[at], sim_reject_reason_names[reason]);
    oracle_list_append(&rank->round.rejected, oracle_list_remove(&rank->waiting, at));
    return SIM_OK;
}

// The place of the new token in the cache comes with the next pass.
void oracle_emit(oracle_rank *rank) {
    oracle *o = rank->oracle;
    uint32_t at = 0;
    while (at < rank->running.n) {
        oracle_request *request = oracle_running_at(rank, at);
        bool is_finished = false;
        if (request->computed_tokens == oracle_known_tokens(request)) {
            request->is_prefilling = false;
            if (request->final_tokens > 0) {
                request->generated_tokens++;
                if (request->generated_tokens == 1) request->first_token_ns = o->now_ns;
            }
            is_finished = request->generated_tokens == request->final_tokens;
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
