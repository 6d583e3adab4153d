// SPDX-License-Identifier: GPL-3.0-or-later
//
// Correction grid of one kind: ratios observed/estimated in buckets of a fixed grid over the load; a query near
// measured passes is multiplied by the median ratio of its bucket (notes/fpm-behaviour.md section 5). Buckets keep their
// ratios sorted, so that a query is a table look-up and the middle of a list; medians kept current when learning would
// cost two of them for every pass instead of one.
#ifndef PERFMODEL_CORRECTION_H
#define PERFMODEL_CORRECTION_H

#include "perfmodel/surface.h"

typedef struct fpm_correction {
    fpm_samples samples;       // value: ratio, clamped to the factor bounds
    uint32_t min_observations; // saturated
    bool has_plain_ratios;     // bounds keep every ratio positive, finite and far from overflow
    bool is_smooth;            // the surface corrects, not the cells
    bool is_stale;             // samples have changed since the surface was fitted
    fpm_surface surface;
    double *scratch; // smooth: room for the fit, so that fitting cannot fail
    uint32_t scratch_samples;
} fpm_correction;

void fpm_correction_init(fpm_correction *correction, fpm_kind kind, const fpm_model_options *options);
void fpm_correction_free(fpm_correction *correction);
bool fpm_correction_copy(fpm_correction *copy, const fpm_correction *correction); // false: no memory, nothing to free

// Smooth: room for a fit with one more sample, which is due then. False: no memory.
bool fpm_correction_prepare_fit(fpm_correction *correction);
// Learn a ratio >= 0 within the factor bounds (without bounds it may be 0 or infinite: kept, and skipped by medians).
// False: no memory, nothing changed.
static inline bool fpm_correction_learn(fpm_correction *correction, fpm_load load, double ratio) {
    return (!correction->is_smooth || fpm_correction_prepare_fit(correction)) &&
           fpm_samples_insert_sorted(&correction->samples, load, ratio);
}
// After learning, before asking. O(samples) when smooth.
void fpm_correction_refit(fpm_correction *correction);

static inline bool fpm_correction_is_ready(const fpm_correction *correction) {
    return correction->samples.n >= correction->min_observations;
}

// Mean of the middle two of values[first..end). With an odd number both are the same value, whose mean with itself is
// exact; no branch on what is a coin toss.
static inline double fpm_sorted_middle(const double *values, uint32_t first, uint32_t end) {
    return (values[(first + end - 1) / 2] + values[(first + end) / 2]) / 2.0;
}

// Median of the finite positive ratios; 1 where there are none. *has_one says which. O(log n).
double fpm_correction_median(const fpm_sorted_list *sorted, bool *has_one);

// The factor a bucket stands for, whether or not the kind is ready. Smooth: that of its newest sample.
static inline double fpm_correction_bucket_factor(const fpm_correction *correction, const fpm_bucket *bucket) {
    bool has_one;
    if (correction->is_smooth)
        return fpm_surface_factor(&correction->surface, correction->samples.slots[bucket->newest].load);
    if (correction->has_plain_ratios && bucket->sorted.n > 0)
        return fpm_sorted_middle(bucket->sorted.values, 0, bucket->sorted.n);
    return fpm_correction_median(&bucket->sorted, &has_one);
}

// Factor at a load: 1 unless the kind is ready and the load falls in a populated bucket of the grid; smooth: the
// surface's wherever the load is.
static inline double fpm_correction_factor(const fpm_correction *correction, fpm_load load) {
    const fpm_samples *samples = &correction->samples;
    if (!fpm_correction_is_ready(correction)) return 1.0;
    if (correction->is_smooth) return fpm_surface_factor(&correction->surface, load);
    if (!fpm_grid_contains(&samples->grid, load)) return 1.0;
    const uint32_t index = fpm_samples_find(samples, fpm_grid_key(&samples->grid, load));
    return index == FPM_NONE ? 1.0 : fpm_correction_bucket_factor(correction, &samples->buckets[index]);
}

// Populated buckets when ready, else 0.
uint64_t fpm_correction_ready_buckets(const fpm_correction *correction);

// Add the medians in force to `factors` (in `avg` their sum), in the order of the buckets' oldest samples, so that the
// sum depends on the retained samples only. O(samples).
void fpm_correction_collect(const fpm_correction *correction, fpm_factors *factors);

#endif
