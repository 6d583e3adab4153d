// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIRECT_BUCKETS 1024
#define LEAST_BUCKETS 16

void fpm_samples_init(fpm_samples *samples, unsigned n_axes, const double high[2], const fpm_model_options *options,
                      bool keeps_sorted) {
    const double n_cells = n_axes == 1 ? (double)options->bucket_count : floor(sqrt((double)options->bucket_count));
    *samples = (fpm_samples){
        .grid = { .n_axes = n_axes,
                  .is_fixed = high != NULL,
                  .low = { HUGE_VAL, HUGE_VAL },
                  .high = { -HUGE_VAL, -HUGE_VAL },
                  .n_cells = n_cells,
                  .last_cell = (n_axes == 1 ? options->bucket_count : (uint64_t)n_cells) - 1 },
        .limit = options->max_observations,
        .keeps_sorted = keeps_sorted,
        .oldest = FPM_NONE,
        .newest = FPM_NONE,
        .hash_shift = options->bucket_count <= DIRECT_BUCKETS ? 0 : 64,
        .table_size = options->bucket_count <= DIRECT_BUCKETS ? options->bucket_count : 0,
    };
    if (!high) return;
    for (unsigned i = 0; i < 2; i++) {
        samples->grid.low[i] = 0.0;
        samples->grid.high[i] = high[i];
    }
}

void fpm_samples_free(fpm_samples *samples) {
    for (uint32_t i = 0; i < samples->bucket_capacity; i++) fpm_sorted_list_free(&samples->buckets[i].sorted);
    free(samples->slots);
    free(samples->buckets);
    free(samples->fullness);
    free(samples->table);
    samples->slots = NULL;
    samples->buckets = NULL;
    samples->fullness = NULL;
    samples->table = NULL;
    samples->bucket_capacity = 0;
}

static void *copy_array(const void *from, size_t n_used, size_t n, size_t size) {
    void *to = calloc(n ? n : 1, size);
    if (to && n_used) memcpy(to, from, n_used * size);
    return to;
}

bool fpm_samples_copy(fpm_samples *copy, const fpm_samples *samples) {
    *copy = *samples;
    copy->bucket_capacity = 0; // so that a failed copy frees nothing of the original
    copy->slots = copy_array(samples->slots, samples->n, samples->capacity, sizeof *copy->slots);
    copy->buckets = copy_array(NULL, 0, samples->bucket_capacity, sizeof *copy->buckets);
    copy->fullness =
        copy_array(samples->fullness, samples->n_buckets, samples->bucket_capacity, sizeof *copy->fullness);
    copy->table = NULL;
    if (samples->table)
        copy->table = copy_array(samples->table, samples->table_size, samples->table_size, sizeof *copy->table);
    bool is_done = copy->slots && copy->buckets && copy->fullness && (copy->table || !samples->table);
    if (is_done) copy->bucket_capacity = samples->bucket_capacity;
    for (uint32_t i = 0; is_done && i < samples->n_buckets; i++) {
        copy->buckets[i] = samples->buckets[i];
        is_done = fpm_sorted_list_copy(&copy->buckets[i].sorted, &samples->buckets[i].sorted);
    }
    if (!is_done) fpm_samples_free(copy);
    return is_done;
}

// --- buckets ----------------------------------------------------------------------------------------------------------

static uint64_t hash_place(const fpm_samples *samples, uint64_t key) {
    return key * UINT64_C(0x9e3779b97f4a7c15) >> samples->hash_shift;
}

uint32_t fpm_samples_find_hashed(const fpm_samples *samples, uint64_t key) {
    if (!samples->table) return FPM_NONE;
    for (uint64_t place = hash_place(samples, key);; place = (place + 1) & (samples->table_size - 1)) {
        const uint32_t entry = samples->table[place];
        if (entry == 0 || samples->buckets[entry - 1].key == key) return entry - 1;
    }
}

static void enter_in_table(fpm_samples *samples, uint32_t bucket) {
    uint64_t place = samples->buckets[bucket].key;
    if (samples->hash_shift) {
        place = hash_place(samples, place);
        while (samples->table[place]) place = (place + 1) & (samples->table_size - 1);
    }
    samples->table[place] = bucket + 1;
}

static uint32_t add_bucket(fpm_samples *samples, uint64_t key) {
    const uint32_t index = samples->n_buckets++;
    fpm_bucket *bucket = &samples->buckets[index];
    bucket->key = key;
    bucket->oldest = bucket->newest = FPM_NONE;
    bucket->count = 0;
    bucket->sorted.n = 0; // its memory is used again
    samples->fullness[index] = 0;
    enter_in_table(samples, index);
    return index;
}

