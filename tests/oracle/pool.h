// SPDX-License-Identifier: GPL-3.0-or-later
//
// The KV blocks of one rank (simulation-semantics.md 3.2). A block is
//   free:    nobody holds it and nothing in it can be found;
//   private: one request holds it, nothing in it can be found yet;
//   cached:  it was published under an identity and is found by it, with or without holders. Without, it may be evicted.
// Active blocks are those with holders.
#ifndef TESTS_ORACLE_POOL_H
#define TESTS_ORACLE_POOL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct oracle_block {
    uint32_t n_holders;
    uint64_t identity; // of its content and everything in front of it
    uint64_t published_at;
    uint64_t released_at; // when the last holder let go of it
    bool is_published;
} oracle_block;

typedef struct oracle_pool {
    oracle_block *blocks;
    uint32_t n_blocks;
    uint64_t clock; // counts publications and releases
} oracle_pool;

#define ORACLE_NO_BLOCK UINT32_MAX

void oracle_pool_init(oracle_pool *pool, uint32_t n_blocks);
void oracle_pool_clear(oracle_pool *pool);
uint32_t oracle_pool_active(const oracle_pool *pool);
// A block for a new holder: a free one, else the cached one without holders that was released longest ago. There must be one.
uint32_t oracle_pool_take(oracle_pool *pool);
void oracle_pool_publish(oracle_pool *pool, uint32_t block, uint64_t identity);
// The block of that identity, of several the one published first; ORACLE_NO_BLOCK.
uint32_t oracle_pool_find(const oracle_pool *pool, uint64_t identity);
void oracle_pool_hold(oracle_pool *pool, uint32_t block); // one more holder
void oracle_pool_release(oracle_pool *pool, uint32_t block);

#endif
