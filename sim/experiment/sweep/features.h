// SPDX-License-Identifier: GPL-3.0-or-later
//
// Points as numbers that a regression can compare: of every key its rank among the values it may take, 0 to 1, where they are numbers, else one number per
// value, 1 for the one it has; of a continuous dimension its position.
#ifndef SIM_EXPERIMENT_SWEEP_FEATURES_H
#define SIM_EXPERIMENT_SWEEP_FEATURES_H

#include "sim/experiment/sweep/space.h"

typedef struct sim_features sim_features;

sim_status sim_features_new(sim_features **features, const sim_space *space, sim_error *error);
void sim_features_free(sim_features *features);
size_t sim_features_n(const sim_features *features);
// Fills `out` with the features of the point at `position`.
void sim_features_at(const sim_features *features, const double *position, double *out);

#endif
