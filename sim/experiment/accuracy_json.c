// SPDX-License-Identifier: GPL-3.0-or-later
//
// The report as JSON (interface.md "Summary"). A figure without rows behind it is null, never 0.
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/perfmodel.h"
#include "sim/experiment/accuracy_report.h"

enum { N_NAMED_IDS = 5 };

static void add_count(cJSON *object, const char *key, size_t value) {
    char text[24];
    snprintf(text, sizeof text, "%zu", value);
    cJSON_AddRawToObject(object, key, text);
}

static void add_number(cJSON *object, const char *key, double value) {
    char text[FPM_NUMBER_BYTES];
    fpm_format_number(text, value);
    cJSON_AddRawToObject(object, key, text);
}

static void add_item(cJSON *array, cJSON *item) {
    if (!cJSON_AddItemToArray(array, item)) cJSON_Delete(item);
}

static void add_figure(cJSON *object, const char *stem, const char *name, const sim_target_errors *errors,
                       double value) {
    char key[80];
    snprintf(key, sizeof key, "%s_%s", stem, name);
    if (errors->n_rows > 0)
        add_number(object, key, value);
    else
        cJSON_AddNullToObject(object, key);
}

static void add_target(cJSON *object, const char *stem, const sim_target_errors *errors) {
    char key[80];
    snprintf(key, sizeof key, "%s_rows", stem);
    add_count(object, key, errors->n_rows);
    add_figure(object, stem, "mape_pct", errors, errors->mape_pct);
    add_figure(object, stem, "median_ape_pct", errors, errors->median_ape_pct);
    add_figure(object, stem, "p90_ape_pct", errors, errors->p90_ape_pct);
    add_figure(object, stem, "bias_pct", errors, errors->bias_pct);
    add_figure(object, stem, "log_error", errors, errors->log_error);
}

static void add_figures(cJSON *object, const sim_accuracy_report *report, const sim_accuracy_group *group) {
    add_count(object, "rows", group->n_rows);
    add_count(object, "predicted_rows", group->n_predicted);
    add_number(object, "predicted_share", (double)group->n_predicted / (double)group->n_rows);
    for (int i = 0; i < SIM_TARGETS; i++) {
        // TTFT and TPOT are always there, the others where they were measured.
        if (i == SIM_TARGET_TTFT || i == SIM_TARGET_TPOT || report->has_target[i])
            add_target(object, sim_targets[i].stem, &group->targets[i]);
    }
}

// The cells of `row` in the grouping columns, by column.
static void add_labels(cJSON *object, const sim_accuracy_report *report, size_t row) {
    for (size_t i = 0; i < report->n_group_columns; i++) {
        const size_t column = report->group_columns[i];
        cJSON_AddStringToObject(object, report->measured->columns[column].name,
                                report->measured->rows[row].cells[column]);
    }
}

static void add_groups(cJSON *root, const sim_accuracy_report *report) {
    cJSON *by = cJSON_AddArrayToObject(root, "group_by");
    for (size_t i = 0; i < report->n_group_columns; i++)
        add_item(by, cJSON_CreateString(report->measured->columns[report->group_columns[i]].name));
    cJSON *groups = cJSON_AddArrayToObject(root, "groups");
    for (size_t i = 0; i < report->n_groups; i++) {
        cJSON *group = cJSON_CreateObject();
        add_labels(cJSON_AddObjectToObject(group, "group"), report, report->groups[i].first_row);
        add_figures(group, report, &report->groups[i]);
        add_item(groups, group);
    }
}

static void add_worst(cJSON *root, const sim_accuracy_report *report) {
    cJSON *worst = cJSON_AddArrayToObject(root, "worst");
    for (size_t i = 0; i < report->n_worst; i++) {
        const size_t row = report->worst[i];
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddStringToObject(entry, "id", sim_measured_id(report->measured, row));
        for (int k = 0; k < SIM_TARGETS; k++) {
            const double measured = report->measured->rows[row].measured[k];
            if (!(measured > 0)) continue; // NAN: not measured
            char key[80];
            snprintf(key, sizeof key, "predicted_%s", sim_targets[k].column);
            add_number(entry, key, report->results[row].predicted[k]);
            snprintf(key, sizeof key, "measured_%s", sim_targets[k].column);
            add_number(entry, key, measured);
        }
        add_number(entry, "log_error", sim_accuracy_row_error(report, row));
        add_item(worst, entry);
    }
}

static void add_failed(cJSON *root, const sim_accuracy_report *report) {
    cJSON *failed = cJSON_AddArrayToObject(root, "failed");
    for (size_t i = 0; i < report->n_failures; i++) {
        const sim_accuracy_failure *failure = &report->failures[i];
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddStringToObject(entry, "reason", failure->reason);
        add_count(entry, "rows", failure->n_rows);
        cJSON *ids = cJSON_AddArrayToObject(entry, "ids");
        size_t row = failure->first_row;
        for (int n = 0; n < N_NAMED_IDS && row < report->measured->n_rows; n++) {
            add_item(ids, cJSON_CreateString(sim_measured_id(report->measured, row)));
            row = sim_accuracy_next_failed(report, row);
        }
        add_item(failed, entry);
    }
}

sim_status sim_accuracy_write_json(const sim_accuracy_report *report, FILE *out, sim_error *error) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "schema", "forepass.accuracy");
    add_count(root, "version", 1);
    cJSON_AddStringToObject(root, "path", report->measured->path);
    if (report->is_interrupted) cJSON_AddTrueToObject(root, "interrupted");
    add_figures(root, report, &report->all);
    add_count(root, "failed_rows", report->all.n_failed);
    add_groups(root, report);
    add_worst(root, report);
    add_failed(root, report);
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    const bool is_written = fputs(text, out) >= 0 && fputc('\n', out) != EOF;
    free(text);
    return is_written ? SIM_OK : sim_error_set(error, SIM_IO, NULL, 0, "the report could not be written");
}
