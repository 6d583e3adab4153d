// SPDX-License-Identifier: GPL-3.0-or-later
//
// The moves that a scheduler is made of.
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

void oracle_compute(oracle_rank *rank, oracle_request *request, uint32_t n_tokens) {
    oracle_round *round = &rank->round;
    round->items = oracle_memory(round->items, round->n_items + (size_t)1, sizeof *round->items);
    round->items[round->n_items++] =
        (oracle_item){ .request = request, .past_tokens = request->computed_tokens, .new_tokens = n_tokens };
    const uint32_t block_size = (uint32_t)rank->oracle->settings->kv_cache.block_size;
    const uint32_t n_full_before = request->computed_tokens / block_size;
    request->computed_tokens += n_tokens;
    assert(request->computed_tokens <= oracle_known_tokens(request));
    if (!rank->oracle->settings->kv_cache.prefix_caching) return;
    for (uint32_t k = n_full_before; k < request->computed_tokens / block_size; k++)
        oracle_pool_publish(&rank->pool, request->blocks.values[k], oracle_block_identity(rank->oracle, request, k));
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
