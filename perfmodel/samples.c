// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIRECT_BUCKETS 1024
#define COLD __attribute__((noinline, cold)) // kept out of the way of the hot path
#define LEAST_BUCKETS 16                     // and twice that, and so on: always a multiple of four

// How ready a bucket is to give up its oldest sample, in one whole number: count (12 bits), age of the oldest sample
// (28), index (12). The largest one is the fullest bucket, of equals the one whose oldest sample is oldest, and says its
// own index: finding it is one pass of maxima. Larger sets are searched the plain way.
// The number is kept as the double 2^52 + number, whose lower bits it is: maxima of doubles have instructions everywhere,
// and no conversion stands between an eviction and the next one, which waits for it.
#define INDEX_BITS 12
#define NUMBER_BITS 28
#define MOST_COUNT 4095
#define LAST_NUMBER ((UINT32_C(1) << NUMBER_BITS) - 1)
#define ONE_MORE ((double)(UINT64_C(1) << (NUMBER_BITS + INDEX_BITS)))
#define TWO_TO_52 UINT64_C(0x4330000000000000) // as bits of a double

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
        .spare = 1,
        .most_packed_buckets = options->max_observations < MOST_COUNT ? 1u << INDEX_BITS : 0,
        .last_number = options->max_observations < MOST_COUNT ? LAST_NUMBER : UINT32_MAX,
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
    copy->slots = copy_array(samples->slots, samples->capacity, samples->capacity, sizeof *copy->slots);
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

// --- buckets ---------------------------------------------------------------------------------------------------------

static inline bool is_small(const fpm_samples *samples) { return samples->n_buckets <= samples->most_packed_buckets; }

static inline double fullness_of(uint32_t count, uint32_t oldest_number, uint32_t index) {
    const uint64_t age = ~oldest_number & LAST_NUMBER;
    const uint64_t bits = TWO_TO_52 | (uint64_t)(count & MOST_COUNT) << (NUMBER_BITS + INDEX_BITS) | age << INDEX_BITS |
                          (index & ((1u << INDEX_BITS) - 1));
    double fullness;
    memcpy(&fullness, &bits, sizeof fullness);
    return fullness;
}

static inline uint32_t index_of(double fullness) {
    uint64_t bits;
    memcpy(&bits, &fullness, sizeof bits);
    return bits & ((1u << INDEX_BITS) - 1);
}

static inline void update_fullness(fpm_samples *samples, uint32_t index) {
    const fpm_bucket *bucket = &samples->buckets[index];
    samples->fullness[index] =
        bucket->count ? fullness_of(bucket->count, samples->slots[bucket->oldest].number, index) : 0.0;
}

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
    bucket->oldest = bucket->newest = 0;
    bucket->count = 0;
    fpm_sorted_list_clear(&bucket->sorted); // its memory is used again
    samples->fullness[index] = 0;
    enter_in_table(samples, index);
    return index;
}

// Room for `capacity` buckets, and a hash table at most half full. Buckets keep their places.
static bool grow_buckets(fpm_samples *samples, uint32_t capacity) {
    fpm_bucket *buckets = realloc(samples->buckets, capacity * sizeof *buckets);
    if (!buckets) return false;
    samples->buckets = buckets;
    double *fullness = realloc(samples->fullness, capacity * sizeof *fullness);
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
    for (uint32_t i = samples->bucket_capacity; i < capacity; i++) {
        buckets[i] = (fpm_bucket){ 0 };
        fullness[i] = 0;
    }
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
        if (n != i) samples->buckets[i] = empty;
        update_fullness(samples, n);
        enter_in_table(samples, n++);
    }
    for (uint32_t i = n; i < samples->n_buckets; i++) samples->fullness[i] = 0;
    samples->n_buckets = n;
}

