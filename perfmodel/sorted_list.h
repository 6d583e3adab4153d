// SPDX-License-Identifier: GPL-3.0-or-later
//
// A short sorted array of doubles that gains and loses one value at a time: the ratios of a correction bucket, the loads
// a hinge chooses its knots from. A few values each, so shifting beats any tree. No NaN.
#ifndef PERFMODEL_SORTED_LIST_H
#define PERFMODEL_SORTED_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fpm_sorted_list {
    double *values;
    uint32_t n;
    uint32_t capacity;
} fpm_sorted_list;

// Room for one more value; false when there is no memory.
bool fpm_sorted_list_reserve(fpm_sorted_list *list);
bool fpm_sorted_list_copy(fpm_sorted_list *copy, const fpm_sorted_list *list);
void fpm_sorted_list_free(fpm_sorted_list *list);

// After reserve. O(n).
static inline void fpm_sorted_list_insert(fpm_sorted_list *list, double value) {
    double *values = list->values;
    uint32_t i = list->n++;
    for (; i > 0 && values[i - 1] > value; i--) values[i] = values[i - 1];
    values[i] = value;
}

// The value must be there. O(n).
static inline void fpm_sorted_list_remove(fpm_sorted_list *list, double value) {
    double *values = list->values;
    double above = values[--list->n];
    for (uint32_t i = list->n; above > value; i--) {
        const double next = values[i - 1];
        values[i - 1] = above;
        above = next;
    }
}

#endif
