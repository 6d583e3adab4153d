// SPDX-License-Identifier: GPL-3.0-or-later
//
// Inside the room: a sweep while it goes on, for those that lay out its points (sweep.c all at once, sweep_search.c and sweep_halving.c round by round).
#ifndef SIM_EXPERIMENT_SWEEP_SWEEP_STATE_H
#define SIM_EXPERIMENT_SWEEP_SWEEP_STATE_H

#include "sim/experiment/sweep/sweep.h"
#include "sim/report/output_dir.h"

struct sim_sweep {
    const sim_config *config;
    const sim_sweep_options *options;
    sim_sweep_config settings;
    uint64_t seed; // of the design
    sim_objectives objectives;
    sim_space *space;
    size_t n_shown_keys; // of the space, those of the ranking
    size_t share_key;    // of the space, halving: the one that cuts the workload
    sim_design design;
    sim_output_dir *dir; // NULL = none
    sim_results *results;
    sim_trials *trials;
    sim_rivals rivals;            // early_stop = dominated: of the rounds before
    bool takes_stopped;           // runs that were given up stay so: this is the same sweep again
    sim_job *jobs;                // pending
    size_t n_jobs, first_running; // those from there on are what runs
    sim_sweep_counts counts;
    double best; // of the first objective's figure, for the progress line
};

// SIM_USAGE: keys that contradict each other, or the options. Objectives and space are read.
sim_status sim_sweep_check(const sim_sweep *sweep, sim_error *error);
void sim_sweep_warn_of_idle_keys(const sim_sweep *sweep);

// Append a point to the design and its database, which then own it. *position: its place; that of the same point when it is there already (and goes).
sim_status sim_sweep_add_point(sim_sweep *sweep, sim_point *point, size_t *position, sim_error *error);
// Pending runs from now on: none, then those of this point that the database does not have.
void sim_sweep_clear_jobs(sim_sweep *sweep);
sim_status sim_sweep_add_jobs(sim_sweep *sweep, const sim_point *point, sim_error *error);
// Run what is pending.
sim_status sim_sweep_run_jobs(sim_sweep *sweep, sim_error *error);

// Halving cuts the workload to a share by this key, which is added to the space: workload.limit or workload.requests. SIM_USAGE: [workload] is varied.
sim_status sim_sweep_add_share_key(sim_space *space, const sim_config *config, size_t *share_key, sim_error *error);
// Methods bayes and halving, to their end.
sim_status sim_sweep_search(sim_sweep *sweep, sim_error *error);
sim_status sim_sweep_halve(sim_sweep *sweep, sim_error *error);
// Mean of the first objective over the repeats of a point, turned so that larger is better; NAN when a run has no result.
sim_status sim_sweep_score(sim_sweep *sweep, const char *hash, double *score, sim_error *error);
// Note that a point of the design was given up, unless it has its result from elsewhere.
sim_status sim_sweep_give_up(sim_sweep *sweep, size_t position, const char *reason, sim_error *error);
// Runs of halving's rungs, and how many whole workloads these come to.
sim_status sim_sweep_foresee_halving(const sim_sweep *sweep, size_t *n_runs, double *n_whole, sim_error *error);

#endif
