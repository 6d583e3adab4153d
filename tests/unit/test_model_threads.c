// SPDX-License-Identifier: GPL-3.0-or-later
//
// Const models are asked, cloned and freed by several threads at once, sharing one estimator. (Run it under
// -fsanitize=thread to see more than a crash.)
#include "tests/support/standin_estimator.h"

#include <criterion/criterion.h>
#include <pthread.h>

#define N_THREADS 4
#define N_PASSES 500

static fpm_metrics passes[N_PASSES];
static double wanted_ms[N_PASSES];
static fpm_model *model;

static void *ask(void *argument) {
    long n_wrong = 0;
    (void)argument;
    for (int round = 0; round < 20; round++) {
        fpm_model *own = NULL;
        n_wrong += fpm_model_clone(&own, model, NULL) != FPM_OK;
        for (size_t i = 0; i < N_PASSES; i++) {
            double shared_ms = -1, own_ms = -1;
            bool has_estimate;
            n_wrong += fpm_model_estimate_ms(model, &passes[i], 1, &shared_ms, &has_estimate, NULL) != FPM_OK;
            n_wrong += fpm_model_estimate_ms(own, &passes[i], 1, &own_ms, &has_estimate, NULL) != FPM_OK;
            n_wrong += shared_ms != wanted_ms[i] || own_ms != wanted_ms[i];
        }
        fpm_model_free(own);
    }
    return (void *)n_wrong;
}

Test(model_threads, readers_do_not_disturb_one_another) {
    fpm_estimator *estimator = NULL;
    bool has_estimate;
    standin_new(&estimator, NULL);
    fpm_model_new_native(&model, estimator, NULL, NULL);
    fpm_estimator_free(estimator);
    for (uint32_t i = 0; i < N_PASSES; i++) {
        passes[i] = fpm_metrics_idle();
        passes[i].scheduled.num_prefill_requests = 1;
        passes[i].scheduled.sum_prefill_tokens = 1 + 16 * i;
        passes[i].wall_time_s = 0.001 * (1 + i % 90);
        const fpm_iteration iteration = { &passes[i], 1 };
        fpm_model_tune(model, &iteration, 1, NULL);
    }
    for (size_t i = 0; i < N_PASSES; i++)
        fpm_model_estimate_ms(model, &passes[i], 1, &wanted_ms[i], &has_estimate, NULL);
    pthread_t threads[N_THREADS];
    for (int t = 0; t < N_THREADS; t++) cr_assert_eq(pthread_create(&threads[t], NULL, ask, NULL), 0);
    for (int t = 0; t < N_THREADS; t++) {
        void *n_wrong;
        pthread_join(threads[t], &n_wrong);
        cr_assert_eq((long)n_wrong, 0);
    }
    fpm_model_free(model);
}
