// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/fit.h"

#include <criterion/criterion.h>
#include <math.h>

static bool fit(size_t n, const double *x, const double *ms, fpm_fit *out) {
    fpm_load_order order = { 0 };
    fpm_log_knots spread = { 0 };
    for (size_t i = 0; i < n; i++) {
        cr_assert(fpm_load_order_reserve(&order));
        fpm_load_order_insert(&order, x[i], ms[i]);
    }
    *out = (fpm_fit){ 0 };
    const bool is_fitted = fpm_fit_hinge(&order, &spread, out);
    fpm_load_order_free(&order);
    return is_fitted;
}

Test(fit_hinge, finds_a_bend_at_a_quintile) {
    // Loads 100 .. 2000; the candidate knots include the quintiles of the distinct loads, e.g. 400 = loads[3].
    double x[20], ms[20];
    for (int i = 0; i < 20; i++) {
        x[i] = 100 * (i + 1);
        ms[i] = 30 + 0.01 * x[i] + 0.05 * fmax(0, x[i] - 400);
    }
    fpm_fit found;
    cr_assert(fit(20, x, ms, &found));
    cr_assert_eq(found.knot, 400);
    cr_assert_float_eq(found.intercept, 30, 1e-7);
    cr_assert_float_eq(found.slope[0], 0.01, 1e-9);
    cr_assert_float_eq(found.bend, 0.05, 1e-9);
    cr_assert_float_eq(fpm_fit_ms(&found, (fpm_load){ { 1000, 0 } }), 70, 1e-7);
}

Test(fit_hinge, may_be_concave_but_never_falls) {
    double x[8], concave[8], falling[8];
    for (int i = 0; i < 8; i++) {
        x[i] = 100 * (i + 1);
        concave[i] = 50 + 0.2 * x[i] - 0.15 * fmax(0, x[i] - 300);
        falling[i] = 500 - 0.2 * x[i];
    }
    fpm_fit found;
    cr_assert(fit(8, x, concave, &found));
    cr_assert_lt(found.bend, 0);
    cr_assert_geq(found.slope[0] + found.bend, 0);
    cr_assert_not(fit(8, x, falling, &found));
}

Test(fit_hinge, constant_times_have_a_fit) {
    const double x[] = { 1, 20, 300, 4000, 5000, 6000 }, ms[] = { 40, 40, 40, 40, 40, 40 };
    fpm_fit found;
    cr_assert(fit(6, x, ms, &found));
    cr_assert_float_eq(fpm_fit_ms(&found, (fpm_load){ { 2500, 0 } }), 40, 1e-9);
}

Test(fit_hinge, two_distinct_loads_and_infinite_times_have_none) {
    const double two[] = { 5, 5, 9, 9, 5, 9 }, x[] = { 1, 2, 3, 4, 5, 6 };
    double ms[] = { 1, 2, 3, 4, 5, 6 };
    fpm_fit found;
    cr_assert_not(fit(6, two, ms, &found));
    ms[3] = (double)INFINITY;
    cr_assert_not(fit(6, x, ms, &found));
}

Test(fit_hinge, knots_kept_from_one_fit_to_the_next_follow_the_range_of_the_loads) {
    fpm_load_order order = { 0 };
    fpm_log_knots spread = { 0 };
    for (int i = 1; i <= 40; i++) {
        const double x = 37.0 * i, ms = 30 + 0.02 * x + 0.05 * fmax(0, x - 300) + (i * 7 % 5);
        cr_assert(fpm_load_order_reserve(&order));
        fpm_load_order_insert(&order, x, ms);
        if (i > 12) fpm_load_order_remove(&order, 37.0 * (i - 12), order.samples[0].ms);
        fpm_log_knots fresh = { 0 };
        fpm_fit kept = { 0 }, anew = { 0 };
        cr_assert_eq(fpm_fit_hinge(&order, &spread, &kept), fpm_fit_hinge(&order, &fresh, &anew));
        cr_assert_eq(kept.knot, anew.knot);
        cr_assert_eq(kept.intercept, anew.intercept);
    }
    fpm_load_order_free(&order);
}
