// SPDX-License-Identifier: GPL-3.0-or-later
//
// Arrays that grow by doubling and lists of one-line texts, shared by the files of this room.
#ifndef SIM_WORKLOAD_GROWABLE_H
#define SIM_WORKLOAD_GROWABLE_H

#include <stdbool.h>
#include <stddef.h>

// The array with room for at least `wanted` elements, moved when need be, `*capacity` updated. NULL: no memory, or a
// size that does not fit; `array` is then still valid.
void *sim_grown(void *array, size_t *capacity, size_t wanted, size_t element_bytes);

// The array without the unused space behind its first `n` elements; the array as it is where realloc refuses.
void *sim_shrunk(void *array, size_t n, size_t element_bytes);

typedef struct sim_text_list {
    char **items;
    size_t n, capacity;
} sim_text_list;

// Add a formatted text of at most 767 bytes. False: no memory.
bool sim_text_list_add(sim_text_list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sim_text_list_clear(sim_text_list *list);

#endif
