// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a trace holds, without simulating anything (interface.md "trace info").
#ifndef SIM_WORKLOAD_TRACE_INFO_H
#define SIM_WORKLOAD_TRACE_INFO_H

#include "sim/workload/workload.h"

typedef struct sim_length_stats {
    uint64_t sum;
    double mean;
    uint32_t min, p50, p90, p99, max; // value at index round((n-1) p / 100) of the sorted lengths
} sim_length_stats;

typedef struct sim_trace_info {
    sim_length_stats input_tokens;
    sim_length_stats output_tokens;
    int64_t span_ns; // last stamp - first stamp
    uint64_t distinct_arrivals;
    uint64_t blocks_total;
    uint64_t blocks_distinct;
    // ids in file order, unbounded cache, along the prefix chain; a partial tail counts (with its tokens) only when an
    // earlier row had the same id at the same place with the same size
    uint64_t infinite_cache_hit_blocks;
    uint64_t infinite_cache_hit_tokens;
    uint64_t sessions;
} sim_trace_info;

sim_status sim_trace_info_compute(const sim_workload *workload, sim_trace_info *info, sim_error *error);

#endif
