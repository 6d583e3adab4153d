// SPDX-License-Identifier: GPL-3.0-or-later
//
// The samples of a one-axis regression in ascending order of their load, equal loads in order of insertion, with the
// weights of the hinge, so that one sweep over them serves every knot.
#ifndef PERFMODEL_LOAD_ORDER_H
#define PERFMODEL_LOAD_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FPM_WEIGHT_FLOOR_MS 25.0 // passes shorter than this weigh as if they took it

typedef struct fpm_weighted_sample {
    double x, ms;
    double weight;    // 1 / max(ms, floor)
    double weight_sq; // its square
} fpm_weighted_sample;

typedef struct fpm_load_order {
    fpm_weighted_sample *samples;
    uint32_t n, capacity;
    uint32_t n_distinct; // different loads
} fpm_load_order;

void fpm_load_order_free(fpm_load_order *order);
bool fpm_load_order_copy(fpm_load_order *copy, const fpm_load_order *order); // false: no memory, nothing to free
bool fpm_load_order_reserve(fpm_load_order *order); // room for one more; false: no memory, nothing changed
// After reserve. O(n), of which all but log n is one move of memory.
void fpm_load_order_insert(fpm_load_order *order, double x, double ms);
// Such a sample must be there.
void fpm_load_order_remove(fpm_load_order *order, double x, double ms);

// The i-th of the distinct loads, i < n_distinct. O(1) when all are different, else O(n).
double fpm_load_order_distinct(const fpm_load_order *order, uint32_t i);

#endif
