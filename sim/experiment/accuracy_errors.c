// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/experiment/accuracy_report.h"
#include "sim/report/statistics.h"

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

// --- names of groups -------------------------------------------------------------------------------------------------

// The columns that `group_by` names; with `columns` NULL they are only counted and checked.
static sim_status parse_group_by(const sim_measured *measured, const char *group_by, size_t *columns, size_t *n,
                                 sim_error *error) {
    *n = 0;
    for (const char *at = group_by; *at;) {
        char name[128];
        const size_t n_name = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", n_name < sizeof name ? (int)n_name : 0, at);
        const char *nearest;
        const size_t column = sim_measured_find(measured, name, &nearest);
        if (column == measured->n_columns)
            return sim_error_set(error, SIM_USAGE, NULL, 0, "--group-by: %s has no column \"%s\"%s%s%s", measured->path,
                                 name, nearest ? " (did you mean " : "", nearest ? nearest : "", nearest ? "?)" : "");
        if (columns) columns[*n] = column;
        ++*n;
        at += n_name + (at[n_name] == ',');
    }
    return SIM_OK;
}

sim_status sim_accuracy_check_groups(const sim_measured *measured, const char *group_by, sim_error *error) {
    size_t n;
    return parse_group_by(measured, group_by, NULL, &n, error);
}

static int compare_groups(const sim_accuracy_report *report, size_t a, size_t b) {
    const sim_measured *measured = report->measured;
    for (size_t i = 0; i < report->n_group_columns; i++) {
        const size_t column = report->group_columns[i];
        const int order = strcmp(measured->rows[a].cells[column], measured->rows[b].cells[column]);
        if (order) return order;
    }
    return 0;
}

static int by_group(const void *a, const void *b, void *context) {
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const int order = compare_groups(context, x, y);
    return order ? order : (x > y) - (x < y);
}

// --- errors ----------------------------------------------------------------------------------------------------------

static bool has_error(const sim_accuracy_report *report, size_t row, int target) {
    return report->results[row].status == SIM_ROW_PREDICTED && !isnan(report->measured->rows[row].measured[target]);
}

static double relative(const sim_accuracy_report *report, size_t row, int target) {
    const double measured = report->measured->rows[row].measured[target];
    return (report->results[row].predicted[target] - measured) / measured;
}

static double log_ratio(const sim_accuracy_report *report, size_t row, int target) {
    return fabs(log(report->results[row].predicted[target] / report->measured->rows[row].measured[target]));
}

double sim_accuracy_row_error(const sim_accuracy_report *report, size_t row) {
    double largest = 0;
    for (int i = 0; i < SIM_TARGETS; i++)
        if (has_error(report, row, i)) largest = fmax(largest, log_ratio(report, row, i));
    return largest;
}

// `apes` has room for n_rows values.
static sim_target_errors errors_of(const sim_accuracy_report *report, const size_t *rows, size_t n_rows, int target,
                                   double *apes) {
    static const sim_percentiles p90 = { { 90 }, 1 };
    double sum_bias = 0, sum_log = 0;
    size_t n = 0;
    for (size_t i = 0; i < n_rows; i++) {
        if (!has_error(report, rows[i], target)) continue;
        const double error = relative(report, rows[i], target);
        apes[n++] = 100 * fabs(error);
        sum_bias += error;
        sum_log += log_ratio(report, rows[i], target);
    }
    if (n == 0) return (sim_target_errors){ .n_rows = 0 };
    const sim_statistics statistics = sim_statistics_of(apes, n, &p90);
    return (sim_target_errors){
        .n_rows = n,
        .mape_pct = statistics.mean,
        .median_ape_pct = statistics.median,
        .p90_ape_pct = statistics.percentiles[0],
        .bias_pct = 100 * sum_bias / (double)n,
        .log_error = sum_log / (double)n,
    };
}

static sim_accuracy_group group_of(const sim_accuracy_report *report, const size_t *rows, size_t n_rows, double *apes) {
    sim_accuracy_group group = { .first_row = rows[0], .n_rows = n_rows };
    for (size_t i = 0; i < n_rows; i++) {
        group.n_predicted += report->results[rows[i]].status == SIM_ROW_PREDICTED;
        group.n_failed += report->results[rows[i]].status == SIM_ROW_FAILED;
    }
    for (int i = 0; i < SIM_TARGETS; i++) group.targets[i] = errors_of(report, rows, n_rows, i, apes);
    return group;
}

static bool compute_groups(sim_accuracy_report *report, size_t *rows, double *apes) {
    const size_t n_rows = report->measured->n_rows;
    report->all = group_of(report, rows, n_rows, apes);
    if (report->n_group_columns == 0) return true;
    qsort_r(rows, n_rows, sizeof *rows, by_group, report);
    report->groups = calloc(n_rows, sizeof *report->groups);
    if (!report->groups) return false;
    for (size_t first = 0, end; first < n_rows; first = end) {
        for (end = first + 1; end < n_rows && compare_groups(report, rows[first], rows[end]) == 0;) end++;
        report->groups[report->n_groups++] = group_of(report, rows + first, end - first, apes);
    }
    return true;
}

// --- worst rows ------------------------------------------------------------------------------------------------------

