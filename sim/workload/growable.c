// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/workload/growable.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *sim_grown(void *array, size_t *capacity, size_t wanted, size_t element_bytes) {
    if (array && wanted <= *capacity) return array;
    size_t fresh = *capacity < SIZE_MAX / 2 ? *capacity * 2 : SIZE_MAX;
    if (fresh < wanted) fresh = wanted;
    if (fresh < 16) fresh = 16;
    size_t n_bytes;
    if (__builtin_mul_overflow(fresh, element_bytes, &n_bytes)) return NULL;
    void *larger = realloc(array, n_bytes);
    if (larger) *capacity = fresh;
    return larger;
}

void *sim_shrunk(void *array, size_t n, size_t element_bytes) {
    if (!array) return NULL;
    void *smaller = realloc(array, n > 0 ? n * element_bytes : 1);
    return smaller ? smaller : array;
}

bool sim_text_list_add(sim_text_list *list, const char *format, ...) {
    char text[768];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    char **items = sim_grown(list->items, &list->capacity, list->n + 1, sizeof *items);
    if (!items) return false;
    list->items = items;
    char *copy = strdup(text);
    if (!copy) return false;
    list->items[list->n++] = copy;
    return true;
}

void sim_text_list_clear(sim_text_list *list) {
    for (size_t i = 0; i < list->n; i++) free(list->items[i]);
    free(list->items);
    *list = (sim_text_list){ 0 };
}
