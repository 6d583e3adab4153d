// SPDX-License-Identifier: GPL-3.0-or-later
//
// One line per row: id, the cells of the grouping columns, predicted and measured value and APE of each target, status, reason.
#include <math.h>
#include <string.h>

#include "perfmodel/perfmodel.h"
#include "sim/experiment/accuracy_report.h"
#include "sim/report/csv_text.h"

static void put_number(FILE *out, double value) {
    char text[FPM_NUMBER_BYTES] = "";
    if (!isnan(value)) fpm_format_number(text, value);
    fprintf(out, "%s,", text);
}

static void put_head(const sim_accuracy_report *report, FILE *out) {
    fputs("id,", out);
    for (size_t i = 0; i < report->n_group_columns; i++) {
        const char *name = report->measured->columns[report->group_columns[i]].name;
        if (strcmp(name, "id") == 0) continue;
        sim_csv_put_text(out, name);
        fputc(',', out);
    }
    for (int i = 0; i < SIM_TARGETS; i++)
        if (report->has_target[i])
            fprintf(out, "predicted.%s,measured.%s,%s_ape_pct,", sim_targets[i].column, sim_targets[i].column,
                    sim_targets[i].stem);
    fputs("status,reason\n", out);
}

static void put_row(const sim_accuracy_report *report, size_t row, FILE *out) {
    const sim_measured *measured = report->measured;
    const sim_row_result *result = &report->results[row];
    sim_csv_put_text(out, sim_measured_id(measured, row));
    fputc(',', out);
    for (size_t i = 0; i < report->n_group_columns; i++) {
        if (report->group_columns[i] == measured->id_column) continue;
        sim_csv_put_text(out, measured->rows[row].cells[report->group_columns[i]]);
        fputc(',', out);
    }
    for (int i = 0; i < SIM_TARGETS; i++) {
        if (!report->has_target[i]) continue;
        const double wanted = measured->rows[row].measured[i];
        put_number(out, result->predicted[i]);
        put_number(out, wanted);
        put_number(out, 100 * fabs(result->predicted[i] - wanted) / wanted);
    }
    fprintf(out, "%s,", sim_row_status_names[result->status]);
    if (result->reason) sim_csv_put_text(out, result->reason);
    fputc('\n', out);
}

sim_status sim_accuracy_write_csv(const sim_accuracy_report *report, FILE *out, const char *path, sim_error *error) {
    put_head(report, out);
    for (size_t i = 0; i < report->measured->n_rows; i++) put_row(report, i, out);
    return ferror(out) ? sim_error_set(error, SIM_IO, path, 0, "the rows could not be written") : SIM_OK;
}
