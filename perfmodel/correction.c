// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/correction.h"

#include <float.h>

void fpm_correction_init(fpm_correction *correction, fpm_kind kind, const fpm_model_options *options) {
    const double tokens = (double)options->max_num_tokens, requests = (double)options->max_batch_size;
    const double high[2] = { kind == FPM_DECODE ? requests : tokens, (double)options->max_kv_tokens };
    fpm_samples_init(&correction->samples, kind == FPM_PREFILL ? 1 : 2, high, options, true);
    const uint64_t min = options->min_observations;
    correction->min_observations = min < UINT32_MAX ? (uint32_t)min : UINT32_MAX;
}

static bool is_usable(double ratio) { return ratio > 0.0 && ratio <= DBL_MAX; }

// Median of values[first..end), mean of the middle two. With an odd number both are the same value, whose mean with
// itself is exact; no branch on what is a coin toss.
static inline double median_of(const double *values, uint32_t first, uint32_t end) {
    const double lower = values[(first + end - 1) / 2], upper = values[(first + end) / 2];
    const double mean = (lower + upper) / 2.0;
    return mean <= DBL_MAX ? mean : lower / 2.0 + upper / 2.0;
}

// Median of the finite positive ratios; 1 where there are none. *has_one says which.
static double median(const fpm_sorted_list *sorted, bool *has_one) {
    uint32_t first = 0, end = sorted->n;
    while (first < end && !is_usable(sorted->values[first])) first++;
    while (end > first && !is_usable(sorted->values[end - 1])) end--;
    *has_one = end > first;
    return *has_one ? median_of(sorted->values, first, end) : 1.0;
}

static inline void update_median(fpm_bucket *bucket) {
    const double *values = bucket->sorted.values;
    const uint32_t n = bucket->sorted.n;
    bool has_one;
    if (n > 0 && values[0] > 0.0 && values[n - 1] <= DBL_MAX)
        bucket->median = median_of(values, 0, n);
    else
        bucket->median = median(&bucket->sorted, &has_one);
}

bool fpm_correction_learn(fpm_correction *correction, fpm_load load, double ratio) {
    fpm_samples *samples = &correction->samples;
    fpm_samples_change change;
    if (!fpm_samples_insert(samples, load, ratio, &change)) return false;
    if (change.is_stored) update_median(&samples->buckets[change.grown]);
    if (change.shrunk != FPM_NONE) update_median(&samples->buckets[change.shrunk]);
    return true;
}

uint64_t fpm_correction_ready_buckets(const fpm_correction *correction) {
    uint64_t n = 0;
    if (!fpm_correction_is_ready(correction)) return 0;
    for (uint32_t i = 0; i < correction->samples.n_buckets; i++) n += correction->samples.buckets[i].count > 0;
    return n;
}

void fpm_correction_collect(const fpm_correction *correction, fpm_factors *factors) {
    const fpm_samples *samples = &correction->samples;
    if (!fpm_correction_is_ready(correction)) return;
    for (uint32_t slot = fpm_samples_oldest(samples); slot; slot = samples->slots[slot].newer) {
        const uint64_t key = fpm_grid_key(&samples->grid, samples->slots[slot].load);
        const fpm_bucket *bucket = &samples->buckets[fpm_samples_find(samples, key)];
        bool has_one = false;
        if (bucket->oldest != slot) continue;
        const double factor = median(&bucket->sorted, &has_one);
        if (!has_one) continue;
        if (factors->n_buckets == 0 || factor < factors->min) factors->min = factor;
        if (factors->n_buckets == 0 || factor > factors->max) factors->max = factor;
        factors->avg += factor;
        factors->n_buckets++;
    }
}
