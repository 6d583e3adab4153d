// SPDX-License-Identifier: GPL-3.0-or-later
//
// What must hold of a run whose model learns, whatever the truth.
#include <math.h>

#include "tests/support/replay.h"

enum { MOST_SETS = 40 };

// A cluster of three workers under mixed load, with `sets` on top.
static void run(replay *r, const char *const *sets) {
    const char *all[MOST_SETS] = { "workload.requests=6000",
                                   "workload.input_tokens=lognormal(900, 1)",
                                   "workload.output_tokens=uniform(20, 60)",
                                   "load.mode=poisson",
                                   "load.rate=12",
                                   "kv_cache.num_blocks=20000",
                                   "cluster.replicas=3",
                                   "truth.source=synthetic" };
    size_t n = 8;
    for (; *sets; sets++) all[n++] = *sets;
    all[n] = NULL;
    replay_run(r, all);
    cr_assert_eq(r->status, SIM_OK, "%s", r->error.message);
}

static sim_kind_measures measures(const replay *r, fpm_kind kind) {
    return sim_measures_of(sim_tuner_measures(r->summary->facts->tuner), kind);
}

static const fpm_kind kinds[] = { FPM_PREFILL, FPM_DECODE, FPM_MIXED };

Test(tuning, after_the_first_passes_of_a_kind_the_error_is_near_the_noise_whatever_the_bias) {
    static const char *const biases[][3] = {
        { "truth.prefill_bias=1.4", "truth.decode_bias=0.8", "truth.mixed_bias=1" },
        { "truth.prefill_bias=0.7", "truth.decode_bias=1.5", "truth.mixed_bias=1.2" },
        { "truth.prefill_bias=1.7", "truth.decode_bias=0.6", "truth.mixed_bias=0.9" },
    };
    for (size_t i = 0; i < sizeof biases / sizeof *biases; i++) {
        replay r;
        run(&r, (const char *[]){ "tuning.mode=online", "truth.noise_cv=0.05", biases[i][0], biases[i][1], biases[i][2],
                                  NULL });
        for (size_t k = 0; k < 3; k++) {
            const sim_kind_measures m = measures(&r, kinds[k]);
            if (m.tuned.settled.n < 500) continue;
            cr_expect(m.tuned.settled.mape <= 1.25 * m.floor.mape, "%s %s: %g after a floor of %g", biases[i][0],
                      fpm_kind_name(kinds[k]), m.tuned.settled.mape, m.floor.mape);
            cr_expect_float_eq(m.floor.mape, 0.04, 0.003);
        }
        cr_expect_gt(measures(&r, FPM_DECODE).tuned.settled.n, 500);
        replay_free(&r);
    }
}

// The wall times that worker 0 saw, with a log taken by an observer of the summary's: on the clock of the truth they depend on nothing the model does.
Test(tuning, tuning_moves_no_dice_of_the_truth) {
    static const char *const modes[] = { "tuning.mode=off", "tuning.mode=online" };
    double duration_ms[2], floor[2], ttft_ms[2];
    for (size_t i = 0; i < 2; i++) {
        replay r;
        run(&r,
            (const char *[]){ modes[i], "tuning.clock=truth", "truth.noise_cv=0.2", "truth.outlier_probability=0.02",
                              "truth.worker_spread_cv=0.2", "truth.decode_bias=1.3", NULL });
        duration_ms[i] = r.summary->duration_ms;
        ttft_ms[i] = r.summary->ttft_ms.mean;
        floor[i] = measures(&r, FPM_DECODE).floor.mape;
        replay_free(&r);
    }
    cr_expect_eq(duration_ms[0], duration_ms[1]);
    cr_expect_eq(ttft_ms[0], ttft_ms[1]);
    cr_expect_eq(floor[0], floor[1]);
}

