// SPDX-License-Identifier: GPL-3.0-or-later
//
// The observations of a kind and when they are fitted; the fits themselves are in fit_linear.c and fit_hinge.c.
#include "perfmodel/regression.h"

#include "perfmodel/fit.h"

#include <stdlib.h>
#include <string.h>

#define SCRATCH_PER_SAMPLE 3 // x0, x1, ms; robust: its own
#define HINGE_OBSERVATIONS 6 // a hinge has four parameters; with fewer samples than this a line is all one can tell

void fpm_regression_init(fpm_regression *regression, fpm_kind kind, const fpm_model_options *options) {
    *regression = (fpm_regression){ .min_observations = options->min_observations,
                                    .is_robust = options->regression == FPM_REGRESSION_ROBUST,
                                    .robust = { .kind = kind } };
    fpm_samples_init(&regression->samples, kind == FPM_PREFILL ? 1 : 2, NULL, options, false);
}

void fpm_regression_free(fpm_regression *regression) {
    fpm_samples_free(&regression->samples);
    fpm_load_order_free(&regression->order);
    free(regression->robust.batch);
    free(regression->scratch);
    regression->robust.batch = NULL;
    regression->scratch = NULL;
}

static bool reserve_scratch(fpm_regression *regression, uint32_t n_samples) {
    if (n_samples <= regression->scratch_samples) return true;
    uint64_t wanted = regression->scratch_samples ? 2 * (uint64_t)regression->scratch_samples : 64;
    if (wanted < n_samples) wanted = n_samples;
    const size_t per_sample = regression->is_robust ? FPM_ROBUST_SCRATCH : SCRATCH_PER_SAMPLE;
    double *scratch = realloc(regression->scratch, wanted * per_sample * sizeof *scratch);
    if (!scratch) return false;
    regression->scratch = scratch;
    regression->scratch_samples = wanted < UINT32_MAX ? (uint32_t)wanted : UINT32_MAX;
    return true;
}

// Room for the batch of a sample in any slot: up to capacity - 1, and at least 2 more samples fit before slots grow.
static bool reserve_batches(fpm_regression *regression) {
    fpm_robust *robust = &regression->robust;
    const uint32_t wanted = regression->samples.n + 3; // slot 0, the samples, a spare one and the next
    if (!regression->is_robust || robust->kind != FPM_MIXED || wanted <= robust->batch_capacity) return true;
    const uint32_t capacity = wanted < 64 ? 68 : 2 * wanted;
    uint32_t *batch = realloc(robust->batch, capacity * sizeof *batch);
    if (!batch) return false;
    robust->batch = batch;
    robust->batch_capacity = capacity;
    return true;
}

static bool copy_batches(fpm_robust *copy, const fpm_robust *robust) {
    copy->batch = NULL;
    if (!robust->batch) return true;
    copy->batch = malloc(robust->batch_capacity * sizeof *copy->batch);
    if (copy->batch) memcpy(copy->batch, robust->batch, robust->batch_capacity * sizeof *copy->batch);
    return copy->batch != NULL;
}

bool fpm_regression_copy(fpm_regression *copy, const fpm_regression *regression) {
    *copy = *regression;
    copy->scratch = NULL;
    copy->scratch_samples = 0;
    copy->order = (fpm_load_order){ 0 };
    copy->robust.batch = NULL;
    if (!fpm_samples_copy(&copy->samples, &regression->samples)) return false;
    if (fpm_load_order_copy(&copy->order, &regression->order) && copy_batches(&copy->robust, &regression->robust) &&
        reserve_scratch(copy, regression->scratch_samples))
        return true;
    fpm_regression_free(copy);
    return false;
}

bool fpm_regression_learn(fpm_regression *regression, fpm_load load, uint32_t batch, double observed_ms) {
    fpm_samples *samples = &regression->samples;
    const bool has_knots = samples->grid.n_axes == 1 && !regression->is_robust;
    if (!reserve_scratch(regression, samples->n + 1) || !reserve_batches(regression)) return false;
    if (has_knots && !fpm_load_order_reserve(&regression->order)) return false;
    fpm_samples_change change;
    if (!fpm_samples_insert(samples, load, observed_ms, &change)) return false;
    if (has_knots) {
        if (change.shrunk != FPM_NONE)
            fpm_load_order_remove(&regression->order, (double)change.evicted_load.x[0], change.evicted_value);
        fpm_load_order_insert(&regression->order, (double)load.x[0], observed_ms);
    }
    if (regression->robust.batch) regression->robust.batch[fpm_samples_newest(samples)] = batch;
    regression->is_stale = true;
    return true;
}

// The retained samples in the order of insertion, in which all sums run.
static fpm_observations gather(fpm_regression *regression) {
    const fpm_samples *samples = &regression->samples;
    const size_t stride = regression->scratch_samples;
    double *x = regression->scratch, *x2 = x + stride, *ms = x2 + stride;
    size_t n = 0;
    for (uint32_t slot = fpm_samples_oldest(samples); slot; slot = samples->slots[slot].newer, n++) {
        x[n] = (double)samples->slots[slot].load.x[0];
        x2[n] = (double)samples->slots[slot].load.x[1];
        ms[n] = samples->slots[slot].value;
    }
    return (fpm_observations){ .n = n, .n_axes = samples->grid.n_axes, .x = { x, x2 }, .ms = ms };
}

void fpm_regression_refit(fpm_regression *regression) {
    if (!regression->is_stale) return;
    regression->is_stale = false;
    regression->fit = (fpm_fit){ 0 };
    regression->robust.is_ready = false;
    const uint64_t n = regression->samples.n;
    if (n < regression->min_observations) return;
    if (regression->is_robust) {
        fpm_robust_fit(&regression->robust, &regression->samples, regression->scratch);
        return;
    }
    const bool has_knots = regression->samples.grid.n_axes == 1 && n >= HINGE_OBSERVATIONS;
    if (has_knots && fpm_fit_hinge(&regression->order, &regression->spread, &regression->fit)) return;
    const fpm_observations seen = gather(regression);
    fpm_fit_linear(&seen, &regression->fit);
}
