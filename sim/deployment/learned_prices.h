// SPDX-License-Identifier: GPL-3.0-or-later
//
// [perfmodel] state: prices as a saved model has learned them.
#ifndef SIM_DEPLOYMENT_LEARNED_PRICES_H
#define SIM_DEPLOYMENT_LEARNED_PRICES_H

#include "perfmodel/perfmodel.h"
#include "sim/config/config.h"

// The saved model behind perfmodel.state. `base` is what it corrects, or of a regression what prices the kinds it has not learned (NULL: nothing does).
// Contradictions are placed where `config` was given the key. SIM_USAGE: a file that is missing, a regression where `is_regression` says otherwise and the
// reverse, one that corrects another estimator; SIM_BAD_DATA: no saved model; SIM_NO_MEMORY.
sim_status sim_learned_model_load(fpm_model **model, const sim_config *config, const char *path, fpm_estimator *base,
                                  bool is_regression, sim_error *error);

// The same as an estimator: it prices and does not learn.
sim_status sim_learned_prices_load(fpm_estimator **estimator, const sim_config *config, const char *path,
                                   fpm_estimator *base, bool is_regression, sim_error *error);

#endif
