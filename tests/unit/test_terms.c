// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/native/terms.h"

#include <criterion/criterion.h>
#include <string.h>

Test(terms, have_unique_names_that_say_what_they_are) {
    for (int t = 0; t < FPM_TERMS; t++) {
        const char *name = fpm_term_name((fpm_term)t);
        for (int other = 0; other < t; other++) cr_expect_str_neq(name, fpm_term_name((fpm_term)other));
        const size_t n = strlen(name);
        const bool is_time = n > 3 && strcmp(name + n - 3, "_us") == 0;
        cr_expect_eq(is_time, t >= FPM_TERM_PASS, "%s", name); // factors come first, then microseconds
        cr_expect_gt(strlen(fpm_term_help((fpm_term)t)), 0);
    }
}

Test(terms, defaults_are_factors_near_one_and_times_above_nothing) {
    const fpm_calibration calibration = fpm_calibration_default();
    for (int t = 0; t < FPM_TERMS; t++) {
        cr_expect_eq(calibration.terms[t], fpm_term_default((fpm_term)t));
        if (t < FPM_TERM_PASS)
            cr_expect(calibration.terms[t] > 0.1 && calibration.terms[t] < 10, "%s", fpm_term_name((fpm_term)t));
        else
            cr_expect_gt(calibration.terms[t], 0);
    }
}
