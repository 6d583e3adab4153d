// SPDX-License-Identifier: GPL-3.0-or-later
//
// Runs side by side: every other one against the first. Where the requests are the same they are compared one by one, else as two samples; either way
// with intervals (estimates.h) and a verdict in words.
#ifndef SIM_EXPERIMENT_COMPARE_H
#define SIM_EXPERIMENT_COMPARE_H

#include "sim/experiment/compare_figures.h"
#include "sim/experiment/compare_side.h"
#include "sim/workload/growable.h"

typedef struct sim_comparison_pair { // one of the others against the first
    const sim_side *sides[2];
    sim_pairing pairing;
    sim_compared_figures figures;
    sim_text_list verdict; // sentences, the most important first
} sim_comparison_pair;

typedef struct sim_comparison {
    const sim_side *sides; // not owned
    size_t n_sides;
    sim_comparison_pair *pairs; // n_sides - 1 of them
    uint64_t seed;
} sim_comparison;

// `sides` (2 or more) must outlive the comparison. The same bytes with any number of threads. SIM_NO_MEMORY, or a signal; nothing is to be freed then.
sim_status sim_comparison_new(sim_comparison *comparison, const sim_side *sides, size_t n_sides, uint64_t seed,
                              const sim_row_pool_options *pool, sim_error *error);
void sim_comparison_clear(sim_comparison *comparison);

// SIM_IO on a short write.
sim_status sim_comparison_write_table(const sim_comparison *comparison, FILE *out, sim_error *error);
sim_status sim_comparison_write_json(const sim_comparison *comparison, FILE *out, sim_error *error);

// What the figures say, in sentences (for sim_comparison_new). False: no memory.
bool sim_comparison_judge(sim_comparison_pair *pair);

#endif
