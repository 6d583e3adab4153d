// SPDX-License-Identifier: GPL-3.0-or-later
//
// Percentiles come from a radix sort of the lengths alone: three passes of 11 bits, linear, and the usual trace is
// 12,000 rows.
#include "sim/workload/trace_info.h"

#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static void sort_pass(const uint32_t *from, uint32_t *to, size_t n, unsigned shift) {
    size_t starts[DIGITS + 1] = { 0 };
    for (size_t i = 0; i < n; i++) starts[(from[i] >> shift & (DIGITS - 1)) + 1]++;
    for (size_t i = 1; i <= DIGITS; i++) starts[i] += starts[i - 1];
    for (size_t i = 0; i < n; i++) to[starts[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

// Sort `values`, using `spare` of the same size; the sorted ones end up in the array that is returned.
static uint32_t *sort(uint32_t *values, uint32_t *spare, size_t n, uint32_t largest) {
    for (unsigned shift = 0; shift < 32 && largest >> shift != 0; shift += DIGIT_BITS) {
        sort_pass(values, spare, n, shift);
        uint32_t *sorted = spare;
        spare = values;
        values = sorted;
    }
    return values;
}

static uint32_t percentile(const uint32_t *sorted, size_t n, unsigned p) {
    // (n - 1) p / 100 rounded half up; n stays far below 2^57.
    return sorted[((n - 1) * p + 50) / 100];
}

static sim_length_stats describe(uint32_t *values, uint32_t *spare, size_t n) {
    sim_length_stats stats = { 0 };
    if (n == 0) return stats;
    uint32_t largest = 0;
    for (size_t i = 0; i < n; i++) {
        stats.sum += values[i];
        if (values[i] > largest) largest = values[i];
    }
    const uint32_t *sorted = sort(values, spare, n, largest);
    stats.mean = (double)stats.sum / (double)n;
    stats.min = sorted[0];
    stats.p50 = percentile(sorted, n, 50);
    stats.p90 = percentile(sorted, n, 90);
    stats.p99 = percentile(sorted, n, 99);
    stats.max = sorted[n - 1];
    return stats;
}

static void describe_arrivals(const sim_workload *workload, sim_trace_info *info) {
    if (!workload->has_stamps || workload->n_requests == 0) return;
    const sim_request *requests = workload->requests;
    info->span_ns = requests[workload->n_requests - 1].stamp_ns - requests[0].stamp_ns;
    info->distinct_arrivals = 1;
    for (size_t i = 1; i < workload->n_requests; i++)
        info->distinct_arrivals += requests[i].stamp_ns != requests[i - 1].stamp_ns;
}

sim_status sim_trace_info_compute(const sim_workload *workload, sim_trace_info *info, sim_error *error) {
    *info = (sim_trace_info){
        .blocks_total = workload->n_ids,
        .blocks_distinct = workload->census.distinct,
        .infinite_cache_hit_blocks = workload->census.hit_blocks,
        .infinite_cache_hit_tokens = workload->census.hit_tokens,
        .sessions = workload->n_sessions,
    };
    const size_t n = workload->n_requests;
    uint32_t *values = calloc(n + 1, 2 * sizeof *values);
    if (!values) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    for (size_t i = 0; i < n; i++) values[i] = workload->requests[i].input_tokens;
    info->input_tokens = describe(values, values + n, n);
    for (size_t i = 0; i < n; i++) values[i] = workload->requests[i].output_tokens;
    info->output_tokens = describe(values, values + n, n);
    describe_arrivals(workload, info);
    free(values);
    return SIM_OK;
}
