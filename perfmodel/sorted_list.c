// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/sorted_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The block of memory begins one double before the values and ends one after them.
static double *memory_of(const fpm_sorted_list *list) { return list->values ? list->values - 1 : NULL; }

static size_t memory_bytes(uint32_t capacity) { return ((size_t)capacity + 2) * sizeof(double); }

bool fpm_sorted_list_grow(fpm_sorted_list *list) {
    const uint32_t capacity = list->capacity ? 2 * list->capacity : FPM_SORTED_BLOCK;
    if (capacity < list->capacity) return false;
    double *memory = realloc(memory_of(list), memory_bytes(capacity));
    if (!memory) return false;
    memory[0] = -HUGE_VAL;
    list->values = memory + 1;
    for (uint32_t i = list->n; i <= capacity; i++) list->values[i] = HUGE_VAL;
    list->capacity = capacity;
    return true;
}

void fpm_sorted_list_clear(fpm_sorted_list *list) {
    for (uint32_t i = 0; i < list->n; i++) list->values[i] = HUGE_VAL;
    list->n = 0;
}

bool fpm_sorted_list_copy(fpm_sorted_list *copy, const fpm_sorted_list *list) {
    *copy = (fpm_sorted_list){ 0 };
    if (!list->values) return true;
    double *memory = malloc(memory_bytes(list->capacity));
    if (!memory) return false;
    memcpy(memory, memory_of(list), memory_bytes(list->capacity));
    *copy = (fpm_sorted_list){ memory + 1, list->n, list->capacity };
    return true;
}

void fpm_sorted_list_free(fpm_sorted_list *list) {
    free(memory_of(list));
    *list = (fpm_sorted_list){ 0 };
}
