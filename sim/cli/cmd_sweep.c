// SPDX-License-Identifier: GPL-3.0-or-later
//
// forepass sweep CONFIG: run the points of [sweep], print the ranking.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/cli/run_options.h"
#include "sim/experiment/sweep/sweep_report.h"

static sim_status parse_shard(const sim_cli *cli, sim_sweep_options *options, sim_error *error) {
    unsigned i = 0, n = 0;
    int n_read = 0;
    options->shard = 0;
    options->n_shards = 1;
    if (!cli->shard) return SIM_OK;
    const bool is_shape = sscanf(cli->shard, "%u/%u%n", &i, &n, &n_read) == 2 && cli->shard[n_read] == '\0';
    if (!is_shape || i < 1 || i > n || n > 100000 || strpbrk(cli->shard, "+- "))
        return sim_error_set(error, SIM_USAGE, "--shard", 0, "\"%s\" is no shard (write I/N, 1 to N)", cli->shard);
    options->shard = i - 1;
    options->n_shards = n;
    return SIM_OK;
}

static sim_status check_options(const sim_cli *cli, sim_error *error) {
    if (cli->export && strcmp(cli->export, "csv") != 0)
        return sim_error_set(error, SIM_USAGE, NULL, 0, "--export: \"%s\" is not one of the choices (csv)",
                             cli->export);
    if (cli->export && (cli->is_dry_run || cli->json))
        return sim_error_set(error, SIM_USAGE, NULL, 0, "--export and %s exclude each other (keep one)",
                             cli->is_dry_run ? "--dry-run" : "--format json");
    if (cli->resume && cli->overwrite)
        return sim_error_set(error, SIM_USAGE, NULL, 0, "--resume and --overwrite exclude each other (keep one)");
    if (cli->is_dry_run && cli->output)
        return sim_error_set(error, SIM_USAGE, NULL, 0, "--dry-run writes nothing (leave -o out)");
    if (cli->shard && !cli->output)
        return sim_error_set(error, SIM_USAGE, NULL, 0, "--shard has no effect without a directory (add -o DIR)");
    return SIM_OK;
}

// --- results that are there ------------------------------------------------------------------------------------------

// The database in place of a configuration: a directory with one, or itself. False: it is neither.
static bool find_database(const char *argument, char *path, size_t n) {
    struct stat what;
    const size_t length = strlen(argument);
    if (stat(argument, &what) != 0) return false;
    snprintf(path, n, "%s%s", argument, S_ISDIR(what.st_mode) ? "/sweep.db" : "");
    return S_ISDIR(what.st_mode) || (length > 3 && strcmp(argument + length - 3, ".db") == 0);
}

static sim_status export_database(const char *path, sim_error *error) {
    sim_results *results;
    if (access(path, R_OK) != 0) return sim_error_set(error, SIM_IO, path, 0, "there is no database to read");
    sim_status status = sim_results_open_to_read(&results, path, error);
    if (status) return status;
    status = sim_sweep_write_csv(results, stdout, error);
    sim_results_close(results);
    return status;
}

// --- a run -----------------------------------------------------------------------------------------------------------

static void print_warning(const char *line) { fprintf(stderr, "forepass: %s\n", line); }

static sim_status print_result(const sim_cli *cli, sim_sweep *sweep, sim_error *error) {
    if (cli->export) return sim_sweep_write_csv(sim_sweep_results(sweep), stdout, error);
    return cli->json ? sim_sweep_write_json(sweep, stdout, error) : sim_sweep_write_table(sweep, stdout, error);
}

static sim_status dry_run(sim_sweep *sweep, uint32_t n_threads, sim_error *error) {
    sim_sweep_forecast forecast;
    const int method = sim_sweep_settings(sweep)->method;
    const sim_status status = sim_sweep_foresee(sweep, &forecast, error);
    if (status) return status;
    sim_sweep_write_points(sweep, stdout);
    if (method == SIM_SWEEP_BAYES) printf("points are chosen as results come in\n");
    if (method == SIM_SWEEP_HALVING) printf("\nthe better ones go on to more of the requests\n");
    printf("\n%s%zu run%s to go", forecast.is_at_most ? "at most " : "", forecast.n_runs,
           forecast.n_runs == 1 ? "" : "s");
    if (forecast.n_probed)
        printf(", about %.3g CPU s, %.3g s with -j %u (from %zu of them)", forecast.cpu_s, forecast.cpu_s / n_threads,
               n_threads, forecast.n_probed);
    else if (forecast.n_runs)
        printf(" (none of the points looked at can run)");
    printf("\n");
    return SIM_OK;
}

