// SPDX-License-Identifier: GPL-3.0-or-later
//
// Distribution of the gaps between consecutive output tokens, without keeping them: log-linear buckets of 1/1024 of a power of two, so a
// percentile is off by at most 0.05 %; count, sum, minimum, maximum and standard deviation are exact. Adding is order-free (integers only).
// Memory is fixed (440 KiB), whatever the number of tokens.
#ifndef SIM_REPORT_GAP_HISTOGRAM_H
#define SIM_REPORT_GAP_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sim_gap_histogram sim_gap_histogram;

sim_gap_histogram *sim_gap_histogram_new(void); // NULL: no memory
void sim_gap_histogram_free(sim_gap_histogram *histogram);

// n_tokens gaps of gap_ns >= 0 each. O(1).
void sim_gap_histogram_add(sim_gap_histogram *histogram, int64_t gap_ns, uint64_t n_tokens);

// Add all of `other`.
void sim_gap_histogram_join(sim_gap_histogram *histogram, const sim_gap_histogram *other);

uint64_t sim_gap_histogram_count(const sim_gap_histogram *histogram);
// In nanoseconds; 0 when empty. `percent` in [0, 100]: the value at index round((n-1) percent / 100) of the sorted gaps.
double sim_gap_histogram_mean(const sim_gap_histogram *histogram);
double sim_gap_histogram_standard_deviation(const sim_gap_histogram *histogram);
double sim_gap_histogram_min(const sim_gap_histogram *histogram);
double sim_gap_histogram_max(const sim_gap_histogram *histogram);
double sim_gap_histogram_percentile(const sim_gap_histogram *histogram, double percent);

// Tokens per second a user sees: 1e9 / gap over the positive gaps. Mean exact to 1e-9; percentiles as above.
uint64_t sim_gap_histogram_positive_count(const sim_gap_histogram *histogram);
double sim_gap_histogram_mean_rate_per_s(const sim_gap_histogram *histogram);
double sim_gap_histogram_rate_percentile_per_s(const sim_gap_histogram *histogram, double percent);

#endif
