// SPDX-License-Identifier: GPL-3.0-or-later
//
// requests.csv: one row per request, in table order. Columns: id, session, arrival_ms, worker, input_tokens, cached_tokens, output_tokens,
// first_token_ms, finish_ms, ttft_ms, tpot_ms, e2e_ms, preemptions, status (completed, rejected, incomplete, not_admitted). Times are exact to the nanosecond; a
// field that has no value is empty.
#ifndef SIM_REPORT_REQUESTS_CSV_H
#define SIM_REPORT_REQUESTS_CSV_H

#include "sim/report/collector.h"

// SIM_IO on a short write, placed at `path`.
// `has_closed`: load.admit_until kept out what did not arrive; else it would still have come and is incomplete.
sim_status sim_requests_csv_write(const sim_collector *collector, const sim_workload *workload, bool has_closed,
                                  FILE *out, const char *path, sim_error *error);

#endif
