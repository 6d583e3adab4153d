// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/sorted_list.h"

#include <stdlib.h>
#include <string.h>

bool fpm_sorted_list_reserve(fpm_sorted_list *list) {
    if (list->n < list->capacity) return true;
    const uint32_t capacity = list->capacity ? 2 * list->capacity : 8;
    if (capacity < list->capacity) return false;
    double *values = realloc(list->values, capacity * sizeof *values);
    if (!values) return false;
    list->values = values;
    list->capacity = capacity;
    return true;
}

bool fpm_sorted_list_copy(fpm_sorted_list *copy, const fpm_sorted_list *list) {
    *copy = (fpm_sorted_list){ 0 };
    if (!list->capacity) return true;
    copy->values = malloc(list->capacity * sizeof *copy->values);
    if (!copy->values) return false;
    memcpy(copy->values, list->values, list->n * sizeof *copy->values);
    copy->n = list->n;
    copy->capacity = list->capacity;
    return true;
}

void fpm_sorted_list_free(fpm_sorted_list *list) {
    free(list->values);
    *list = (fpm_sorted_list){ 0 };
}
