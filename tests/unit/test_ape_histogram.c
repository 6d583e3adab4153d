// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/ape_histogram.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "sim/kernel/random.h"

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

Test(ape_histogram, percentiles_are_those_of_the_sorted_errors_to_a_thousandth) {
    enum { N = 5000 };
    static double values[N];
    sim_ape_histogram *h = calloc(1, sizeof *h);
    sim_stream *dice = sim_stream_new(7, "ape");
    for (int i = 0; i < N; i++) {
        values[i] = sim_stream_lognormal(dice, 0.05, 2);
        sim_ape_histogram_add(h, values[i]);
    }
    qsort(values, N, sizeof *values, by_value);
    static const double percents[] = { 0, 1, 50, 90, 99, 99.9, 100 };
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
        const double expected = values[(size_t)floor((N - 1) * percents[i] / 100 + 0.5)];
        cr_expect_float_eq(sim_ape_histogram_percentile(h, percents[i]) / expected, 1, 1e-3, "p%g", percents[i]);
    }
    cr_expect_eq(h->max, values[N - 1]);
    sim_stream_free(dice);
    free(h);
}

Test(ape_histogram, errors_out_of_the_buckets_keep_their_order) {
    sim_ape_histogram *h = calloc(1, sizeof *h);
    cr_expect_eq(sim_ape_histogram_percentile(h, 50), 0, "empty");
    static const double values[] = { 0, 1e-12, 0.25, 65535.9, 65536, 1e300, (double)INFINITY };
    for (size_t i = 0; i < 7; i++) sim_ape_histogram_add(h, values[i]);
    cr_expect_eq(sim_ape_histogram_percentile(h, 0), 0);
    cr_expect_float_eq(sim_ape_histogram_percentile(h, 100 * 2 / 6.0), 0.25, 2.5e-4);
    cr_expect_float_eq(sim_ape_histogram_percentile(h, 50), 65536, 66);
    cr_expect_eq(sim_ape_histogram_percentile(h, 100), (double)INFINITY);
    free(h);
}
