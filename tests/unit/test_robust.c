// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/regression.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static fpm_regression fresh(fpm_kind kind) {
    fpm_model_options o = fpm_model_options_default();
    o.regression = FPM_REGRESSION_ROBUST;
    fpm_regression r;
    fpm_regression_init(&r, kind, &o);
    return r;
}

static void learn(fpm_regression *r, uint32_t x, uint32_t y, uint32_t batch, double ms) {
    cr_assert(fpm_regression_learn(r, (fpm_load){ { x, y } }, batch, ms));
}

static double ask(fpm_regression *r, uint32_t x, uint32_t y, uint32_t batch) {
    fpm_regression_refit(r);
    cr_assert(fpm_regression_is_ready(r));
    return fpm_regression_ms(r, (fpm_load){ { x, y } }, batch);
}

static uint32_t any(uint32_t below) { return 1 + (uint32_t)rand() % below; }

Test(robust, finds_what_makes_each_kind) {
    fpm_regression prefill = fresh(FPM_PREFILL), decode = fresh(FPM_DECODE), mixed = fresh(FPM_MIXED);
    srand(1);
    for (int i = 0; i < 150; i++) { // more than are kept: the batches go with their samples
        const uint32_t t = any(8000), r = any(256), k = r * any(3000);
        learn(&prefill, t, 0, 0, 16 + 0.015 * t + 4e-7 * t * t);
        learn(&decode, r, k, r, 5 + 0.02 * r + 2e-5 * k);
        learn(&mixed, t, k, r, 9 + 0.01 * t + 2e-5 * k + 0.05 * r);
    }
    cr_assert_float_eq(ask(&prefill, 5000, 0, 0), 16 + 75 + 10, 1e-3);
    cr_assert_float_eq(ask(&prefill, 8, 0, 0), 16.12, 1e-3);
    cr_assert_float_eq(ask(&decode, 100, 100000, 100), 9, 1e-3);
    cr_assert_float_eq(ask(&mixed, 1000, 100000, 200), 9 + 10 + 2 + 10, 1e-3);
    cr_assert_float_eq(ask(&mixed, 1000, 100000, 1), 9 + 10 + 2 + 0.05, 1e-3);
    fpm_regression_free(&prefill);
    fpm_regression_free(&decode);
    fpm_regression_free(&mixed);
}

// The decode polynomial of the mocker (interface.md), whose samples lie at all loads: a straight line is far off at the most frequent ones.
Test(robust, decode_times_may_flatten_with_the_context) {
    const double capacity = 320000;
    fpm_regression r = fresh(FPM_DECODE);
    srand(3);
    for (int i = 0; i < 64; i++) {
        const double u = (double)any(1000) / 1000;
        learn(&r, 1 + (uint32_t)(u * 40), (uint32_t)(u * capacity), 1, -25.74 * u * u + 54.01 * u + 5.74);
    }
    for (double u = 0.02; u < 1; u += 0.07)
        cr_expect_float_eq(ask(&r, 1 + (uint32_t)(u * 40), (uint32_t)(u * capacity), 1) /
                               (-25.74 * u * u + 54.01 * u + 5.74),
                           1, 0.01, "at %g", u);
    cr_expect_geq(ask(&r, 60, 4 * 320000, 1), ask(&r, 60, 320000, 1), "never falls, also beyond what was seen");
    fpm_regression_free(&r);
}

Test(robust, outliers_of_factor_20_do_not_move_it) {
    fpm_regression r = fresh(FPM_PREFILL);
    srand(2);
    for (int i = 0; i < 64; i++) {
        const uint32_t t = any(8000);
        learn(&r, t, 0, 0, (10 + 0.02 * t) * (i % 9 == 4 ? 20 : 1));
    }
    for (uint32_t t = 100; t < 8000; t += 700) cr_assert_float_eq(ask(&r, t, 0, 0) / (10 + 0.02 * t), 1, 0.02);
    fpm_regression_free(&r);
}

Test(robust, never_falls_and_a_constant_is_an_answer) {
    fpm_regression constant = fresh(FPM_DECODE), falling = fresh(FPM_PREFILL);
    for (uint32_t i = 1; i <= 20; i++) {
        learn(&constant, 32, 1000, 32, 12); // the same load: no feature changes
        learn(&falling, 100 * i, 0, 0, 50 - i);
    }
    cr_assert_float_eq(ask(&constant, 32, 1000, 32), 12, 1e-9);
    cr_assert_float_eq(ask(&constant, 500, 900000, 500), 12, 1e-9);
    double before = 0;
    for (uint32_t t = 1; t < 5000; t += 100) {
        cr_assert_geq(ask(&falling, t, 0, 0), before);
        before = ask(&falling, t, 0, 0);
    }
    fpm_regression_free(&constant);
    fpm_regression_free(&falling);
}

Test(robust, answers_from_min_observations_on_and_passes_over_infinite_times) {
    fpm_regression r = fresh(FPM_PREFILL);
    for (uint32_t i = 1; i <= 4; i++) learn(&r, 100 * i, 0, 0, 10.0 * i);
    fpm_regression_refit(&r);
    cr_assert_not(fpm_regression_is_ready(&r));
    learn(&r, 700, 0, 0, HUGE_VAL);
    cr_assert_float_eq(ask(&r, 300, 0, 0), 30, 1e-3);
    fpm_regression copy;
    cr_assert(fpm_regression_copy(&copy, &r));
    learn(&r, 500, 0, 0, 500);
    cr_assert_float_eq(ask(&copy, 300, 0, 0), 30, 1e-3);
    fpm_regression_free(&copy);
    fpm_regression_free(&r);
}

// Loads up to the largest 32-bit count, equal loads, features in exact proportion: always finite, never below the floor.
Test(robust, stays_finite_on_awkward_loads) {
    srand(7);
    for (int round = 0; round < 300; round++) {
        fpm_regression r = fresh((fpm_kind)(FPM_PREFILL + round % 3));
        const uint32_t scale = (uint32_t[]){ 1, 3, 100, UINT32_MAX - 1 }[round % 4];
        for (int i = 0; i < 70; i++) {
            const uint32_t x = 1 + (uint32_t)((uint64_t)rand() % scale);
            learn(&r, x, round % 5 ? x : any(7), x, pow(10, rand() % 12 - 6));
        }
        const double small = ask(&r, 1, 0, 0), large = ask(&r, UINT32_MAX, UINT32_MAX, UINT32_MAX);
        cr_assert(isfinite(small) && small >= 1e-6);
        cr_assert(isfinite(large) && large >= small);
        fpm_regression_free(&r);
    }
}
