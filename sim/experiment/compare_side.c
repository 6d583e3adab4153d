// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/compare_side.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/experiment/measured_figures.h"
#include "sim/workload/trace_reader.h"

const char *const sim_side_kind_names[] = { "config", "directory", "measured" };

static bool has_bounds(const sim_sla_config *sla) { return sla->ttft_ns > 0 || sla->tpot_ns > 0 || sla->e2e_ns > 0; }

void sim_side_clear(sim_side *side) {
    sim_summary_figures_clear(&side->figures);
    sim_request_table_clear(&side->table);
}

static sim_status keep_or_clear(sim_side *side, sim_status status) {
    if (status) sim_side_clear(side);
    return status;
}

// ---------------------------------------------------------------------------------------------------------------------
// A configuration
// ---------------------------------------------------------------------------------------------------------------------

static sim_status take_run(sim_side *side, const sim_run *run, const sim_settings *settings, sim_error *error) {
    const sim_summary *summary = sim_run_summary(run);
    const sim_run_facts *facts = summary->facts;
    side->is_closed_loop = sim_load_resolve(&settings->load, facts->workload->has_stamps) == SIM_LOAD_CONCURRENCY;
    side->sla = settings->sla;
    side->has_sla = has_bounds(&side->sla);
    const sim_status status = sim_summary_figures_of(&side->figures, summary, error);
    return status ? status : sim_request_table_of(&side->table, facts->collector, facts->workload, error);
}

static sim_status run_on(sim_side *side, const sim_config *config, const sim_settings *settings,
                         const sim_run_options *options, sim_error *error) {
    sim_run *run = NULL;
    sim_status status = sim_run_execute(&run, config, settings, options, error);
    if (!status) status = take_run(side, run, settings, error);
    sim_run_free(run);
    return status;
}

sim_status sim_side_run(sim_side *side, const sim_config *config, sim_workload_store *workloads,
                        const sim_run_options *options, sim_error *error) {
    sim_settings settings;
    const sim_workload *workload;
    side->kind = SIM_SIDE_CONFIG;
    sim_status status = sim_settings_read(config, &settings, error);
    if (!status)
        status = sim_workload_store_take(workloads, config, &settings.workload, (uint64_t)settings.load.seed, &workload,
                                         error);
    if (status) return status;
    sim_run_options own = *options;
    own.workload = workload;
    status = run_on(side, config, &settings, &own, error);
    sim_workload_store_give_back(workloads, workload);
    return keep_or_clear(side, status);
}

// ---------------------------------------------------------------------------------------------------------------------
// A directory
// ---------------------------------------------------------------------------------------------------------------------

static sim_status file_in(const char *directory, const char *name, char **path, sim_error *error) {
    if (asprintf(path, "%s/%s", directory, name) < 0) {
        *path = NULL;
        return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    }
    if (access(*path, R_OK) == 0) return SIM_OK;
    return sim_error_set(error, SIM_IO, *path, 0, "the file cannot be read: %s (forepass replay -o DIR --requests)",
                         strerror(errno));
}

// Requests of the warm-up are not measured; the file itself does not tell them.
static void apply_warmup(sim_request_table *table, const sim_load_config *load) {
    for (size_t i = 0; i < table->n_rows; i++)
        if (i < (size_t)load->warmup_requests || table->rows[i].arrival_ns < load->warmup_ns)
            table->rows[i].is_measured = false;
}

// What the run was asked, as far as it matters here: models and traces it names need not be on this machine.
static sim_status apply_config(sim_side *side, const sim_config *config, sim_error *error) {
    sim_load_config load;
    sim_workload_config workload;
    sim_config_fill(config, &sim_load_keys, &load);
    sim_config_fill(config, &sim_workload_keys, &workload);
    sim_config_fill(config, &sim_csv_keys, &workload.csv);
    sim_config_fill(config, &sim_sla_keys, &side->sla);
    const sim_status status = sim_sla_check(config, &side->sla, error);
    side->has_sla = has_bounds(&side->sla);
    side->is_closed_loop = sim_load_resolve(&load, sim_workload_can_have_stamps(&workload)) == SIM_LOAD_CONCURRENCY;
    apply_warmup(&side->table, &load);
    return status;
}

