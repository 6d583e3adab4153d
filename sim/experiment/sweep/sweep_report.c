// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/sweep/sweep_report.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/experiment/sweep/standings.h"
#include "sim/report/csv_text.h"
#include "sim/report/json_fields.h"

static sim_status check_written(FILE *out, sim_error *error) {
    return ferror(out) ? sim_error_set(error, SIM_IO, NULL, 0, "the ranking could not be written") : SIM_OK;
}

void sim_sweep_write_points(const sim_sweep *sweep, FILE *out) {
    const sim_space *space = sim_sweep_space(sweep);
    const sim_design *design = sim_sweep_design(sweep);
    for (size_t i = 0; i < design->n_points; i++) {
        const sim_point *point = &design->points[i];
        fprintf(out, "%6zu", i + 1);
        for (size_t k = 0; k < sim_space_n_keys(space); k++)
            if (point->values[k]) fprintf(out, "  %s=%s", sim_space_key(space, k), point->values[k]);
        if (point->reason) fprintf(out, "  (infeasible: %s)", point->reason);
        fputc('\n', out);
    }
}

// --- CSV -------------------------------------------------------------------------------------------------------------

typedef struct csv {
    FILE *out;
    bool has_header;
} csv;

static void put_fields(FILE *out, size_t n, const char *const *texts) {
    for (size_t i = 0; i < n; i++) {
        if (i) fputc(',', out);
        if (texts[i]) sim_csv_put_text(out, texts[i]);
    }
    fputc('\n', out);
}

static sim_status put_csv_row(void *self, const sim_results_row *row, sim_error *error) {
    csv *to = self;
    (void)error;
    if (!to->has_header) put_fields(to->out, row->n, row->names);
    to->has_header = true;
    put_fields(to->out, row->n, row->texts);
    return SIM_OK;
}

sim_status sim_sweep_write_csv(sim_results *results, FILE *out, sim_error *error) {
    csv to = { out, false };
    const sim_status status = sim_results_query(results, "SELECT * FROM ranking", put_csv_row, &to, error);
    return status ? status : check_written(out, error);
}

// --- JSON ------------------------------------------------------------------------------------------------------------

static sim_status add_row(void *self, const sim_results_row *row, sim_error *error) {
    cJSON *item = sim_json_add_item(self);
    if (!item) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    for (size_t i = 0; i < row->n; i++) {
        if (!row->texts[i])
            cJSON_AddNullToObject(item, row->names[i]);
        else if (row->is_number[i])
            cJSON_AddRawToObject(item, row->names[i], row->texts[i]);
        else
            cJSON_AddStringToObject(item, row->names[i], row->texts[i]);
    }
    return SIM_OK;
}

static void add_counts(cJSON *root, const sim_sweep *sweep) {
    const sim_sweep_counts counts = sim_sweep_count(sweep);
    cJSON_AddStringToObject(root, "method", sim_sweep_method_names[sim_sweep_settings(sweep)->method]);
    sim_json_add_count(root, "points", counts.points);
    sim_json_add_count(root, "same_points", counts.same);
    sim_json_add_count(root, "runs", counts.planned);
    sim_json_add_count(root, "reused_runs", counts.reused);
    sim_json_add_count(root, "done_runs", counts.done);
    sim_json_add_count(root, "infeasible_runs", counts.infeasible);
    sim_json_add_count(root, "failed_runs", counts.failed);
    sim_json_add_count(root, "stopped_runs", counts.stopped);
    cJSON *objectives = cJSON_AddArrayToObject(root, "objectives");
    for (size_t i = 0; i < sim_sweep_objectives(sweep)->n; i++) {
        const sim_objective *objective = &sim_sweep_objectives(sweep)->list[i];
        cJSON *item = sim_json_add_item(objectives);
        cJSON_AddStringToObject(item, "name", objective->name);
        cJSON_AddStringToObject(item, "better", objective->is_smaller_better ? "min" : "max");
    }
}

