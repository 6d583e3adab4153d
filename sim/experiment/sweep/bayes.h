// SPDX-License-Identifier: GPL-3.0-or-later
//
// A search for the best point that spends few runs: a Gaussian process over what has been tried, and next what promises the largest improvement. Points come in
// rounds of a fixed size, so that the search is the same on any number of threads.
#ifndef SIM_EXPERIMENT_SWEEP_BAYES_H
#define SIM_EXPERIMENT_SWEEP_BAYES_H

#include "sim/experiment/sweep/space.h"

typedef struct sim_bayes sim_bayes;

// Positions in the unit cube of `space`, which must outlive the search.
sim_status sim_bayes_new(sim_bayes **bayes, const sim_space *space, uint64_t seed, sim_error *error);
void sim_bayes_free(sim_bayes *bayes);

// The next `n` positions to try (n x dimensions), none of them one that was proposed before while there are others. *n_proposed is less when the space is
// exhausted. Without anything told yet they are a Latin hypercube.
sim_status sim_bayes_propose(sim_bayes *bayes, size_t n, double *positions, size_t *n_proposed, sim_error *error);
// What came of a position: a larger score is better; NAN: nothing, it counts as bad as the worst seen.
sim_status sim_bayes_tell(sim_bayes *bayes, const double *position, double score, sim_error *error);

#endif