Test(tuning, without_bias_and_noise_tuning_changes_nothing) {
    replay tuned, plain;
    run(&tuned, (const char *[]){ "tuning.mode=online", NULL });
    run(&plain, (const char *[]){ "truth.source=none", NULL });
    cr_expect_eq(tuned.summary->duration_ms, plain.summary->duration_ms);
    cr_expect_eq(tuned.summary->ttft_ms.mean, plain.summary->ttft_ms.mean);
    cr_expect_eq(tuned.summary->itl_ms.mean, plain.summary->itl_ms.mean);
    cr_expect_eq(tuned.summary->num_iterations, plain.summary->num_iterations);
    for (size_t k = 0; k < 3; k++) cr_expect_lt(measures(&tuned, kinds[k]).tuned.max_ape, 1e-12);
    replay_free(&tuned);
    replay_free(&plain);
}

Test(tuning, the_number_of_threads_does_not_show) {
    double ttft_ms[2], mape[2];
    for (uint32_t i = 0; i < 2; i++) {
        replay r = { .options = { .n_threads = 1 } };
        run(&r, (const char *[]){ "tuning.mode=online", "truth.noise_cv=0.3", "tuning.scope=worker", NULL });
        if (i == 1) { // again, on three threads
            sim_run_free(r.run);
            r.options.n_threads = 3;
            cr_assert_eq(sim_run_execute(&r.run, r.config, &r.settings, &r.options, &r.error), SIM_OK);
            r.summary = sim_run_summary(r.run);
        }
        ttft_ms[i] = r.summary->ttft_ms.mean;
        mape[i] = measures(&r, FPM_DECODE).tuned.all.mape;
        replay_free(&r);
    }
    cr_expect_eq(ttft_ms[0], ttft_ms[1]);
    cr_expect_eq(mape[0], mape[1]);
}

// After the step every populated region has to be refilled with newer passes; the drift guard must have seen it, and the end must be as good as the noise.
Test(tuning, a_step_is_noticed_and_forgotten) {
    replay r;
    run(&r, (const char *[]){ "tuning.mode=online", "truth.noise_cv=0.05", "truth.steps=200s:1.3", NULL });
    const sim_drift drift = sim_tuner_drift(r.summary->facts->tuner, FPM_DECODE);
    cr_expect_geq(drift.n_alarms, 1);
    cr_expect_not(drift.is_on);
    cr_expect_geq(drift.first_ns, INT64_C(200000000000));
    const sim_kind_measures m = measures(&r, FPM_DECODE);
    cr_expect_lt(m.tuned.final.mape, 1.25 * m.floor.mape);
    cr_expect_lt(fabs(m.tuned.final.bias), 0.02);
    replay_free(&r);
}

Test(tuning, outliers_hardly_disturb_the_other_passes) {
    double mape[2];
    static const char *const outliers[] = { "truth.outlier_probability=0", "truth.outlier_probability=0.02" };
    for (size_t i = 0; i < 2; i++) {
        replay r;
        run(&r, (const char *[]){ "tuning.mode=online", "tuning.clock=truth", "truth.noise_cv=0.05",
                                  "truth.outlier_factor=20", outliers[i], NULL });
        mape[i] = measures(&r, FPM_DECODE).tuned.without_outliers.mape;
        replay_free(&r);
    }
    cr_expect_lt(mape[1], 1.1 * mape[0], "%g for %g", mape[1], mape[0]);
}

Test(tuning, a_regression_that_begins_with_nothing_learns_the_decode_passes) {
    replay r;
    run(&r, (const char *[]){ "tuning.mode=online", "perfmodel.estimator=regression", "perfmodel.fallback=polynomial",
                              "truth.prefill_bias=1.4", "truth.decode_bias=0.8", "truth.noise_cv=0.05", NULL });
    const sim_kind_measures m = measures(&r, FPM_DECODE);
    cr_expect_lt(m.tuned.final.mape, 0.1);
    cr_expect_geq(sim_tuner_count(r.summary->facts->tuner).n_fallback, 4);
    replay_free(&r);
}
