// SPDX-License-Identifier: GPL-3.0-or-later
//
// Intervals hold the truth (compare_cases.h), on a few seeds; slow/test_compare_coverage_long.c takes 200.
#include "tests/support/compare_cases.h"

// Of 30 seeds and 15 figures that hang together 95 % within what 30 draws allow (two standard errors: 8 points), each figure within three.
Test(compare_coverage, intervals_of_a_known_difference_hold_it, .timeout = 300) {
    enum { N_TRUTH = 60, N_SEEDS = 30 };
    for (size_t c = 0; c < sizeof compare_cases / sizeof *compare_cases; c++) {
        compare_tally tally = { .n_truth = 0 };
        compare_truth_of(&tally, &compare_cases[c], N_TRUTH);
        compare_seeds(&tally, &compare_cases[c], N_SEEDS);
        int sum = 0;
        for (size_t i = 0; i < tally.n_figures; i++) {
            sum += tally.n_covered[i];
            cr_expect_geq(tally.n_covered[i], 25, "%s: %s: %d of %d intervals hold the truth", compare_cases[c].name,
                          tally.keys[i], tally.n_covered[i], N_SEEDS);
        }
        cr_expect_geq(sum, (int)(0.87 * N_SEEDS * (double)tally.n_figures), "%s: %d", compare_cases[c].name, sum);
    }
}

// A run of which every request is slower by the same factor, on a series whose correlation is known: the truth is the factor.
static void fill(sim_request_table *table, size_t n, double factor, double noise, uint64_t seed) {
    const sim_dice common = sim_dice_of(seed, "u"), own_dice = sim_dice_of(seed + (uint64_t)(factor * 1e6), "v");
    double state = 0;
    for (size_t i = 0; i < n; i++) {
        sim_request_outcome *row = &table->rows[i];
        const double shock = sim_dice_gaussian(&common, i, 0), own = sim_dice_gaussian(&own_dice, i, 0);
        state = 0.9 * state + shock; // autocorrelation time 19
        *row = (sim_request_outcome){ .arrival_ns = (int64_t)i, .status = SIM_REQUEST_COMPLETED, .is_measured = true };
        row->ms[0] = factor * exp(0.2 * state + noise * own);
        row->ms[1] = row->ms[2] = (double)NAN;
        row->input_tokens = (uint32_t)(1 + i % 7);
    }
}

Test(compare_coverage, intervals_hold_the_factor_between_two_correlated_series, .timeout = 120) {
    enum { N = 2000, N_SEEDS = 100 };
    sim_request_table tables[2];
    int n_covered = 0, n_named = 0;
    double wide = 0;
    for (int side = 0; side < 2; side++)
        tables[side] = (sim_request_table){
            .rows = calloc(N, sizeof *tables[side].rows), .n_rows = N, .has_input_tokens = true, .has_arrivals = true
        };
    for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
        fill(&tables[0], N, 1, 0.5, seed);
        fill(&tables[1], N, 1.2, 0.5, seed);
        sim_pairing pairing;
        sim_compared_figures figures;
        compare_tables(&tables[0], &tables[1], &pairing, &figures);
        const sim_difference *mean = &figures.set.estimates[0].difference;
        n_covered += mean->relative_interval.low <= 0.2 && mean->relative_interval.high >= 0.2;
        n_named += mean->is_significant;
        wide = fmax(wide, mean->relative_interval.high - mean->relative_interval.low);
        sim_compared_figures_clear(&figures);
        sim_pairing_clear(&pairing);
    }
    cr_expect_geq(n_covered, 90, "%d of %d", n_covered, N_SEEDS);
    cr_expect_geq(n_named, 95, "%d of %d", n_named, N_SEEDS);
    cr_expect_lt(wide, 0.25); // the correlated part is common to both and drops out
    for (int side = 0; side < 2; side++) sim_request_table_clear(&tables[side]);
}

// Unpaired runs of one configuration on other seeds: something is called significant in about one comparison of twenty.
Test(compare_coverage, runs_that_differ_by_chance_alone_are_rarely_told_apart, .timeout = 300) {
    enum { N_SEEDS = 40 };
    const compare_case *of = &compare_cases[0];
    int n_false = 0;
    for (int s = 0; s < N_SEEDS; s++) {
        compare_run runs[2];
        compare_run_new(&runs[0], of, of->b, s + 1);
        compare_run_new(&runs[1], of, of->b, s + 5001);
        sim_pairing pairing;
        sim_compared_figures figures;
        compare_tables(&runs[0].table, &runs[1].table, &pairing, &figures);
        cr_assert_not(pairing.is_paired);
        bool is_named = false;
        for (size_t i = 0; i < figures.set.n; i++) is_named |= figures.set.estimates[i].difference.is_significant;
        n_false += is_named;
        sim_compared_figures_clear(&figures);
        sim_pairing_clear(&pairing);
        for (int side = 0; side < 2; side++) compare_run_free(&runs[side]);
    }
    cr_expect_leq(n_false, 6, "%d of %d", n_false, N_SEEDS); // 5 % is 2; three standard errors more
}
