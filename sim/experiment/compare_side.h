// SPDX-License-Identifier: GPL-3.0-or-later
//
// One side of a comparison: a configuration, run now; the directory of an earlier run; or the log of a real server.
#ifndef SIM_EXPERIMENT_COMPARE_SIDE_H
#define SIM_EXPERIMENT_COMPARE_SIDE_H

#include "sim/experiment/run.h"
#include "sim/experiment/workload_store.h"
#include "sim/report/request_table.h"
#include "sim/report/summary_figures.h"

typedef enum sim_side_kind { SIM_SIDE_CONFIG, SIM_SIDE_DIRECTORY, SIM_SIDE_MEASURED } sim_side_kind;
extern const char *const sim_side_kind_names[]; // "config", "directory", "measured"

typedef struct sim_side {
    sim_side_kind kind;
    char name[16];    // what reports call it: A, B, ...; "measured"
    const char *path; // as it was given
    sim_summary_figures figures;
    sim_request_table table;
    bool is_closed_loop; // arrivals are made by the run
    sim_sla_config sla;
    bool has_sla;
    char note[512]; // what a user should know of it; "" = nothing
} sim_side;

// Run `config`. The workload comes from `workloads`, so that configurations of one trace load it once. Statuses of sim_run_execute; a run that a signal
// stopped is none to compare.
sim_status sim_side_run(sim_side *side, const sim_config *config, sim_workload_store *workloads,
                        const sim_run_options *options, sim_error *error);

// Read the directory of a `forepass replay -o DIR --requests`: summary.json, config.ini, requests.csv. SIM_IO: one is missing. SIM_BAD_DATA, SIM_USAGE: one
// is not sound (summary_figures.h, request_table.h, config.h), or they do not belong together.
sim_status sim_side_read(sim_side *side, const char *path, sim_error *error);

// Read a recorded run, request by request (request_table.h); `path` may be "-". Its figures are computed by the definitions of the summary. Rows are put in order
// of arrival, the first of which becomes 0.
sim_status sim_side_read_measured(sim_side *side, const char *path, const sim_row_filter *filter, sim_error *error);

void sim_side_clear(sim_side *side);

#endif
