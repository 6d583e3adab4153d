// SPDX-License-Identifier: GPL-3.0-or-later
//
// The rows in the database of sweeps (sweep/results_db.h): a row is a point, called by its id, whose keys are the cells it sets; its run has the predicted and measured
// values and their APE. The ranking has the best predicted rows first.
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/experiment/accuracy_report.h"
#include "sim/experiment/sweep/results_db.h"
#include "sim/report/json_fields.h"

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

static bool is_shown(const sim_measured_column *column) {
    return column->kind == SIM_COLUMN_KEY || column->kind == SIM_COLUMN_LABEL;
}

// The cells that are not empty.
static char *keys_json(const sim_measured *measured, size_t row) {
    cJSON *object = cJSON_CreateObject();
    for (size_t i = 0; i < measured->n_columns; i++) {
        double number;
        const char *name = measured->columns[i].name, *cell = measured->rows[row].cells[i];
        if (!is_shown(&measured->columns[i]) || !*cell) continue;
        if (!sim_parse_real(cell, &number))
            sim_json_add_number(object, name, number);
        else
            cJSON_AddStringToObject(object, name, cell);
    }
    char *text = cJSON_PrintUnformatted(object);
    cJSON_Delete(object);
    return text;
}

// predicted_ttft_ms, measured_ttft_ms, ttft_ape_pct of every target that was measured; NULL: no memory.
static char *values_json(const sim_accuracy_report *report, size_t row) {
    cJSON *object = cJSON_CreateObject();
    for (int i = 0; i < SIM_TARGETS; i++) {
        char name[80];
        const double measured = report->measured->rows[row].measured[i], predicted = report->results[row].predicted[i];
        if (isnan(measured)) continue;
        snprintf(name, sizeof name, "predicted_%s", sim_targets[i].column);
        sim_json_add_number(object, name, predicted);
        snprintf(name, sizeof name, "measured_%s", sim_targets[i].column);
        sim_json_add_number(object, name, measured);
        snprintf(name, sizeof name, "%s_ape_pct", sim_targets[i].stem);
        sim_json_add_number(object, name, 100 * fabs(predicted - measured) / measured);
    }
    char *text = cJSON_PrintUnformatted(object);
    cJSON_Delete(object);
    return text;
}

static sim_status put_row(const sim_accuracy_report *report, size_t row, sim_results *results, const char *version,
                          sim_error *error) {
    static const char *const statuses[] = { [SIM_ROW_PREDICTED] = "done", [SIM_ROW_FAILED] = "failed" };
    const sim_row_result *outcome = &report->results[row];
    if (outcome->status == SIM_ROW_NOT_RUN) return SIM_OK;
    char *keys = keys_json(report->measured, row);
    char *values = outcome->status == SIM_ROW_PREDICTED ? values_json(report, row) : NULL;
    sim_status status = keys && (values || outcome->status == SIM_ROW_FAILED) ? SIM_OK : no_memory(error);
    const sim_result result = { .point = sim_measured_id(report->measured, row),
                                .trace_hash = "",
                                .status = statuses[outcome->status],
                                .reason = outcome->reason ? outcome->reason : "",
                                .summary = values };
    if (!status) status = sim_results_add_point(results, row, result.point, keys, error);
    if (!status) status = sim_results_put(results, &result, version, error);
    free(keys);
    free(values);
    return status;
}

static void list_objectives(const sim_accuracy_report *report, sim_objectives *objectives) {
    objectives->n = 0;
    for (int i = 0; i < SIM_TARGETS; i++) {
        if (!report->has_target[i]) continue;
        sim_objective *made = &objectives->list[objectives->n++];
        *made = (sim_objective){ .is_smaller_better = true };
        snprintf(made->figure, sizeof made->figure, "%s_ape_pct", sim_targets[i].stem);
        snprintf(made->name, sizeof made->name, "%s_ape_pct", sim_targets[i].stem);
    }
}

static sim_status begin(const sim_accuracy_report *report, sim_results *results, const char *version,
                        sim_error *error) {
    const sim_measured *measured = report->measured;
    sim_objectives objectives;
    const char **names = calloc(measured->n_columns + 1, sizeof *names);
    size_t n = 0;
    if (!names) return no_memory(error);
    for (size_t i = 0; i < measured->n_columns; i++)
        if (is_shown(&measured->columns[i])) names[n++] = measured->columns[i].name;
    list_objectives(report, &objectives);
    const sim_experiment experiment = { "", "accuracy", version, names, n, &objectives };
    const sim_status status = sim_results_begin(results, &experiment, error);
    free(names);
    return status;
}

sim_status sim_accuracy_store(const sim_accuracy_report *report, const char *path, const char *version,
                              sim_error *error) {
    sim_results *results;
    sim_status status = sim_results_remove(path, error);
    if (!status) status = sim_results_open(&results, path, error);
    if (status) return status;
    status = sim_results_transaction(results, true, error);
    if (!status) status = begin(report, results, version, error);
    for (size_t i = 0; i < report->measured->n_rows && !status; i++)
        status = put_row(report, i, results, version, error);
    if (!status) status = sim_results_transaction(results, false, error);
    sim_results_close(results);
    if (status) sim_results_remove(path, NULL); // nothing half-written
    return status;
}
