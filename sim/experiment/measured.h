// SPDX-License-Identifier: GPL-3.0-or-later
//
// A table of measurements: one serving run per row, said in configuration keys, with what was measured (CSV by RFC 4180, plain, gzip or zstd).
//
// The header decides what a column is: `id` names the row; `section.key` sets that key for the row (an empty cell does not); `label.NAME` is for
// grouping only; `measured.NAME` is what was measured (an empty cell: not measured). Any other name is an error: a slip in a key would otherwise run
// another deployment than the one that was measured.
#ifndef SIM_EXPERIMENT_MEASURED_H
#define SIM_EXPERIMENT_MEASURED_H

#include <stddef.h>

#include "sim/config/config.h"

// enumerator, column behind "measured.", stem of the keys of reports, heading
#define SIM_TARGET_LIST(X)                            \
    X(SIM_TARGET_TTFT, "ttft_ms", "ttft", "TTFT")     \
    X(SIM_TARGET_TPOT, "tpot_ms", "tpot", "TPOT")     \
    X(SIM_TARGET_ITL, "itl_ms", "itl", "ITL")         \
    X(SIM_TARGET_E2E, "e2e_ms", "e2e", "E2E latency") \
    X(SIM_TARGET_OUTPUT_THROUGHPUT, "output_throughput_tok_s", "output_throughput", "Output tokens/s")

typedef enum sim_target {
#define X(code, column, stem, heading) code,
    SIM_TARGET_LIST(X)
#undef X
        SIM_TARGETS
} sim_target;

typedef struct sim_target_names {
    const char *column, *stem, *heading;
} sim_target_names;
extern const sim_target_names sim_targets[SIM_TARGETS];

typedef enum sim_column_kind { SIM_COLUMN_ID, SIM_COLUMN_LABEL, SIM_COLUMN_KEY, SIM_COLUMN_TARGET } sim_column_kind;

typedef struct sim_measured_column {
    char *name;
    sim_column_kind kind;
    sim_target target; // of a SIM_COLUMN_TARGET
} sim_measured_column;

typedef struct sim_measured_row {
    const char *const *cells;     // of each column, "" = empty
    double measured[SIM_TARGETS]; // > 0; NAN = not measured
    int64_t line;
} sim_measured_row;

typedef struct sim_measured {
    const char *path; // as messages name it
    sim_measured_column *columns;
    size_t n_columns;
    size_t id_column;
    sim_measured_row *rows;
    size_t n_rows;
} sim_measured;

// Read all of `path` ("-": standard input). `known` holds the joined key tables; only names are looked up in it. SIM_IO: missing or unreadable.
// SIM_BAD_DATA with file and line: an unknown, repeated or missing column, a row of another length than the header, an empty or repeated id, a
// measured value that is no number above 0, a row without any measured value, no rows.
sim_status sim_measured_read(sim_measured **measured, const char *path, const sim_config *known, sim_error *error);
void sim_measured_free(sim_measured *measured);

// Index of the column with this name; n_columns without. Fills *nearest (may be NULL) with the nearest name, or NULL.
size_t sim_measured_find(const sim_measured *measured, const char *name, const char **nearest);

const char *sim_measured_id(const sim_measured *measured, size_t row);

// Keep the rows that pass: `filters` are COLUMN=VALUE; those of one column are alternatives, those of different columns must all hold. SIM_USAGE: no
// such column, or no "="; SIM_BAD_DATA: no row is left.
sim_status sim_measured_filter(sim_measured *measured, const char *const *filters, size_t n_filters, sim_error *error);

#endif
