// SPDX-License-Identifier: GPL-3.0-or-later
//
// Random experiments with several attention-DP ranks in a worker, and a grid of prompts that are deferred, through the product and through the
// naive oracle: the same bytes.
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/oracle/differential.h"

Test(oracle_dp, random_experiments_are_byte_identical_to_the_oracle) {
    const differential_census census = differential_run(random_case_dp, 1, 1000);
    cr_expect_eq(census.n_differences, 0);
    if (census.n_cases < 500) return; // a count from the environment
    // The cases are worth something.
    cr_expect_gt(census.n_with_preemptions, census.n_cases / 10);
    cr_expect_gt(census.n_with_hits, census.n_cases / 4);
    cr_expect_gt(census.n_with_rejections, census.n_cases / 20);
    cr_expect_lt(census.n_dead_ends, census.n_cases / 3);
}

// The next choice of a grid point, a number in some mixed base.
static uint32_t choice(uint64_t *point, uint32_t n) {
    const uint32_t digit = (uint32_t)(*point % n);
    *point /= n;
    return digit;
}

static void add_row(random_case *c, uint32_t stamp_ms, uint32_t prompt, uint32_t output) {
    char row[120];
    snprintf(row, sizeof row,
             "{\"timestamp\": %" PRIu32 ", \"input_length\": %" PRIu32 ", \"output_length\": %" PRIu32 "}\n", stamp_ms,
             prompt, output);
    c->rows[c->n_rows++] = strdup(row);
}

// On rank 0 somebody generates, a prompt of several chunks comes, then one of a single token, which may go in front of a deferred one but not
// past an unfinished one. Rank 1 idles, or does the same a little later.
enum { DEFERRED = 9 * 6 * 4 * 3 * 3 };
static void deferred(random_case *c, uint64_t point) {
    *c = (random_case){ .seed = point };
    const uint32_t first_ms = choice(&point, 9), then_ms = first_ms + choice(&point, 6);
    const uint32_t interval = 2 + choice(&point, 4), budget = 4 + choice(&point, 3), other_rank = choice(&point, 3);
    const uint32_t stamps_ms[] = { 0, first_ms, then_ms, then_ms + 1 }, prompts[] = { 2, 13, 1, 5 },
                   outputs[] = { 30, 2, 3, 1 };
    for (uint32_t i = 0; i < 4; i++) {
        add_row(c, stamps_ms[i], prompts[i], outputs[i]);
        add_row(c, stamps_ms[i], other_rank > 0 ? prompts[i] + other_rank - 1 : 1, other_rank > 0 ? outputs[i] : 1);
    }
    random_case_set(c, "workload.source=trace");
    random_case_set(c, "engine.max_num_seqs=4");
    random_case_set(c, "engine.max_num_batched_tokens=%" PRIu32, budget);
    random_case_set(c, "engine.prefill_schedule_interval=%" PRIu32, interval);
    random_case_set(c, "parallel.data=2");
    random_case_set(c, "kv_cache.block_size=2");
    random_case_set(c, "kv_cache.num_blocks=40");
    random_case_set(c, "perfmodel.estimator=fixed");
    random_case_set(c, "perfmodel.pricing=fused");
    random_case_set(c, "perfmodel.prefill_ms=1");
    random_case_set(c, "perfmodel.decode_ms=1");
}

Test(oracle_dp, prompts_that_are_deferred) {
    const differential_census census = differential_run_all(deferred, 0, DEFERRED);
    cr_expect_eq(census.n_differences, 0);
    cr_expect_eq(census.n_dead_ends, 0);
}
