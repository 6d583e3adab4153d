// SPDX-License-Identifier: GPL-3.0-or-later
//
// What `forepass accuracy` does with a directory of measured operators.
#ifndef SIM_CLI_ACCURACY_OPERATORS_H
#define SIM_CLI_ACCURACY_OPERATORS_H

#include "sim/cli/command.h"

sim_status sim_cli_accuracy_operators(const sim_cli *cli, sim_error *error);

#endif
