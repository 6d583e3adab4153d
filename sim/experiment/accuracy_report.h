// SPDX-License-Identifier: GPL-3.0-or-later
//
// How good the predictions are: errors of all rows and of groups of them, and their three forms, a table, JSON and one CSV line per row.
//
// Definitions, of the rows that were predicted and have the target measured (interface.md "Definitions"):
//     APE = |predicted - measured| / measured; MAPE its mean, in per cent like the others; median and p90 the values at index round((n - 1) p / 100);
//     bias = mean of (predicted - measured) / measured;
//     log error = mean of |ln(predicted / measured)|: unlike APE, half and double are equally wrong (both 0.693), and no prediction is so low that it
//     costs at most 100 %.
#ifndef SIM_EXPERIMENT_ACCURACY_REPORT_H
#define SIM_EXPERIMENT_ACCURACY_REPORT_H

#include "sim/experiment/accuracy.h"

typedef struct sim_target_errors {
    size_t n_rows; // predicted and measured; 0: the figures mean nothing
    double mape_pct, median_ape_pct, p90_ape_pct, bias_pct, log_error;
} sim_target_errors;

typedef struct sim_accuracy_group {
    size_t first_row; // of the group; its cells in the grouping columns name it
    size_t n_rows, n_predicted, n_failed;
    sim_target_errors targets[SIM_TARGETS];
} sim_accuracy_group;

// Rows that failed for the same reason.
typedef struct sim_accuracy_failure {
    const char *reason;
    size_t first_row; // and further ones by next_failed
    size_t n_rows;
} sim_accuracy_failure;

typedef struct sim_accuracy_report {
    const sim_measured *measured;
    const sim_row_result *results;
    size_t *group_columns;
    size_t n_group_columns;
    sim_accuracy_group all;
    sim_accuracy_group *groups; // by name
    size_t n_groups;
    sim_accuracy_failure *failures; // the most frequent reason first
    size_t n_failures;
    size_t *worst; // predicted rows, the largest log error of a target first
    size_t n_worst;
    bool has_target[SIM_TARGETS]; // some row has it measured
    bool is_interrupted;
} sim_accuracy_report;

// `group_by`: names of columns, separated by commas; "": no groups. SIM_USAGE: no such column. `measured` and `results` must outlive the report.
// At most `n_worst` rows are listed as the worst.
sim_status sim_accuracy_report_new(sim_accuracy_report **report, const sim_measured *measured,
                                   const sim_row_result *results, const char *group_by, size_t n_worst,
                                   sim_error *error);
void sim_accuracy_report_free(sim_accuracy_report *report);

// Only the names in `group_by`: the check of sim_accuracy_report_new without results, for before the run.
sim_status sim_accuracy_check_groups(const sim_measured *measured, const char *group_by, sim_error *error);

// Largest |ln(predicted / measured)| of a row's targets.
double sim_accuracy_row_error(const sim_accuracy_report *report, size_t row);
// The next row that failed for the reason of `row`; n_rows: none.
size_t sim_accuracy_next_failed(const sim_accuracy_report *report, size_t row);

// SIM_IO on a short write.
sim_status sim_accuracy_write_table(const sim_accuracy_report *report, FILE *out, sim_error *error);
sim_status sim_accuracy_write_json(const sim_accuracy_report *report, FILE *out, sim_error *error);
sim_status sim_accuracy_write_csv(const sim_accuracy_report *report, FILE *out, const char *path, sim_error *error);
// Into a database of results at `path`, in place of what is there: views ranking and pareto as those of a sweep. `version`: of the program.
sim_status sim_accuracy_store(const sim_accuracy_report *report, const char *path, const char *version,
                              sim_error *error);

#endif
