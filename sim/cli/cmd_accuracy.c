// SPDX-License-Identifier: GPL-3.0-or-later
//
// forepass accuracy DIR: how far predictions are from measurements.
#include "sim/cli/accuracy_operators.h"

const sim_command sim_cmd_accuracy = {
    .name = "accuracy",
    .synopsis = "DIR",
    .help = "compare predicted with measured times",
    .details = "DIR holds measured operators: files like gemm_perf.csv.gz, and systems.csv in or above it. Errors are\n"
               "|price / measured - 1|. Samples faster than the bound of the hardware (cached) count as the bound; "
               "groups whose\n"
               "times are the host's (host) are left out.\n",
    .options = SIM_OPT_OPERATORS,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = sim_cli_accuracy_operators,
};
