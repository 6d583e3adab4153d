// SPDX-License-Identifier: GPL-3.0-or-later
//
// What trace formats that are CSV with a header share. Every function fills input->fault (or input->failed) and returns false when the record is none.
#ifndef SIM_WORKLOAD_CSV_TRACE_H
#define SIM_WORKLOAD_CSV_TRACE_H

#include "sim/workload/csv_row.h"
#include "sim/workload/trace_format.h"

typedef struct sim_csv_trace {
    sim_csv_row row; // the record in hand
    size_t n_fields; // of the header, and so of every row
} sim_csv_trace;

bool sim_csv_trace_read_header(sim_trace_input *input, sim_csv_trace *trace, const fpm_line *line);
bool sim_csv_trace_read_row(sim_trace_input *input, sim_csv_trace *trace, const fpm_line *line);

// Field `column` of the row in hand as an arrival, or as a count; `name` is what messages call it.
bool sim_csv_trace_stamp(sim_trace_input *input, const sim_csv_trace *trace, int column, sim_trace_row *out);
bool sim_csv_trace_count(sim_trace_input *input, const sim_csv_trace *trace, int column, const char *name,
                         uint64_t *value);

#endif