sim_status sim_sweep_write_json(sim_sweep *sweep, FILE *out, sim_error *error) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "schema", "forepass.sweep");
    sim_json_add_count(root, "version", 1);
    add_counts(root, sweep);
    sim_results *results = sim_sweep_results(sweep);
    sim_status status =
        sim_results_query(results, "SELECT * FROM ranking", add_row, cJSON_AddArrayToObject(root, "ranking"), error);
    if (!status)
        status =
            sim_results_query(results, "SELECT * FROM pareto", add_row, cJSON_AddArrayToObject(root, "pareto"), error);
    char *text = status ? NULL : cJSON_Print(root);
    cJSON_Delete(root);
    if (!status && !text) status = sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    if (!status) fprintf(out, "%s\n", text);
    free(text);
    return status ? status : check_written(out, error);
}

// --- table -----------------------------------------------------------------------------------------------------------

enum { MAX_SHOWN = 10, MAX_REASONS = 12, CELL_BYTES = 200 };

typedef struct table {
    const sim_sweep *sweep;
    const sim_standings *standings;
    FILE *out;
} table;

static size_t n_columns(const table *in) { return in->standings->n_keys + sim_sweep_objectives(in->sweep)->n; }

static void cell(const table *in, const sim_standing *standing, size_t column, char text[CELL_BYTES]) {
    const size_t n_keys = in->standings->n_keys;
    if (column < n_keys) {
        snprintf(text, CELL_BYTES, "%s", standing->keys[column] ? standing->keys[column] : "-");
        return;
    }
    const double half_width = standing->half_width[column - n_keys];
    const int n = snprintf(text, CELL_BYTES, "%.6g", standing->mean[column - n_keys]);
    if (!isnan(half_width)) snprintf(text + n, CELL_BYTES - (size_t)n, " +- %.2g", half_width);
}

static const char *heading(const table *in, size_t column) {
    const size_t n_keys = in->standings->n_keys;
    return column < n_keys ? sim_space_key(sim_sweep_space(in->sweep), column)
                           : sim_sweep_objectives(in->sweep)->list[column - n_keys].name;
}

// The rows of `shown`, columns as wide as what stands in them.
static void put_rows(const table *in, const sim_standing *const *shown, size_t n_shown) {
    const size_t n = n_columns(in);
    for (size_t row = 0; row <= n_shown; row++) {
        for (size_t c = 0; c < n; c++) {
            char text[CELL_BYTES];
            size_t width = strlen(heading(in, c));
            for (size_t i = 0; i < n_shown; i++) {
                cell(in, shown[i], c, text);
                if (strlen(text) > width) width = strlen(text);
            }
            if (row)
                cell(in, shown[row - 1], c, text);
            else
                snprintf(text, sizeof text, "%s", heading(in, c));
            fprintf(in->out, "%s%*s", c ? "  " : "  ", (int)width, text);
        }
        fputc('\n', in->out);
    }
}

static void put_ranking(const table *in) {
    const sim_standing *shown[MAX_SHOWN];
    size_t n_done = 0;
    for (size_t s = 0; s < in->standings->n; s++) {
        if (strcmp(in->standings->list[s].status, "done") != 0) continue;
        if (n_done < MAX_SHOWN) shown[n_done] = &in->standings->list[s];
        n_done++;
    }
    if (n_done == 0) return;
    const size_t n_shown = n_done < MAX_SHOWN ? n_done : MAX_SHOWN;
    if (n_shown < n_done)
        fprintf(in->out, "\nBest %zu of %zu\n", n_shown, n_done);
    else
        fprintf(in->out, "\nRanking\n");
    put_rows(in, shown, n_shown);
}

// --- Pareto front ---

typedef struct front {
    const table *in;
    const sim_standing **list;
    size_t n;
} front;

