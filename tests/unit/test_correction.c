// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/correction.h"

#include <criterion/criterion.h>
#include <math.h>

static double factor(const fpm_correction *c, uint32_t x) { return fpm_correction_factor(c, (fpm_load){ { x, 0 } }); }
static void learn(fpm_correction *c, uint32_t x, double ratio) {
    cr_assert(fpm_correction_learn(c, (fpm_load){ { x, 0 } }, ratio));
}

Test(correction, the_factor_is_the_median_of_the_bucket_once_the_kind_is_ready) {
    const fpm_model_options o = fpm_model_options_default();
    fpm_correction c;
    fpm_correction_init(&c, FPM_PREFILL, &o);
    learn(&c, 100, 1.5);
    learn(&c, 110, 1.1);
    learn(&c, 120, 1.3);
    learn(&c, 8000, 0.7);
    cr_assert_eq(factor(&c, 100), 1.0); // four of five
    learn(&c, 130, 1.9);
    cr_assert_float_eq(factor(&c, 100), (1.3 + 1.5) / 2, 1e-15);
    cr_assert_eq(factor(&c, 8192), 0.7); // one sample will do, and the end of the grid belongs to it
    cr_assert_eq(factor(&c, 8193), 1.0);
    cr_assert_eq(factor(&c, 4000), 1.0); // an empty bucket
    cr_assert_eq(fpm_correction_ready_buckets(&c), 2);
    fpm_factors all = { 0 };
    fpm_correction_collect(&c, &all);
    cr_assert(all.n_buckets == 2 && all.min == 0.7 && all.max == 1.4);
    cr_assert_float_eq(all.avg, 2.1, 1e-15); // a sum yet
    fpm_correction_free(&c);
}

Test(correction, medians_skip_zero_and_infinite_ratios) {
    const struct {
        double ratios[6];
        double median;
        bool has_one;
    } cases[] = {
        { { 1, 2, 3, HUGE_VAL, HUGE_VAL, HUGE_VAL }, 2, true },
        { { 0, 0, 0, 4, 0, HUGE_VAL }, 4, true },
        { { 0, 0, 3, 5, HUGE_VAL, HUGE_VAL }, 4, true },
        { { HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL }, 1, false },
        { { 0, 0, 0, HUGE_VAL, HUGE_VAL, HUGE_VAL }, 1, false },
        { { 1e308, 1.5e308, 1e308, 1.5e308, 1e308, 1.5e308 }, 1.25e308, true }, // no overflow in the mean
    };
    fpm_model_options o = fpm_model_options_default();
    o.is_faster_unbounded = o.is_slower_unbounded = true; // or there are no such ratios
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fpm_correction c;
        fpm_correction_init(&c, FPM_PREFILL, &o);
        for (int k = 0; k < 6; k++) learn(&c, 100, cases[i].ratios[k]);
        fpm_factors all = { 0 };
        fpm_correction_collect(&c, &all);
        cr_assert_eq(factor(&c, 100), cases[i].median, "case %zu: %g", i, factor(&c, 100));
        cr_assert_eq(all.n_buckets, cases[i].has_one);
        cr_assert_eq(fpm_correction_ready_buckets(&c), 1);
        fpm_correction_free(&c);
    }
}

Test(correction, each_kind_has_its_own_axes) {
    const fpm_model_options o = fpm_model_options_default();
    const struct {
        fpm_kind kind;
        uint32_t x, y;
        bool is_inside;
    } cases[] = { { FPM_PREFILL, 8192, 4000000000u, true },
                  { FPM_PREFILL, 8193, 0, false },
                  { FPM_DECODE, 512, 2000000, true },
                  { FPM_DECODE, 513, 0, false },
                  { FPM_DECODE, 1, 2000001, false },
                  { FPM_MIXED, 8192, 2000000, true },
                  { FPM_MIXED, 8193, 0, false },
                  { FPM_MIXED, 1, 2000001, false } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fpm_correction c;
        fpm_correction_init(&c, cases[i].kind, &o);
        cr_assert(fpm_correction_learn(&c, (fpm_load){ { cases[i].x, cases[i].y } }, 1));
        cr_assert_eq(c.samples.n, cases[i].is_inside, "case %zu", i);
        fpm_correction_free(&c);
    }
}
