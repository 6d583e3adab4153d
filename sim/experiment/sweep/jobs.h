// SPDX-License-Identifier: GPL-3.0-or-later
//
// Runs of points, on threads of this process or on the ranks of an MPI job: who runs which nobody can tell from the results.
#ifndef SIM_EXPERIMENT_SWEEP_JOBS_H
#define SIM_EXPERIMENT_SWEEP_JOBS_H

#include <stdio.h>

#include "sim/experiment/sweep/rivals.h"
#include "sim/experiment/sweep/space.h"
#include "sim/experiment/trial.h"

typedef struct sim_job {
    const sim_point *point;
    uint32_t repeat; // runs with the seed of the point + repeat
} sim_job;

typedef struct sim_job_outcome {
    const char *status; // a name of sim_trial_outcome
    char reason[512];   // "" when done
    char *summary;      // JSON text, NULL unless done; belongs to the caller of `done`
    double cpu_s;
    uint64_t seed;
} sim_job_outcome;

typedef struct sim_jobs_options {
    uint32_t n_threads;
    FILE *progress;
    const volatile sig_atomic_t *stopped;
    const sim_rivals *rivals; // of every run; NULL = none is given up for them
    // What stands behind the progress line, of the `self` of `done` and never at the same time; NULL = nothing.
    void (*describe)(void *self, char *text, size_t n);
} sim_jobs_options;

// Called when a job has ended, one at a time. Anything but SIM_OK ends all.
typedef sim_status sim_job_done(void *self, size_t job, const sim_job_outcome *outcome, sim_error *error);

// A job by itself, among rivals if there are any. The summary goes with free().
sim_status sim_job_run(const sim_space *space, sim_trials *trials, const sim_job *job, const sim_rivals *rivals,
                       sim_job_outcome *outcome, sim_error *error);

// All jobs, on threads. The first status that is not SIM_OK: what ended them, a signal among it.
sim_status sim_jobs_run(const sim_space *space, sim_trials *trials, const sim_job *jobs, size_t n_jobs,
                        const sim_jobs_options *options, sim_job_done *done, void *self, sim_error *error);

#endif
