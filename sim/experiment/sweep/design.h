// SPDX-License-Identifier: GPL-3.0-or-later
//
// The points of a sweep that are known before any of them has run, in their order: all combinations (the last dimension moves fastest), drawn ones, or the rows of
// a file. Two that mean the same configuration are one point.
#ifndef SIM_EXPERIMENT_SWEEP_DESIGN_H
#define SIM_EXPERIMENT_SWEEP_DESIGN_H

#include "sim/experiment/sweep/space.h"

typedef struct sim_design {
    sim_point *points;
    size_t n_points;
    size_t n_same; // further ones, left out since an earlier one means the same
} sim_design;

// Methods grid, random, lhs (every dimension stratified, halving's entrants too), sobol (GSL's sequence, moved by a random shift modulo 1, which keeps its spread)
// and list; of bayes nothing is known yet. `seed` decides what is drawn. SIM_USAGE: a continuous dimension in a grid, too many points; SIM_IO and SIM_BAD_DATA of the file of a list.
sim_status sim_design_new(sim_design *design, sim_space *space, const sim_sweep_config *sweep, uint64_t seed,
                          sim_error *error);
void sim_design_clear(sim_design *design, const sim_space *space);

// `n` positions (n x dimensions coordinates), as random, lhs or sobol have them. NULL: no memory.
double *sim_design_draw(sim_sweep_method method, size_t n, size_t n_dimensions, uint64_t seed);

// The rows of a list (points_csv.c), appended to the design.
sim_status sim_design_read_csv(sim_design *design, sim_space *space, const char *path, sim_error *error);
// Append a point, which the design then owns.
sim_status sim_design_add(sim_design *design, const sim_point *point, sim_error *error);

#endif
