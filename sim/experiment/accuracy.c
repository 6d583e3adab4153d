// SPDX-License-Identifier: GPL-3.0-or-later
//
// All rows, on a few threads: each takes the next row that nobody has, so that long and short ones even out. A result has its place by row, and a row
// knows nothing of others, so nothing depends on who ran what.
#include "sim/experiment/accuracy.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "sim/report/progress.h"

const char *const sim_row_status_names[] = { "not_run", "predicted", "failed" };

typedef struct job {
    const sim_measured *measured;
    const sim_config *base;
    const sim_accuracy_options *options;
    sim_row_result *results;
    atomic_size_t next_row;
    atomic_bool is_over;  // a signal, or `status`
    pthread_mutex_t lock; // of what follows
    size_t n_done;
    sim_progress progress;
    sim_status status; // of what ends all rows, the first one
    sim_error *error;
} job;

static void end_all(job *all, sim_status status, const sim_error *error) {
    pthread_mutex_lock(&all->lock);
    if (!all->status) {
        all->status = status;
        if (all->error) *all->error = *error;
    }
    pthread_mutex_unlock(&all->lock);
    atomic_store(&all->is_over, true);
}

static void count_done(job *all) {
    pthread_mutex_lock(&all->lock);
    all->n_done++;
    if (all->options->progress) sim_progress_update(&all->progress, all->n_done, SIM_PROGRESS_NO_TIME);
    pthread_mutex_unlock(&all->lock);
}

static sim_status predict(const job *all, size_t row, sim_prediction *prediction, sim_error *error) {
    sim_config *config;
    sim_settings settings;
    sim_status status = sim_accuracy_row_settings(all->measured, row, all->base, &config, &settings, error);
    if (status) return status;
    status = sim_accuracy_predict(config, &settings, NULL, all->options->stopped, prediction, error);
    sim_config_free(config);
    return status;
}

// What was measured but has no prediction makes the row a failed one.
static sim_status compare(const sim_measured_row *row, const sim_prediction *prediction, sim_row_result *result,
                          sim_error *error) {
    for (int i = 0; i < SIM_TARGETS; i++) {
        if (isnan(row->measured[i])) continue;
        result->predicted[i] = prediction->values[i];
        if (!(result->predicted[i] > 0))
            return sim_error_set(error, SIM_DEAD_END, NULL, 0, "no %s is predicted (no request completes with one)",
                                 sim_targets[i].heading);
    }
    return SIM_OK;
}

static void run_row(job *all, size_t row) {
    sim_row_result *result = &all->results[row];
    sim_prediction prediction;
    sim_error error = { .code = SIM_OK };
    sim_status status = predict(all, row, &prediction, &error);
    if (!status) status = compare(&all->measured->rows[row], &prediction, result, &error);
    if (status == SIM_NO_MEMORY || status == SIM_INTERRUPTED || status == SIM_TERMINATED) {
        end_all(all, status, &error);
        return;
    }
    result->status = status ? SIM_ROW_FAILED : SIM_ROW_PREDICTED;
    if (status) {
        for (int i = 0; i < SIM_TARGETS; i++) result->predicted[i] = (double)NAN;
        result->reason = strdup(error.message);
        if (!result->reason) end_all(all, sim_error_set(&error, SIM_NO_MEMORY, NULL, 0, "out of memory"), &error);
    }
    count_done(all);
}

static void *run_rows(void *context) {
    job *all = context;
    while (!atomic_load(&all->is_over)) {
        const size_t row = atomic_fetch_add(&all->next_row, 1);
        if (row >= all->measured->n_rows) break;
        run_row(all, row);
    }
    return NULL;
}

// The caller's thread is one of them. One that cannot be made is one fewer.
static void run_threads(job *all, pthread_t *threads, uint32_t n_more) {
    uint32_t n_made = 0;
    while (n_made < n_more && pthread_create(&threads[n_made], NULL, run_rows, all) == 0) n_made++;
    run_rows(all);
    for (uint32_t i = 0; i < n_made; i++) pthread_join(threads[i], NULL);
}

static sim_row_result *new_results(size_t n_rows) {
    sim_row_result *results = calloc(n_rows, sizeof *results);
    for (size_t row = 0; results && row < n_rows; row++)
        for (int i = 0; i < SIM_TARGETS; i++) results[row].predicted[i] = (double)NAN;
    return results;
}

sim_status sim_accuracy_run(const sim_measured *measured, const sim_config *base, const sim_accuracy_options *options,
                            sim_row_result **results, sim_error *error) {
    *results = NULL;
    job all = { .measured = measured, .base = base, .options = options, .error = error };
    const uint32_t n_more = options->n_threads - 1;
    pthread_t *threads = calloc((size_t)n_more + 1, sizeof *threads);
    all.results = new_results(measured->n_rows);
    if (!threads || !all.results) {
        free(threads);
        free(all.results);
        return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    }
    pthread_mutex_init(&all.lock, NULL);
    if (options->progress) sim_progress_begin_of(&all.progress, options->progress, measured->n_rows, "rows");
    run_threads(&all, threads, n_more);
    if (options->progress) sim_progress_end(&all.progress);
    pthread_mutex_destroy(&all.lock);
    free(threads);
    *results = all.results;
    if (all.status != SIM_NO_MEMORY) return all.status;
    sim_row_results_free(all.results, measured->n_rows);
    *results = NULL;
    return all.status;
}

void sim_row_results_free(sim_row_result *results, size_t n_rows) {
    for (size_t i = 0; results && i < n_rows; i++) free(results[i].reason);
    free(results);
}
