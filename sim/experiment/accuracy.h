// SPDX-License-Identifier: GPL-3.0-or-later
//
// Predict measured serving runs: every row of a table of measurements becomes a configuration, the configuration a replay, the replay's means the
// prediction. Rows are independent, so they run on any number of threads with the same results.
//
// What a row means when it does not say otherwise (silicon/README.md: how such measurements are made): a closed loop of ten requests per slot, prefix
// caching off, a batch that has room for every slot, 8192 batched tokens. Beneath the row stands the base configuration, above it --set:
//     implied < base < row < --set
//
// A row's run keeps nothing but the arrival and first token of each request: no records, no histogram, no sorting (a run of
// sim_run_execute spends a third to a half of its time on those when the load is as small as these).
#ifndef SIM_EXPERIMENT_ACCURACY_H
#define SIM_EXPERIMENT_ACCURACY_H

#include "sim/experiment/measured.h"
#include "sim/experiment/row_pool.h"
#include "sim/experiment/settings.h"

// --- one row ---------------------------------------------------------------------------------------------------------

// The configuration and settings of row `row` over `base` (with its --set values in it). *config belongs to the caller and must live as long as
// *settings; `base` and `measured` must outlive it. SIM_USAGE: a key refuses a value, or values contradict each other; placed in the table where it is
// to blame. Thread-safe.
sim_status sim_accuracy_row_settings(const sim_measured *measured, size_t row, const sim_config *base,
                                     sim_config **config, sim_settings *settings, sim_error *error);

// Means over the measured requests (after load.warmup and warmup_requests), as the summary of a replay has them; the throughput is that of the whole
// run. NAN: there is none, e.g. TPOT without a second token.
typedef struct sim_prediction {
    double values[SIM_TARGETS];
    uint64_t n_requests, n_completed;
} sim_prediction;

// Run what `config` and `settings` describe and take its means. `estimator` prices the passes; NULL: the one of [perfmodel], made for this run.
// `stopped` (may be NULL) is the signal that asks to stop. SIM_DEAD_END: the run cannot finish, or a request was rejected, so that it is not the run
// that was measured; SIM_INTERRUPTED, SIM_TERMINATED; otherwise as sim_run_execute. Thread-safe.
sim_status sim_accuracy_predict(const sim_config *config, const sim_settings *settings, const fpm_estimator *estimator,
                                const volatile sig_atomic_t *stopped, sim_prediction *prediction, sim_error *error);

// The same run told to any observer, e.g. one that sums the moments of passes (on_pass). The observer must outlive the call.
sim_status sim_accuracy_observe(const sim_config *config, const sim_settings *settings, const fpm_estimator *estimator,
                                const sim_observer *observer, sim_error *error);

// --- all rows --------------------------------------------------------------------------------------------------------

typedef enum sim_row_status { SIM_ROW_NOT_RUN, SIM_ROW_PREDICTED, SIM_ROW_FAILED } sim_row_status;
extern const char *const sim_row_status_names[]; // "not_run", "predicted", "failed"

typedef struct sim_row_result {
    sim_row_status status;
    double predicted[SIM_TARGETS]; // NAN where none was measured, and unless SIM_ROW_PREDICTED
    char *reason;                  // SIM_ROW_FAILED: one line without the place, so that equal ones count together
} sim_row_result;

// Run every row; *results has one element per row and goes with sim_row_results_free. A row that fails does not end the run. SIM_INTERRUPTED,
// SIM_TERMINATED: *results says what was done before; SIM_NO_MEMORY: there are none.
sim_status sim_accuracy_run(const sim_measured *measured, const sim_config *base, const sim_row_pool_options *options,
                            sim_row_result **results, sim_error *error);
void sim_row_results_free(sim_row_result *results, size_t n_rows);

#endif
