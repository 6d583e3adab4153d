// SPDX-License-Identifier: GPL-3.0-or-later
//
// forepass check CONFIG: the configuration, fully resolved, or the first thing that is wrong with it.
#include <stdio.h>

#include "sim/cli/command.h"
#include "sim/experiment/settings.h"

static sim_status run(const sim_cli *cli, sim_error *error) {
    sim_config *config;
    sim_settings settings;
    sim_status status = sim_cli_config(cli, cli->arguments[0], &config, error);
    if (status != SIM_OK) return status;
    status = sim_settings_read(config, &settings, error);
    if (status == SIM_OK)
        sim_settings_write(config, &settings, stdout); // main reports what standard output did not take
    sim_config_free(config);
    return status;
}

const sim_command sim_cmd_check = {
    .name = "check",
    .synopsis = "CONFIG",
    .help = "validate a configuration and print it fully resolved",
    .details = "What was made of model and system stands in comments at the top. Everything is printed, defaults "
               "included, with absolute paths, and runs as it is. CONFIG may be - for "
               "standard\n"
               "input. Status 2 and one line on standard error when something is wrong.\n",
    .options = SIM_OPT_SET | SIM_OPT_SEED | SIM_OPT_DATA,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run,
};