static sim_status take_front(void *self, const sim_results_row *row, sim_error *error) {
    front *to = self;
    (void)error;
    const char *hash = row->texts[row->n - 1];
    for (size_t s = 0; s < to->in->standings->n; s++)
        if (strcmp(to->in->standings->list[s].hash, hash) == 0) to->list[to->n++] = &to->in->standings->list[s];
    return SIM_OK;
}

static sim_status put_front(const table *in, sim_results *results, sim_error *error) {
    if (sim_sweep_objectives(in->sweep)->n < 2) return SIM_OK;
    front to = { in, calloc(in->standings->n + 1, sizeof *to.list), 0 };
    if (!to.list) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    const sim_status status = sim_results_query(results, "SELECT * FROM pareto", take_front, &to, error);
    if (!status && to.n) {
        const size_t n_shown = to.n < MAX_SHOWN ? to.n : MAX_SHOWN;
        fprintf(in->out, "\nPareto front: %zu point%s that none beats in everything%s\n", to.n, to.n == 1 ? "" : "s",
                n_shown < to.n ? " (the first of them)" : "");
        put_rows(in, to.list, n_shown);
    }
    free(to.list);
    return status;
}

// --- reasons ---

static sim_status put_reason(void *self, const sim_results_row *row, sim_error *error) {
    (void)error;
    fprintf(self, "  %6s  %-10s  %s\n", row->texts[0], row->texts[1], row->texts[2] ? row->texts[2] : "");
    return SIM_OK;
}

static sim_status put_reasons(sim_results *results, const sim_sweep_counts *counts, FILE *out, sim_error *error) {
    if (counts->infeasible + counts->failed + counts->stopped == 0) return SIM_OK;
    fprintf(out, "\nWithout a result\n");
    char sql[160];
    snprintf(sql, sizeof sql,
             "SELECT count(*), status, reason FROM ranking WHERE status <> 'done' GROUP BY status, reason ORDER BY 1 "
             "DESC, 2, 3 LIMIT %d",
             MAX_REASONS);
    return sim_results_query(results, sql, put_reason, out, error);
}

static void put_head(const sim_sweep *sweep, const sim_sweep_counts *counts, FILE *out) {
    const sim_sweep_config *settings = sim_sweep_settings(sweep);
    fprintf(out, "Sweep            %s, %zu point%s", sim_sweep_method_names[settings->method], counts->points,
            counts->points == 1 ? "" : "s");
    if (counts->same) fprintf(out, " (%zu more mean the same as one of them)", counts->same);
    if (settings->repeat > 1) fprintf(out, ", %lld runs each", (long long)settings->repeat);
    fprintf(out, "\nRuns             %zu done, %zu infeasible, %zu failed", counts->done, counts->infeasible,
            counts->failed);
    if (counts->stopped) fprintf(out, ", %zu given up", counts->stopped);
    fprintf(out, "\nObjective        ");
    for (size_t i = 0; i < sim_sweep_objectives(sweep)->n; i++) {
        const sim_objective *objective = &sim_sweep_objectives(sweep)->list[i];
        fprintf(out, "%s%s %s", i ? ", " : "", objective->is_smaller_better ? "min" : "max", objective->name);
    }
    fputc('\n', out);
}

sim_status sim_sweep_write_table(sim_sweep *sweep, FILE *out, sim_error *error) {
    sim_standings standings;
    const sim_sweep_counts counts = sim_sweep_count(sweep);
    sim_status status = sim_standings_read(&standings, sim_sweep_results(sweep), sim_sweep_n_keys(sweep),
                                           sim_sweep_objectives(sweep), sim_sweep_settings(sweep)->confidence, error);
    if (status) return status;
    const table in = { sweep, &standings, out };
    put_head(sweep, &counts, out);
    put_ranking(&in);
    status = put_front(&in, sim_sweep_results(sweep), error);
    if (!status) status = put_reasons(sim_sweep_results(sweep), &counts, out, error);
    sim_standings_clear(&standings);
    return status ? status : check_written(out, error);
}
