// SPDX-License-Identifier: GPL-3.0-or-later
//
// The numbers of a summary by their keys, as they stand in summary.json (interface.md "Summary"): whatever numbers the summary has beside its blocks, in
// its order.
#ifndef SIM_REPORT_SUMMARY_FIGURES_H
#define SIM_REPORT_SUMMARY_FIGURES_H

#include "sim/report/summary.h"

typedef struct sim_summary_figure {
    char key[64];
    double value;
} sim_summary_figure;

typedef struct sim_summary_figures {
    sim_summary_figure *items; // owned
    size_t n, capacity;
    bool is_interrupted;
} sim_summary_figures;

// The figures of a run at hand. SIM_NO_MEMORY.
sim_status sim_summary_figures_of(sim_summary_figures *figures, const sim_summary *summary, sim_error *error);

// Those of a summary.json. SIM_IO: missing or unreadable. SIM_BAD_DATA: no JSON, another schema, another version. Nothing is to be freed after an error.
sim_status sim_summary_figures_read(sim_summary_figures *figures, const char *path, sim_error *error);
// The same from memory; `name` stands in messages.
sim_status sim_summary_figures_parse(sim_summary_figures *figures, const char *text, size_t n_bytes, const char *name,
                                     sim_error *error);

// Add one at the end. False: no memory.
bool sim_summary_figures_add(sim_summary_figures *figures, const char *key, double value);
// The value of `key`; false without.
bool sim_summary_figures_find(const sim_summary_figures *figures, const char *key, double *value);
void sim_summary_figures_clear(sim_summary_figures *figures);

#endif
