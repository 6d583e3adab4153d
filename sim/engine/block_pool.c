// SPDX-License-Identifier: GPL-3.0-or-later
//
// Identity index: chained hash table with 4-byte heads and the links inside the blocks; it wins or ties against open addressing
// for this use and makes removal cheap (notes/speed-limits.md section 6). A chain keeps publication order, so the first match is the
// oldest duplicate.
#include "sim/engine/block_pool.h"

#include <assert.h>
#include <stdlib.h>

typedef struct block {
    uint64_t identity;
    uint32_t n_holders;
    uint32_t lru_before, lru_after; // while cached; lru_after also links the free list
    uint32_t next_in_bucket;
    bool is_published;
} block;

struct sim_block_pool {
    uint32_t capacity;
    uint32_t n_active, n_cached, n_free; // n_free: created, held by nobody, without identity
    block *blocks;
    uint32_t n_created, n_allocated;
    uint32_t free_head;
    uint32_t lru_head, lru_tail; // head = least recently used
    uint32_t *buckets;
    uint32_t n_buckets; // power of two
};

static const uint32_t first_allocation_blocks = 256;

sim_block_pool *sim_block_pool_new(uint32_t capacity_blocks) {
    sim_block_pool *pool = calloc(1, sizeof *pool);
    if (!pool) return NULL;
    pool->capacity = capacity_blocks;
    pool->free_head = pool->lru_head = pool->lru_tail = SIM_NO_BLOCK;
    return pool;
}

void sim_block_pool_free(sim_block_pool *pool) {
    if (!pool) return;
    free(pool->blocks);
    free(pool->buckets);
    free(pool);
}

uint32_t sim_block_pool_capacity(const sim_block_pool *pool) { return pool->capacity; }
uint32_t sim_block_pool_active(const sim_block_pool *pool) { return pool->n_active; }
uint32_t sim_block_pool_cached(const sim_block_pool *pool) { return pool->n_cached; }

bool sim_block_pool_is_active(const sim_block_pool *pool, uint32_t b) { return pool->blocks[b].n_holders > 0; }

// --- identity index ---------------------------------------------------------------------------------------------------

static uint32_t *bucket_of(const sim_block_pool *pool, uint64_t identity) {
    return &pool->buckets[identity & (pool->n_buckets - 1)]; // identities are hashes: any bits will do
}

uint32_t sim_block_pool_find(const sim_block_pool *pool, uint64_t identity) {
    if (!pool->n_buckets) return SIM_NO_BLOCK;
    uint32_t b = *bucket_of(pool, identity);
    while (b != SIM_NO_BLOCK && pool->blocks[b].identity != identity) b = pool->blocks[b].next_in_bucket;
    return b;
}

static void index_append(sim_block_pool *pool, uint32_t b) {
    uint32_t *link = bucket_of(pool, pool->blocks[b].identity);
    while (*link != SIM_NO_BLOCK) link = &pool->blocks[*link].next_in_bucket;
    *link = b;
    pool->blocks[b].next_in_bucket = SIM_NO_BLOCK;
}

static void index_remove(sim_block_pool *pool, uint32_t b) {
    uint32_t *link = bucket_of(pool, pool->blocks[b].identity);
    while (*link != b) link = &pool->blocks[*link].next_in_bucket;
    *link = pool->blocks[b].next_in_bucket;
}

// Twice the buckets. Chains are walked in order, so duplicates keep their order.
static bool index_grow(sim_block_pool *pool, uint32_t n_buckets) {
    uint32_t *buckets = malloc(n_buckets * sizeof *buckets);
    if (!buckets) return false;
    for (uint32_t i = 0; i < n_buckets; i++) buckets[i] = SIM_NO_BLOCK;
    uint32_t *old = pool->buckets, n_old = pool->n_buckets;
    pool->buckets = buckets;
    pool->n_buckets = n_buckets;
    for (uint32_t i = 0; i < n_old; i++)
        for (uint32_t b = old[i], next; b != SIM_NO_BLOCK; b = next) {
            next = pool->blocks[b].next_in_bucket;
            index_append(pool, b);
        }
    free(old);
    return true;
}

