// SPDX-License-Identifier: GPL-3.0-or-later
//
// The words behind a command's name: one table of options is behind parsing, refusals, suggestions and --help.
#ifndef SIM_CLI_OPTIONS_H
#define SIM_CLI_OPTIONS_H

#include <stdio.h>

#include "sim/cli/command.h"

// Parse the `n_words` words after the name of `command`. `*wants_help`: --help was met; the rest is not looked at. SIM_USAGE: an unknown
// option (the nearest known one is suggested), one the command does not take, a malformed value, too few or too many arguments.
// The result points into `words` and goes with sim_cli_free, also after an error.
sim_status sim_cli_parse(sim_cli *cli, const sim_command *command, char **words, size_t n_words, bool *wants_help,
                         sim_error *error);
void sim_cli_free(sim_cli *cli);

// The options of a command, one a line.
void sim_cli_print_options(const sim_command *command, FILE *out);

#endif
