// SPDX-License-Identifier: GPL-3.0-or-later
//
// How good a forward-pass model was while it learned: every pass is estimated before its wall time is shown to the model (prequential), and the two errors, of
// the base estimate and of the model's, are kept per kind of pass. Memory is constant (about 1 MB a set) whatever the number of passes:
// - percentiles of the absolute percentage error (APE) come from log-linear histograms, off by at most 0.1 % of their value;
// - error over time comes from windows of equally many passes; when all are full, neighbours merge and windows are twice as wide from then on. So are "the
//   last 10 %": the fewest of the newest windows that hold at least a tenth of the passes (exactly a tenth, rounded up, of up to 128 passes, else at most
//   1.6 % of all passes more).
// The result depends on the observations and their order alone.
// Definitions (interface.md): error = (estimate - observed) / observed, APE = |error|, bias = mean error; percentile of n sorted values = the value at index
// round((n-1) p / 100).
#ifndef SIM_TUNING_MEASURES_H
#define SIM_TUNING_MEASURES_H

#include "perfmodel/perfmodel.h"

#define SIM_N_KINDS 3 // prefill, decode, mixed; index: kind - FPM_PREFILL

// A time nobody estimated.
#define SIM_NO_ESTIMATE (-1.0)

// One pass, as it was foreseen and as it was. Times in ms.
typedef struct sim_observation {
    fpm_kind kind;       // not FPM_EMPTY
    int64_t time_ns;     // when it was observed; only shown. Not before that of the observation added last
    double observed_ms;  // finite, > 0
    double base_ms;      // the untuned estimate; SIM_NO_ESTIMATE: there is none
    double tuned_ms;     // the model's; SIM_NO_ESTIMATE: it knew nothing of the kind yet
    double noiseless_ms; // what the truth would have been without chance; SIM_NO_ESTIMATE: nobody knows
    bool is_outlier;     // the truth is known to have thrown one
} sim_observation;

// Means over the passes that have the estimate. All fractions, not per cent.
typedef struct sim_error_mean {
    uint64_t n;
    double mape, bias; // 0 when n = 0
} sim_error_mean;

typedef struct sim_error_measures {
    sim_error_mean all;
    sim_error_mean settled; // without the first SIM_SETTLING_PASSES passes of the kind
    sim_error_mean final;   // the last 10 %
    sim_error_mean without_outliers;
    double p50_ape, p90_ape, p99_ape, max_ape;
} sim_error_measures;

#define SIM_SETTLING_PASSES 200

typedef struct sim_kind_measures {
    uint64_t n_observations;
    uint64_t n_outliers;
    uint64_t n_unpredicted; // passes for which the model had no estimate
    sim_error_measures untuned, tuned;
    sim_error_mean floor; // of the noiseless truth: no model can be better
} sim_kind_measures;

// Passes of one kind that followed each other.
typedef struct sim_error_window {
    uint64_t n;
    int64_t first_ns, last_ns;
    sim_error_mean untuned, tuned;
} sim_error_window;

typedef struct sim_measures sim_measures;

sim_measures *sim_measures_new(void); // NULL: no memory
void sim_measures_free(sim_measures *measures);

// O(1), allocates nothing.
void sim_measures_add(sim_measures *measures, const sim_observation *observation);

// `kind` is FPM_PREFILL, FPM_DECODE or FPM_MIXED.
sim_kind_measures sim_measures_of(const sim_measures *measures, fpm_kind kind);

// Error over time in at most `most` >= 1 windows, oldest first, of equally many passes each but for the last. Returns how many there are.
size_t sim_measures_windows(const sim_measures *measures, fpm_kind kind, size_t most, sim_error_window *windows);

#endif
