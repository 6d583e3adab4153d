// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a sweep found, from its database: the ranking and the Pareto front as a table, as JSON and as CSV.
#ifndef SIM_EXPERIMENT_SWEEP_SWEEP_REPORT_H
#define SIM_EXPERIMENT_SWEEP_SWEEP_REPORT_H

#include <stdio.h>

#include "sim/experiment/sweep/sweep.h"

// The points themselves, one a line, with why one cannot run.
void sim_sweep_write_points(const sim_sweep *sweep, FILE *out);
// The view `ranking`, all of it, with a header. SIM_IO on a short write.
sim_status sim_sweep_write_csv(sim_results *results, FILE *out, sim_error *error);
// Both views, counts and objectives.
sim_status sim_sweep_write_json(sim_sweep *sweep, FILE *out, sim_error *error);
// The best points with intervals over their repeats, the Pareto front of several objectives, and why points did not run.
sim_status sim_sweep_write_table(sim_sweep *sweep, FILE *out, sim_error *error);

#endif
