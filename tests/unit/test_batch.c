// SPDX-License-Identifier: GPL-3.0-or-later
//
// The decode batch against one counter per member.
#include <criterion/criterion.h>
#include <stdlib.h>

#include "sim/engine/batch.h"

enum { MOST = 40 };

typedef struct naive_member {
    bool is_member;
    uint32_t length, n_left;
    uint64_t admission;
    int64_t last_token_ns;
} naive_member;

// The members are told by the times of their newest tokens: the groups, and the rest at the last decode pass.
static void compare_token_times(const sim_batch *batch, const naive_member *naive, unsigned seed) {
    uint32_t n_rest = 0;
    for (uint32_t i = 0; i < MOST; i++) n_rest += naive[i].is_member && naive[i].last_token_ns == batch->last_token_ns;
    for (uint32_t g = 0; g < batch->n_late; g++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < MOST; i++)
            n += naive[i].is_member && naive[i].last_token_ns == batch->late[g].last_token_ns;
        cr_assert_eq(batch->late[g].n_members, n, "seed %u", seed);
        n_rest += n;
    }
    cr_assert_eq(n_rest, batch->n_members, "seed %u", seed);
}

static void compare(const sim_batch *batch, const sim_sequence *sequences, const naive_member *naive, unsigned seed) {
    uint64_t count = 0, sum = 0, squares = 0, need = 0;
    for (uint32_t i = 0; i < MOST; i++) {
        if (!naive[i].is_member) continue;
        count++;
        sum += naive[i].length;
        squares += (uint64_t)naive[i].length * naive[i].length;
        bool begins_block = (naive[i].length - 1 + batch->n_ahead) % batch->block_size == 0;
        need += begins_block;
        cr_assert_eq(sim_sequence_length(batch, &sequences[i]), naive[i].length, "seed %u", seed);
        cr_assert_eq(sim_batch_needs_block(batch, &sequences[i]), begins_block, "seed %u", seed);
    }
    cr_assert_eq(batch->n_members, count, "seed %u", seed);
    cr_assert_eq(batch->contexts.sum, sum, "seed %u", seed);
    cr_assert_eq((uint64_t)batch->contexts.squares, squares, "seed %u", seed);
    cr_assert_eq(sim_batch_block_need(batch), need, "seed %u", seed);
    compare_token_times(batch, naive, seed);
}

// The member the naive batch finishes next: no tokens left, first admitted.
static uint32_t naive_finished(const naive_member *naive) {
    uint32_t found = SIM_NO_SEQUENCE;
    for (uint32_t i = 0; i < MOST; i++)
        if (naive[i].is_member && naive[i].n_left == 0 &&
            (found == SIM_NO_SEQUENCE || naive[i].admission < naive[found].admission))
            found = i;
    return found;
}

static void finish_members(sim_batch *batch, sim_sequence *sequences, naive_member *naive, unsigned seed) {
    for (;;) {
        uint32_t index = sim_batch_finished(batch, sequences);
        cr_assert_eq(index, naive_finished(naive), "seed %u", seed);
        if (index == SIM_NO_SEQUENCE) return;
        sim_batch_leave(batch, sequences, index);
        naive[index].is_member = false;
        cr_assert_eq(sequences[index].n_generated, sequences[index].n_final, "seed %u", seed);
        cr_assert_eq(sequences[index].n_computed, naive[index].length - 1, "seed %u", seed);
    }
}

static void run(unsigned seed) {
    unsigned dice = seed;
    uint32_t block_size = 1 + (uint32_t)rand_r(&dice) % 9, n_ahead = seed % 2;
    int64_t now_ns = 0;
    sim_batch batch;
    sim_sequence sequences[MOST] = { { 0 } };
    naive_member naive[MOST] = { { 0 } };
    cr_assert(sim_batch_init(&batch, block_size, n_ahead) && sim_batch_reserve(&batch, MOST));
    uint64_t n_admissions = 0;
    for (int step = 0; step < 500; step++) {
        uint32_t i = (uint32_t)rand_r(&dice) % MOST;
        if (naive[i].is_member && rand_r(&dice) % 20 == 0) { // preempted
            sim_batch_leave(&batch, sequences, i);
            naive[i].is_member = false;
            cr_assert_eq(sequences[i].n_blocks, (naive[i].length - 1 + n_ahead + block_size - 1) / block_size);
            cr_assert_eq(sequences[i].last_token_ns, naive[i].last_token_ns, "seed %u", seed);
        } else if (!naive[i].is_member && rand_r(&dice) % 2) {
            uint32_t input = 1 + (uint32_t)rand_r(&dice) % 50, generated = 1 + (uint32_t)rand_r(&dice) % 3;
            sequences[i] =
                (sim_sequence){ .input_tokens = input, .n_generated = generated, .admission = n_admissions++ };
            sequences[i].n_final = generated + 1 + (uint32_t)rand_r(&dice) % 30;
            now_ns += rand_r(&dice) % 2; // several join at one time
            sequences[i].last_token_ns = now_ns;
            naive[i] = (naive_member){ true, input + generated, sequences[i].n_final - generated,
                                       sequences[i].admission, now_ns };
            sim_batch_join(&batch, sequences, i);
        }
        if (rand_r(&dice) % 2) {
            batch.n_fresh = 0;
            sim_batch_advance(&batch, ++now_ns);
            for (uint32_t k = 0; k < MOST; k++) {
                naive[k].length += naive[k].is_member;
                naive[k].n_left -= naive[k].is_member;
                if (naive[k].is_member) naive[k].last_token_ns = now_ns;
            }
            finish_members(&batch, sequences, naive, seed);
        }
        compare(&batch, sequences, naive, seed);
    }
    sim_batch_clear(&batch);
}

Test(batch, sums_block_needs_and_finishes_are_those_of_counters_per_member) {
    for (unsigned seed = 1; seed <= 300; seed++) run(seed);
}

Test(batch, a_member_that_leaves_before_its_second_token_is_no_longer_fresh) {
    sim_batch batch;
    sim_sequence sequences[2] = { { .input_tokens = 3, .n_generated = 1, .n_final = 5 },
                                  { .input_tokens = 3, .n_generated = 2, .n_final = 5 } };
    cr_assert(sim_batch_init(&batch, 4, 0) && sim_batch_reserve(&batch, 2));
    sim_batch_join(&batch, sequences, 0);
    sim_batch_join(&batch, sequences, 1);
    cr_expect_eq(batch.n_fresh, 1); // only the first has its first token as the newest
    sim_batch_leave(&batch, sequences, 0);
    cr_expect_eq(batch.n_fresh, 0);
    sim_batch_clear(&batch);
}
