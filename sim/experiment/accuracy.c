// SPDX-License-Identifier: GPL-3.0-or-later
//
// All rows, each a configuration, a replay and its means.
#include "sim/experiment/accuracy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const sim_row_status_names[] = { "not_run", "predicted", "failed" };

typedef struct job {
    const sim_measured *measured;
    const sim_config *base;
    const volatile sig_atomic_t *stopped;
    sim_row_result *results;
} job;

static sim_status predict(const job *all, size_t row, sim_prediction *prediction, sim_error *error) {
    sim_config *config;
    sim_settings settings;
    sim_status status = sim_accuracy_row_settings(all->measured, row, all->base, &config, &settings, error);
    if (status) return status;
    status = sim_accuracy_predict(config, &settings, NULL, all->stopped, prediction, error);
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

static sim_status run_row(void *self, size_t row, sim_error *error) {
    const job *all = self;
    sim_row_result *result = &all->results[row];
    sim_prediction prediction;
    sim_status status = predict(all, row, &prediction, error);
    if (!status) status = compare(&all->measured->rows[row], &prediction, result, error);
    if (status == SIM_NO_MEMORY || status == SIM_INTERRUPTED || status == SIM_TERMINATED) return status;
    result->status = status ? SIM_ROW_FAILED : SIM_ROW_PREDICTED;
    if (!status) return SIM_OK;
    for (int i = 0; i < SIM_TARGETS; i++) result->predicted[i] = (double)NAN;
    result->reason = strdup(error->message);
    return result->reason ? SIM_OK : sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
}

static sim_row_result *new_results(size_t n_rows) {
    sim_row_result *results = calloc(n_rows, sizeof *results);
    for (size_t row = 0; results && row < n_rows; row++)
        for (int i = 0; i < SIM_TARGETS; i++) results[row].predicted[i] = (double)NAN;
    return results;
}

sim_status sim_accuracy_run(const sim_measured *measured, const sim_config *base, const sim_row_pool_options *options,
                            sim_row_result **results, sim_error *error) {
    job all = { .measured = measured, .base = base, .stopped = options->stopped };
    *results = all.results = new_results(measured->n_rows);
    if (!all.results) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    const sim_status status = sim_row_pool_run(measured->n_rows, run_row, &all, options, error);
    if (status != SIM_NO_MEMORY) return status;
    sim_row_results_free(all.results, measured->n_rows);
    *results = NULL;
    return status;
}

void sim_row_results_free(sim_row_result *results, size_t n_rows) {
    for (size_t i = 0; results && i < n_rows; i++) free(results[i].reason);
    free(results);
}
