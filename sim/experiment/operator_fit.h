// SPDX-License-Identifier: GPL-3.0-or-later
//
// Curves from measured kernels. Each curve (system, family, format) is fitted to the samples of all backends, then once more for every backend that has
// enough of its own, held near the common one. The sum of absolute log ratios is made small (Levenberg-Marquardt with weights renewed in
// between), because single kernels are off by factors and must not pull the others. Parameters move between the limits of their table on a
// logarithmic scale, so whatever comes out keeps every promise of operators.h.
#ifndef SIM_EXPERIMENT_OPERATOR_FIT_H
#define SIM_EXPERIMENT_OPERATOR_FIT_H

#include "sim/deployment/operator_curves.h"
#include "sim/experiment/operator_samples.h"

// Fit every curve of one system of the set. `curves` comes in with what to start from (sim_operator_curves_init) and goes out with what was found.
sim_status sim_operator_fit(sim_operator_curves *curves, const sim_sample_set *set, size_t system, sim_error *error);
// The same over the samples of all systems at once: what to expect of a GPU of which nothing is measured. Backends are not told apart.
sim_status sim_operator_fit_typical(sim_operator_curves *curves, const sim_sample_set *set, sim_error *error);

#endif
