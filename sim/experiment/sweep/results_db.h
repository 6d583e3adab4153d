// SPDX-License-Identifier: GPL-3.0-or-later
//
// Results of experiments in SQLite (WAL): every finished run is committed at once, so a killed sweep loses what was running and nothing else.
//
//   experiment  what was asked: the configuration, method, objectives, version (one row, the latest)
//   point       hash (fingerprint.h), keys: JSON of what is varied and its value
//   design      position, point: the points of the latest experiment in their order
//   run         point, repeat (0, 1, ...), seed, version, trace_hash, status, reason, main figures as columns, summary: JSON as in summary.json, cpu_s
//   ranking     a view: one row per run of the design, best first (README "Sweeps")
//   pareto      a view: the points that no other one beats in all objectives, means over their runs
//   meta        schema: the number of this layout
// Only one process writes a database at a time.
#ifndef SIM_EXPERIMENT_SWEEP_RESULTS_DB_H
#define SIM_EXPERIMENT_SWEEP_RESULTS_DB_H

#include "sim/experiment/sweep/objective.h"

typedef struct sim_results sim_results;

// What the views show.
typedef struct sim_experiment {
    const char *config; // the configuration, as INI text
    const char *method;
    const char *version;
    const char *const *keys; // that vary
    size_t n_keys;
    const sim_objectives *objectives;
} sim_experiment;

typedef struct sim_result {
    const char *point; // hash
    uint32_t repeat;
    uint64_t seed;
    const char *trace_hash; // "" = no trace
    const char *status;     // "done", "infeasible", "failed", "stopped"
    const char *reason;     // "" when done
    const char *summary;    // JSON; NULL unless done
    double cpu_s;
} sim_result;

// Open or create. NULL: in memory. SIM_IO: it cannot be opened, or another process writes it; SIM_BAD_DATA: no database of this layout.
sim_status sim_results_open(sim_results **results, const char *path, sim_error *error);
// An existing one, to look at, whoever writes it.
sim_status sim_results_open_to_read(sim_results **results, const char *path, sim_error *error);
// Remove the database and what SQLite keeps beside it. SIM_IO: another process writes it, or it cannot be removed.
sim_status sim_results_remove(const char *path, sim_error *error);
void sim_results_close(sim_results *results);

// The experiment that the views show from now on, without its points.
sim_status sim_results_begin(sim_results *results, const sim_experiment *experiment, sim_error *error);
// Point `position` of the design; `keys` is the JSON object of its values.
sim_status sim_results_add_point(sim_results *results, size_t position, const char *hash, const char *keys,
                                 sim_error *error);
// Is this run there, made by `version`? One made by another version is not, nor one that was given up unless `takes_stopped`; they get replaced.
sim_status sim_results_has(sim_results *results, const char *hash, uint32_t repeat, const char *version,
                           bool takes_stopped, bool *is_there, sim_error *error);
sim_status sim_results_put(sim_results *results, const sim_result *result, const char *version, sim_error *error);
// Several of the calls above as one change on disk.
sim_status sim_results_transaction(sim_results *results, bool begins, sim_error *error);

// Everything of the database at `path` that is not here yet. SIM_BAD_DATA: no such database, another layout or experiment, or a run that differs from the one here.
sim_status sim_results_merge(sim_results *results, const char *path, sim_error *error);

// One row of a query.
typedef struct sim_results_row {
    size_t n;
    const char *const *names; // of the columns
    const char *const *texts; // NULL: nothing; numbers in shortest exact form
    const bool *is_number;
} sim_results_row;
// Called for every row as it comes; anything but SIM_OK ends the query.
typedef sim_status sim_results_take(void *self, const sim_results_row *row, sim_error *error);
sim_status sim_results_query(sim_results *results, const char *sql, sim_results_take *take, void *self,
                             sim_error *error);

#endif
