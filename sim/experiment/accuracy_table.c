// SPDX-License-Identifier: GPL-3.0-or-later
//
// The report for people.
#include <math.h>
#include <string.h>

#include "sim/experiment/accuracy_report.h"

enum {
    MIN_NAME_COLUMNS = 16,
    MAX_NAME_COLUMNS = 56,
    ROWS_COLUMNS = 11,
    TARGET_COLUMNS = 45,
    N_NAMED_IDS = 3,
    MAX_REASONS = 20
};

// The cells that name a group, separated by blanks.
static void group_name(const sim_accuracy_report *report, const sim_accuracy_group *group, char *text, size_t n) {
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < report->n_group_columns && at < n; i++) {
        const char *cell = report->measured->rows[group->first_row].cells[report->group_columns[i]];
        const int written = snprintf(text + at, n - at, "%s%s", i ? " " : "", *cell ? cell : "-");
        at += written > 0 ? (size_t)written : 0;
    }
}

static int name_columns(const sim_accuracy_report *report) {
    size_t widest = MIN_NAME_COLUMNS;
    for (size_t i = 0; i < report->n_groups; i++) {
        char name[MAX_NAME_COLUMNS + 1];
        group_name(report, &report->groups[i], name, sizeof name);
        if (strlen(name) > widest) widest = strlen(name);
    }
    return (int)widest;
}

static int count_targets(const sim_accuracy_report *report) {
    int n = 0;
    for (int i = 0; i < SIM_TARGETS; i++) n += report->has_target[i];
    return n;
}

static void put_rule(const sim_accuracy_report *report, int n_name, FILE *out) {
    for (int i = 0; i < n_name + ROWS_COLUMNS + TARGET_COLUMNS * count_targets(report); i++) fputc('-', out);
    fputc('\n', out);
}

// Header of the errors: the targets, then the same five figures of each.
static void put_head(const sim_accuracy_report *report, int n_name, FILE *out) {
    fprintf(out, "%-*s%*s", n_name, "", ROWS_COLUMNS, "");
    for (int i = 0; i < SIM_TARGETS; i++)
        if (report->has_target[i]) fprintf(out, "%*s", TARGET_COLUMNS, sim_targets[i].heading);
    fprintf(out, "\n%-*s%*s", n_name, "", ROWS_COLUMNS, "rows");
    for (int i = 0; i < SIM_TARGETS; i++)
        if (report->has_target[i]) fprintf(out, "%9s%9s%9s%9s%9s", "MAPE %", "median %", "p90 %", "bias %", "log err");
    fputc('\n', out);
}

static void put_group(const sim_accuracy_report *report, const char *name, const sim_accuracy_group *group, int n_name,
                      FILE *out) {
    char rows[48];
    snprintf(rows, sizeof rows, group->n_predicted == group->n_rows ? "%zu" : "%zu/%zu", group->n_predicted,
             group->n_rows);
    fprintf(out, "%-*s%*s", n_name, name, ROWS_COLUMNS, rows);
    for (int i = 0; i < SIM_TARGETS; i++) {
        const sim_target_errors *errors = &group->targets[i];
        if (!report->has_target[i]) continue;
        if (errors->n_rows == 0)
            fprintf(out, "%9s%36s", "-", "");
        else
            fprintf(out, "%9.1f%9.1f%9.1f%+9.1f%9.3f", errors->mape_pct, errors->median_ape_pct, errors->p90_ape_pct,
                    errors->bias_pct, errors->log_error);
    }
    fputc('\n', out);
}

static void put_errors(const sim_accuracy_report *report, FILE *out) {
    const int n_name = name_columns(report);
    put_head(report, n_name, out);
    put_rule(report, n_name, out);
    for (size_t i = 0; i < report->n_groups; i++) {
        char name[MAX_NAME_COLUMNS + 1];
        group_name(report, &report->groups[i], name, sizeof name);
        put_group(report, name, &report->groups[i], n_name, out);
    }
    if (report->n_groups > 0) put_rule(report, n_name, out);
    put_group(report, "all", &report->all, n_name, out);
}

static void put_worst(const sim_accuracy_report *report, FILE *out) {
    if (report->n_worst == 0) return;
    fprintf(out, "\nWorst rows: predicted and measured\n");
    for (size_t i = 0; i < report->n_worst; i++) {
        const size_t row = report->worst[i];
        for (int k = 0; k < SIM_TARGETS; k++) {
            const double measured = report->measured->rows[row].measured[k];
            if (!report->has_target[k]) continue;
            if (isnan(measured))
                fprintf(out, "  %s %33s", sim_targets[k].heading, "not measured");
            else
                fprintf(out, "  %s %11.2f %11.2f %+8.1f %%", sim_targets[k].heading, report->results[row].predicted[k],
                        measured, 100 * (report->results[row].predicted[k] / measured - 1));
        }
        fprintf(out, "  %s\n", sim_measured_id(report->measured, row));
    }
}

static void put_failure(const sim_accuracy_report *report, const sim_accuracy_failure *failure, FILE *out) {
    fprintf(out, "%7zu  %s (", failure->n_rows, failure->reason);
    size_t row = failure->first_row;
    for (int n = 0; n < N_NAMED_IDS && row < report->measured->n_rows; n++) {
        fprintf(out, "%s%s", n ? ", " : "", sim_measured_id(report->measured, row));
        row = sim_accuracy_next_failed(report, row);
    }
    fprintf(out, "%s)\n", row < report->measured->n_rows ? ", ..." : "");
}

static void put_failures(const sim_accuracy_report *report, FILE *out) {
    if (report->n_failures == 0) return;
    fprintf(out, "\nRows without a prediction, by reason\n");
    for (size_t i = 0; i < report->n_failures && i < MAX_REASONS; i++) put_failure(report, &report->failures[i], out);
    if (report->n_failures > MAX_REASONS)
        fprintf(out, "         and %zu other reasons (--format json has all)\n", report->n_failures - MAX_REASONS);
}

sim_status sim_accuracy_write_table(const sim_accuracy_report *report, FILE *out, sim_error *error) {
    const sim_accuracy_group *all = &report->all;
    fprintf(out, "%zu of %zu rows predicted, %zu failed", all->n_predicted, all->n_rows, all->n_failed);
    if (report->is_interrupted)
        fprintf(out, ", %zu not run: INTERRUPTED", all->n_rows - all->n_predicted - all->n_failed);
    fputs("\n\n", out);
    put_errors(report, out);
    put_worst(report, out);
    put_failures(report, out);
    return ferror(out) ? sim_error_set(error, SIM_IO, NULL, 0, "the report could not be written") : SIM_OK;
}
