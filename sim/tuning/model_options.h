// SPDX-License-Identifier: GPL-3.0-or-later
//
// The tuning options in [perfmodel], by the names, defaults and rules of the reference.
#ifndef SIM_TUNING_MODEL_OPTIONS_H
#define SIM_TUNING_MODEL_OPTIONS_H

#include "perfmodel/perfmodel.h"
#include "sim/config/config.h"

// A second table of section [perfmodel]; it stands right behind the first one in a list of tables.
extern const sim_key_table sim_model_options_keys;

// SIM_USAGE at the key whose rule is broken.
sim_status sim_model_options_read(const sim_config *config, fpm_model_options *options, sim_error *error);

// A saved model goes on with its own options: SIM_USAGE at a key that says otherwise, unless it stands at its default.
sim_status sim_model_options_check_saved(const sim_config *config, const fpm_model_options *options,
                                         const fpm_model_options *saved, sim_error *error);

#endif
