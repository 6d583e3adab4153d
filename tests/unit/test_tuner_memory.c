// SPDX-License-Identifier: GPL-3.0-or-later
//
// Every allocation of a tuner fails once, with every source of wall times: the call says SIM_NO_MEMORY, and what there is can be freed. And a pass allocates
// nothing once its model is warm.
#include "tests/support/failing_malloc.h"
#include "tests/support/standin_estimator.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

#include "sim/tuning/tuner.h"

typedef struct fixture {
    sim_tuning_config tuning;
    sim_truth_config truth;
    fpm_model_options options;
    fpm_estimator *estimator;
    sim_tuner_parts parts;
    char path[32];
} fixture;

static fpm_metrics pass(uint64_t i) {
    fpm_metrics rank = fpm_metrics_idle();
    if (i % 3 != 1)
        rank.scheduled.num_prefill_requests = 1, rank.scheduled.sum_prefill_tokens = 1 + (uint32_t)i * 37 % 900;
    if (i % 3 != 0)
        rank.scheduled.num_decode_requests = 9, rank.scheduled.sum_decode_kv_tokens = 1 + (uint32_t)i * 991 % 90000;
    rank.counter_id = i;
    rank.worker_id = "0";
    return rank;
}

static void init(fixture *f) {
    *f = (fixture){
        .tuning = { .mode = SIM_TUNING_ONLINE, .update_every = 1, .drift_threshold = 0.1, .drift_window = 8 },
        .truth = { .source = SIM_TRUTH_SYNTHETIC,
                   .prefill_bias = 1.4,
                   .decode_bias = 1,
                   .mixed_bias = 1,
                   .noise_cv = 0.05,
                   .outlier_factor = 1,
                   .seed = 1 },
        .options = fpm_model_options_default(),
        .path = "/tmp/forepass-test-XXXXXX"
    };
    cr_assert_eq(standin_new(&f->estimator, NULL), FPM_OK);
    const int fd = mkstemp(f->path);
    FILE *log = fdopen(fd, "w");
    for (uint64_t i = 0; i < 30; i++) {
        fpm_metrics rank = pass(i);
        rank.wall_time_s = 0.02;
        cr_assert_eq(fpm_metrics_write_json(log, &rank, NULL), FPM_OK);
    }
    fclose(log);
    f->truth.path = f->path;
    f->parts = (sim_tuner_parts){ .tuning = &f->tuning,
                                  .truth = &f->truth,
                                  .options = &f->options,
                                  .estimator = f->estimator,
                                  .n_workers = 2,
                                  .n_ranks = 1 };
}

static sim_status run(const fixture *f, sim_tuner **tuner) {
    sim_status status = sim_tuner_new(tuner, &f->parts, NULL);
    for (uint64_t i = 0; i < 40 && !status; i++) {
        fpm_metrics rank = pass(i);
        double ms;
        status = sim_tuner_begin_pass(*tuner, i % 2, (int64_t)i, &rank, &ms, NULL);
        if (!status) status = sim_tuner_end_pass(*tuner, i % 2, (int64_t)i + 1, NULL);
    }
    return status;
}

Test(tuner, every_allocation_that_fails_is_reported_and_nothing_leaks) {
    static const struct {
        int source, feed, scope;
        int64_t update_every;
    } cases[] = { { SIM_TRUTH_SYNTHETIC, SIM_FEED_MATCH, SIM_TUNING_POOL, 1 },
                  { SIM_TRUTH_SYNTHETIC, SIM_FEED_MATCH, SIM_TUNING_WORKER, 3 },
                  { SIM_TRUTH_RECORDED, SIM_FEED_MATCH, SIM_TUNING_POOL, 1 },
                  { SIM_TRUTH_RECORDED, SIM_FEED_SEQUENCE, SIM_TUNING_POOL, 4 } };
    fixture f;
    init(&f);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        f.truth.source = cases[c].source;
        f.truth.feed = cases[c].feed;
        f.tuning.scope = cases[c].scope;
        f.tuning.update_every = cases[c].update_every;
        sim_status status = SIM_NO_MEMORY;
        long n_failed = 0;
        for (; status != SIM_OK; n_failed++) {
            sim_tuner *tuner = NULL;
            const long n_before = n_live;
            n_left = n_failed;
            status = run(&f, &tuner);
            n_left = -1;
            cr_assert(status == SIM_OK || status == SIM_NO_MEMORY, "case %zu, allocation %ld: status %d", c, n_failed,
                      status);
            sim_tuner_free(tuner);
            cr_assert_eq(n_live, n_before, "case %zu, allocation %ld: %ld blocks leak", c, n_failed, n_live - n_before);
        }
        cr_expect_gt(n_failed, 10, "case %zu", c);
    }
    fpm_estimator_free(f.estimator);
    unlink(f.path);
}

Test(tuner, a_pass_allocates_nothing_once_the_model_is_warm) {
    fixture f;
    init(&f);
    sim_tuner *tuner;
    cr_assert_eq(sim_tuner_new(&tuner, &f.parts, NULL), SIM_OK);
    for (uint64_t i = 0; i < 4000; i++) {
        fpm_metrics rank = pass(i);
        double ms;
        if (i == 2000) n_left = 0; // from here on any allocation fails
        cr_assert_eq(sim_tuner_begin_pass(tuner, 0, (int64_t)i, &rank, &ms, NULL), SIM_OK);
        cr_assert_eq(sim_tuner_end_pass(tuner, 0, (int64_t)i, NULL), SIM_OK);
    }
    n_left = -1;
    cr_expect_not(has_failed);
    sim_tuner_free(tuner);
    fpm_estimator_free(f.estimator);
    unlink(f.path);
}
