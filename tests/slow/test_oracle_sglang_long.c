// SPDX-License-Identifier: GPL-3.0-or-later
//
// The long form of property/test_oracle_sglang.
#include <criterion/criterion.h>

#include "tests/oracle/differential.h"

Test(oracle_sglang_long, thousands_of_random_experiments_are_byte_identical_to_the_oracle) {
    cr_expect_eq(differential_run(random_case_sglang, 1000001, 5000).n_differences, 0);
}
