// SPDX-License-Identifier: GPL-3.0-or-later
//
// forepass accuracy DIR: prices of single kernels against measured ones, and with --calibrate the curves that fit them best.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/cli/accuracy_operators.h"
#include "sim/deployment/data_files.h"
#include "sim/experiment/operator_fit.h"
#include "sim/experiment/operator_report.h"
#include "sim/report/output_dir.h"

typedef struct job {
    const sim_cli *cli;
    sim_sample_set set;
    sim_output_dir *out; // NULL: nothing is calibrated
    sim_operator_curves curves;
    sim_operator_row rows[SIM_MAX_OPERATOR_ROWS];
    size_t n_rows;
} job;

static sim_status read_grouping(const char *text, sim_operator_grouping *grouping, sim_error *error) {
    static const char *const names[] = { "kind", "backend", "format" };
    *grouping = SIM_GROUP_KIND;
    if (!text) return SIM_OK;
    for (int i = 0; i < 3; i++) {
        *grouping = (sim_operator_grouping)i;
        if (strcmp(text, names[i]) == 0) return SIM_OK;
    }
    return sim_error_set(error, SIM_USAGE, NULL, 0,
                         "--group-by: \"%s\" is not one of the choices (kind|backend|format)", text);
}

static bool is_measured(const sim_sample_set *set, size_t system) {
    for (size_t i = 0; i < set->n; i++)
        if (set->samples[i].system == system) return true;
    return false;
}

// False: nobody names a file, and none is shipped.
static bool find_curves(const sim_cli *cli, const fpm_system *system, char path[SIM_DATA_PATH_BYTES]) {
    struct stat what;
    if (!cli->curves) return sim_data_find("", "operators", system->name, path);
    if (stat(cli->curves, &what) == 0 && S_ISREG(what.st_mode))
        snprintf(path, SIM_DATA_PATH_BYTES, "%s", cli->curves);
    else
        snprintf(path, SIM_DATA_PATH_BYTES, "%s/%s.ini", cli->curves, system->name);
    return true;
}

// A fit starts from defaults, or from what --curves names.
static sim_status load_curves(job *on, const fpm_system *system, sim_error *error) {
    sim_operator_curves_init(&on->curves, system);
    char path[SIM_DATA_PATH_BYTES];
    if ((on->out && !on->cli->curves) || !find_curves(on->cli, system, path)) return SIM_OK;
    sim_status status = SIM_OK;
    for (int backend = 0; backend < FPM_BACKENDS && status == SIM_OK; backend++)
        status = sim_operator_curves_load(&on->curves.operators[backend], system, (fpm_backend)backend, path, error);
    on->curves.operators[SIM_ALL_BACKENDS] = on->curves.operators[0]; // what all share (collectives)
    return status;
}

static sim_status write_curves(job *on, size_t system, sim_error *error) {
    char name[FPM_NAME_BYTES + 8];
    snprintf(name, sizeof name, "%s.ini", on->set.systems[system].name);
    sim_output_file *file;
    sim_status status =
        sim_operator_report(&on->curves, &on->set, system, SIM_GROUP_KIND, on->rows, &on->n_rows, error);
    if (status == SIM_OK) status = sim_output_dir_create(on->out, name, &file, error);
    if (status != SIM_OK) return status;
    if (!sim_operator_report_write(&on->curves, &on->set, system, on->rows, on->n_rows, sim_output_file_stream(file)))
        return sim_error_set(error, SIM_IO, sim_output_file_path(file), 0, "the file cannot be written");
    return SIM_OK;
}

// What to expect of a GPU of which nothing is measured.
static sim_status write_typical(job *on, sim_error *error) {
    sim_output_file *file;
    sim_operator_curves_init(&on->curves, &on->set.systems[0]);
    sim_status status = sim_operator_fit_typical(&on->curves, &on->set, error);
    if (status == SIM_OK) status = sim_output_dir_create(on->out, "typical.ini", &file, error);
    if (status != SIM_OK) return status;
    FILE *out = sim_output_file_stream(file);
    fprintf(out,
            "; What kernels cost on a GPU like those that were measured: one fit over the samples of all systems.\n"
            "; Written by `forepass accuracy DIR --calibrate OUT`; do not edit.\n");
    if (!sim_operator_curves_write(&on->curves, out))
        return sim_error_set(error, SIM_IO, sim_output_file_path(file), 0, "the file cannot be written");
    return SIM_OK;
}

static void print_rows(const job *on, size_t system) {
    for (size_t i = 0; i < on->n_rows; i++) {
        const sim_operator_row *row = &on->rows[i];
        char name[64];
        sim_operator_row_name(row, name);
        printf("%-20s %-34s %7zu %8zu %7zu", on->set.systems[system].name, name, row->n_samples, row->n_cached,
               row->n_host_bound);
        if (row->n_samples > 0)
            printf(" %8.1f %8.1f %+8.1f", 100 * row->median_error_frac, 100 * row->p90_error_frac,
                   100 * row->bias_frac);
        else
            printf(" %8s %8s %8s", "-", "-", "-");
        printf(" %8.1f\n", 100 * row->all_median_error_frac);
    }
}

static sim_status run_system(job *on, size_t system, sim_operator_grouping grouping, sim_error *error) {
    sim_status status = load_curves(on, &on->set.systems[system], error);
    if (status == SIM_OK && on->out) status = sim_operator_fit(&on->curves, &on->set, system, error);
    if (status == SIM_OK && on->out) status = write_curves(on, system, error);
    if (status == SIM_OK)
        status = sim_operator_report(&on->curves, &on->set, system, grouping, on->rows, &on->n_rows, error);
    if (status == SIM_OK) print_rows(on, system);
    return status;
}

sim_status sim_cli_accuracy_operators(const sim_cli *cli, sim_error *error) {
    sim_operator_grouping grouping;
    sim_status status = read_grouping(cli->group_by, &grouping, error);
    job *on = calloc(1, sizeof *on);
    if (!on) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    on->cli = cli;
    if (status == SIM_OK) status = sim_sample_set_read(&on->set, cli->arguments[0], error);
    if (status == SIM_OK && cli->calibrate) status = sim_output_dir_open(&on->out, cli->calibrate, true, NULL, error);
    if (status == SIM_OK)
        printf("%-20s %-34s %7s %8s %7s %8s %8s %8s %8s\n", "system", "kind", "samples", "cached", "host", "median%",
               "p90%", "bias%", "all%");
    for (size_t i = 0; i < on->set.n_systems && status == SIM_OK; i++)
        if (is_measured(&on->set, i)) status = run_system(on, i, grouping, error);
    if (status == SIM_OK && on->out) status = write_typical(on, error);
    if (status == SIM_OK && on->out) status = sim_output_dir_commit(on->out, error);
    sim_output_dir_free(on->out);
    sim_sample_set_clear(&on->set);
    free(on);
    return status;
}
