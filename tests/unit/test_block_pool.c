// SPDX-License-Identifier: GPL-3.0-or-later
#include <criterion/criterion.h>

#include "sim/engine/block_pool.h"

static uint32_t take_one(sim_block_pool *pool) {
    uint32_t block = SIM_NO_BLOCK;
    cr_assert_eq(sim_block_pool_take(pool, 1, &block), SIM_TAKE_OK);
    return block;
}

Test(block_pool, taking_is_all_or_nothing) {
    sim_block_pool *pool = sim_block_pool_new(3);
    uint32_t blocks[4];
    cr_expect_eq(sim_block_pool_take(pool, 4, blocks), SIM_TAKE_EXHAUSTED);
    cr_expect_eq(sim_block_pool_active(pool), 0);
    cr_expect_eq(sim_block_pool_take(pool, 3, blocks), SIM_TAKE_OK);
    cr_expect_eq(sim_block_pool_take(pool, 1, blocks), SIM_TAKE_EXHAUSTED);
    cr_expect_eq(sim_block_pool_active(pool), 3);
    sim_block_pool_free(pool);
}

Test(block_pool, a_published_block_is_found_while_held_and_after) {
    sim_block_pool *pool = sim_block_pool_new(2);
    uint32_t block = take_one(pool);
    cr_expect_eq(sim_block_pool_find(pool, 77), SIM_NO_BLOCK);
    cr_assert(sim_block_pool_publish(pool, block, 77));
    cr_expect_eq(sim_block_pool_find(pool, 77), block);
    cr_expect(sim_block_pool_is_active(pool, block));
    sim_block_pool_release(pool, block);
    cr_expect_eq(sim_block_pool_find(pool, 77), block);
    cr_expect(!sim_block_pool_is_active(pool, block));
    cr_expect_eq(sim_block_pool_cached(pool), 1);
    sim_block_pool_hold(pool, block);
    cr_expect_eq(sim_block_pool_cached(pool), 0);
    cr_expect_eq(sim_block_pool_active(pool), 1);
    sim_block_pool_free(pool);
}

Test(block_pool, an_unpublished_block_is_free_after_release) {
    sim_block_pool *pool = sim_block_pool_new(1);
    sim_block_pool_release(pool, take_one(pool));
    cr_expect_eq(sim_block_pool_cached(pool) + sim_block_pool_active(pool), 0);
    take_one(pool);
    sim_block_pool_free(pool);
}

Test(block_pool, free_blocks_go_before_cached_ones_and_the_oldest_release_is_evicted_first) {
    sim_block_pool *pool = sim_block_pool_new(4);
    uint32_t blocks[4];
    cr_assert_eq(sim_block_pool_take(pool, 4, blocks), SIM_TAKE_OK);
    for (uint32_t i = 0; i < 3; i++) sim_block_pool_publish(pool, blocks[i], 100 + i); // the fourth has no identity
    sim_block_pool_release(pool, blocks[1]);
    sim_block_pool_release(pool, blocks[0]);
    sim_block_pool_release(pool, blocks[2]);
    sim_block_pool_release(pool, blocks[3]);
    cr_expect_eq(take_one(pool), blocks[3]); // free
    cr_expect_neq(sim_block_pool_find(pool, 101), SIM_NO_BLOCK);
    cr_expect_eq(take_one(pool), blocks[1]); // released first
    cr_expect_eq(sim_block_pool_find(pool, 101), SIM_NO_BLOCK);
    cr_expect_eq(take_one(pool), blocks[0]);
    cr_expect_eq(sim_block_pool_find(pool, 102), blocks[2]);
    sim_block_pool_free(pool);
}

Test(block_pool, of_duplicates_the_oldest_published_is_found) {
    sim_block_pool *pool = sim_block_pool_new(3);
    uint32_t blocks[3];
    cr_assert_eq(sim_block_pool_take(pool, 3, blocks), SIM_TAKE_OK);
    sim_block_pool_publish(pool, blocks[2], 5);
    sim_block_pool_publish(pool, blocks[0], 5);
    sim_block_pool_publish(pool, blocks[1], 5);
    cr_expect_eq(sim_block_pool_find(pool, 5), blocks[2]);
    sim_block_pool_release(pool, blocks[2]);
    take_one(pool); // evicts it
    cr_expect_eq(sim_block_pool_find(pool, 5), blocks[0]);
    sim_block_pool_free(pool);
}

// A naive pool: arrays and linear search.
enum { N_IDENTITIES = 40, CAPACITY = 24 };
typedef struct naive_block {
    int holders;
    long released_at, published_at;
    uint64_t identity; // 0 = none
} naive_block;

static int naive_find(const naive_block *naive, uint64_t identity) {
    int found = -1;
    for (int i = 0; i < CAPACITY; i++)
        if (naive[i].identity == identity && (found < 0 || naive[i].published_at < naive[found].published_at))
            found = i;
    return found;
}

static int naive_victim(const naive_block *naive) {
    int victim = -1;
    for (int i = 0; i < CAPACITY; i++)
        if (naive[i].holders == 0 && naive[i].identity &&
            (victim < 0 || naive[i].released_at < naive[victim].released_at))
            victim = i;
    return victim;
}

static int naive_free_count(const naive_block *naive) {
    int n = 0;
    for (int i = 0; i < CAPACITY; i++) n += naive[i].holders == 0 && !naive[i].identity;
    return n;
}

Test(block_pool, random_operations_agree_with_a_naive_pool) {
    unsigned seed = 20261130;
    sim_block_pool *pool = sim_block_pool_new(CAPACITY);
    naive_block naive[CAPACITY] = { { 0 } };
    for (long step = 1; step < 200000; step++) {
        uint32_t choice = (uint32_t)rand_r(&seed) % 4, block;
        uint64_t identity = 1 + (uint64_t)rand_r(&seed) % N_IDENTITIES;
        int pick = rand_r(&seed) % CAPACITY;
        if (choice == 0) {
            int n_free = naive_free_count(naive), victim = naive_victim(naive);
            sim_take outcome = sim_block_pool_take(pool, 1, &block);
            cr_assert_eq(outcome == SIM_TAKE_OK, n_free > 0 || victim >= 0, "seed 20261130, step %ld", step);
            if (outcome != SIM_TAKE_OK) continue;
            if (n_free == 0)
                cr_assert_eq(block, (uint32_t)victim, "step %ld", step);
            else
                cr_assert(naive[block].holders == 0 && !naive[block].identity, "step %ld", step);
            naive[block] = (naive_block){ .holders = 1 };
        } else if (choice == 1) {
            int expected = naive_find(naive, identity);
            block = sim_block_pool_find(pool, identity);
            cr_assert_eq((int)block, expected, "step %ld", step); // SIM_NO_BLOCK is -1
            if (expected < 0) continue;
            sim_block_pool_hold(pool, block);
            naive[block].holders++;
        } else if (naive[pick].holders > 0 && choice == 2) {
            sim_block_pool_release(pool, (uint32_t)pick);
            if (--naive[pick].holders == 0) naive[pick].released_at = step;
        } else if (naive[pick].holders > 0 && !naive[pick].identity) {
            cr_assert(sim_block_pool_publish(pool, (uint32_t)pick, identity));
            naive[pick].identity = identity;
            naive[pick].published_at = step;
        }
    }
    sim_block_pool_free(pool);
}
