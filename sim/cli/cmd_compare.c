// SPDX-License-Identifier: GPL-3.0-or-later
//
// forepass compare A B [C...]: runs side by side, every other one against the first.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/cli/run_options.h"
#include "sim/experiment/compare.h"

enum { MAX_SIDES = 27 }; // --against, and A to Z
static const uint64_t default_seed = 42;

typedef struct comparing {
    const sim_cli *cli;
    sim_side sides[MAX_SIDES];
    size_t n_sides;
    sim_workload_store *workloads;
    uint32_t n_threads;
    const volatile sig_atomic_t *stopped;
    FILE *progress;
} comparing;

static void print_line(void *context, const char *line) {
    (void)context;
    fprintf(stderr, "forepass: %s\n", line);
}

static bool is_directory(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

static sim_status run_config(comparing *all, sim_side *side, sim_error *error) {
    const sim_run_options options = {
        .n_threads = all->n_threads,
        .progress = all->progress,
        .stopped = all->stopped,
        .warn = print_line,
        .note = all->cli->quiet ? NULL : print_line,
    };
    sim_config *config;
    sim_status status = sim_cli_config(all->cli, side->path, &config, error);
    if (status) return status;
    status = sim_side_run(side, config, all->workloads, &options, error);
    sim_config_free(config);
    return status;
}

static sim_status add_side(comparing *all, const char *path, const char *name, sim_error *error) {
    if (all->n_sides == MAX_SIDES)
        return sim_error_set(error, SIM_USAGE, NULL, 0, "compare takes at most %d runs", MAX_SIDES - 1);
    sim_side *side = &all->sides[all->n_sides];
    side->path = path;
    snprintf(side->name, sizeof side->name, "%s", name);
    const sim_row_filter filter = { (const char *const *)all->cli->filters, all->cli->n_filters };
    sim_status status;
    if (strcmp(name, "measured") == 0)
        status = sim_side_read_measured(side, path, &filter, error);
    else if (is_directory(path))
        status = sim_side_read(side, path, error);
    else
        status = run_config(all, side, error);
    if (status) return status;
    if (side->note[0] && !all->cli->quiet) print_line(NULL, side->note);
    all->n_sides++;
    return SIM_OK;
}

// Standard input can be read once only.
static sim_status check_arguments(const sim_cli *cli, sim_error *error) {
    const size_t n_least = cli->against ? 1 : 2;
    size_t n_stdin = cli->against && strcmp(cli->against, "-") == 0;
    for (size_t i = 0; i < cli->n_arguments; i++) n_stdin += strcmp(cli->arguments[i], "-") == 0;
    if (cli->n_arguments < n_least)
        return sim_error_set(
            error, SIM_USAGE, NULL, 0,
            "compare needs two runs (usage: forepass compare A B [C...]; or --against MEASURED.csv A)");
    if (n_stdin > 1) return sim_error_set(error, SIM_USAGE, NULL, 0, "only one of the runs can be - (standard input)");
    if (cli->n_filters > 0 && !cli->against)
        return sim_error_set(error, SIM_USAGE, NULL, 0, "--filter has no effect without --against MEASURED.csv");
    return SIM_OK;
}

// What --set cannot reach would seem to be changed by it.
static void warn_of_sets(const sim_cli *cli) {
    for (size_t i = 0; i < cli->n_arguments && cli->n_sets > 0 && !cli->quiet; i++)
        if (is_directory(cli->arguments[i]))
            fprintf(stderr, "forepass: --set does not change %s, which is the result of an earlier run\n",
                    cli->arguments[i]);
}

static sim_status load_sides(comparing *all, sim_error *error) {
    const sim_cli *cli = all->cli;
    sim_status status = SIM_OK;
    if (cli->against) status = add_side(all, cli->against, "measured", error);
    for (size_t i = 0; i < cli->n_arguments && !status; i++)
        status = add_side(all, cli->arguments[i], (const char[]){ (char)('A' + (int)i), '\0' }, error);
    return status;
}

static sim_status compare_sides(const comparing *all, sim_error *error) {
    const sim_row_pool_options pool = { .n_threads = all->n_threads, .progress = NULL, .stopped = all->stopped };
    const uint64_t seed = all->cli->has_seed ? all->cli->seed : default_seed;
    sim_comparison comparison;
    sim_status status = sim_comparison_new(&comparison, all->sides, all->n_sides, seed, &pool, error);
    if (status) return status;
    status = all->cli->json ? sim_comparison_write_json(&comparison, stdout, error)
                            : sim_comparison_write_table(&comparison, stdout, error);
    sim_comparison_clear(&comparison);
    return status;
}

static sim_status run(const sim_cli *cli, sim_error *error) {
    sim_status status = check_arguments(cli, error);
    if (status) return status;
    comparing *all = calloc(1, sizeof *all);
    if (!all) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    all->cli = cli;
    all->progress = sim_cli_progress(cli);
    status = sim_cli_parse_jobs(cli, &all->n_threads, error);
    if (!status) status = sim_workload_store_new(&all->workloads, 1, error);
    if (!status) {
        warn_of_sets(cli);
        all->stopped = sim_cli_catch_signals();
        status = load_sides(all, error);
    }
    if (!status) status = compare_sides(all, error);
    if (status == SIM_INTERRUPTED || status == SIM_TERMINATED)
        sim_error_set(error, status, NULL, 0, "stopped by a signal; there is nothing to compare yet");
    for (size_t i = 0; i < all->n_sides; i++) sim_side_clear(&all->sides[i]);
    sim_workload_store_free(all->workloads);
    free(all);
    return status;
}

const sim_command sim_cmd_compare = {
    .name = "compare",
    .synopsis = "A B [C...]",
    .help = "put runs side by side: what differs, by how much, how surely",
    .details =
        "A, B, ...: configurations, run now (--set holds for all of them), or directories of forepass replay -o DIR "
        "--requests.\n"
        "All are compared with the first. Where the requests are the same (as many; in order the same prompt and "
        "output tokens\n"
        "and, in an open loop, the same arrival) they are compared in pairs, else as two samples, and the result says "
        "so.\n"
        "Intervals: circular block bootstrap, blocks 20 autocorrelation times long, Student's t; --seed moves its "
        "draws too (42).\n"
        "* and the verdict: a false discovery rate of 5 % among all figures; classes of requests (prompt and answer "
        "length, turn,\n"
        "cached share in A) likewise among all classes, and their intervals are widened by that.\n"
        "\n"
        "--against MEASURED.csv takes a recorded real run as the first: CSV with a header, one row per request, "
        "columns by name:\n"
        "  ttft_ms, tpot_ms, e2e_ms   at least one; a unit each: _s, _ms, _us or _ns; an empty cell: none\n"
        "  arrival_s                  (any unit) when it arrived; rows are ordered by it and the first becomes 0\n"
        "  input_tokens or isl, output_tokens or osl, cached_tokens\n"
        "  session, status            status: completed, rejected, incomplete, not_admitted; no column: all completed\n"
        "Other columns are not used, which is said, but --filter COLUMN=VALUE may pick rows by any. Arrivals agree "
        "within 1 ms.\n"
        "So that requests pair, replay that log: configs/experiments/own-log.ini.\n",
    .options = SIM_OPT_SET | SIM_OPT_DATA | SIM_OPT_FORMAT | SIM_OPT_QUIET | SIM_OPT_PROGRESS | SIM_OPT_SEED |
               SIM_OPT_JOBS | SIM_OPT_COMPARE,
    .min_arguments = 0, // which depends on --against: check_arguments
    .max_arguments = MAX_SIDES - 1,
    .run = run,
};
