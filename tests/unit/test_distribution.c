// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/workload/distribution.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

Test(distribution, every_form_is_read_and_everything_else_refused) {
    static const struct {
        const char *text;
        sim_distribution wanted;
    } good[] = {
        { "1024", { SIM_DIST_CONSTANT, 1024, 0 } },
        { "0", { SIM_DIST_CONSTANT, 0, 0 } },
        { "4k", { SIM_DIST_CONSTANT, 4000, 0 } },
        { "uniform(1,10)", { SIM_DIST_UNIFORM, 1, 10 } },
        { " uniform ( 1 , 1Ki ) ", { SIM_DIST_UNIFORM, 1, 1024 } },
        { "normal(100,15.5)", { SIM_DIST_NORMAL, 100, 15.5 } },
        { "lognormal(512, 0.8)", { SIM_DIST_LOGNORMAL, 512, 0.8 } },
        { "gamma(0.5,200)", { SIM_DIST_GAMMA, 0.5, 200 } },
        { "zipf(1.1,1000)", { SIM_DIST_ZIPF, 1.1, 1000 } },
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        sim_distribution got;
        const char *hint = sim_distribution_parse(good[i].text, &got);
        cr_assert_null(hint, "%s: %s", good[i].text, hint);
        cr_expect(got.kind == good[i].wanted.kind && got.a == good[i].wanted.a && got.b == good[i].wanted.b, "%s",
                  good[i].text);
    }
    static const char *const bad[] = { "",
                                       "-1",
                                       "1.5",
                                       "many",
                                       "uniform",
                                       "uniform(1)",
                                       "uniform(1,2,3)",
                                       "uniform(5,1)",
                                       "uniform(1.5,3)",
                                       "uniform(1,2) x",
                                       "uniform(1,2",
                                       "uniform 1,2)",
                                       "Uniform(1,2)",
                                       "uniform(,2)",
                                       "normal(-1,1)",
                                       "normal(1,-1)",
                                       "normal(1,nan)",
                                       "lognormal(0,1)",
                                       "gamma(0,1)",
                                       "gamma(1,0)",
                                       "zipf(0,10)",
                                       "zipf(1,0)",
                                       "zipf(1,2.5)",
                                       "empirical(x.csv)",
                                       "3000000000" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sim_distribution got;
        cr_expect(sim_distribution_parse(bad[i], &got), "\"%s\" was taken", bad[i]);
    }
}

typedef struct moments {
    double mean, variance;
    uint32_t min, max;
} moments;

static moments sample(sim_distribution distribution, size_t n) {
    sim_stream *stream = sim_stream_new(7, "test");
    moments found = { .min = UINT32_MAX };
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t value;
        cr_assert(sim_distribution_draw(&distribution, stream, 0, SIM_MAX_TOKENS, &value));
        sum += value;
        squares += (double)value * value;
        if (value < found.min) found.min = value;
        if (value > found.max) found.max = value;
    }
    sim_stream_free(stream);
    found.mean = sum / (double)n;
    found.variance = squares / (double)n - found.mean * found.mean;
    return found;
}

Test(distribution, moments_agree_with_the_formulas) {
    enum { N = 200000 };
    moments m = sample((sim_distribution){ SIM_DIST_CONSTANT, 77, 0 }, 10);
    cr_expect(m.min == 77 && m.max == 77);
    m = sample((sim_distribution){ SIM_DIST_UNIFORM, 3, 12 }, N);
    cr_expect(m.min == 3 && m.max == 12, "both ends occur");
    cr_expect_float_eq(m.mean, 7.5, 0.05);
    cr_expect_float_eq(m.variance, 99.0 / 12, 0.1);
    m = sample((sim_distribution){ SIM_DIST_NORMAL, 1000, 50 }, N);
    cr_expect_float_eq(m.mean, 1000, 1);
    cr_expect_float_eq(m.variance, 2500, 40);
    m = sample((sim_distribution){ SIM_DIST_LOGNORMAL, 500, 0.5 }, N);
    cr_expect_float_eq(m.mean, 500 * exp(0.125), 3);
    m = sample((sim_distribution){ SIM_DIST_GAMMA, 4, 800 }, N);
    cr_expect_float_eq(m.mean, 800, 5);
    cr_expect_float_eq(m.variance, 160000, 3500);
}

Test(distribution, zipf_frequencies_follow_the_power_law) {
    enum { N = 400000, K = 20 };
    static const double exponents[] = { 0.5, 1.0, 1.0000001, 1.7, 3.0 };
    for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
        const double s = exponents[e];
        const sim_distribution zipf = { SIM_DIST_ZIPF, s, K };
        sim_stream *stream = sim_stream_new(11, "test");
        double count[K + 1] = { 0 }, norm = 0;
        for (int i = 0; i < N; i++) {
            uint32_t value;
            cr_assert(sim_distribution_draw(&zipf, stream, 1, K, &value));
            count[value]++;
        }
        sim_stream_free(stream);
        for (int k = 1; k <= K; k++) norm += pow(k, -s);
        for (int k = 1; k <= K; k++) {
            double expected = N * pow(k, -s) / norm;
            cr_expect_float_eq(count[k], expected, 5 * sqrt(expected) + 1, "s = %g, k = %d: %g, expected %g", s, k,
                               count[k], expected);
        }
    }
}

Test(distribution, draws_outside_the_range_are_repeated_and_hopeless_ones_reported) {
    sim_stream *stream = sim_stream_new(1, "test");
    const sim_distribution wide = { SIM_DIST_NORMAL, 5, 10 };
    for (int i = 0; i < 1000; i++) {
        uint32_t value;
        cr_assert(sim_distribution_draw(&wide, stream, 1, 12, &value));
        cr_assert(value >= 1 && value <= 12);
    }
    uint32_t value;
    const sim_distribution never = { SIM_DIST_NORMAL, 0, 0 };
    cr_expect_not(sim_distribution_draw(&never, stream, 1, SIM_MAX_TOKENS, &value));
    sim_stream_free(stream);
}