static sim_status read_config(sim_side *side, const char *path, sim_error *error) {
    sim_config *config;
    sim_status status = sim_config_new(&config, sim_settings_tables, sim_settings_n_tables, error);
    if (status) return status;
    status = sim_config_load(config, path, error);
    if (!status) status = apply_config(side, config, error);
    sim_config_free(config);
    return status;
}

static sim_status read_table(sim_side *side, const char *path, bool is_own, const sim_row_filter *filter,
                             sim_error *error) {
    fpm_line_reader *lines;
    fpm_error fault;
    if (fpm_line_reader_open(&lines, path, &fault)) return sim_error_from_fpm(error, &fault);
    const sim_status status = sim_request_table_read(&side->table, lines, is_own, filter, error);
    fpm_line_reader_free(lines);
    return status;
}

// A requests.csv of which whole rows are missing at its end is as well formed as any.
static sim_status check_count(const sim_side *side, const char *path, sim_error *error) {
    double wanted;
    size_t n = 0;
    for (size_t i = 0; i < side->table.n_rows; i++) n += side->table.rows[i].status == SIM_REQUEST_COMPLETED;
    if (!sim_summary_figures_find(&side->figures, "completed_requests", &wanted) || (double)n == wanted) return SIM_OK;
    return sim_error_set(error, SIM_BAD_DATA, path, 0,
                         "the file has %zu completed requests, summary.json %.0f (is it cut short, or of another run?)",
                         n, wanted);
}

sim_status sim_side_read(sim_side *side, const char *path, sim_error *error) {
    side->kind = SIM_SIDE_DIRECTORY;
    char *summary = NULL, *config = NULL, *requests = NULL;
    sim_status status = file_in(path, "summary.json", &summary, error);
    if (!status) status = file_in(path, "config.ini", &config, error);
    if (!status) status = file_in(path, "requests.csv", &requests, error);
    if (!status) status = sim_summary_figures_read(&side->figures, summary, error);
    if (!status) status = read_table(side, requests, true, NULL, error);
    if (!status) status = check_count(side, requests, error);
    if (!status) status = read_config(side, config, error);
    if (!status && side->figures.is_interrupted)
        snprintf(side->note, sizeof side->note, "%.200s is of a run that was interrupted", path);
    free(summary);
    free(config);
    free(requests);
    return keep_or_clear(side, status);
}

// ---------------------------------------------------------------------------------------------------------------------
// A recorded run
// ---------------------------------------------------------------------------------------------------------------------

static int by_arrival(const void *a, const void *b) {
    const sim_request_outcome *x = *(const sim_request_outcome *const *)a, *y = *(const sim_request_outcome *const *)b;
    if (x->arrival_ns != y->arrival_ns) return x->arrival_ns < y->arrival_ns ? -1 : 1;
    return (x > y) - (x < y); // as they stand in the file
}

// As a replay of the same log orders and re-bases them.
static sim_status sort_rows(sim_request_table *table, sim_error *error) {
    const size_t n = table->n_rows;
    const sim_request_outcome **order = malloc(n * sizeof *order);
    sim_request_outcome *sorted = malloc(n * sizeof *sorted);
    if (!order || !sorted) {
        free(order);
        free(sorted);
        return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    }
    for (size_t i = 0; i < n; i++) order[i] = &table->rows[i];
    qsort(order, n, sizeof *order, by_arrival);
    for (size_t i = 0; i < n; i++) {
        sorted[i] = *order[i];
        sorted[i].arrival_ns -= order[0]->arrival_ns;
    }
    free(order);
    free(table->rows);
    table->rows = sorted;
    return SIM_OK;
}

sim_status sim_side_read_measured(sim_side *side, const char *path, const sim_row_filter *filter, sim_error *error) {
    side->kind = SIM_SIDE_MEASURED;
    sim_status status = read_table(side, path, false, filter, error);
    if (!status && side->table.has_arrivals) status = sort_rows(&side->table, error);
    if (!status) status = sim_measured_figures(&side->figures, &side->table, error);
    if (!status && side->table.unused[0])
        snprintf(side->note, sizeof side->note, "%.200s: columns that are not used: %.200s", path, side->table.unused);
    return keep_or_clear(side, status);
}
