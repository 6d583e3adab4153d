// SPDX-License-Identifier: GPL-3.0-or-later
//
// A short sorted array of doubles that gains and loses one value at a time: the ratios of a correction bucket, the
// loads a hinge chooses its knots from. No NaN.
//
// A few values each, at places nobody can predict: searching costs more in mispredicted branches than moving
// everything. So the array is padded with infinities to whole blocks of eight, with one infinity more on either side,
// and inserting and removing go over the blocks without branches. In a long list, where a value usually takes the place of
// another one, only what lies between the two is moved.
#ifndef PERFMODEL_SORTED_LIST_H
#define PERFMODEL_SORTED_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define FPM_SORTED_BLOCK 8

typedef struct fpm_sorted_list {
    double *values; // ascending; infinite from n up to capacity
    uint32_t n;
    uint32_t capacity; // the block times a power of two, or 0
    void *memory;      // what the values lie in
} fpm_sorted_list;

bool fpm_sorted_list_grow(fpm_sorted_list *list);
void fpm_sorted_list_clear(fpm_sorted_list *list); // keeps its memory
bool fpm_sorted_list_copy(fpm_sorted_list *copy, const fpm_sorted_list *list);
void fpm_sorted_list_free(fpm_sorted_list *list);

// Room for one more value; false when there is no memory.
static inline bool fpm_sorted_list_reserve(fpm_sorted_list *list) {
    return list->n < list->capacity || fpm_sorted_list_grow(list);
}

// Two values at once where the machine has such instructions (every x86-64 has), else one; the results are the same.
#ifdef __SSE2__
static inline void fpm_sorted_block_insert(double *block, double value) {
    const __m128d v = _mm_set1_pd(value);
    for (int i = FPM_SORTED_BLOCK - 2; i >= 0; i -= 2) {
        const __m128d before = _mm_loadu_pd(block + i - 1), here = _mm_loadu_pd(block + i);
        _mm_storeu_pd(block + i, _mm_max_pd(before, _mm_min_pd(v, here)));
    }
}
static inline void fpm_sorted_block_remove(double *block, double value) {
    const __m128d v = _mm_set1_pd(value);
    for (int i = 0; i < FPM_SORTED_BLOCK; i += 2) {
        const __m128d here = _mm_loadu_pd(block + i), after = _mm_loadu_pd(block + i + 1);
        const __m128d stays = _mm_cmplt_pd(here, v);
        _mm_storeu_pd(block + i, _mm_or_pd(_mm_and_pd(stays, here), _mm_andnot_pd(stays, after)));
    }
}
#else
static inline void fpm_sorted_block_insert(double *block, double value) {
    for (int i = FPM_SORTED_BLOCK - 1; i >= 0; i--) {
        const double least = value < block[i] ? value : block[i];
        block[i] = block[i - 1] > least ? block[i - 1] : least;
    }
}
static inline void fpm_sorted_block_remove(double *block, double value) {
    for (int i = 0; i < FPM_SORTED_BLOCK; i++) block[i] = block[i] < value ? block[i] : block[i + 1];
}
#endif

// After reserve. O(n).
static inline void fpm_sorted_list_insert(fpm_sorted_list *list, double value) {
    // From the end, so that the value before a block is still the old one.
    uint32_t begin = list->n++ & ~(FPM_SORTED_BLOCK - 1u);
    for (; begin > 0; begin -= FPM_SORTED_BLOCK) fpm_sorted_block_insert(list->values + begin, value);
    fpm_sorted_block_insert(list->values, value);
}

// How many of the values are less than this one, which is finite or infinite. Halves the capacity, a power of two, without a branch, which nobody could
// predict: what lies behind the values is less than nothing.
static inline uint32_t fpm_sorted_list_rank(const fpm_sorted_list *list, double value) {
    const double *first = list->values;
    for (uint32_t half = list->capacity / 2; half > 0; half /= 2) {
        const double *second = first + half;
        first = __builtin_expect_with_probability(second[-1] < value, 1, 0.5) ? second : first;
    }
    return (uint32_t)(first - list->values) + (*first < value);
}

// `value` in place of `old`, which must be there. O(n).
static inline void fpm_sorted_list_replace(fpm_sorted_list *list, double old, double value) {
    const uint32_t from = fpm_sorted_list_rank(list, old), to = fpm_sorted_list_rank(list, value);
    double *values = list->values;
    if (to > from) {
        memmove(values + from, values + from + 1, (to - 1 - from) * sizeof *values);
        values[to - 1] = value;
    } else {
        memmove(values + to + 1, values + to, (from - to) * sizeof *values);
        values[to] = value;
    }
}

// The value must be there. O(n).
static inline void fpm_sorted_list_remove(fpm_sorted_list *list, double value) {
    fpm_sorted_block_remove(list->values, value);
    for (uint32_t begin = FPM_SORTED_BLOCK; begin < list->n; begin += FPM_SORTED_BLOCK)
        fpm_sorted_block_remove(list->values + begin, value);
    list->n--;
}

#endif