static COLD bool reserve_bucket(fpm_samples *samples) {
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

// --- samples ---------------------------------------------------------------------------------------------------------

// Slot 0 is no sample: it closes the ring of all samples by age, and as a link of a bucket it means "none".
static inline void append_to_bucket(fpm_samples *samples, uint32_t index, uint32_t slot) {
    fpm_bucket *bucket = &samples->buckets[index];
    const double fullness = samples->fullness[index];
    fpm_slot *sample = &samples->slots[slot];
    sample->next_in_bucket = 0;
    *(bucket->oldest ? &samples->slots[bucket->newest].next_in_bucket : &bucket->oldest) = slot;
    bucket->newest = slot;
    bucket->count++;
    samples->fullness[index] = fullness > 0.0 ? fullness + ONE_MORE : fullness_of(1, sample->number, index);
}

static inline void append_to_ring(fpm_slot *slots, uint32_t slot) {
    const uint32_t before = slots[0].older;
    slots[slot].older = before;
    slots[slot].newer = 0;
    slots[before].newer = slot;
    slots[0].older = slot;
}

static inline void remove_from_ring(fpm_slot *slots, uint32_t slot) {
    const uint32_t older = slots[slot].older, newer = slots[slot].newer;
    slots[older].newer = newer;
    slots[newer].older = older;
}

// Four maxima side by side, so that one comparison need not wait for the one before. One number at a time: a wider load
// would have to wait until the number stored last has left for the cache.
#ifdef __SSE2__
static inline uint32_t fullest_of_few(const fpm_samples *samples) {
    const double *end = samples->fullness + samples->n_buckets;
    __m128d a = _mm_setzero_pd(), b = a, c = a, d = a;
    for (const double *fullness = samples->fullness; fullness < end; fullness += 4) {
        a = _mm_max_sd(a, _mm_load_sd(fullness));
        b = _mm_max_sd(b, _mm_load_sd(fullness + 1));
        c = _mm_max_sd(c, _mm_load_sd(fullness + 2));
        d = _mm_max_sd(d, _mm_load_sd(fullness + 3));
    }
    return index_of(_mm_cvtsd_f64(_mm_max_sd(_mm_max_sd(a, b), _mm_max_sd(c, d))));
}
#else
static inline uint32_t fullest_of_few(const fpm_samples *samples) {
    const double *end = samples->fullness + samples->n_buckets;
    double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
    for (const double *fullness = samples->fullness; fullness < end; fullness += 4) {
        a = fullness[0] > a ? fullness[0] : a;
        b = fullness[1] > b ? fullness[1] : b;
        c = fullness[2] > c ? fullness[2] : c;
        d = fullness[3] > d ? fullness[3] : d;
    }
    a = b > a ? b : a;
    c = d > c ? d : c;
    return index_of(c > a ? c : a);
}
#endif

static COLD uint32_t fullest_of_many(const fpm_samples *samples) {
    uint32_t fullest = 0, most = 0, oldest = 0;
    for (uint32_t i = 0; i < samples->n_buckets; i++) {
        const fpm_bucket *bucket = &samples->buckets[i];
        const uint32_t number = samples->slots[bucket->oldest].number;
        if (bucket->count < most || (bucket->count == most && number > oldest)) continue;
        fullest = i;
        most = bucket->count;
        oldest = number;
    }
    return fullest;
}

// Take out the oldest sample of the fullest bucket: of few buckets the one that has just grown, or `rival`, which was
// the fullest before that. Its slot is the spare one then.
static inline void evict(fpm_samples *samples, uint32_t grown, uint32_t rival, fpm_samples_change *change) {
    uint32_t index = rival;
    if (rival == FPM_NONE)
        index = fullest_of_many(samples);
    else if (samples->fullness[grown] > samples->fullness[rival]) // a branch: guessed, it need not wait for the search
        index = grown;
    fpm_bucket *bucket = &samples->buckets[index];
    const uint32_t slot = bucket->oldest;
    const fpm_slot *sample = &samples->slots[slot];
    bucket->oldest = sample->next_in_bucket;
    bucket->count--;
    update_fullness(samples, index);
    remove_from_ring(samples->slots, slot);
    samples->spare = slot;
    change->shrunk = index;
    change->evicted_load = sample->load;
    change->evicted_value = sample->value;
}

// The sorted values after a change that has brought `value`. Short lists take it in and give up the other one without a branch on where that was, which
// nobody can predict.
static inline void update_sorted(fpm_samples *samples, double value, const fpm_samples_change *change) {
    fpm_sorted_list *list = &samples->buckets[change->grown].sorted;
    if (list->n > FPM_SORTED_BLOCK && change->shrunk == change->grown) {
        fpm_sorted_list_replace(list, change->evicted_value, value);
        return;
    }
    fpm_sorted_list_insert(list, value);
    if (change->shrunk != FPM_NONE)
        fpm_sorted_list_remove(&samples->buckets[change->shrunk].sorted, change->evicted_value);
}

// Insertion numbers are used up after 2^28 samples (2^32 in large sets): count again, keeping their order.
static COLD void renumber(fpm_samples *samples) {
    uint32_t number = 0;
    for (uint32_t slot = fpm_samples_oldest(samples); slot; slot = samples->slots[slot].newer)
        samples->slots[slot].number = number++;
    samples->next_number = number;
    for (uint32_t i = 0; i < samples->n_buckets; i++) update_fullness(samples, i);
}

// Room for slot 0, the samples and a spare slot for the next one.
static COLD bool grow_slots(fpm_samples *samples) {
    if (samples->capacity > UINT32_MAX / 2 - 1) return false;
    uint32_t capacity = samples->capacity ? 2 * samples->capacity : 64 + 2;
    if (capacity - 2 > samples->limit) capacity = (uint32_t)samples->limit + 2;
    fpm_slot *slots = realloc(samples->slots, capacity * sizeof *slots);
    if (!slots) return false;
    if (!samples->slots) slots[0] = (fpm_slot){ .older = 0 };
    samples->slots = slots;
    samples->capacity = capacity;
    return true;
}

// --- growing grids ---------------------------------------------------------------------------------------------------

void fpm_samples_set_bounds(fpm_samples *samples, const double low[2], const double high[2]) {
    for (unsigned i = 0; i < 2; i++) {
        samples->grid.low[i] = low[i];
        samples->grid.high[i] = high[i];
    }
}

// Spread the samples over the buckets anew, in the order of insertion. There is room for a bucket per sample.
static void rebuild(fpm_samples *samples) {
    clear_table(samples);
    for (uint32_t i = 0; i < samples->n_buckets; i++) samples->fullness[i] = 0;
    samples->n_buckets = 0;
    for (uint32_t slot = fpm_samples_oldest(samples); slot; slot = samples->slots[slot].newer) {
        const uint64_t key = fpm_grid_key(&samples->grid, samples->slots[slot].load);
        uint32_t index = fpm_samples_find(samples, key);
        if (index == FPM_NONE) index = add_bucket(samples, key);
        append_to_bucket(samples, index, slot);
    }
}

// Let the bounds take in `load`. Only sets that do not keep their values sorted have bounds that grow.
static COLD bool widen(fpm_samples *samples, fpm_load load) {
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

// Compiled twice: with sorted values, and without.
static inline __attribute__((always_inline)) bool insert(fpm_samples *samples, fpm_load load, double value,
                                                         bool keeps_sorted, fpm_samples_change *change) {
    const bool is_inside = fpm_grid_contains(&samples->grid, load);
    change->shrunk = FPM_NONE;
    change->is_stored = is_inside || !samples->grid.is_fixed;
    if (!change->is_stored) return true;
    if (samples->n + 2 > samples->capacity && !grow_slots(samples)) return false;
    if (!is_inside && !widen(samples, load)) return false;

    const uint64_t key = fpm_grid_key(&samples->grid, load);
    uint32_t grown = fpm_samples_find(samples, key);
    const bool is_new = grown == FPM_NONE;
    if (is_new && !reserve_bucket(samples)) return false;
    // A new bucket becomes known only when nothing can fail any more: an empty one would be found and have no median.
    fpm_bucket *home = &samples->buckets[is_new ? samples->n_buckets : grown];
    if (is_new) fpm_sorted_list_clear(&home->sorted);
    if (keeps_sorted && !fpm_sorted_list_reserve(&home->sorted)) return false;
    // From here on nothing fails.
    if (is_new) grown = add_bucket(samples, key);
    const bool is_full = samples->n >= samples->limit;
    const uint32_t rival = is_full && is_small(samples) ? fullest_of_few(samples) : FPM_NONE;
    if (samples->next_number >= samples->last_number) renumber(samples);
    const uint32_t slot = samples->spare;
    samples->slots[slot].value = value;
    samples->slots[slot].load = load;
    samples->slots[slot].number = samples->next_number++;
    append_to_ring(samples->slots, slot);
    append_to_bucket(samples, grown, slot);
    if (is_full)
        evict(samples, grown, rival, change);
    else
        samples->spare = ++samples->n + 1;
    change->grown = grown;
    if (keeps_sorted) update_sorted(samples, value, change);
    return true;
}

bool fpm_samples_insert(fpm_samples *samples, fpm_load load, double value, fpm_samples_change *change) {
    return samples->keeps_sorted ? insert(samples, load, value, true, change)
                                 : insert(samples, load, value, false, change);
}

bool fpm_samples_insert_sorted(fpm_samples *samples, fpm_load load, double value) {
    fpm_samples_change ignored = { .is_stored = false };
    return insert(samples, load, value, true, &ignored);
}
