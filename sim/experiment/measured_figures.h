// SPDX-License-Identifier: GPL-3.0-or-later
//
// The figures of a recorded run, by the definitions and under the keys of a summary, as far as its columns tell them.
#ifndef SIM_EXPERIMENT_MEASURED_FIGURES_H
#define SIM_EXPERIMENT_MEASURED_FIGURES_H

#include "sim/report/request_table.h"
#include "sim/report/summary_figures.h"

// SIM_NO_MEMORY. Clear the figures also after an error.
sim_status sim_measured_figures(sim_summary_figures *figures, const sim_request_table *table, sim_error *error);

#endif
