// SPDX-License-Identifier: GPL-3.0-or-later
//
// perfmodel.table: measured passes, as CSV (prefill_tokens, prefill_kv_tokens, decode_requests, decode_kv_tokens, ms) or as a ForwardPassMetrics log
// (JSON lines; wall_time in seconds); plain, gzip or zstd; told apart by the first character.
#ifndef SIM_DEPLOYMENT_PASS_TABLE_H
#define SIM_DEPLOYMENT_PASS_TABLE_H

#include "perfmodel/perfmodel.h"
#include "sim/config/error.h"

typedef struct sim_pass_table {
    fpm_measured_pass *passes;
    size_t n, capacity;
} sim_pass_table;

// Iterations of a log that are empty or not measured (wall_time 0) teach nothing, as in tuning. SIM_IO: cannot be read; SIM_BAD_DATA, with file and line: a
// row that is none, a file without a measured pass. The table goes with sim_pass_table_clear, also after an error.
sim_status sim_pass_table_load(sim_pass_table *table, const char *path, sim_error *error);
// The same from memory (tests, fuzzing).
sim_status sim_pass_table_parse(sim_pass_table *table, const char *text, size_t n_bytes, const char *name,
                                sim_error *error);
void sim_pass_table_clear(sim_pass_table *table);

#endif