static bool is_stop(sim_status status) { return status == SIM_INTERRUPTED || status == SIM_TERMINATED; }

// A signal keeps what was finished: the ranking is of that.
static sim_status run_sweep(const sim_cli *cli, sim_sweep *sweep, sim_error *error) {
    const sim_status outcome = sim_sweep_run(sweep, error);
    if (outcome && !is_stop(outcome)) return outcome;
    sim_status status = print_result(cli, sweep, error);
    if (!status) status = sim_sweep_write_files(sweep, error);
    if (status) return status;
    const sim_sweep_counts counts = sim_sweep_count(sweep);
    if (!outcome && counts.done + counts.stopped == 0 && !cli->shard) // a shard may have drawn blanks
        return sim_error_set(error, SIM_DEAD_END, NULL, 0, "no point has a result (the ranking says why)");
    if (!outcome) return SIM_OK;
    return sim_error_set(error, outcome, NULL, 0, "stopped by a signal; the ranking is of the %zu runs that are done%s",
                         counts.done, cli->output ? " (go on with --resume)" : "");
}

static sim_status sweep_config(const sim_cli *cli, const sim_config *config, const sim_ranks *ranks, sim_error *error) {
    sim_sweep_options options = { .version = FOREPASS_VERSION,
                                  .output = cli->output,
                                  .overwrite = cli->overwrite,
                                  .resume = cli->resume,
                                  .ranks = *ranks,
                                  .progress = sim_cli_progress(cli),
                                  .warn = cli->quiet ? NULL : print_warning };
    sim_sweep *sweep;
    sim_status status = sim_cli_parse_jobs(cli, &options.n_threads, error);
    if (!status) status = parse_shard(cli, &options, error);
    if (status) return status;
    options.stopped = sim_cli_catch_signals();
    status = sim_sweep_new(&sweep, config, &options, error);
    if (status) return status;
    status = cli->is_dry_run ? dry_run(sweep, options.n_threads, error) : run_sweep(cli, sweep, error);
    sim_sweep_free(sweep);
    return status;
}

static sim_status sweep(const sim_cli *cli, const sim_ranks *ranks, sim_error *error) {
    char path[4200];
    sim_config *config;
    sim_status status = check_options(cli, error);
    if (status) return status;
    if (cli->export && find_database(cli->arguments[0], path, sizeof path)) return export_database(path, error);
    status = sim_cli_config(cli, cli->arguments[0], &config, error);
    if (status) return status;
    status = sweep_config(cli, config, ranks, error);
    sim_config_free(config);
    return status;
}

// A rank above 0 says nothing: what is wrong, rank 0 finds and tells.
static void serve(const sim_cli *cli) {
    sim_config *config;
    if (check_options(cli, NULL) || sim_cli_config(cli, cli->arguments[0], &config, NULL)) return;
    sim_sweep_serve(config, sim_cli_catch_signals());
    sim_config_free(config);
}

static sim_status run(const sim_cli *cli, sim_error *error) {
    sim_ranks ranks;
    sim_status status = sim_ranks_join(&ranks, error);
    if (status) return status;
    if (ranks.rank == 0)
        status = sweep(cli, &ranks, error);
    else
        serve(cli);
    sim_ranks_leave(&ranks);
    return status;
}

const sim_command sim_cmd_sweep = {
    .name = "sweep",
    .synopsis = "CONFIG",
    .help = "run every point of a [sweep] and rank them",
    .details =
        "With -o DIR: sweep.db (SQLite: views ranking and pareto), sweep.csv and config.ini. Every finished run is "
        "in the database at once;\n"
        "--resume goes on after an interruption. forepass list keys tells what [sweep] takes.\n"
        "Built with -DFOREPASS_MPI=ON it shares the runs over the ranks of mpirun or srun.\n",
    .options = SIM_OPT_SET | SIM_OPT_DATA | SIM_OPT_OUTPUT | SIM_OPT_FORMAT | SIM_OPT_QUIET | SIM_OPT_PROGRESS |
               SIM_OPT_SEED | SIM_OPT_JOBS | SIM_OPT_SWEEP,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run,
};
