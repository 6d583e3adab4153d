// SPDX-License-Identifier: GPL-3.0-or-later
//
// A bounded set of samples spread over a grid of buckets: dense regions give up their oldest samples first, so that
// rare loads are remembered (notes/fpm-behaviour.md section 4).
//
// Two deliberate improvements over the reference, which leaves both to the order of a hash map: every sample has an
// insertion number; among equally full buckets the one whose oldest sample is oldest gives it up, and a change of the
// grid re-inserts in the order of insertion. So the same observations give the same bytes.
//
// Memory follows the samples, never the number of buckets (10^12 of them are legal): only populated buckets exist. A
// grid of at most 1024 buckets is found by direct index, a larger one by hashing.
#ifndef PERFMODEL_SAMPLES_H
#define PERFMODEL_SAMPLES_H

#include "perfmodel/perfmodel.h"
#include "perfmodel/sorted_list.h"

#define FPM_NONE UINT32_MAX

// Load of a pass: one axis (prefill tokens) or two.
typedef struct fpm_load {
    uint32_t x[2];
} fpm_load;

typedef struct fpm_grid {
    unsigned n_axes;
    bool is_fixed;          // bounds given once; otherwise they grow with the samples
    double low[2], high[2]; // inclusive; low > high: nothing inserted yet
    double n_cells;         // per axis
    uint64_t last_cell;     // n_cells - 1
} fpm_grid;

typedef struct fpm_slot {
    double value;
    fpm_load load;
    uint32_t number;         // insertion number: only its order counts
    uint32_t next_in_bucket; // newer sample of the bucket, 0 = none
    uint32_t older, newer;   // of all samples, or FPM_NONE
} fpm_slot;

typedef struct fpm_bucket {
    uint64_t key;            // cell of the grid
    uint32_t oldest, newest; // slots; oldest is 0 when empty
    uint32_t count;
    fpm_sorted_list sorted; // the values, when the set keeps them sorted
} fpm_bucket;

typedef struct fpm_samples {
    fpm_grid grid;
    uint64_t limit; // samples retained at most
    bool keeps_sorted;

    fpm_slot *slots; // slot 0 is no sample
    uint32_t n;      // samples retained
    uint32_t spare;  // the slot of the next sample
    uint32_t capacity;
    uint32_t next_number, last_number; // insertion numbers; after the last one they are dealt out anew

    fpm_bucket *buckets; // some may be empty
    double *fullness;    // per bucket, see samples.c; 0 in all places beyond the populated ones
    uint32_t n_buckets, bucket_capacity;
    uint32_t most_packed_buckets; // up to so many the search for the fullest one is quick
    uint32_t *table;              // cell or hash -> bucket index + 1, 0 = none
    uint64_t table_size;
    unsigned hash_shift; // 0: direct index
} fpm_samples;

// What an insertion changed.
typedef struct fpm_samples_change {
    bool is_stored;        // false: outside of a fixed grid; nothing changed, `grown` is not set
    uint32_t grown;        // bucket of the new sample
    uint32_t shrunk;       // bucket of the evicted one; FPM_NONE: no sample had to go
    fpm_load evicted_load; // of that one
    double evicted_value;
} fpm_samples_change;

// high = NULL: bounds grow with the samples. Cannot fail; memory comes with the samples.
void fpm_samples_init(fpm_samples *samples, unsigned n_axes, const double high[2], const fpm_model_options *options,
                      bool keeps_sorted);
void fpm_samples_free(fpm_samples *samples);
bool fpm_samples_copy(fpm_samples *copy, const fpm_samples *samples); // false: no memory, nothing to free

// False: no memory; the set is as it was. O(buckets) when full, else O(1); O(samples) when the grid grows.
bool fpm_samples_insert(fpm_samples *samples, fpm_load load, double value, fpm_samples_change *change);
// The same for a set that keeps its values sorted, when nobody asks what changed.
bool fpm_samples_insert_sorted(fpm_samples *samples, fpm_load load, double value);
// Before the first insertion, for a loaded state: the bounds the grid had grown to.
void fpm_samples_set_bounds(fpm_samples *samples, const double low[2], const double high[2]);

uint32_t fpm_samples_find_hashed(const fpm_samples *samples, uint64_t key);

// Slot of the oldest sample, 0 = there is none; the next one is slots[slot].newer, until 0.
static inline uint32_t fpm_samples_oldest(const fpm_samples *samples) {
    return samples->slots ? samples->slots[0].newer : 0;
}

// The sample inserted last, 0 = there is none.
static inline uint32_t fpm_samples_newest(const fpm_samples *samples) {
    return samples->slots ? samples->slots[0].older : 0;
}

static inline bool fpm_grid_contains(const fpm_grid *grid, fpm_load load) {
    const double x = (double)load.x[0], y = (double)load.x[1];
    const bool is_in = (x >= grid->low[0]) & (x <= grid->high[0]);
    return grid->n_axes == 1 ? is_in : is_in & (y >= grid->low[1]) & (y <= grid->high[1]);
}

static inline uint64_t fpm_grid_cell(const fpm_grid *grid, unsigned axis, uint32_t x) {
    const double low = grid->low[axis], width = grid->high[axis] - low;
    if (!(width > 0.0)) return 0;
    // Divide first, then multiply: the reference's rounding decides which cell a border value falls in.
    const double place = (((double)x - low) / width) * grid->n_cells;
    // Signed where that does: it is one instruction, unsigned ones are ten.
    const uint64_t cell = place < 0x1p63 ? (uint64_t)(int64_t)place : (uint64_t)place;
    return cell < grid->last_cell ? cell : grid->last_cell;
}

static inline uint64_t fpm_grid_key(const fpm_grid *grid, fpm_load load) {
    const uint64_t first = fpm_grid_cell(grid, 0, load.x[0]);
    return grid->n_axes == 1 ? first : first * (grid->last_cell + 1) + fpm_grid_cell(grid, 1, load.x[1]);
}

// The bucket of a cell, possibly an empty one, or FPM_NONE.
static inline uint32_t fpm_samples_find(const fpm_samples *samples, uint64_t key) {
    if (samples->hash_shift || !samples->table) return fpm_samples_find_hashed(samples, key);
    return samples->table[key] - 1; // 0 - 1 is FPM_NONE
}

#endif
