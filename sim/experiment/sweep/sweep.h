// SPDX-License-Identifier: GPL-3.0-or-later
//
// A sweep: the points of [sweep] run one after another, on threads or ranks, each result into the database at once; then the ranking.
#ifndef SIM_EXPERIMENT_SWEEP_SWEEP_H
#define SIM_EXPERIMENT_SWEEP_SWEEP_H

#include <signal.h>

#include "sim/experiment/sweep/design.h"
#include "sim/experiment/sweep/ranks.h"
#include "sim/experiment/sweep/results_db.h"

typedef struct sim_sweep_options {
    const char *version; // of the program: results of another one are not reused
    const char *output;  // directory of sweep.db, sweep.csv and config.ini; NULL = the database is in memory
    bool overwrite, resume;
    uint32_t n_threads;
    sim_ranks ranks;          // this is rank 0
    uint32_t shard, n_shards; // runs the points whose position is `shard` modulo `n_shards`
    FILE *progress;
    const volatile sig_atomic_t *stopped;
    void (*warn)(const char *line); // NULL = not told
} sim_sweep_options;

typedef struct sim_sweep_counts {
    size_t points, same;                      // of the design; left out as the same as another
    size_t planned;                           // runs
    size_t done, infeasible, failed, stopped; // of these, in the database
    size_t reused;                            // that were there before
} sim_sweep_counts;

typedef struct sim_sweep_forecast {
    size_t n_runs;
    bool is_at_most; // fewer may do
    size_t n_probed; // points
    double cpu_s;    // of all runs
} sim_sweep_forecast;

typedef struct sim_sweep sim_sweep;

// Read [sweep], open the database, lay out the points. SIM_USAGE and the others as the parts say. `config` and `options` must outlive the sweep.
sim_status sim_sweep_new(sim_sweep **sweep, const sim_config *config, const sim_sweep_options *options,
                         sim_error *error);
void sim_sweep_free(sim_sweep *sweep);

// Run what is not in the database yet. A signal's status when one came: what was finished is kept.
sim_status sim_sweep_run(sim_sweep *sweep, sim_error *error);
// What is still to be run. A few points are run for it and forgotten.
sim_status sim_sweep_foresee(sim_sweep *sweep, sim_sweep_forecast *forecast, sim_error *error);
// sweep.csv and config.ini into the output directory, if there is one.
sim_status sim_sweep_write_files(sim_sweep *sweep, sim_error *error);

// A rank above 0 of an MPI job: runs what rank 0 gives it, until that is done.
void sim_sweep_serve(const sim_config *config, const volatile sig_atomic_t *stopped);

const sim_sweep_config *sim_sweep_settings(const sim_sweep *sweep);
const sim_space *sim_sweep_space(const sim_sweep *sweep);
size_t sim_sweep_n_keys(const sim_sweep *sweep); // of the space, those that the ranking shows: the first ones
const sim_design *sim_sweep_design(const sim_sweep *sweep);
const sim_objectives *sim_sweep_objectives(const sim_sweep *sweep);
sim_results *sim_sweep_results(sim_sweep *sweep);
sim_sweep_counts sim_sweep_count(const sim_sweep *sweep);

#endif