// Room for `capacity` buckets, and a hash table at most half full. Buckets keep their places.
static bool grow_buckets(fpm_samples *samples, uint32_t capacity) {
    fpm_bucket *buckets = realloc(samples->buckets, capacity * sizeof *buckets);
    if (!buckets) return false;
    samples->buckets = buckets;
    uint64_t *fullness = realloc(samples->fullness, capacity * sizeof *fullness);
    if (!fullness) return false;
    samples->fullness = fullness;
    uint64_t size = samples->table_size;
    unsigned shift = samples->hash_shift;
    if (shift) {
        for (size = 2, shift = 63; size < 2 * (uint64_t)capacity; size *= 2) shift--;
    }
    if (size != samples->table_size || !samples->table) {
        uint32_t *table = calloc(size, sizeof *table);
        if (!table) return false;
        free(samples->table);
        samples->table = table;
        samples->table_size = size;
        samples->hash_shift = shift;
        for (uint32_t i = 0; i < samples->n_buckets; i++) enter_in_table(samples, i);
    }
    for (uint32_t i = samples->bucket_capacity; i < capacity; i++) buckets[i] = (fpm_bucket){ 0 };
    samples->bucket_capacity = capacity;
    return true;
}

static void clear_table(fpm_samples *samples) {
    if (samples->table) memset(samples->table, 0, samples->table_size * sizeof *samples->table);
}

// Forget empty buckets, which changes the index of others.
static void drop_empty_buckets(fpm_samples *samples) {
    uint32_t n = 0;
    clear_table(samples);
    for (uint32_t i = 0; i < samples->n_buckets; i++) {
        if (samples->buckets[i].count == 0) continue;
        const fpm_bucket empty = samples->buckets[n]; // keep its memory: it changes places with the populated one
        samples->buckets[n] = samples->buckets[i];
        samples->fullness[n] = samples->fullness[i];
        if (n != i) samples->buckets[i] = empty;
        for (uint32_t slot = samples->buckets[n].oldest; slot != FPM_NONE; slot = samples->slots[slot].next_in_bucket)
            samples->slots[slot].bucket = n;
        enter_in_table(samples, n++);
    }
    samples->n_buckets = n;
}

static bool reserve_bucket(fpm_samples *samples) {
    if (samples->n_buckets < samples->bucket_capacity) return true;
    uint32_t n_populated = 0;
    for (uint32_t i = 0; i < samples->n_buckets; i++) n_populated += samples->buckets[i].count > 0;
    if (samples->bucket_capacity && n_populated <= samples->bucket_capacity / 2) {
        drop_empty_buckets(samples);
        return true;
    }
    const uint32_t capacity = samples->bucket_capacity ? 2 * samples->bucket_capacity : LEAST_BUCKETS;
    return capacity > samples->bucket_capacity && grow_buckets(samples, capacity);
}

// --- samples ----------------------------------------------------------------------------------------------------------

static uint64_t fullness_of(uint32_t count, uint32_t oldest_number) {
    return (uint64_t)count << 32 | (UINT32_MAX - oldest_number);
}

static void update_fullness(fpm_samples *samples, uint32_t index) {
    const fpm_bucket *bucket = &samples->buckets[index];
    samples->fullness[index] = bucket->count ? fullness_of(bucket->count, samples->slots[bucket->oldest].number) : 0;
}

static void append_to_bucket(fpm_samples *samples, uint32_t index, uint32_t slot) {
    fpm_bucket *bucket = &samples->buckets[index];
    fpm_slot *sample = &samples->slots[slot];
    sample->bucket = index;
    sample->next_in_bucket = FPM_NONE;
    if (bucket->oldest == FPM_NONE)
        bucket->oldest = slot;
    else
        samples->slots[bucket->newest].next_in_bucket = slot;
    bucket->newest = slot;
    bucket->count++;
    update_fullness(samples, index);
}

static void append_to_age_list(fpm_samples *samples, uint32_t slot) {
    samples->slots[slot].older = samples->newest;
    samples->slots[slot].newer = FPM_NONE;
    if (samples->newest == FPM_NONE)
        samples->oldest = slot;
    else
        samples->slots[samples->newest].newer = slot;
    samples->newest = slot;
}

static void remove_from_age_list(fpm_samples *samples, const fpm_slot *sample) {
    if (sample->older == FPM_NONE)
        samples->oldest = sample->newer;
    else
        samples->slots[sample->older].newer = sample->newer;
    if (sample->newer == FPM_NONE)
        samples->newest = sample->older;
    else
        samples->slots[sample->newer].older = sample->older;
}

static uint32_t fullest_bucket(const fpm_samples *samples) {
    uint32_t fullest = 0;
    uint64_t most = 0;
    for (uint32_t i = 0; i < samples->n_buckets; i++) {
        const uint64_t fullness = samples->fullness[i];
        fullest = fullness > most ? i : fullest;
        most = fullness > most ? fullness : most;
    }
    return fullest;
}

