// SPDX-License-Identifier: GPL-3.0-or-later
//
// forepass accuracy MEASURED.csv: predict measured runs, print how far off the predictions are.
#include <string.h>
#include <sys/stat.h>

#include "sim/cli/accuracy_operators.h"
#include "sim/cli/estimate_model.h"
#include "sim/cli/run_options.h"
#include "sim/experiment/accuracy_report.h"
#include "sim/experiment/calibration_fit.h"
#include "sim/report/output_dir.h"

static const char *const default_groups[] = { "model.name", "system.name" };
enum { N_DEFAULT_GROUPS = sizeof default_groups / sizeof *default_groups };

static const char *const output_names[] = { "accuracy.csv", "summary.json", NULL };

typedef struct accuracy {
    const sim_cli *cli;
    sim_config *base;
    sim_measured *measured;
    char group_by[1024];
    size_t n_worst;
    uint32_t n_threads;
    sim_output_dir *dir;
    sim_row_result *results;
    sim_accuracy_report *report;
} accuracy;

// --- what the command line asks for ----------------------------------------------------------------------------------

// The default names what the file has of it, so that a table without [model] columns still gives a result.
static sim_status choose_groups(accuracy *a, sim_error *error) {
    const char *wanted = a->cli->group_by;
    if (wanted) {
        if (strlen(wanted) >= sizeof a->group_by)
            return sim_error_set(error, SIM_USAGE, NULL, 0, "--group-by: the list is too long");
        strcpy(a->group_by, wanted);
        return sim_accuracy_check_groups(a->measured, a->group_by, error);
    }
    for (int i = 0; i < N_DEFAULT_GROUPS; i++) {
        if (sim_measured_find(a->measured, default_groups[i], NULL) == a->measured->n_columns) continue;
        if (a->group_by[0]) strcat(a->group_by, ",");
        strcat(a->group_by, default_groups[i]);
    }
    return SIM_OK;
}

static sim_status choose_worst(accuracy *a, sim_error *error) {
    int64_t n_worst = 10;
    sim_status status = SIM_OK;
    if (a->cli->worst) status = sim_cli_parse_count("--worst", a->cli->worst, 0, INT32_MAX, &n_worst, error);
    a->n_worst = (size_t)n_worst;
    return status;
}

static sim_status prepare(accuracy *a, sim_error *error) {
    const sim_cli *cli = a->cli;
    sim_status status = sim_cli_parse_jobs(cli, &a->n_threads, error);
    if (!status) status = choose_worst(a, error);
    if (!status) status = sim_cli_config(cli, cli->config, &a->base, error);
    if (!status) status = sim_measured_read(&a->measured, cli->arguments[0], a->base, error);
    if (!status) status = sim_measured_filter(a->measured, (const char *const *)cli->filters, cli->n_filters, error);
    if (!status) status = choose_groups(a, error);
    if (!status && cli->output) status = sim_output_dir_open(&a->dir, cli->output, cli->overwrite, output_names, error);
    return status;
}

// --- the result ------------------------------------------------------------------------------------------------------

static sim_status write_files(const accuracy *a, sim_error *error) {
    sim_output_file *rows, *summary;
    sim_status status = sim_output_dir_create(a->dir, "accuracy.csv", &rows, error);
    if (!status)
        status = sim_accuracy_write_csv(a->report, sim_output_file_stream(rows), sim_output_file_path(rows), error);
    if (!status) status = sim_output_dir_create(a->dir, "summary.json", &summary, error);
    if (!status) status = sim_accuracy_write_json(a->report, sim_output_file_stream(summary), error);
    char path[4200];
    snprintf(path, sizeof path, "%s/sweep.db", a->cli->output);
    if (!status) status = sim_accuracy_store(a->report, path, FOREPASS_VERSION, error);
    return status ? status : sim_output_dir_commit(a->dir, error);
}

