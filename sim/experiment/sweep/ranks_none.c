// SPDX-License-Identifier: GPL-3.0-or-later
//
// A program built without MPI: one rank, on threads.
#include <stdlib.h>

#include "sim/experiment/sweep/ranks.h"

sim_status sim_ranks_join(sim_ranks *ranks, sim_error *error) {
    *ranks = (sim_ranks){ 0, 1 };
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    if (!size || atoi(size) <= 1) return SIM_OK;
    return sim_error_set(error, SIM_USAGE, NULL, 0,
                         "started by mpirun, but built without MPI: every rank would do everything (configure with "
                         "-DFOREPASS_MPI=ON)");
}

void sim_ranks_leave(const sim_ranks *ranks) { (void)ranks; }

void sim_ranks_serve(const sim_space *space, sim_trials *trials, sim_status prepared, const sim_error *why) {
    (void)space, (void)trials, (void)prepared, (void)why; // there is no rank above 0
}

sim_status sim_ranks_run(const sim_ranks *ranks, const sim_space *space, sim_trials *trials, const sim_job *jobs,
                         size_t n_jobs, const sim_jobs_options *options, sim_job_done *done, void *self,
                         sim_error *error) {
    (void)ranks;
    return sim_jobs_run(space, trials, jobs, n_jobs, options, done, self, error);
}
