// SPDX-License-Identifier: GPL-3.0-or-later
//
// Recorded passes by what was scheduled on every rank. Passes with equal features are given out in the order of the log: those of the asking worker first, as
// it was its own past; then those of others; and when all have been given out, all over again.
#ifndef SIM_TUNING_EXACT_MATCH_H
#define SIM_TUNING_EXACT_MATCH_H

#include <stdbool.h>

#include "sim/tuning/recorded_log.h"

typedef struct sim_exact_match sim_exact_match;

// `log` must outlive the index. NULL: no memory. O(n log n).
sim_exact_match *sim_exact_match_new(const sim_recorded_log *log);
void sim_exact_match_free(sim_exact_match *match);

// The next pass with the features (SIM_RANK_FEATURES per rank); *pass is its place in the log. False: there is none. O(log n), amortised.
bool sim_exact_match_take(sim_exact_match *match, const uint32_t *features, uint32_t n_ranks, uint32_t worker,
                          size_t *pass);

#endif
