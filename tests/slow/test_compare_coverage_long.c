// SPDX-License-Identifier: GPL-3.0-or-later
//
// Intervals hold the truth (compare_cases.h) over 200 seeds, and differences that large are named.
#include "tests/support/compare_cases.h"

// 95 % less two standard errors of 200 draws and of the truth is 91.5 %; fifteen figures at once leave room for one more.
Test(compare_coverage_long, intervals_of_a_known_difference_hold_it_over_200_seeds, .timeout = 1800) {
    enum { N_TRUTH = 1000, N_SEEDS = 200 };
    for (size_t c = 0; c < sizeof compare_cases / sizeof *compare_cases; c++) {
        compare_tally tally = { .n_truth = 0 };
        compare_truth_of(&tally, &compare_cases[c], N_TRUTH);
        compare_seeds(&tally, &compare_cases[c], N_SEEDS);
        int sum = 0;
        for (size_t i = 0; i < tally.n_figures; i++) {
            printf("%-24s %-24s %+7.1f %%: held by %.1f %% of the intervals, named by %.1f %% of the verdicts\n",
                   compare_cases[c].name, tally.keys[i], 100 * (tally.b[i] / tally.a[i] - 1),
                   100.0 * tally.n_covered[i] / N_SEEDS, 100.0 * tally.n_named[i] / N_SEEDS);
            cr_expect_geq(tally.n_covered[i], 180, "%s: %s: %d", compare_cases[c].name, tally.keys[i],
                          tally.n_covered[i]);
            cr_expect_geq(tally.n_named[i], 130, "%s: %s: %d", compare_cases[c].name, tally.keys[i], tally.n_named[i]);
            sum += tally.n_covered[i];
        }
        cr_expect_geq(sum, (int)(0.935 * N_SEEDS * (double)tally.n_figures), "%s: %d", compare_cases[c].name, sum);
    }
}
