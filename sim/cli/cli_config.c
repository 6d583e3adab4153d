// SPDX-License-Identifier: GPL-3.0-or-later
//
// The configuration a command works on: the file it names, then what the command line sets.
#include "sim/cli/command.h"

#include <inttypes.h>
#include <stdio.h>

#include "sim/experiment/settings.h"

sim_status sim_cli_set_data_dir(const sim_cli *cli, sim_config *config, sim_error *error) {
    if (!cli->data_dir) return SIM_OK;
    char assignment[2048];
    if (snprintf(assignment, sizeof assignment, "data.dir=%s", cli->data_dir) >= (int)sizeof assignment)
        return sim_error_set(error, SIM_USAGE, "--data-dir", 0, "the path is too long");
    const sim_status status = sim_config_set(config, assignment, error);
    if (status != SIM_OK) snprintf(error->file, sizeof error->file, "--data-dir");
    return status;
}

static sim_status apply(const sim_cli *cli, const char *path, sim_config *config, sim_error *error) {
    sim_status status = path ? sim_config_load(config, path, error) : SIM_OK;
    for (size_t i = 0; i < cli->n_sets && status == SIM_OK; i++) status = sim_config_set(config, cli->sets[i], error);
    if (status == SIM_OK) status = sim_cli_set_data_dir(cli, config, error);
    if (status == SIM_OK && cli->has_seed) {
        char assignment[64];
        snprintf(assignment, sizeof assignment, "load.seed=%" PRIu64, cli->seed);
        status = sim_config_set(config, assignment, error);
    }
    return status;
}

sim_status sim_cli_config(const sim_cli *cli, const char *path, sim_config **config, sim_error *error) {
    sim_status status = sim_config_new(config, sim_settings_tables, sim_settings_n_tables, error);
    if (status != SIM_OK) return status;
    status = apply(cli, path, *config, error);
    if (status == SIM_OK) return SIM_OK;
    sim_config_free(*config);
    *config = NULL;
    return status;
}
