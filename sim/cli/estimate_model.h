// SPDX-License-Identifier: GPL-3.0-or-later
//
// The forward-pass model that `estimate` asks: an estimator of [perfmodel], what a saved state has learned on top of it, or a saved regression.
#ifndef SIM_CLI_ESTIMATE_MODEL_H
#define SIM_CLI_ESTIMATE_MODEL_H

#include "perfmodel/perfmodel.h"
#include "sim/cli/command.h"

// SIM_USAGE: options that contradict each other or are out of range; a state that is missing (SIM_IO) or no saved state (SIM_BAD_DATA).
sim_status sim_estimate_model(const sim_cli *cli, fpm_model **model, sim_error *error);

// A count given as an option. SIM_USAGE.
sim_status sim_cli_parse_count(const char *option, const char *text, int64_t min, int64_t max, int64_t *count,
                               sim_error *error);
// An error of the forward-pass library as ours: FPM_NO_MEMORY and FPM_IO keep their kind, a pass without a price (FPM_UNSUPPORTED) is
// SIM_DEAD_END, all else is bad data. `path` and `line` where it has none.
sim_status sim_cli_from_fpm(const fpm_error *source, const char *path, int64_t line, sim_error *error);

#endif
