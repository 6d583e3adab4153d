// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/measures.h"

#include <criterion/criterion.h>
#include <math.h>

static sim_observation decode(int64_t i, double observed_ms, double base_ms, double tuned_ms) {
    return (sim_observation){ FPM_DECODE, i, observed_ms, base_ms, tuned_ms, SIM_NO_ESTIMATE, false };
}

Test(measures, means_and_biases_are_those_of_the_definition) {
    sim_measures *m = sim_measures_new();
    const double rows[][3] = { { 10, 8, 11 }, { 20, 25, 20 }, { 40, 50, SIM_NO_ESTIMATE } }; // observed, base, tuned
    for (int i = 0; i < 3; i++) {
        sim_observation o = decode(i, rows[i][0], rows[i][1], rows[i][2]);
        o.noiseless_ms = 10;
        o.is_outlier = i == 2;
        sim_measures_add(m, &o);
    }
    const sim_kind_measures k = sim_measures_of(m, FPM_DECODE);
    cr_expect_eq(k.n_observations, 3);
    cr_expect_eq(k.n_unpredicted, 1);
    cr_expect_eq(k.n_outliers, 1);
    cr_expect_float_eq(k.untuned.all.mape, (0.2 + 0.25 + 0.25) / 3, 1e-15);
    cr_expect_float_eq(k.untuned.all.bias, (-0.2 + 0.25 + 0.25) / 3, 1e-15);
    cr_expect_float_eq(k.untuned.without_outliers.mape, 0.225, 1e-15);
    cr_expect_eq(k.tuned.all.n, 2);
    cr_expect_float_eq(k.tuned.all.mape, 0.05, 1e-15);
    cr_expect_float_eq(k.tuned.all.bias, 0.05, 1e-15);
    cr_expect_float_eq(k.floor.mape, (0 + 0.5 + 0.75) / 3, 1e-15);
    cr_expect_float_eq(k.tuned.max_ape, 0.1, 1e-15);
    cr_expect_eq(sim_measures_of(m, FPM_MIXED).n_observations, 0);
    sim_measures_free(m);
}

// The error of pass i is i per cent of nothing in particular: only its place matters.
Test(measures, the_last_tenth_and_the_settled_rest_are_counted_from_the_right_places) {
    static const uint64_t counts[] = { 1, 9, 10, 11, 127, 128, 129, 200, 201, 1000, 12345 };
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        const uint64_t n = counts[c], tenth = (n + 9) / 10;
        sim_measures *m = sim_measures_new();
        for (uint64_t i = 0; i < n; i++) {
            const sim_observation o = decode((int64_t)i, 1, 2, i >= n - tenth ? 1.5 : 3);
            sim_measures_add(m, &o);
        }
        const sim_kind_measures k = sim_measures_of(m, FPM_DECODE);
        const uint64_t extra = k.tuned.final.n - tenth;
        cr_expect(k.tuned.final.n >= tenth && (double)extra <= (n <= 128 ? 0 : 0.016 * (double)n),
                  "%llu of %llu are the last 10 %%", (unsigned long long)k.tuned.final.n, (unsigned long long)n);
        const double expected = (0.5 * (double)tenth + 2 * (double)extra) / (double)k.tuned.final.n;
        cr_expect_float_eq(k.tuned.final.mape, expected, 1e-12);
        cr_expect_eq(k.tuned.settled.n, n > 200 ? n - 200 : 0);
        sim_measures_free(m);
    }
}

Test(measures, windows_hold_every_pass_once_and_in_order) {
    sim_measures *m = sim_measures_new();
    for (int64_t i = 0; i < 5000; i++) {
        const sim_observation o = decode(i, 1, 1 + 1e-3 * (double)i, 1);
        sim_measures_add(m, &o);
        static const size_t mosts[] = { 1, 3, 16, 1000 };
        for (size_t k = 0; k < 4 && i % 37 == 0; k++) {
            sim_error_window windows[128];
            const size_t n = sim_measures_windows(m, FPM_DECODE, mosts[k], windows);
            cr_assert(n >= 1 && n <= mosts[k]);
            int64_t next = 0;
            for (size_t w = 0; w < n; w++) {
                cr_assert_eq(windows[w].first_ns, next);
                next += (int64_t)windows[w].n;
                cr_assert_eq(windows[w].last_ns, next - 1);
                const double mean = 0.5e-3 * (double)(windows[w].first_ns + windows[w].last_ns);
                cr_assert_float_eq(windows[w].untuned.mape, mean, 1e-9);
                cr_assert(w == n - 1 || windows[w].n == windows[0].n);
            }
            cr_assert_eq(next, i + 1);
        }
    }
    sim_measures_free(m);
}
