// SPDX-License-Identifier: GPL-3.0-or-later
//
// The points of a ranking with their runs put together: means of the objectives over repeats, and how sure they are.
#ifndef SIM_EXPERIMENT_SWEEP_STANDINGS_H
#define SIM_EXPERIMENT_SWEEP_STANDINGS_H

#include "sim/experiment/sweep/results_db.h"

typedef struct sim_standing {
    char **keys; // values as text; NULL = not set
    char *hash;
    char *status, *reason; // of the first run that is not done, else "done" and NULL
    size_t n_runs;         // done
    double mean[SIM_OBJECTIVES];
    double half_width
        [SIM_OBJECTIVES]; // of the interval of the mean, Student's t over the repeats; NAN with fewer than two
} sim_standing;

typedef struct sim_standings {
    sim_standing *list; // best first by the first objective, what is not done last
    size_t n;
    size_t n_keys;
} sim_standings;

sim_status sim_standings_read(sim_standings *standings, sim_results *results, size_t n_keys,
                              const sim_objectives *objectives, double confidence, sim_error *error);
void sim_standings_clear(sim_standings *standings);

#endif
