// SPDX-License-Identifier: GPL-3.0-or-later
//
// An FPM log as the hardware (feed = match). A pass takes, in this order of preference:
// - exact: the wall time of a recorded pass with the same scheduled counts and sums on every rank (exact_match.h);
// - interpolated: within the range of the recorded passes of its kind, the mean of the logarithms of the wall times of the 4 nearest ones, weighted by 1 /
//   distance^2 (nearest_passes.h): never outside of what they took;
// - out of range: by truth.out_of_range the time of the nearest recorded pass, the estimator's price, or the end of the run.
// A kind of which nothing was recorded has no nearest pass: with out_of_range = nearest such a pass ends the run too.
// What it cannot promise: a run cut off by load.max_time leaves passes open that no log holds, so replayed with its own log it finds no exact match for those.
#ifndef SIM_TUNING_RECORDED_TRUTH_H
#define SIM_TUNING_RECORDED_TRUTH_H

#include "sim/tuning/truth.h"

typedef struct sim_recorded_counts {
    uint64_t n_recorded;    // passes of the log that can be matched
    uint64_t n_unmeasured;  // and those without wall time or work
    uint64_t n_disagreeing; // passes whose ranks give different wall times: the slowest counts
    uint64_t n_exact, n_interpolated, n_nearest, n_estimated; // answers
} sim_recorded_counts;

// Reads the log of `config`, which must outlive the truth; errors of sim_recorded_log_load. Asking fails with SIM_BAD_DATA out of range.
sim_status sim_recorded_truth_new(sim_truth *truth, const sim_truth_config *config, uint32_t n_ranks, sim_error *error);
// Of a truth made here.
sim_recorded_counts sim_recorded_truth_counts(const sim_truth *truth);

#endif
