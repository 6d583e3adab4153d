// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/synthetic_truth.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "sim/kernel/clock.h"
#include "sim/tuning/measures.h"

static const sim_truth_config plain = { .source = SIM_TRUTH_SYNTHETIC,
                                        .prefill_bias = 1,
                                        .decode_bias = 1,
                                        .mixed_bias = 1,
                                        .outlier_factor = 10,
                                        .seed = -1 };

static sim_truth_answer ask(const sim_truth *truth, uint32_t worker, uint64_t pass, fpm_kind kind, int64_t now_ns,
                            double base_ms) {
    fpm_metrics rank = fpm_metrics_idle();
    rank.counter_id = pass;
    const sim_truth_query query = { worker, now_ns, &rank, 1, kind, base_ms };
    sim_truth_answer answer;
    sim_error error;
    cr_assert_eq(truth->ops->ask(truth->state, &query, &answer, &error), SIM_OK, "%s", error.message);
    return answer;
}

Test(synthetic_truth, factors_multiply_and_steps_replace_each_other) {
    sim_truth_config config = plain;
    config.prefill_bias = 1.4;
    config.decode_bias = 0.8;
    config.mixed_bias = 1.1;
    config.drift_per_hour = 0.5;
    config.steps = (sim_truth_steps){ 2, { { 600 * SIM_NS_PER_S, 1.3 }, { 1800 * SIM_NS_PER_S, 0.9 } } };
    const struct {
        fpm_kind kind;
        int64_t now_s;
        double factor;
    } cases[] = { { FPM_PREFILL, 0, 1.4 },
                  { FPM_DECODE, 0, 0.8 },
                  { FPM_MIXED, 0, 1.1 },
                  { FPM_DECODE, 599, 0.8 * (1 + 0.5 * 599 / 3600) },
                  { FPM_DECODE, 600, 0.8 * 1.3 * (1 + 0.5 / 6) },
                  { FPM_PREFILL, 1800, 1.4 * 0.9 * 1.25 },
                  { FPM_PREFILL, 7200, 1.4 * 0.9 * 2 } };
    sim_truth truth;
    cr_assert_eq(sim_synthetic_truth_new(&truth, &config, 1, 1, NULL), SIM_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sim_truth_answer a = ask(&truth, 0, i, cases[i].kind, cases[i].now_s * SIM_NS_PER_S, 20);
        cr_expect_float_eq(a.wall_s, 20e-3 * cases[i].factor, 1e-15, "case %zu: %g", i, a.wall_s);
        cr_expect_float_eq(a.noiseless_ms, 20 * cases[i].factor, 1e-12);
    }
    sim_truth_free(&truth);
}

Test(synthetic_truth, noise_has_mean_1_and_the_variation_asked_for_and_outliers_their_share) {
    enum { N = 200000 };
    sim_truth_config config = plain;
    config.noise_cv = 0.2;
    config.outlier_probability = 0.02;
    sim_truth truth;
    cr_assert_eq(sim_synthetic_truth_new(&truth, &config, 5, 1, NULL), SIM_OK);
    double sum = 0, squares = 0;
    int n_outliers = 0;
    for (uint64_t i = 0; i < N; i++) {
        const sim_truth_answer a = ask(&truth, 0, i, FPM_DECODE, 0, 1000);
        const double x = a.is_outlier ? a.wall_s / 10 : a.wall_s;
        sum += x;
        squares += x * x;
        n_outliers += a.is_outlier;
    }
    const double mean = sum / N;
    cr_expect_float_eq(mean, 1, 0.002);
    cr_expect_float_eq(sqrt(squares / N - mean * mean), 0.2, 0.003);
    cr_expect_float_eq((double)n_outliers / N, 0.02, 0.001);
    sim_truth_free(&truth);
}

Test(synthetic_truth, draws_hang_on_seed_worker_and_pass_alone) {
    sim_truth_config config = plain;
    config.noise_cv = 0.5;
    config.worker_spread_cv = 0.5;
    sim_truth few, many, other;
    cr_assert_eq(sim_synthetic_truth_new(&few, &config, 5, 2, NULL), SIM_OK);
    cr_assert_eq(sim_synthetic_truth_new(&many, &config, 5, 9, NULL), SIM_OK);
    config.seed = 6;
    cr_assert_eq(sim_synthetic_truth_new(&other, &config, 5, 2, NULL), SIM_OK);
    const double a = ask(&few, 1, 70, FPM_DECODE, 0, 10).wall_s;
    ask(&many, 8, 3, FPM_MIXED, 5, 1);
    cr_expect_eq(ask(&many, 1, 70, FPM_PREFILL, 9, 10).wall_s, a);
    cr_expect_neq(ask(&few, 1, 71, FPM_DECODE, 0, 10).wall_s, a);
    cr_expect_neq(ask(&few, 0, 70, FPM_DECODE, 0, 10).wall_s, a);
    cr_expect_neq(ask(&other, 1, 70, FPM_DECODE, 0, 10).wall_s, a);
    sim_truth_free(&few);
    sim_truth_free(&many);
    sim_truth_free(&other);
}

Test(synthetic_truth, a_clock_that_ticks_gives_whole_ticks_and_never_none) {
    sim_truth_config config = plain;
    config.quantum_ns = SIM_NS_PER_MS;
    sim_truth truth;
    cr_assert_eq(sim_synthetic_truth_new(&truth, &config, 5, 1, NULL), SIM_OK);
    static const double cases[][2] = { { 0.1, 1 }, { 1.4, 1 }, { 1.5, 2 }, { 12.51, 13 } };
    for (size_t i = 0; i < 4; i++)
        cr_expect_float_eq(ask(&truth, 0, 0, FPM_DECODE, 0, cases[i][0]).wall_s * 1e3, cases[i][1], 1e-12);
    sim_truth_free(&truth);
}

Test(synthetic_truth, a_drift_that_leaves_nothing_ends_the_run) {
    sim_truth_config config = plain;
    config.drift_per_hour = -1;
    sim_truth truth;
    cr_assert_eq(sim_synthetic_truth_new(&truth, &config, 5, 1, NULL), SIM_OK);
    fpm_metrics rank = fpm_metrics_idle();
    sim_truth_query query = { 0, 3599 * SIM_NS_PER_S, &rank, 1, FPM_DECODE, 1 };
    sim_truth_answer answer;
    sim_error error;
    cr_expect_eq(truth.ops->ask(truth.state, &query, &answer, &error), SIM_OK);
    query.now_ns += SIM_NS_PER_S;
    cr_expect_eq(truth.ops->ask(truth.state, &query, &answer, &error), SIM_USAGE);
    cr_expect(strstr(error.message, "truth.drift_per_hour = -1"));
    sim_truth_free(&truth);
}
