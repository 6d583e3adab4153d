// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/fit.h"

#include <criterion/criterion.h>
#include <math.h>

#define MOST 8

static bool fit(unsigned n_axes, size_t n, const double *x0, const double *x1, const double *ms, fpm_fit *out) {
    static const double zeros[MOST];
    const fpm_observations seen = { n, n_axes, { x0, x1 ? x1 : zeros }, ms };
    *out = (fpm_fit){ 0 };
    return fpm_fit_linear(&seen, out);
}

Test(fit_linear, finds_exact_lines_and_planes) {
    const double x0[] = { 1, 2, 3, 5, 8 }, x1[] = { 10, 0, 30, 20, 70 };
    double line[5], plane[5];
    for (int i = 0; i < 5; i++) {
        line[i] = 4 + 2.5 * x0[i];
        plane[i] = 4 + 2.5 * x0[i] + 0.125 * x1[i];
    }
    fpm_fit found;
    cr_assert(fit(1, 5, x0, NULL, line, &found));
    cr_assert_float_eq(found.intercept, 4, 1e-12);
    cr_assert_float_eq(found.slope[0], 2.5, 1e-12);
    cr_assert(fit(2, 5, x0, x1, plane, &found));
    cr_assert_float_eq(found.intercept, 4, 1e-11);
    cr_assert_float_eq(found.slope[0], 2.5, 1e-11);
    cr_assert_float_eq(found.slope[1], 0.125, 1e-12);
}

Test(fit_linear, slopes_are_never_negative) {
    const double x0[] = { 1, 2, 3, 4, 5, 6 }, x1[] = { 6, 1, 5, 2, 4, 3 };
    double ms[6];
    for (int i = 0; i < 6; i++) ms[i] = 100 - 3 * x0[i] + 7 * x1[i];
    fpm_fit found;
    cr_assert(fit(2, 6, x0, x1, ms, &found));
    cr_assert_eq(found.slope[0], 0.0);
    cr_assert_gt(found.slope[1], 0.0);
}

Test(fit_linear, without_load_signal_there_is_a_constant_only_with_few_samples) {
    const double x0[] = { 1, 2, 3 }, x1[] = { 1, 2, 3 }, falling[] = { 9, 8, 7 };
    const struct {
        unsigned n_axes;
        size_t n;
        bool is_fitted;
    } cases[] = { { 1, 1, true }, { 1, 2, false }, { 2, 1, true }, { 2, 2, true }, { 2, 3, false } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fpm_fit found;
        cr_assert_eq(fit(cases[i].n_axes, cases[i].n, x0, x1, falling, &found), cases[i].is_fitted, "case %zu", i);
    }
}

Test(fit_linear, an_infinite_observation_makes_a_fit_impossible) {
    const double x0[] = { 1, 2, 3 }, ms[] = { 1, (double)INFINITY, 3 };
    fpm_fit found;
    cr_assert_not(fit(1, 3, x0, NULL, ms, &found));
}
