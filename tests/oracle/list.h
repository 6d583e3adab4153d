// SPDX-License-Identifier: GPL-3.0-or-later
//
// A list of numbers in an array. Its memory is never short: a test that has none ends.
#ifndef TESTS_ORACLE_LIST_H
#define TESTS_ORACLE_LIST_H

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct oracle_list {
    uint32_t *values;
    uint32_t n;
} oracle_list;

// n_values of size n_bytes, or the end.
static inline void *oracle_memory(void *old, size_t n_values, size_t n_bytes) {
    void *memory = reallocarray(old, n_values ? n_values : 1, n_bytes);
    if (!memory) abort();
    return memory;
}

static inline void oracle_list_insert(oracle_list *list, uint32_t at, uint32_t value) {
    assert(at <= list->n);
    list->values = oracle_memory(list->values, list->n + (size_t)1, sizeof *list->values);
    for (uint32_t i = list->n; i > at; i--) list->values[i] = list->values[i - 1];
    list->values[at] = value;
    list->n++;
}

static inline void oracle_list_append(oracle_list *list, uint32_t value) { oracle_list_insert(list, list->n, value); }

static inline uint32_t oracle_list_remove(oracle_list *list, uint32_t at) {
    assert(at < list->n);
    uint32_t value = list->values[at];
    list->n--;
    for (uint32_t i = at; i < list->n; i++) list->values[i] = list->values[i + 1];
    return value;
}

static inline void oracle_list_clear(oracle_list *list) {
    free(list->values);
    *list = (oracle_list){ .n = 0 };
}

#endif
