// SPDX-License-Identifier: GPL-3.0-or-later
//
// The ranks of an MPI job that share the runs of a sweep: rank 0 gives jobs out as ranks become free, runs some itself, and alone writes anything; the others
// run what they get. In a program built without MPI (ranks_none.c), or not started by mpirun or srun, there is one rank.
#ifndef SIM_EXPERIMENT_SWEEP_RANKS_H
#define SIM_EXPERIMENT_SWEEP_RANKS_H

#include "sim/experiment/sweep/jobs.h"

typedef struct sim_ranks {
    int rank, n; // this one, of how many
} sim_ranks;

// Once per process, before anything else that may fail. SIM_INTERNAL: MPI does not start.
sim_status sim_ranks_join(sim_ranks *ranks, sim_error *error);
// At the end, whatever became of the command: the others are sent home.
void sim_ranks_leave(const sim_ranks *ranks);

// Ranks above 0: run jobs until sent home. A rank that could not prepare itself says so (`prepared`, `why`) in place of results.
void sim_ranks_serve(const sim_space *space, sim_trials *trials, sim_status prepared, const sim_error *why);
// Rank 0, with more than one: as sim_jobs_run.
sim_status sim_ranks_run(const sim_ranks *ranks, const sim_space *space, sim_trials *trials, const sim_job *jobs,
                         size_t n_jobs, const sim_jobs_options *options, sim_job_done *done, void *self,
                         sim_error *error);

#endif
