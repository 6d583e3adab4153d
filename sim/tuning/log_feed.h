// SPDX-License-Identifier: GPL-3.0-or-later
//
// A recorded FPM log as a teacher: every pass is estimated by some models that learn, then shown to them, in the order of the log, and the errors are
// measured. Memory is constant: the largest iteration of the log, the samples the models retain, and the measures.
//
// What counts as a pass is said in pass_log.h. Held out are the last passes of the log: they are estimated, not learned; where they begin takes a first
// reading of the log.
#ifndef SIM_TUNING_LOG_FEED_H
#define SIM_TUNING_LOG_FEED_H

#include "sim/config/error.h"
#include "sim/tuning/measures.h"

// One who learns.
typedef struct sim_log_learner {
    const char *name;
    fpm_model *model;
    sim_measures *learned;  // of passes that were learned after they were estimated
    sim_measures *held_out; // of those that were not; NULL when nothing is held out
} sim_log_learner;

typedef struct sim_log_feed {
    const char *path;          // "-": standard input
    fpm_estimator *base;       // the untuned price; NULL: there is none
    sim_log_learner *learners; // at least one
    size_t n_learners;
    double held_out_share; // 0 to below 1; above 0 the log is read twice
} sim_log_feed;

typedef struct sim_log_counts {
    uint64_t n_iterations;
    uint64_t n_learned, n_held_out;
    uint64_t n_idle;         // no work
    uint64_t n_without_time; // work, but no wall time above 0
    uint64_t n_disagreeing;  // passes whose ranks give different wall times
} sim_log_counts;

// SIM_BAD_DATA with file and line: text that is no FPM log, a rank of another version, sums without counts, a wall time beyond measure, an estimate that is
// not finite. SIM_IO, SIM_NO_MEMORY; SIM_USAGE: something held out of what cannot be read twice.
sim_status sim_log_feed_run(const sim_log_feed *feed, sim_log_counts *counts, sim_error *error);

#endif
