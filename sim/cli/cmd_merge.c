// SPDX-License-Identifier: GPL-3.0-or-later
//
// forepass merge DB... -o DIR: the shards of a sweep put together.
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/cli/command.h"
#include "sim/experiment/sweep/sweep_report.h"
#include "sim/report/output_dir.h"

static const char *const output_names[] = { "sweep.csv", NULL };

static void database_of(const char *argument, char *path, size_t n) {
    struct stat what;
    const bool is_dir = stat(argument, &what) == 0 && S_ISDIR(what.st_mode);
    snprintf(path, n, "%s%s", argument, is_dir ? "/sweep.db" : "");
}

// What is merged must not be what is written.
static sim_status check_arguments(const sim_cli *cli, const char *output_path, sim_error *error) {
    for (size_t i = 0; i < cli->n_arguments; i++) {
        char path[4200];
        database_of(cli->arguments[i], path, sizeof path);
        if (sim_output_is_input(output_path, path))
            return sim_error_set(error, SIM_USAGE, NULL, 0,
                                 "-o %s: it is one of the databases to merge (choose another directory)", cli->output);
    }
    return SIM_OK;
}

static sim_status merge_into(const sim_cli *cli, sim_results *results, sim_output_dir *dir, sim_error *error) {
    sim_output_file *file;
    sim_status status = SIM_OK;
    for (size_t i = 0; i < cli->n_arguments && !status; i++) {
        char path[4200];
        database_of(cli->arguments[i], path, sizeof path);
        status = sim_results_merge(results, path, error);
    }
    if (!status) status = sim_output_dir_create(dir, "sweep.csv", &file, error);
    if (!status) status = sim_sweep_write_csv(results, sim_output_file_stream(file), error);
    return status ? status : sim_output_dir_commit(dir, error);
}

static sim_status print_counts(void *self, const sim_results_row *row, sim_error *error) {
    (void)self, (void)error;
    printf("%s points, %s runs of which %s are done\n", row->texts[0], row->texts[1], row->texts[2]);
    if (strcmp(row->texts[3], "0") != 0)
        fprintf(stderr,
                "forepass: %s of the points have not all their runs (is a shard missing, or was one interrupted?)\n",
                row->texts[3]);
    return SIM_OK;
}

// A point that cannot run, or was given up, has one run, any other one as many as the most.
static const char counts_sql[] =
    "SELECT (SELECT count(*) FROM design), count(*), count(*) FILTER (WHERE status = 'done'), (SELECT count(*) FROM "
    "design d WHERE "
    "(SELECT count(*) FROM run WHERE point = d.point) < iif(EXISTS (SELECT 1 FROM run WHERE point = d.point AND status "
    "IN ('infeasible', 'stopped')), 1, (SELECT max(repeat) + 1 FROM run))) FROM run JOIN design USING (point)";

static sim_status run(const sim_cli *cli, sim_error *error) {
    sim_output_dir *dir;
    sim_results *results = NULL;
    char path[4200];
    if (!cli->output) return sim_error_set(error, SIM_USAGE, NULL, 0, "merge needs a directory to write to (-o DIR)");
    snprintf(path, sizeof path, "%s/sweep.db", cli->output);
    sim_status status = check_arguments(cli, path, error);
    if (!status) status = sim_output_dir_open(&dir, cli->output, cli->overwrite, output_names, error);
    if (status) return status;
    if (cli->overwrite) status = sim_results_remove(path, error);
    if (!status) status = sim_results_open(&results, path, error);
    if (!status) status = merge_into(cli, results, dir, error);
    if (!status) status = sim_results_query(results, counts_sql, print_counts, NULL, error);
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
