// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/kernel/clock.h"

#include <criterion/criterion.h>
#include <math.h>

Test(clock, milliseconds_round_half_up_to_whole_nanoseconds) {
    const struct {
        double ms;
        int64_t ns;
    } cases[] = {
        { 0, 0 }, { 1, 1000000 }, { 2.385, 2385000 }, { 0.0000005, 1 }, { 0.00000049, 0 }, { 16.50142, 16501420 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t ns = -1;
        cr_expect(sim_ns_from_ms(cases[i].ms, &ns));
        cr_expect_eq(ns, cases[i].ns, "%g ms gave %ld ns", cases[i].ms, (long)ns);
    }
}

Test(clock, refuses_times_that_are_not_times) {
    const double cases[] = { -1, -1e-9, nan(""), HUGE_VAL, 9223372036854.776, 1e300 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t ns;
        cr_expect_not(sim_ns_from_ms(cases[i], &ns), "%g ms", cases[i]);
    }
}

Test(clock, sums_that_do_not_fit_are_refused) {
    int64_t sum;
    cr_expect(sim_ns_add(1, 2, &sum) && sum == 3);
    cr_expect_not(sim_ns_add(INT64_MAX, 1, &sum));
}
