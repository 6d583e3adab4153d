// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/oracle/pool.h"

#include "tests/oracle/list.h"

void oracle_pool_init(oracle_pool *pool, uint32_t n_blocks) {
    *pool = (oracle_pool){ .n_blocks = n_blocks };
    pool->blocks = oracle_memory(NULL, n_blocks, sizeof *pool->blocks);
    for (uint32_t i = 0; i < n_blocks; i++) pool->blocks[i] = (oracle_block){ .n_holders = 0 };
}

void oracle_pool_clear(oracle_pool *pool) { free(pool->blocks); }

uint32_t oracle_pool_active(const oracle_pool *pool) {
    uint32_t n_active = 0;
    for (uint32_t i = 0; i < pool->n_blocks; i++) n_active += pool->blocks[i].n_holders > 0;
    return n_active;
}

uint32_t oracle_pool_take(oracle_pool *pool) {
    uint32_t oldest = ORACLE_NO_BLOCK;
    for (uint32_t i = 0; i < pool->n_blocks; i++) {
        const oracle_block *block = &pool->blocks[i];
        if (block->n_holders > 0) continue;
        if (!block->is_published) {
            oldest = i;
            break;
        }
        if (oldest == ORACLE_NO_BLOCK || block->released_at < pool->blocks[oldest].released_at) oldest = i;
    }
    assert(oldest != ORACLE_NO_BLOCK);
    pool->blocks[oldest] = (oracle_block){ .n_holders = 1 };
    return oldest;
}

void oracle_pool_publish(oracle_pool *pool, uint32_t block, uint64_t identity) {
    assert(!pool->blocks[block].is_published);
    pool->blocks[block].is_published = true;
    pool->blocks[block].identity = identity;
    pool->blocks[block].published_at = ++pool->clock;
}

uint32_t oracle_pool_find(const oracle_pool *pool, uint64_t identity) {
    uint32_t first = ORACLE_NO_BLOCK;
    for (uint32_t i = 0; i < pool->n_blocks; i++) {
        const oracle_block *block = &pool->blocks[i];
        if (!block->is_published || block->identity != identity) continue;
        if (first == ORACLE_NO_BLOCK || block->published_at < pool->blocks[first].published_at) first = i;
    }
    return first;
}

void oracle_pool_hold(oracle_pool *pool, uint32_t block) {
    assert(pool->blocks[block].is_published);
    pool->blocks[block].n_holders++;
}

void oracle_pool_release(oracle_pool *pool, uint32_t block) {
    assert(pool->blocks[block].n_holders > 0);
    pool->blocks[block].n_holders--;
    if (pool->blocks[block].n_holders == 0) pool->blocks[block].released_at = ++pool->clock;
}
