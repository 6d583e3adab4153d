// SPDX-License-Identifier: GPL-3.0-or-later
//
// Bounds of means are five standard errors: the seeds are fixed, so a failure is a change of the generator.
#include "sim/kernel/random.h"

#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>

enum { N_DRAWS = 200000 };

Test(random, the_same_seed_and_name_give_the_same_stream) {
    sim_stream *a = sim_stream_new(7, "arrivals"), *b = sim_stream_new(7, "arrivals");
    for (int i = 0; i < 1000; i++) cr_assert_eq(sim_stream_integer(a, UINT64_MAX), sim_stream_integer(b, UINT64_MAX));
    sim_stream_free(a);
    sim_stream_free(b);
    sim_stream_free(NULL);
}

Test(random, another_seed_or_name_gives_an_unrelated_stream) {
    const struct {
        uint64_t seed;
        const char *name;
    } others[] = {
        { 8, "arrivals" }, { 7, "lengths" }, { 7, "arrival" }, { 7, "" }, { 7 + (UINT64_C(1) << 32), "arrivals" }
    };
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        sim_stream *a = sim_stream_new(7, "arrivals"), *b = sim_stream_new(others[k].seed, others[k].name);
        double covariance = 0;
        for (int i = 0; i < N_DRAWS; i++) covariance += (sim_stream_uniform(a) - 0.5) * (sim_stream_uniform(b) - 0.5);
        double correlation = 12 * covariance / N_DRAWS;
        cr_expect_lt(fabs(correlation), 5 / sqrt(N_DRAWS), "%s: %g", others[k].name, correlation);
        sim_stream_free(a);
        sim_stream_free(b);
    }
}

Test(random, a_stream_does_not_move_when_another_one_is_drawn) {
    sim_stream *alone = sim_stream_new(42, "arrivals"), *beside = sim_stream_new(42, "arrivals");
    sim_stream *other = sim_stream_new(42, "lengths");
    for (int i = 0; i < 1000; i++) {
        for (int k = 0; k < i % 7; k++) sim_stream_gamma(other, 0.7, 3);
        cr_assert_eq(sim_stream_uniform(alone), sim_stream_uniform(beside));
    }
    sim_stream_free(alone);
    sim_stream_free(beside);
    sim_stream_free(other);
}

typedef double (*draw_fn)(sim_stream *);
static double draw_uniform(sim_stream *s) { return sim_stream_uniform(s); }
static double draw_range(sim_stream *s) { return sim_stream_range(s, 2, 5); }
static double draw_exponential(sim_stream *s) { return sim_stream_exponential(s, 2.385); }
static double draw_gaussian(sim_stream *s) { return sim_stream_gaussian(s, -3, 2); }
static double draw_log_of_lognormal(sim_stream *s) { return log(sim_stream_lognormal(s, 100, 0.8)); }
static double draw_gamma(sim_stream *s) { return sim_stream_gamma(s, 0.5, 4); }
static double draw_integer(sim_stream *s) { return (double)sim_stream_integer(s, 10); }
static double draw_large_integer(sim_stream *s) { return (double)sim_stream_integer(s, UINT64_C(3) << 40) * 0x1p-40; }

Test(random, distributions_have_the_mean_and_deviation_they_are_asked_for) {
    const struct {
        const char *name;
        draw_fn draw;
        double mean, deviation;
    } cases[] = {
        { "uniform", draw_uniform, 0.5, sqrt(1.0 / 12) },
        { "range", draw_range, 3.5, sqrt(9.0 / 12) },
        { "exponential", draw_exponential, 2.385, 2.385 },
        { "gaussian", draw_gaussian, -3, 2 },
        { "lognormal", draw_log_of_lognormal, log(100), 0.8 },
        { "gamma", draw_gamma, 4, 4 / sqrt(0.5) },
        { "integer", draw_integer, 4.5, sqrt(99.0 / 12) },
        { "large integer", draw_large_integer, 1.5, sqrt(9.0 / 12) },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sim_stream *stream = sim_stream_new(42, cases[k].name);
        double sum = 0, sum_of_squares = 0;
        for (int i = 0; i < N_DRAWS; i++) {
            double x = cases[k].draw(stream) - cases[k].mean;
            sum += x;
            sum_of_squares += x * x;
        }
        double deviation = sqrt(sum_of_squares / N_DRAWS);
        cr_expect_lt(fabs(sum / N_DRAWS), 5 * cases[k].deviation / sqrt(N_DRAWS), "%s: mean off by %g", cases[k].name,
                     sum / N_DRAWS);
        cr_expect_lt(fabs(deviation / cases[k].deviation - 1), 0.03, "%s: deviation %g", cases[k].name, deviation);
        sim_stream_free(stream);
    }
}

