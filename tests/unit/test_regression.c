// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/regression.h"

#include <criterion/criterion.h>
#include <math.h>

static void learn(fpm_regression *r, uint32_t x, uint32_t y, double ms) {
    cr_assert(fpm_regression_learn(r, (fpm_load){ { x, y } }, 0, ms));
    fpm_regression_refit(r);
}
static double ask(const fpm_regression *r, uint32_t x, uint32_t y) {
    return fpm_fit_ms(&r->fit, (fpm_load){ { x, y } });
}

Test(regression, prefill_is_a_line_at_five_samples_and_a_hinge_from_six) {
    const fpm_model_options o = fpm_model_options_default();
    fpm_regression r;
    fpm_regression_init(&r, FPM_PREFILL, &o);
    for (uint32_t i = 1; i <= 5; i++) {
        cr_assert_not(r.fit.is_ready);
        learn(&r, 100 * i, 0, 10 + i);
    }
    cr_assert(r.fit.is_ready);
    cr_assert_eq(r.fit.bend, 0);
    cr_assert_float_eq(ask(&r, 1000, 0), 20, 1e-9);
    learn(&r, 600, 0, 40);
    cr_assert_neq(r.fit.bend, 0);
    fpm_regression_free(&r);
}

Test(regression, readiness_can_be_lost_and_comes_back_by_eviction) {
    fpm_model_options o = fpm_model_options_default();
    o.max_observations = 5;
    fpm_regression r;
    fpm_regression_init(&r, FPM_DECODE, &o);
    for (uint32_t i = 1; i <= 5; i++) learn(&r, i, 1000 * i, i);
    cr_assert(r.fit.is_ready);
    learn(&r, 3, 3000, (double)INFINITY); // a wall time that overflowed
    cr_assert_not(r.fit.is_ready);
    for (uint32_t i = 1; i <= 12; i++) learn(&r, i % 6 + 1, 1000 * (i % 6 + 1), i % 6 + 1);
    cr_assert(r.fit.is_ready);
    fpm_regression_free(&r);
}

Test(regression, predictions_are_at_least_a_millionth_of_a_millisecond) {
    const fpm_model_options o = fpm_model_options_default();
    fpm_regression r;
    fpm_regression_init(&r, FPM_DECODE, &o);
    for (uint32_t i = 10; i < 15; i++) learn(&r, i, 0, 100 * i - 900);
    cr_assert(r.fit.is_ready);
    cr_assert_lt(r.fit.intercept, 0);
    cr_assert_eq(ask(&r, 1, 0), 1e-6);
    fpm_regression_free(&r);
}

Test(regression, a_copy_goes_its_own_way) {
    const fpm_model_options o = fpm_model_options_default();
    fpm_regression r, copy;
    fpm_regression_init(&r, FPM_PREFILL, &o);
    for (uint32_t i = 1; i <= 70; i++) learn(&r, i * 37 % 400 + 1, 0, 20 + i % 7 + i * 37 % 400);
    cr_assert(fpm_regression_copy(&copy, &r));
    const double before = ask(&copy, 200, 0);
    cr_assert_eq(before, ask(&r, 200, 0));
    learn(&r, 200, 0, 9000);
    cr_assert_eq(before, ask(&copy, 200, 0));
    learn(&copy, 200, 0, 9000);
    cr_assert_eq(ask(&r, 200, 0), ask(&copy, 200, 0));
    fpm_regression_free(&copy);
    fpm_regression_free(&r);
}