// Take out the oldest sample of the fullest bucket, `grown` counted with its new sample. Returns the free slot.
// It is never the new sample itself: a bucket that holds nothing else is no fuller than any other, and younger.
static uint32_t evict(fpm_samples *samples, uint32_t grown, fpm_samples_change *change) {
    samples->fullness[grown] = samples->fullness[grown] ? samples->fullness[grown] + (UINT64_C(1) << 32)
                                                        : fullness_of(1, samples->next_number);
    const uint32_t index = fullest_bucket(samples);
    fpm_bucket *bucket = &samples->buckets[index];
    const uint32_t slot = bucket->oldest;
    const fpm_slot *sample = &samples->slots[slot];
    bucket->oldest = sample->next_in_bucket;
    if (bucket->oldest == FPM_NONE) bucket->newest = FPM_NONE;
    bucket->count--;
    if (samples->keeps_sorted) fpm_sorted_list_remove(&bucket->sorted, sample->value);
    update_fullness(samples, index);
    remove_from_age_list(samples, sample);
    change->is_evicted = true;
    change->shrunk = index;
    change->evicted_load = sample->load;
    return slot;
}

// Insertion numbers are used up after 2^32 samples: count again, keeping their order.
static void renumber(fpm_samples *samples) {
    uint32_t number = 0;
    for (uint32_t slot = samples->oldest; slot != FPM_NONE; slot = samples->slots[slot].newer)
        samples->slots[slot].number = number++;
    samples->next_number = number;
    for (uint32_t i = 0; i < samples->n_buckets; i++) update_fullness(samples, i);
}

static bool reserve_slot(fpm_samples *samples) {
    if (samples->n < samples->capacity || samples->n >= samples->limit) return true;
    if (samples->capacity > UINT32_MAX / 2 - 1) return false;
    uint32_t capacity = samples->capacity ? 2 * samples->capacity : 64;
    if (capacity > samples->limit) capacity = (uint32_t)samples->limit;
    fpm_slot *slots = realloc(samples->slots, capacity * sizeof *slots);
    if (!slots) return false;
    samples->slots = slots;
    samples->capacity = capacity;
    return true;
}

// --- growing grids ----------------------------------------------------------------------------------------------------

void fpm_samples_set_bounds(fpm_samples *samples, const double low[2], const double high[2]) {
    for (unsigned i = 0; i < 2; i++) {
        samples->grid.low[i] = low[i];
        samples->grid.high[i] = high[i];
    }
}

// Spread the samples over the buckets anew, in the order of insertion. There is room for a bucket per sample.
static void rebuild(fpm_samples *samples) {
    clear_table(samples);
    samples->n_buckets = 0;
    for (uint32_t slot = samples->oldest; slot != FPM_NONE; slot = samples->slots[slot].newer) {
        const uint64_t key = fpm_grid_key(&samples->grid, samples->slots[slot].load);
        uint32_t index = fpm_samples_find(samples, key);
        if (index == FPM_NONE) index = add_bucket(samples, key);
        append_to_bucket(samples, index, slot);
    }
}

// Let the bounds take in `load`. Only sets that do not keep their values sorted have bounds that grow.
static bool widen(fpm_samples *samples, fpm_load load) {
    fpm_grid wide = samples->grid;
    for (unsigned i = 0; i < wide.n_axes; i++) {
        wide.low[i] = fmin(wide.low[i], (double)load.x[i]);
        wide.high[i] = fmax(wide.high[i], (double)load.x[i]);
    }
    const uint32_t wanted = samples->n + 1;
    if (samples->bucket_capacity < wanted) {
        uint32_t capacity = samples->bucket_capacity ? samples->bucket_capacity : LEAST_BUCKETS;
        while (capacity < wanted) capacity *= 2;
        if (!grow_buckets(samples, capacity)) return false;
    }
    samples->grid = wide;
    if (samples->n) rebuild(samples);
    return true;
}

bool fpm_samples_insert(fpm_samples *samples, fpm_load load, double value, fpm_samples_change *change) {
    *change = (fpm_samples_change){ .shrunk = FPM_NONE };
    const bool is_inside = fpm_grid_contains(&samples->grid, load);
    if (!is_inside && samples->grid.is_fixed) return true;
    if (!reserve_slot(samples)) return false;
    if (!is_inside && !widen(samples, load)) return false;

    const uint64_t key = fpm_grid_key(&samples->grid, load);
    uint32_t grown = fpm_samples_find(samples, key);
    if (grown == FPM_NONE) {
        if (!reserve_bucket(samples)) return false;
        grown = add_bucket(samples, key);
    }
    if (samples->keeps_sorted && !fpm_sorted_list_reserve(&samples->buckets[grown].sorted)) return false;
    // From here on nothing fails.
    if (samples->next_number == UINT32_MAX) renumber(samples);
    const uint32_t slot = samples->n < samples->limit ? samples->n++ : evict(samples, grown, change);
    samples->slots[slot].value = value;
    samples->slots[slot].load = load;
    samples->slots[slot].number = samples->next_number++;
    append_to_age_list(samples, slot);
    append_to_bucket(samples, grown, slot);
    if (samples->keeps_sorted) fpm_sorted_list_insert(&samples->buckets[grown].sorted, value);
    change->is_stored = true;
    change->grown = grown;
    return true;
}
