// SPDX-License-Identifier: GPL-3.0-or-later
//
// Regression by a Gaussian process: what is known of a function from few values, with how sure it is elsewhere. Kernel Matern 5/2 with a length per feature, plus
// noise; lengths and noise by the largest marginal likelihood (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, eq. 2.25, 2.26, 2.30 and 4.17).
// Values are standardised inside.
#ifndef SIM_EXPERIMENT_SWEEP_GAUSSIAN_PROCESS_H
#define SIM_EXPERIMENT_SWEEP_GAUSSIAN_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct sim_gp sim_gp;

// NULL: no memory.
sim_gp *sim_gp_new(size_t n_features);
void sim_gp_free(sim_gp *gp);

// One value more. `features` are about 0 to 1. False: no memory.
bool sim_gp_add(sim_gp *gp, const double *features, double value);
void sim_gp_drop_last(sim_gp *gp);
size_t sim_gp_n(const sim_gp *gp);

// Make ready for predictions from the values so far; `learns`: choose lengths and noise anew, which costs some hundred times as much. At least one value.
bool sim_gp_fit(sim_gp *gp, bool learns);
// Of one thread at a time: mean and standard deviation of the function (without the noise) there, in the unit of the values.
void sim_gp_predict(const sim_gp *gp, const double *features, double *mean, double *deviation);

// By how much a value there may be expected to exceed `best`: the expectation of max(0, f - best) (Jones, Schonlau and Welch 1998, eq. 15).
double sim_expected_improvement(double mean, double deviation, double best);

#endif
