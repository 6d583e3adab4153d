// SPDX-License-Identifier: GPL-3.0-or-later
//
// forepass merge DB... -o DIR: the shards of a sweep put together.
#include <stdio.h>
#include <sys/stat.h>

#include "sim/cli/command.h"
#include "sim/experiment/sweep/sweep_report.h"
#include "sim/report/output_dir.h"

static const char *const output_names[] = { "sweep.csv", NULL };

static sim_status merge_into(const sim_cli *cli, sim_results *results, sim_output_dir *dir, sim_error *error) {
    sim_output_file *file;
    sim_status status = SIM_OK;
    for (size_t i = 0; i < cli->n_arguments && !status; i++) {
        struct stat what;
        char path[4200];
        const bool is_dir = stat(cli->arguments[i], &what) == 0 && S_ISDIR(what.st_mode);
        snprintf(path, sizeof path, "%s%s", cli->arguments[i], is_dir ? "/sweep.db" : "");
        status = sim_results_merge(results, path, error);
    }
    if (!status) status = sim_output_dir_create(dir, "sweep.csv", &file, error);
    if (!status) status = sim_sweep_write_csv(results, sim_output_file_stream(file), error);
    return status ? status : sim_output_dir_commit(dir, error);
}

static sim_status print_counts(void *self, const sim_results_row *row, sim_error *error) {
    (void)self, (void)error;
    printf("%s points, %s runs of which %s are done\n", row->texts[0], row->texts[1], row->texts[2]);
    return SIM_OK;
}

static sim_status run(const sim_cli *cli, sim_error *error) {
    sim_output_dir *dir;
    sim_results *results = NULL;
    char path[4200];
    if (!cli->output) return sim_error_set(error, SIM_USAGE, NULL, 0, "merge needs a directory to write to (-o DIR)");
    sim_status status = sim_output_dir_open(&dir, cli->output, cli->overwrite, output_names, error);
    if (status) return status;
    snprintf(path, sizeof path, "%s/sweep.db", cli->output);
    if (cli->overwrite) status = sim_results_remove(path, error);
    if (!status) status = sim_results_open(&results, path, error);
    if (!status) status = merge_into(cli, results, dir, error);
    if (!status)
        status =
            sim_results_query(results, "SELECT (SELECT count(*) FROM design), count(*), sum(status = 'done') FROM run",
                              print_counts, NULL, error);
    sim_results_close(results);
    if (status) sim_results_remove(path, NULL); // nothing half-merged
    sim_output_dir_free(dir);
    return status;
}

const sim_command sim_cmd_merge = {
    .name = "merge",
    .synopsis = "DIR|DB...",
    .help = "put the shards of a sweep together",
    .details =
        "Each argument is the directory of a forepass sweep --shard I/N, or its sweep.db. With -o DIR: sweep.db and "
        "sweep.csv, as one sweep of all\n"
        "points would have made them.\n",
    .options = SIM_OPT_OUTPUT,
    .min_arguments = 1,
    .max_arguments = 100000,
    .run = run,
};
