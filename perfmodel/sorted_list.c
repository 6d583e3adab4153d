// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/sorted_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Blocks are whole cache lines: what one instruction moves never lies in two of them. The number in front of the first
// block is the last one of a line before it, the one behind the last block the first of a line after it.
#define LINE 64
#define IN_FRONT (LINE / sizeof(double))

// Room for `capacity` values; *memory is what to free.
static double *allocate(uint32_t capacity, void **memory) {
    *memory = malloc(LINE + (IN_FRONT + (size_t)capacity + 1) * sizeof(double));
    if (!*memory) return NULL;
    const uintptr_t line = ((uintptr_t)*memory + LINE - 1) / LINE;
    return (double *)(line * LINE) + IN_FRONT;
}

bool fpm_sorted_list_grow(fpm_sorted_list *list) {
    const uint32_t capacity = list->capacity ? 2 * list->capacity : FPM_SORTED_BLOCK;
    if (capacity < list->capacity) return false;
    void *memory;
    double *values = allocate(capacity, &memory);
    if (!values) return false;
    values[-1] = -HUGE_VAL;
    if (list->n) memcpy(values, list->values, list->n * sizeof *values);
    for (uint32_t i = list->n; i <= capacity; i++) values[i] = HUGE_VAL;
    free(list->memory);
    *list = (fpm_sorted_list){ values, list->n, capacity, memory };
    return true;
}

void fpm_sorted_list_clear(fpm_sorted_list *list) {
    for (uint32_t i = 0; i < list->n; i++) list->values[i] = HUGE_VAL;
    list->n = 0;
}

bool fpm_sorted_list_copy(fpm_sorted_list *copy, const fpm_sorted_list *list) {
    *copy = (fpm_sorted_list){ 0 };
    if (!list->values) return true;
    void *memory;
    double *values = allocate(list->capacity, &memory);
    if (!values) return false;
    memcpy(values - 1, list->values - 1, ((size_t)list->capacity + 2) * sizeof *values);
    *copy = (fpm_sorted_list){ values, list->n, list->capacity, memory };
    return true;
}

void fpm_sorted_list_free(fpm_sorted_list *list) {
    free(list->memory);
    *list = (fpm_sorted_list){ 0 };
}
