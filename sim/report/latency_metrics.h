// SPDX-License-Identifier: GPL-3.0-or-later
//
// Latencies of a completed request, in ms (interface.md "Definitions").
#ifndef SIM_REPORT_LATENCY_METRICS_H
#define SIM_REPORT_LATENCY_METRICS_H

#include "sim/report/collector.h"

// False where the request has none: TTST and TPOT take two tokens.
typedef bool sim_latency_metric(const sim_request_record *record, double *ms);
sim_latency_metric sim_latency_ttft, sim_latency_ttst, sim_latency_tpot, sim_latency_e2e;

// Of the measured requests that have completed, in their order, into `values` (room for every record). Returns how many.
size_t sim_latency_collect(const sim_collector *collector, sim_latency_metric *metric, double *values);

#endif