// `outcome` is how the run ended; with none predicted that is the news.
static sim_status conclude(accuracy *a, sim_status outcome, sim_error *error) {
    sim_status status = sim_accuracy_report_new(&a->report, a->measured, a->results, a->group_by, a->n_worst, error);
    if (!status && a->dir) status = write_files(a, error);
    if (!status && a->cli->json) status = sim_accuracy_write_json(a->report, stdout, error);
    if (!status && !a->cli->json) status = sim_accuracy_write_table(a->report, stdout, error);
    if (status) return status;
    if (outcome)
        return sim_error_set(error, outcome, NULL, 0, "stopped by a signal; the figures are of the rows that were run");
    if (a->report->all.n_predicted > 0) return SIM_OK;
    return sim_error_set(error, SIM_DEAD_END, NULL, 0, "no row of %s could be predicted (%s: %s)", a->measured->path,
                         sim_measured_id(a->measured, a->report->failures[0].first_row), a->report->failures[0].reason);
}

static sim_status predict(accuracy *a, sim_error *error) {
    const sim_row_pool_options options = {
        .n_threads = a->n_threads,
        .progress = sim_cli_progress(a->cli),
        .stopped = sim_cli_catch_signals(),
    };
    const sim_status status = sim_accuracy_run(a->measured, a->base, &options, &a->results, error);
    return a->results ? conclude(a, status, error) : status;
}

// --- --calibrate OUT.ini ---------------------------------------------------------------------------------------------

// Directory and name of a file that is to be written whole or not at all.
static sim_status open_file(accuracy *a, const char *path, sim_output_file **file, sim_error *error) {
    struct stat facts;
    if (!a->cli->overwrite && stat(path, &facts) == 0)
        return sim_error_set(error, SIM_USAGE, NULL, 0, "--calibrate: %s exists (--overwrite replaces it)", path);
    const char *slash = strrchr(path, '/');
    char dir[1024] = ".";
    if (slash) {
        const size_t n = slash == path ? 1 : (size_t)(slash - path);
        if (n >= sizeof dir) return sim_error_set(error, SIM_USAGE, NULL, 0, "--calibrate: the path is too long");
        memcpy(dir, path, n);
        dir[n] = '\0';
    }
    const sim_status status = sim_output_dir_open(&a->dir, dir, true, NULL, error);
    return status ? status : sim_output_dir_create(a->dir, slash ? slash + 1 : path, file, error);
}

static void print_error(const char *what, const sim_calibration_error *error) {
    printf("%-34s %8.1f %8.1f %8.1f %8.1f\n", what, error->tpot_mape_pct, error->tpot_median_ape_pct,
           error->ttft_mape_pct, error->ttft_median_ape_pct);
}

static void print_fit(const sim_calibration_fit *fit, size_t n_rows) {
    printf("%zu of %zu rows, %u cells, %zu parameters (shrunk to an effective %.0f)\n\n%-34s %8s %8s %8s %8s\n",
           fit->n_points, n_rows, fit->n_cells, fit->n_parameters, fit->effective_parameters, "", "TPOT %", "median %",
           "TTFT %", "median %");
    print_error("before", &fit->before);
    print_error("as fitted", &fit->training);
    print_error("each cell by a fit to the others", &fit->left_out);
}

// A fit goes on from the calibration in force, so that what a few rows say nothing about stays as it was; from perfmodel.calibration = none, from what is
// believed before any row. admission_passes shape the passes and are not fitted.
static sim_status read_prior(const accuracy *a, sim_calibration *prior, sim_error *error) {
    sim_config *config;
    sim_settings settings;
    const sim_status status = sim_accuracy_row_settings(a->measured, 0, a->base, &config, &settings, error);
    if (status) return status;
    *prior = settings.prices.calibration_path[0] ? settings.prices.calibration : sim_calibration_prior();
    memcpy(prior->admission_passes, settings.prices.calibration.admission_passes, sizeof prior->admission_passes);
    sim_config_free(config);
    return SIM_OK;
}

// What was asked, for the head of the file; cut when it is very long.
static void describe_source(const accuracy *a, char *text, size_t size) {
    size_t at = (size_t)snprintf(text, size, "%s", a->measured->path);
    for (size_t i = 0; i < a->cli->n_filters && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, " --filter %s", a->cli->filters[i]);
    for (size_t i = 0; i < a->cli->n_sets && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, " --set %s", a->cli->sets[i]);
}

