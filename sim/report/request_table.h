// SPDX-License-Identifier: GPL-3.0-or-later
//
// What became of every request, in one form whether it comes from a run at hand, from the requests.csv of an earlier one, or from the log of a real
// server.
//
// A CSV file is read by the names in its header (RFC 4180; plain, gzip or zstd):
//   TIME arrival, ttft, tpot, e2e   with the unit behind it: ttft_ms, ttft_s, ttft_us, ttft_ns; an empty cell: no such time
//   input_tokens or isl, output_tokens or osl, cached_tokens   whole numbers
//   session, status   texts; status: completed, rejected, incomplete, not_admitted (without the column all rows are completed)
// Other columns are not used, and listed in `unused`. At least one of ttft, tpot and e2e must be there.
#ifndef SIM_REPORT_REQUEST_TABLE_H
#define SIM_REPORT_REQUEST_TABLE_H

#include "perfmodel/line_reader.h"
#include "sim/report/collector.h"

// enumerator, stem of names, heading
#define SIM_LATENCY_LIST(X)             \
    X(SIM_LATENCY_TTFT, "ttft", "TTFT") \
    X(SIM_LATENCY_TPOT, "tpot", "TPOT") \
    X(SIM_LATENCY_E2E, "e2e_latency", "E2E latency")

typedef enum sim_latency {
#define X(code, stem, heading) code,
    SIM_LATENCY_LIST(X)
#undef X
        SIM_LATENCIES
} sim_latency;
typedef struct sim_latency_names {
    const char *stem, *heading;
} sim_latency_names;
extern const sim_latency_names sim_latencies[SIM_LATENCIES];

typedef struct sim_request_outcome {
    int64_t arrival_ns;                                  // of a request that arrived, where the table has arrivals
    double ms[SIM_LATENCIES];                            // NAN = none
    uint32_t input_tokens, output_tokens, cached_tokens; // output: of completed requests
    uint32_t turn;                                       // from 1, in table order; 0 without a session
    uint8_t status;                                      // sim_request_status
    bool has_cached;                                     // cached_tokens is known
    bool is_measured;                                    // it arrived, and not in the warm-up
} sim_request_outcome;

typedef struct sim_request_table {
    sim_request_outcome *rows; // owned
    size_t n_rows;
    bool has_arrivals, has_input_tokens, has_output_tokens, has_cached_tokens, has_sessions;
    char unused[256]; // names of columns that were not used; cut when they are very many
} sim_request_table;

// All requests of a run, in table order. SIM_NO_MEMORY.
sim_status sim_request_table_of(sim_request_table *table, const sim_collector *collector, const sim_workload *workload,
                                sim_error *error);

// A condition on a column, COLUMN=VALUE: only rows whose cell is VALUE. Those on one column are alternatives.
typedef struct sim_row_filter {
    const char *const *conditions;
    size_t n;
} sim_row_filter;

// Read `lines` to their end. `is_own`: it has to be a whole requests.csv of `forepass replay`, ids and all, else any CSV as above; `filter` may be NULL.
// SIM_BAD_DATA with file and line: a name twice, a column that is missing, a cell that is none of its kind, a completed request without any time, a row of
// another length than the header, a last line without an end (is_own); no rows. SIM_USAGE: a filter on a column that is not there. SIM_IO, SIM_NO_MEMORY.
// Nothing is to be freed after an error.
sim_status sim_request_table_read(sim_request_table *table, fpm_line_reader *lines, bool is_own,
                                  const sim_row_filter *filter, sim_error *error);
void sim_request_table_clear(sim_request_table *table);

#endif
