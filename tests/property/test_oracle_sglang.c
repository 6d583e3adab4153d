// SPDX-License-Identifier: GPL-3.0-or-later
//
// Random experiments with the SGLang scheduler, through the product and through the naive oracle: the same bytes.
#include <criterion/criterion.h>

#include "tests/oracle/differential.h"

Test(oracle_sglang, random_experiments_are_byte_identical_to_the_oracle) {
    const differential_census census = differential_run(random_case_sglang, 1, 500);
    cr_expect_eq(census.n_differences, 0);
    if (census.n_cases < 400) return; // a count from the environment
    // The cases are worth something.
    cr_expect_gt(census.n_with_preemptions, census.n_cases / 10);
    cr_expect_gt(census.n_with_hits, census.n_cases / 4);
    cr_expect_gt(census.n_with_rejections, census.n_cases / 20);
    cr_expect_lt(census.n_dead_ends, census.n_cases / 3);
}
