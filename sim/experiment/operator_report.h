// SPDX-License-Identifier: GPL-3.0-or-later
//
// How far prices are from measured kernels, by system and kind of sample. A kernel that beat the bound of the hardware was measured with its data in the
// cache, where a pass of many layers never finds it: such a sample counts as one at the bound, and how many there are is told. Samples
// whose times are the host's are counted apart. What all of them come to, those of the host included and none moved to the bound, is told beside it.
#ifndef SIM_EXPERIMENT_OPERATOR_REPORT_H
#define SIM_EXPERIMENT_OPERATOR_REPORT_H

#include "sim/deployment/operator_curves.h"
#include "sim/experiment/operator_samples.h"

typedef enum sim_operator_grouping { SIM_GROUP_KIND, SIM_GROUP_BACKEND, SIM_GROUP_FORMAT } sim_operator_grouping;

typedef struct sim_operator_row {
    sim_sample_kind kind; // SIM_SAMPLE_KINDS: all of `class_of`
    sim_sample_class class_of;
    int backend, format; // -1: all
    size_t n_samples, n_cached, n_host_bound;
    double median_error_frac, p90_error_frac; // of |price / measured - 1|
    double bias_frac;                         // median of price / measured, less 1
    double all_median_error_frac;             // of every sample as it was measured
} sim_operator_row;

enum { SIM_MAX_OPERATOR_ROWS = SIM_SAMPLE_KINDS * (FPM_BACKENDS + 1) * FPM_FORMATS + SIM_SAMPLE_CLASSES };

// Rows of one system, at most SIM_MAX_OPERATOR_ROWS; the last are those of whole classes. SIM_NO_MEMORY.
sim_status sim_operator_report(const sim_operator_curves *curves, const sim_sample_set *set, size_t system,
                               sim_operator_grouping grouping, sim_operator_row *rows, size_t *n_rows,
                               sim_error *error);

// Name of the group that a row is about: "gemm", "gemm vllm", "gemm vllm fp8", "ATTENTION" of a class.
void sim_operator_row_name(const sim_operator_row *row, char name[64]);

// SYSTEM.ini: where the curves come from and how good they are, then the curves. False: it could not be written.
bool sim_operator_report_write(const sim_operator_curves *curves, const sim_sample_set *set, size_t system,
                               const sim_operator_row *rows, size_t n_rows, FILE *out);

#endif
