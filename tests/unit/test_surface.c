// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/correction.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static fpm_correction fresh(fpm_kind kind) {
    fpm_model_options o = fpm_model_options_default();
    o.correction = FPM_CORRECTION_SMOOTH;
    fpm_correction c;
    fpm_correction_init(&c, kind, &o);
    return c;
}

static void learn(fpm_correction *c, uint32_t x, uint32_t y, double ratio) {
    cr_assert(fpm_correction_learn(c, (fpm_load){ { x, y } }, ratio));
    fpm_correction_refit(c);
}

static double factor(const fpm_correction *c, uint32_t x, uint32_t y) {
    return fpm_correction_factor(c, (fpm_load){ { x, y } });
}

static double noise(double cv) { return 1 + cv * 3.46 * ((double)rand() / RAND_MAX - 0.5); }

Test(surface, a_bias_is_corrected_everywhere_once_the_kind_is_ready) {
    fpm_correction c = fresh(FPM_PREFILL);
    srand(1);
    for (uint32_t i = 0; i < 4; i++) learn(&c, 100 + 900 * i, 0, 1.4);
    cr_assert_eq(factor(&c, 100, 0), 1.0);
    for (uint32_t i = 0; i < 60; i++) learn(&c, 100 + (uint32_t)rand() % 4000, 0, 1.4 * noise(0.05));
    const uint32_t loads[] = { 1, 100, 1000, 4000, 8192, 100000 }; // the last ones no sample is near
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) cr_assert_float_eq(factor(&c, loads[i], 0), 1.4, 0.06);
    fpm_correction_free(&c);
}

Test(surface, is_monotone_and_stays_within_what_was_seen_and_the_bounds) {
    fpm_correction c = fresh(FPM_DECODE);
    srand(2);
    for (int i = 0; i < 200; i++) {
        const uint32_t x = 1 + (uint32_t)rand() % 256, y = x * (uint32_t)(100 + rand() % 2000);
        learn(&c, x, y, fmin(2, 0.9 * pow(1 + x, 0.1) * noise(0.05)));
    }
    double before = 0;
    for (uint32_t x = 1; x < 256; x++) {
        const double now = factor(&c, x, 200000);
        cr_assert_geq(now, before);
        cr_assert_float_eq(now / (0.9 * pow(1 + x, 0.1)), 1, 0.12, "%u: %g", x, now);
        before = now;
    }
    cr_assert_eq(factor(&c, 100000, 200000), factor(&c, 512, 200000)); // flat beyond the samples
    for (int i = 0; i < 100; i++) learn(&c, 1 + (uint32_t)i, 5000, 2);
    cr_assert_leq(factor(&c, 100, 5000), 2.0);
    fpm_correction_free(&c);
}

Test(surface, outliers_move_it_little_and_few_noisy_samples_keep_it_near_1) {
    fpm_correction clean = fresh(FPM_PREFILL), dirty = fresh(FPM_PREFILL), few = fresh(FPM_PREFILL);
    srand(4);
    for (int i = 0; i < 64; i++) {
        const uint32_t x = 1 + (uint32_t)rand() % 8000;
        const double ratio = 1.3 * noise(0.05);
        learn(&clean, x, 0, ratio);
        learn(&dirty, x, 0, i % 10 == 9 ? 2.0 : ratio); // an outlier, cut to the bound
    }
    for (uint32_t x = 10; x < 8000; x += 500)
        cr_assert_float_eq(factor(&dirty, x, 0) / factor(&clean, x, 0), 1, 0.04, "%u", x);
    const double wild[] = { 0.5, 2, 0.6, 1.9, 1.7 };
    for (uint32_t i = 0; i < 5; i++) learn(&few, 1000 * (i + 1), 0, wild[i]);
    for (uint32_t x = 1000; x < 6000; x += 1000) cr_assert(factor(&few, x, 0) > 0.75 && factor(&few, x, 0) < 1.5);
    fpm_correction_free(&clean);
    fpm_correction_free(&dirty);
    fpm_correction_free(&few);
}

Test(surface, equal_loads_and_useless_ratios_do_no_harm) {
    fpm_model_options o = fpm_model_options_default();
    o.correction = FPM_CORRECTION_SMOOTH;
    o.is_faster_unbounded = o.is_slower_unbounded = true;
    fpm_correction c;
    fpm_correction_init(&c, FPM_MIXED, &o);
    for (int i = 0; i < 6; i++) learn(&c, 7, 7, i % 2 ? 0 : HUGE_VAL);
    cr_assert_eq(factor(&c, 7, 7), 1.0);
    for (int i = 0; i < 20; i++) learn(&c, 7, 7, 1.5);
    cr_assert_float_eq(factor(&c, 7, 7), 1.5, 0.01);
    cr_assert_float_eq(factor(&c, 8000, 90000), 1.5, 0.01);
    fpm_factors all = { 0 };
    fpm_correction_collect(&c, &all);
    cr_assert_eq(all.n_buckets, 1);
    cr_assert_float_eq(all.min, 1.5, 0.01);
    fpm_correction_free(&c);
}