Test(random, draws_stay_inside_their_range) {
    sim_stream *stream = sim_stream_new(1, "range");
    const double low = 1, high = nextafter(1, 2);
    for (int i = 0; i < 1000; i++) {
        double value = sim_stream_range(stream, low, high); // the product rounds to either bound
        cr_assert(value >= low && value < high);
        cr_assert_eq(sim_stream_integer(stream, 1), 0);
        cr_assert_lt(sim_stream_integer(stream, (UINT64_C(1) << 63) + 1), (UINT64_C(1) << 63) + 1);
    }
    sim_stream_free(stream);
}

static uint64_t draw_of(uint64_t seed, const char *stream, uint64_t a, uint64_t b) {
    const sim_dice dice = sim_dice_of(seed, stream);
    return sim_dice_u64(&dice, a, b);
}

Test(random, keyed_draws_depend_on_every_part_of_the_key_and_on_nothing_else) {
    const uint64_t draw = draw_of(42, "noise", 3, 1000);
    const sim_dice dice = sim_dice_of(42, "noise");
    const double normal = sim_dice_gaussian(&dice, 3, 1000);
    for (uint64_t i = 0; i < 100; i++) sim_dice_gaussian(&dice, i, i);
    cr_expect_eq(draw_of(42, "noise", 3, 1000), draw, "no order, no state");
    cr_expect_eq(sim_dice_gaussian(&dice, 3, 1000), normal);
    cr_expect_neq(draw_of(43, "noise", 3, 1000), draw);
    cr_expect_neq(draw_of(42, "route", 3, 1000), draw);
    cr_expect_neq(draw_of(42, "noise", 4, 1000), draw);
    cr_expect_neq(draw_of(42, "noise", 3, 1001), draw);
    cr_expect_neq(draw_of(42, "noise", 1000, 3), draw, "the parts of a key are not interchangeable");
}

Test(random, keyed_uniform_draws_are_uniform_over_neighbouring_keys) {
    const sim_dice dice = sim_dice_of(42, "noise");
    double sum = 0, serial = 0, before = 0.5;
    for (uint64_t i = 0; i < N_DRAWS; i++) {
        double u = sim_dice_uniform(&dice, i / 100, i % 100);
        cr_assert(u > 0 && u < 1);
        sum += u - 0.5;
        serial += (u - 0.5) * (before - 0.5);
        before = u;
    }
    cr_expect_lt(fabs(sum / N_DRAWS), 5 / sqrt(12.0 * N_DRAWS));
    cr_expect_lt(fabs(12 * serial / N_DRAWS), 5 / sqrt(N_DRAWS));
}

// Largest distance between the shares of draws below a value and the normal distribution, against Kolmogorov's bound for a chance of 1 in 1,000; and the
// correlation of neighbours.
Test(random, keyed_normal_draws_are_normal_over_neighbouring_keys) {
    const sim_dice dice = sim_dice_of(42, "noise");
    static double draws[N_DRAWS];
    double serial = 0, distance = 0;
    for (uint64_t i = 0; i < N_DRAWS; i++) {
        draws[i] = sim_dice_gaussian(&dice, i / 100, i % 100);
        if (i > 0) serial += draws[i] * draws[i - 1];
    }
    gsl_sort(draws, 1, N_DRAWS);
    for (uint64_t i = 0; i < N_DRAWS; i++) {
        const double share = gsl_cdf_ugaussian_P(draws[i]);
        distance = fmax(distance, fmax(share - (double)i / N_DRAWS, (double)(i + 1) / N_DRAWS - share));
    }
    cr_expect_lt(distance, 1.95 / sqrt(N_DRAWS));
    cr_expect_lt(fabs(serial / N_DRAWS), 5 / sqrt(N_DRAWS));
}