// --- LRU list of cached blocks ----------------------------------------------------------------------------------------

static void lru_append(sim_block_pool *pool, uint32_t b) {
    pool->blocks[b].lru_before = pool->lru_tail;
    pool->blocks[b].lru_after = SIM_NO_BLOCK;
    if (pool->lru_tail == SIM_NO_BLOCK)
        pool->lru_head = b;
    else
        pool->blocks[pool->lru_tail].lru_after = b;
    pool->lru_tail = b;
    pool->n_cached++;
}

static void lru_remove(sim_block_pool *pool, uint32_t b) {
    uint32_t before = pool->blocks[b].lru_before, after = pool->blocks[b].lru_after;
    if (before == SIM_NO_BLOCK)
        pool->lru_head = after;
    else
        pool->blocks[before].lru_after = after;
    if (after == SIM_NO_BLOCK)
        pool->lru_tail = before;
    else
        pool->blocks[after].lru_before = before;
    pool->n_cached--;
}

static void assert_conservation(const sim_block_pool *pool) {
    assert((uint64_t)pool->n_active + pool->n_cached + pool->n_free == pool->n_created);
    assert(pool->n_created <= pool->capacity);
    (void)pool;
}

// --- life of a block --------------------------------------------------------------------------------------------------

void sim_block_pool_hold(sim_block_pool *pool, uint32_t b) {
    if (pool->blocks[b].n_holders++ == 0) {
        lru_remove(pool, b);
        pool->n_active++;
    }
    assert_conservation(pool);
}

// Make sure that n blocks can be created without allocating.
static bool reserve(sim_block_pool *pool, uint32_t n) {
    uint64_t wanted = (uint64_t)pool->n_created + n;
    if (wanted <= pool->n_allocated) return true;
    uint64_t size = pool->n_allocated ? pool->n_allocated : first_allocation_blocks;
    while (size < wanted) size *= 2;
    if (size > pool->capacity) size = pool->capacity;
    block *blocks = realloc(pool->blocks, size * sizeof *blocks);
    if (!blocks) return false;
    pool->blocks = blocks;
    pool->n_allocated = (uint32_t)size;
    return true;
}

static uint32_t take_one(sim_block_pool *pool) {
    uint32_t b = pool->free_head;
    if (b != SIM_NO_BLOCK) {
        pool->free_head = pool->blocks[b].lru_after;
        pool->n_free--;
    } else if (pool->n_created < pool->capacity) {
        b = pool->n_created++;
    } else {
        b = pool->lru_head;
        lru_remove(pool, b);
        index_remove(pool, b);
    }
    pool->blocks[b] = (block){ .n_holders = 1 };
    pool->n_active++;
    return b;
}

sim_take sim_block_pool_take(sim_block_pool *pool, uint32_t n, uint32_t *blocks) {
    if (n > pool->capacity - pool->n_active) return SIM_TAKE_EXHAUSTED;
    uint32_t creatable = pool->capacity - pool->n_created;
    if (!reserve(pool, n < creatable ? n : creatable)) return SIM_TAKE_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) blocks[i] = take_one(pool);
    assert_conservation(pool);
    return SIM_TAKE_OK;
}

bool sim_block_pool_publish(sim_block_pool *pool, uint32_t b, uint64_t identity) {
    assert(pool->blocks[b].n_holders > 0 && !pool->blocks[b].is_published);
    if (pool->n_created > pool->n_buckets &&
        !index_grow(pool, pool->n_buckets ? pool->n_buckets * 2 : first_allocation_blocks))
        return false;
    pool->blocks[b].identity = identity;
    pool->blocks[b].is_published = true;
    index_append(pool, b);
    return true;
}

void sim_block_pool_release(sim_block_pool *pool, uint32_t b) {
    assert(pool->blocks[b].n_holders > 0);
    if (--pool->blocks[b].n_holders > 0) return;
    pool->n_active--;
    if (pool->blocks[b].is_published) {
        lru_append(pool, b);
    } else {
        pool->blocks[b].lru_after = pool->free_head;
        pool->free_head = b;
        pool->n_free++;
    }
    assert_conservation(pool);
}