static sim_status fit_and_write(accuracy *a, const sim_row_pool_options *pool, sim_output_file *file,
                                sim_error *error) {
    const sim_calibration_fit_options options = sim_calibration_fit_defaults();
    const sim_row_pool_options quiet = { .n_threads = pool->n_threads, .stopped = pool->stopped };
    sim_calibration prior;
    sim_measured_points points;
    sim_calibration_fit fit;
    sim_status status = sim_measured_points_find(&points, a->measured, a->base, pool, error);
    if (status) return status;
    status = read_prior(a, &prior, error);
    if (!status) status = sim_calibration_fit_points(&fit, &points, &prior, &options, &quiet, error);
    sim_measured_points_clear(&points);
    if (status) return status;
    char source[1024];
    describe_source(a, source, sizeof source);
    if (!sim_calibration_fit_write(&fit, source, sim_output_file_stream(file)))
        return sim_error_set(error, SIM_IO, sim_output_file_path(file), 0, "the file cannot be written");
    status = sim_output_dir_commit(a->dir, error);
    if (!status) print_fit(&fit, a->measured->n_rows);
    return status;
}

static sim_status calibrate(accuracy *a, sim_error *error) {
    const sim_row_pool_options pool = {
        .n_threads = a->n_threads,
        .progress = sim_cli_progress(a->cli),
        .stopped = sim_cli_catch_signals(),
    };
    sim_output_file *file;
    const sim_status status = open_file(a, a->cli->calibrate, &file, error);
    return status ? status : fit_and_write(a, &pool, file, error);
}

static sim_status run_rows(const sim_cli *cli, sim_error *error) {
    accuracy a = { .cli = cli };
    sim_status status = prepare(&a, error);
    if (!status) status = cli->calibrate ? calibrate(&a, error) : predict(&a, error);
    sim_accuracy_report_free(a.report);
    if (a.measured) sim_row_results_free(a.results, a.measured->n_rows);
    sim_output_dir_free(a.dir);
    sim_measured_free(a.measured);
    sim_config_free(a.base);
    return status;
}

static sim_status run(const sim_cli *cli, sim_error *error) {
    struct stat facts;
    const bool is_directory = stat(cli->arguments[0], &facts) == 0 && S_ISDIR(facts.st_mode);
    // A directory holds latencies of operators, which are compared with operator prices instead of replayed.
    return is_directory ? sim_cli_accuracy_operators(cli, error) : run_rows(cli, error);
}

const sim_command sim_cmd_accuracy = {
    .name = "accuracy",
    .synopsis = "MEASURED.csv|OPERATORS_DIR",
    .help = "predict measured runs, print the error of the predictions",
    .details =
        "One row is one measured run. Columns: id; section.key, any key of the configuration (an empty cell: not "
        "given);\n"
        "label.NAME, for grouping; measured.ttft_ms, measured.tpot_ms (also itl_ms, e2e_ms, output_throughput_tok_s): "
        "means\n"
        "over the requests. Each row is replayed with load.mode = concurrency, workload.requests = 10 x concurrency,\n"
        "kv_cache.prefix_caching = false, engine.max_num_seqs = max(256, concurrency), engine.max_num_batched_tokens = "
        "8192\n"
        "(at least max_num_seqs), unless --config, the row or --set (the last one wins) say otherwise.\n"
        "With load.warmup_requests > 0 a row measures a steady state: lengths that are said to be N are drawn from\n"
        "uniform(0.9 N, 1.1 N), or the loop would stay in step, which real servers do not.\n"
        "MAPE, median and p90 are of |predicted - measured| / measured, bias is the mean with its sign, log err the "
        "mean "
        "of\n"
        "|ln(predicted / measured)|. A row that cannot run is counted by reason and ends nothing; status 4 when none "
        "could.\n"
        "Filters on one column are alternatives, filters on different columns must all hold.\n"
        "--calibrate OUT.ini fits the terms of the native model to the rows (cells, i.e. model, GPU, engine and number "
        "format,\n"
        "are left out in turn to tell what the fit is worth elsewhere). It goes on from the calibration in force, "
        "or with\n"
        "--set perfmodel.calibration=none from what is believed before any row. Use it by include = OUT.ini: it is "
        "whole.\n"
        "With -o DIR: accuracy.csv (one line per row), summary.json, and the rows in sweep.db, the database of "
        "forepass sweep.\n",
    .options = SIM_OPT_SET | SIM_OPT_OUTPUT | SIM_OPT_FORMAT | SIM_OPT_QUIET | SIM_OPT_PROGRESS | SIM_OPT_SEED |
               SIM_OPT_JOBS | SIM_OPT_ACCURACY,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run,
};
