// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/report/gap_histogram.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

__extension__ typedef unsigned __int128 u128;

enum {
    FRACTION_BITS = 10, // 1024 buckets per power of two
    N_BUCKETS = (64 - FRACTION_BITS) << FRACTION_BITS
};

// Rates are summed as fixed-point numbers, so that the sum does not depend on the order: tokens per second with 30 fractional bits.
static const double rate_unit = 1073741824.0;

struct sim_gap_histogram {
    uint64_t count, zero_count;
    u128 sum_ns, sum_squares_ns2;
    u128 sum_rates;
    int64_t min_ns, max_ns;
    uint64_t buckets[N_BUCKETS];
};

sim_gap_histogram *sim_gap_histogram_new(void) {
    sim_gap_histogram *histogram = calloc(1, sizeof *histogram);
    if (histogram) histogram->min_ns = INT64_MAX;
    return histogram;
}

void sim_gap_histogram_free(sim_gap_histogram *histogram) { free(histogram); }

// Values below 2048 have a bucket each; above, the top 11 bits choose.
static uint32_t bucket_of(uint64_t value) {
    if (value < (UINT64_C(2) << FRACTION_BITS)) return (uint32_t)value;
    uint32_t shift = 63 - FRACTION_BITS - (uint32_t)__builtin_clzll(value);
    return (shift << FRACTION_BITS) + (uint32_t)(value >> shift);
}

// Middle of a bucket.
static double value_of(uint32_t bucket) {
    if (bucket < (2u << FRACTION_BITS)) return bucket;
    uint32_t shift = (bucket >> FRACTION_BITS) - 1;
    uint64_t top = bucket - ((uint64_t)shift << FRACTION_BITS);
    return ldexp((double)top + 0.5, (int)shift) - 0.5;
}

void sim_gap_histogram_add(sim_gap_histogram *histogram, int64_t gap_ns, uint64_t n_tokens) {
    assert(gap_ns >= 0);
    if (n_tokens == 0) return;
    histogram->count += n_tokens;
    histogram->sum_ns += (u128)(uint64_t)gap_ns * n_tokens;
    histogram->sum_squares_ns2 += (u128)(uint64_t)gap_ns * (uint64_t)gap_ns * n_tokens;
    if (gap_ns < histogram->min_ns) histogram->min_ns = gap_ns;
    if (gap_ns > histogram->max_ns) histogram->max_ns = gap_ns;
    histogram->buckets[bucket_of((uint64_t)gap_ns)] += n_tokens;
    if (gap_ns == 0)
        histogram->zero_count += n_tokens;
    else
        histogram->sum_rates += (u128)(uint64_t)(1e9 / (double)gap_ns * rate_unit) * n_tokens;
}

void sim_gap_histogram_join(sim_gap_histogram *histogram, const sim_gap_histogram *other) {
    histogram->count += other->count;
    histogram->zero_count += other->zero_count;
    histogram->sum_ns += other->sum_ns;
    histogram->sum_squares_ns2 += other->sum_squares_ns2;
    histogram->sum_rates += other->sum_rates;
    if (other->min_ns < histogram->min_ns) histogram->min_ns = other->min_ns;
    if (other->max_ns > histogram->max_ns) histogram->max_ns = other->max_ns;
    for (uint32_t i = 0; i < N_BUCKETS; i++) histogram->buckets[i] += other->buckets[i];
}

uint64_t sim_gap_histogram_count(const sim_gap_histogram *histogram) { return histogram->count; }

double sim_gap_histogram_mean(const sim_gap_histogram *histogram) {
    return histogram->count ? (double)histogram->sum_ns / (double)histogram->count : 0;
}

double sim_gap_histogram_standard_deviation(const sim_gap_histogram *histogram) {
    if (!histogram->count) return 0;
    // Long double keeps 64 bits, enough that the difference of two near-equal moments is still good to microseconds.
    long double n = (long double)histogram->count;
    long double mean = (long double)histogram->sum_ns / n;
    long double variance = (long double)histogram->sum_squares_ns2 / n - mean * mean;
    return variance > 0 ? (double)sqrtl(variance) : 0;
}

double sim_gap_histogram_min(const sim_gap_histogram *histogram) {
    return histogram->count ? (double)histogram->min_ns : 0;
}

double sim_gap_histogram_max(const sim_gap_histogram *histogram) { return (double)histogram->max_ns; }

// Value at `index` (from 0) of the sorted gaps.
static double value_at(const sim_gap_histogram *histogram, uint64_t index) {
    uint64_t seen = 0;
    uint32_t bucket = 0;
    while (bucket < N_BUCKETS - 1 && (seen += histogram->buckets[bucket]) <= index) bucket++;
    double value = value_of(bucket);
    if (value < (double)histogram->min_ns) return (double)histogram->min_ns;
    return value > (double)histogram->max_ns ? (double)histogram->max_ns : value;
}

static uint64_t index_of(uint64_t n, double percent) { return (uint64_t)floor((double)(n - 1) * percent / 100 + 0.5); }

double sim_gap_histogram_percentile(const sim_gap_histogram *histogram, double percent) {
    return histogram->count ? value_at(histogram, index_of(histogram->count, percent)) : 0;
}

uint64_t sim_gap_histogram_positive_count(const sim_gap_histogram *histogram) {
    return histogram->count - histogram->zero_count;
}

double sim_gap_histogram_mean_rate_per_s(const sim_gap_histogram *histogram) {
    uint64_t n = sim_gap_histogram_positive_count(histogram);
    return n ? (double)histogram->sum_rates / rate_unit / (double)n : 0;
}

double sim_gap_histogram_rate_percentile_per_s(const sim_gap_histogram *histogram, double percent) {
    uint64_t n = sim_gap_histogram_positive_count(histogram);
    if (!n) return 0;
    // The k-th smallest rate belongs to the k-th largest gap.
    double gap_ns = value_at(histogram, histogram->count - 1 - index_of(n, percent));
    return 1e9 / gap_ns;
}
