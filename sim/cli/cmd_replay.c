// SPDX-License-Identifier: GPL-3.0-or-later
//
// forepass replay CONFIG: run one experiment, print its summary.
#include <stdio.h>

#include "sim/cli/run_options.h"
#include "sim/experiment/run.h"

static void print_line(void *context, const char *line) {
    (void)context;
    fprintf(stderr, "forepass: %s\n", line);
}

static sim_status print_summary(const sim_cli *cli, const sim_run *run, sim_error *error) {
    const sim_summary *summary = sim_run_summary(run);
    return cli->json ? sim_summary_write_json(summary, stdout, error) : sim_summary_write_table(summary, stdout, error);
}

static sim_status replay(const sim_cli *cli, const sim_config *config, sim_error *error) {
    sim_settings settings;
    uint32_t n_threads;
    sim_status status = sim_settings_read(config, &settings, error);
    if (!status) status = sim_cli_parse_jobs(cli, &n_threads, error);
    if (!status && cli->is_paired && !sim_tuning_is_on(&settings.truth))
        status = sim_error_set(error, SIM_USAGE, NULL, 0,
                               "--paired has no effect without wall times (truth.source = synthetic or recorded)");
    if (status) return status;
    sim_run_options options = {
        .output = cli->output,
        .overwrite = cli->overwrite,
        .wants_requests = cli->wants_requests,
        .wants_fpm = cli->wants_fpm,
        .is_paired = cli->is_paired,
        .n_threads = n_threads,
        .progress = sim_cli_progress(cli),
        .stopped = sim_cli_catch_signals(),
        .warn = print_line,
        .note = cli->quiet ? NULL : print_line,
    };
    sim_run *run = NULL;
    status = sim_run_execute(&run, config, &settings, &options, error);
    if (run) {
        sim_status printed = print_summary(cli, run, error);
        if (printed)
            status = printed;
        else if (status)
            sim_error_set(error, status, NULL, 0, "stopped by a signal; the figures are of what was done");
    }
    sim_run_free(run);
    return status;
}

static sim_status run(const sim_cli *cli, sim_error *error) {
    sim_config *config;
    sim_status status = sim_cli_config(cli, cli->arguments[0], &config, error);
    if (status) return status;
    status = replay(cli, config, error);
    sim_config_free(config);
    return status;
}

const sim_command sim_cmd_replay = {
    .name = "replay",
    .synopsis = "CONFIG",
    .help = "run one experiment and print its summary",
    .details = "With -o DIR: summary.json and config.ini; --requests adds requests.csv, --fpm adds fpm.jsonl.\n",
    .options = SIM_OPT_SET | SIM_OPT_DATA | SIM_OPT_OUTPUT | SIM_OPT_FORMAT | SIM_OPT_QUIET | SIM_OPT_PROGRESS |
               SIM_OPT_SEED | SIM_OPT_RECORDS | SIM_OPT_PAIRED | SIM_OPT_JOBS,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run,
};
