// SPDX-License-Identifier: GPL-3.0-or-later
//
// What stands in the files of measured kernels: which columns each of them has, and the sample that a record makes. Internal to operator_samples.c, which
// reads them.
#ifndef SIM_EXPERIMENT_OPERATOR_RECORDS_H
#define SIM_EXPERIMENT_OPERATOR_RECORDS_H

#include "sim/experiment/operator_samples.h"

enum { SIM_RECORD_COLUMNS = 20, SIM_RECORD_FIELD_BYTES = 96 };
typedef struct sim_operator_record {
    char text[SIM_RECORD_COLUMNS][SIM_RECORD_FIELD_BYTES];
    double number[SIM_RECORD_COLUMNS]; // NAN: not a number
} sim_operator_record;

// Columns that every file has, in front of its own.
enum { SIM_AT_SYSTEM, SIM_AT_BACKEND, SIM_AT_VERSION, SIM_AT_OP, SIM_AT_KERNEL, SIM_AT_LATENCY, SIM_AT_OWN };
extern const char *const sim_record_common_columns[SIM_AT_OWN];

typedef struct sim_sample_file {
    const char *name;
    bool (*read)(const sim_operator_record *row, sim_operator_sample *sample); // false: a row without a price
    const char *columns[SIM_RECORD_COLUMNS - SIM_AT_OWN];                      // "" never, NULL-terminated
} sim_sample_file;

enum { SIM_SAMPLE_FILES = 14 };
extern const sim_sample_file sim_sample_files[SIM_SAMPLE_FILES];

#endif
