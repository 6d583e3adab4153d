// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/correction.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

void fpm_correction_init(fpm_correction *correction, fpm_kind kind, const fpm_model_options *options) {
    const double tokens = (double)options->max_num_tokens, requests = (double)options->max_batch_size;
    *correction = (fpm_correction){ .scratch = NULL };
    const double high[2] = { kind == FPM_DECODE ? requests : tokens, (double)options->max_kv_tokens };
    fpm_samples_init(&correction->samples, kind == FPM_PREFILL ? 1 : 2, high, options, true);
    correction->is_smooth = options->correction == FPM_CORRECTION_SMOOTH;
    correction->surface.least = options->is_faster_unbounded ? 0.0 : options->min_faster_correction_factor;
    correction->surface.most = options->is_slower_unbounded ? HUGE_VAL : options->max_slower_correction_factor;
    correction->has_plain_ratios =
        !options->is_faster_unbounded && !options->is_slower_unbounded && options->max_slower_correction_factor < 1e300;
    const uint64_t min = options->min_observations;
    correction->min_observations = min < UINT32_MAX ? (uint32_t)min : UINT32_MAX;
}

// How many of the sorted values are at most `limit`.
static uint32_t count_up_to(const fpm_sorted_list *sorted, double limit) {
    uint32_t low = 0, high = sorted->n;
    while (low < high) {
        const uint32_t at = low + (high - low) / 2;
        if (sorted->values[at] <= limit)
            low = at + 1;
        else
            high = at;
    }
    return low;
}

double fpm_correction_median(const fpm_sorted_list *sorted, bool *has_one) {
    const double *values = sorted->values;
    const uint32_t first = count_up_to(sorted, 0.0), end = count_up_to(sorted, DBL_MAX);
    *has_one = end > first;
    if (!*has_one) return 1.0;
    const double mean = fpm_sorted_middle(values, first, end);
    return mean <= DBL_MAX ? mean : values[(first + end - 1) / 2] / 2.0 + values[(first + end) / 2] / 2.0;
}

void fpm_correction_free(fpm_correction *correction) {
    fpm_samples_free(&correction->samples);
    free(correction->scratch);
    correction->scratch = NULL;
}

static bool reserve_scratch(fpm_correction *correction, uint32_t n_samples) {
    if (n_samples <= correction->scratch_samples) return true;
    if (n_samples > UINT32_MAX / 2) return false;
    const uint32_t wanted = n_samples < 64 ? 64 : 2 * n_samples;
    double *scratch = realloc(correction->scratch, (size_t)wanted * FPM_SURFACE_SCRATCH * sizeof *scratch);
    if (!scratch) return false;
    correction->scratch = scratch;
    correction->scratch_samples = wanted;
    return true;
}

bool fpm_correction_copy(fpm_correction *copy, const fpm_correction *correction) {
    *copy = *correction;
    copy->scratch = NULL;
    copy->scratch_samples = 0;
    if (!fpm_samples_copy(&copy->samples, &correction->samples)) return false;
    if (reserve_scratch(copy, correction->scratch ? correction->samples.n : 0)) return true;
    fpm_correction_free(copy);
    return false;
}

bool fpm_correction_prepare_fit(fpm_correction *correction) {
    if (!reserve_scratch(correction, correction->samples.n + 1)) return false;
    correction->is_stale = true; // also when there is no memory for the sample: a fit of the same ones then
    return true;
}

void fpm_correction_refit(fpm_correction *correction) {
    if (correction->is_smooth && correction->is_stale && correction->samples.n > 0)
        fpm_surface_fit(&correction->surface, &correction->samples, correction->scratch);
    correction->is_stale = false;
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
        double factor = fpm_correction_median(&bucket->sorted, &has_one);
        if (!has_one) continue;
        if (correction->is_smooth) factor = fpm_correction_bucket_factor(correction, bucket);
        if (factors->n_buckets == 0 || factor < factors->min) factors->min = factor;
        if (factors->n_buckets == 0 || factor > factors->max) factors->max = factor;
        factors->avg += factor;
        factors->n_buckets++;
    }
}
