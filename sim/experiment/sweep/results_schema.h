// SPDX-License-Identifier: GPL-3.0-or-later
//
// Inside the room: the tables, views and statements of results_db.h as SQL. Texts go with sqlite3_free; NULL: no memory.
#ifndef SIM_EXPERIMENT_SWEEP_RESULTS_SCHEMA_H
#define SIM_EXPERIMENT_SWEEP_RESULTS_SCHEMA_H

#include "sim/experiment/sweep/results_db.h"

#define SIM_RESULTS_SCHEMA 1

char *sim_results_schema(void);
char *sim_results_views(const sim_experiment *experiment);
char *sim_results_objectives(const sim_objectives *objectives); // one line of text, as sweep.objective
// Parameters: point, repeat, seed, version, trace_hash, status, reason, summary, cpu_s.
char *sim_results_insert(void);

#endif