typedef struct ranked_row {
    double error;
    size_t row;
} ranked_row;

static int by_error(const void *a, const void *b) {
    const ranked_row *x = a, *y = b;
    if (x->error != y->error) return x->error < y->error ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

static bool find_worst(sim_accuracy_report *report, size_t n_worst) {
    const size_t n_rows = report->measured->n_rows;
    ranked_row *ranked = calloc(n_rows, sizeof *ranked);
    report->worst = calloc(n_rows, sizeof *report->worst);
    size_t n = 0;
    for (size_t i = 0; ranked && i < n_rows; i++)
        if (report->results[i].status == SIM_ROW_PREDICTED)
            ranked[n++] = (ranked_row){ sim_accuracy_row_error(report, i), i };
    const bool has_memory = ranked && report->worst;
    if (has_memory) {
        qsort(ranked, n, sizeof *ranked, by_error);
        report->n_worst = n < n_worst ? n : n_worst;
        for (size_t i = 0; i < report->n_worst; i++) report->worst[i] = ranked[i].row;
    }
    free(ranked);
    return has_memory;
}

// --- failed rows -----------------------------------------------------------------------------------------------------

static const char *reason_of(const sim_accuracy_report *report, size_t row) {
    return report->results[row].status == SIM_ROW_FAILED ? report->results[row].reason : NULL;
}

size_t sim_accuracy_next_failed(const sim_accuracy_report *report, size_t row) {
    const char *wanted = reason_of(report, row);
    for (row++; row < report->measured->n_rows; row++) {
        const char *reason = reason_of(report, row);
        if (reason && strcmp(reason, wanted) == 0) break;
    }
    return row;
}

static int by_reason(const void *a, const void *b, void *context) {
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const int order = strcmp(reason_of(context, x), reason_of(context, y));
    return order ? order : (x > y) - (x < y);
}

static int by_frequency(const void *a, const void *b) {
    const sim_accuracy_failure *x = a, *y = b;
    if (x->n_rows != y->n_rows) return x->n_rows < y->n_rows ? 1 : -1;
    return (x->first_row > y->first_row) - (x->first_row < y->first_row);
}

static bool collect_failures(sim_accuracy_report *report, size_t *rows) {
    size_t n = 0;
    for (size_t i = 0; i < report->measured->n_rows; i++)
        if (reason_of(report, i)) rows[n++] = i;
    if (n == 0) return true;
    qsort_r(rows, n, sizeof *rows, by_reason, report);
    report->failures = calloc(n, sizeof *report->failures);
    if (!report->failures) return false;
    for (size_t i = 0; i < n; i++) {
        sim_accuracy_failure *last = report->n_failures ? &report->failures[report->n_failures - 1] : NULL;
        const char *reason = reason_of(report, rows[i]);
        if (last && strcmp(last->reason, reason) == 0)
            last->n_rows++;
        else
            report->failures[report->n_failures++] = (sim_accuracy_failure){ reason, rows[i], 1 };
    }
    qsort(report->failures, report->n_failures, sizeof *report->failures, by_frequency);
    return true;
}

// --- the whole -------------------------------------------------------------------------------------------------------

static sim_status choose_groups(sim_accuracy_report *report, const char *group_by, sim_error *error) {
    size_t n;
    sim_status status = parse_group_by(report->measured, group_by, NULL, &n, error);
    if (status) return status;
    report->group_columns = calloc(n + 1, sizeof *report->group_columns);
    if (!report->group_columns) return no_memory(error);
    return parse_group_by(report->measured, group_by, report->group_columns, &report->n_group_columns, error);
}

static bool compute(sim_accuracy_report *report, size_t n_worst) {
    const size_t n_rows = report->measured->n_rows;
    size_t *rows = calloc(n_rows, sizeof *rows);
    double *apes = calloc(n_rows, sizeof *apes);
    for (size_t i = 0; rows && i < n_rows; i++) {
        rows[i] = i;
        for (int k = 0; k < SIM_TARGETS; k++) report->has_target[k] |= !isnan(report->measured->rows[i].measured[k]);
        report->is_interrupted |= report->results[i].status == SIM_ROW_NOT_RUN;
    }
    const bool has_memory = rows && apes && compute_groups(report, rows, apes) && find_worst(report, n_worst) &&
                            collect_failures(report, rows);
    free(rows);
    free(apes);
    return has_memory;
}

sim_status sim_accuracy_report_new(sim_accuracy_report **report, const sim_measured *measured,
                                   const sim_row_result *results, const char *group_by, size_t n_worst,
                                   sim_error *error) {
    *report = NULL;
    sim_accuracy_report *made = calloc(1, sizeof *made);
    if (!made) return no_memory(error);
    made->measured = measured;
    made->results = results;
    sim_status status = choose_groups(made, group_by, error);
    if (!status && !compute(made, n_worst)) status = no_memory(error);
    if (status)
        sim_accuracy_report_free(made);
    else
        *report = made;
    return status;
}

void sim_accuracy_report_free(sim_accuracy_report *report) {
    if (!report) return;
    free(report->group_columns);
    free(report->groups);
    free(report->failures);
    free(report->worst);
    free(report);
}
