// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/block_bootstrap.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tests/support/dice.h"

static double noise(void) { return (double)dice(1u << 30) / (1u << 30) - 0.5; }

Test(block_bootstrap, the_autocorrelation_time_is_that_of_the_process) {
    static double series[100000];
    static const struct { double memory, bound; } cases[] = { { 0, 0.15 }, { 0.5, 0.3 }, { 0.9, 3 } };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const double memory = cases[c].memory, expected = (1 + memory) / (1 - memory); // of an AR(1)
        double state = 0;
        for (size_t i = 0; i < 100000; i++) series[i] = state = memory * state + noise();
        cr_expect_float_eq(sim_autocorrelation_time(series, 100000), expected, cases[c].bound, "%g: %g for %g", memory,
                           sim_autocorrelation_time(series, 100000), expected);
    }
}

Test(block_bootstrap, a_series_without_spread_or_length_has_the_time_of_one_step) {
    const double series[5] = { 2.385, 2.385, 2.385, 2.385, 2.385 }, turns[6] = { 1, -1, 1, -1, 1, -1 };
    cr_expect_eq(sim_autocorrelation_time(series, 5), 1);
    cr_expect_eq(sim_autocorrelation_time(series, 1), 1);
    cr_expect_eq(sim_autocorrelation_time(turns, 6), 1);
}

Test(block_bootstrap, blocks_are_as_long_as_the_correlation_asks_for) {
    static const struct {
        size_t n_requests;
        double time;
        uint32_t n_cells, n_blocks;
        bool is_short;
    } cases[] = {
        { 4000, 1, 4000, 30, false },   // never more than 30
        { 4000, 10, 4000, 20, false },  // 200 requests each
        { 4000, 45, 4000, 4, false },   // 900 of them
        { 4000, 70, 4000, 4, false },   // a little shorter than wanted
        { 4000, 200, 4000, 4, true },   // no block that is long enough
        { 100000, 1, 4096, 30, false }, // cells of several requests
        { 3, 1, 3, 3, true },
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        sim_blocks blocks = sim_blocks_new(cases[c].n_requests);
        sim_blocks_choose(&blocks, cases[c].time);
        cr_expect_eq(blocks.n_cells, cases[c].n_cells, "%zu: %u cells", c, blocks.n_cells);
        cr_expect_eq(blocks.n_blocks, cases[c].n_blocks, "%zu: %u blocks", c, blocks.n_blocks);
        cr_expect_eq(blocks.is_short, cases[c].is_short, "%zu", c);
        cr_expect_eq(sim_blocks_cell(&blocks, 0), 0);
        cr_expect_eq(sim_blocks_cell(&blocks, cases[c].n_requests - 1), blocks.n_cells - 1);
    }
}

Test(block_bootstrap, a_resample_is_as_long_as_the_run_and_sums_are_those_of_its_weights) {
    for (int round = 0; round < 200; round++) {
        enum { MOST = 500 };
        double values[MOST], sums[MOST + 1] = { 0 };
        uint32_t starts[SIM_BOOTSTRAP_MAX_BLOCKS], weights[MOST];
        sim_blocks blocks = sim_blocks_new(1 + dice(MOST));
        sim_blocks_choose(&blocks, 1 + (double)dice(8));
        for (uint32_t i = 0; i < blocks.n_cells; i++) sums[i + 1] = sums[i] + (values[i] = noise());
        sim_blocks_draw(&blocks, 42, "test", (uint64_t)round, starts);
        sim_blocks_weigh(&blocks, starts, weights);
        uint64_t n = 0;
        double sum = 0;
        for (uint32_t i = 0; i < blocks.n_cells; i++) {
            n += weights[i];
            sum += weights[i] * values[i];
        }
        cr_expect_eq(n, blocks.n_cells);
        cr_expect_float_eq(sim_blocks_sum(&blocks, starts, sums), sum, 1e-9);
    }
}

Test(block_bootstrap, draws_depend_on_seed_stream_and_replicate_alone) {
    sim_blocks blocks = sim_blocks_new(4000);
    sim_blocks_choose(&blocks, 1);
    uint32_t first[SIM_BOOTSTRAP_MAX_BLOCKS], again[SIM_BOOTSTRAP_MAX_BLOCKS];
    sim_blocks_draw(&blocks, 42, "a", 7, first);
    sim_blocks_draw(&blocks, 42, "a", 8, again);
    cr_expect_neq(memcmp(first, again, sizeof first), 0);
    sim_blocks_draw(&blocks, 42, "b", 7, again);
    cr_expect_neq(memcmp(first, again, sizeof first), 0);
    sim_blocks_draw(&blocks, 42, "a", 7, again);
    cr_expect_eq(memcmp(first, again, sizeof first), 0);
}

Test(block_bootstrap, standard_errors_are_counted_by_student_s_t) {
    // t of 3 and of 29 degrees of freedom at 97.5 %, from tables
    cr_expect_float_eq(sim_bootstrap_expand(1.959964, 4, 3), 3.182446 * sqrt(4.0 / 3), 1e-4);
    cr_expect_float_eq(sim_bootstrap_expand(1.959964, 30, 29), 2.045230 * sqrt(30.0 / 29), 1e-4);
    cr_expect_float_eq(sim_bootstrap_expand(0, 30, 29), 0, 1e-12);
}
