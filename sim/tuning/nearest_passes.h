// SPDX-License-Identifier: GPL-3.0-or-later
//
// Recorded passes by where they lie among the loads of their kind: a k-d tree over the logarithms of their features (recorded_log.h), so that the few nearest
// to a place are found in O(log n) on average. Distance is Euclidean: equal ratios count equally, of requests as of tokens.
#ifndef SIM_TUNING_NEAREST_PASSES_H
#define SIM_TUNING_NEAREST_PASSES_H

#include <stdbool.h>

#include "sim/tuning/recorded_log.h"

enum { SIM_NEIGHBOURS = 4 };

typedef struct sim_neighbour {
    double distance;
    uint32_t pass; // in the log; of equally near ones the lower
} sim_neighbour;

typedef struct sim_nearest_passes sim_nearest_passes;

// The passes of one kind. NULL: no memory. O(n log n).
sim_nearest_passes *sim_nearest_passes_new(const sim_recorded_log *log, fpm_kind kind);
void sim_nearest_passes_free(sim_nearest_passes *nearest);

// Does the place lie within the least and the largest of every feature?
bool sim_nearest_passes_contain(const sim_nearest_passes *nearest, const double place[SIM_RANK_FEATURES]);
// The nearest ones first; returns how many there are, at most SIM_NEIGHBOURS.
size_t sim_nearest_passes_find(const sim_nearest_passes *nearest, const double place[SIM_RANK_FEATURES],
                               sim_neighbour found[SIM_NEIGHBOURS]);

#endif
