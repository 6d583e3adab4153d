// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the commands that simulate share: signals, threads, the progress line.
#ifndef SIM_CLI_RUN_OPTIONS_H
#define SIM_CLI_RUN_OPTIONS_H

#include <signal.h>
#include <stdio.h>

#include "sim/cli/command.h"

// From now on SIGINT, SIGTERM and SIGHUP ask the run to end in good order instead of killing the program; a second one kills it. The result is the
// signal that came, 0 = none.
const volatile sig_atomic_t *sim_cli_catch_signals(void);

// Where a progress line goes: standard error, or NULL for none.
FILE *sim_cli_progress(const sim_cli *cli);

// -j: SIM_USAGE when it is no number of threads.
sim_status sim_cli_parse_jobs(const sim_cli *cli, uint32_t *n_threads, sim_error *error);

#endif
