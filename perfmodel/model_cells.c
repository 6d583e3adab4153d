// SPDX-License-Identifier: GPL-3.0-or-later
//
// The populated grid of a kind, for whoever shows what a model has learned.
#include "perfmodel/model_internal.h"

// Bounds of cell `index` of an axis.
static void bound_axis(const fpm_grid *grid, unsigned axis, uint64_t index, fpm_cell *cell) {
    const double span = grid->high[axis] - grid->low[axis];
    const double step = span > 0 ? span / grid->n_cells : 0;
    cell->low[axis] = grid->low[axis] + step * (double)index;
    cell->high[axis] = index == grid->last_cell || !(span > 0) ? grid->high[axis] : cell->low[axis] + step;
}

static fpm_cell describe(const fpm_samples *samples, const fpm_bucket *bucket, double factor) {
    const fpm_grid *grid = &samples->grid;
    const uint64_t n_cells = grid->last_cell + 1;
    fpm_cell cell = { .n_samples = bucket->count, .factor = factor };
    bound_axis(grid, 0, grid->n_axes == 1 ? bucket->key : bucket->key / n_cells, &cell);
    if (grid->n_axes > 1) bound_axis(grid, 1, bucket->key % n_cells, &cell);
    return cell;
}

size_t fpm_model_cells(const fpm_model *model, fpm_kind kind, fpm_cell *cells, size_t capacity) {
    if (kind == FPM_EMPTY) return 0;
    const fpm_samples *samples = fpm_model_samples(model, kind - FPM_PREFILL);
    size_t n = 0;
    for (uint32_t slot = fpm_samples_oldest(samples); slot; slot = samples->slots[slot].newer) {
        const uint32_t index = fpm_samples_find(samples, fpm_grid_key(&samples->grid, samples->slots[slot].load));
        if (samples->buckets[index].oldest != slot) continue; // a bucket is told of once, with its oldest sample
        const fpm_bucket *bucket = &samples->buckets[index];
        const fpm_correction *correction = model->estimator ? &model->corrections[kind - FPM_PREFILL] : NULL;
        const double factor = correction ? fpm_correction_bucket_factor(correction, bucket) : 0.0;
        if (n < capacity) cells[n] = describe(samples, bucket, factor);
        n++;
    }
    return n;
}
