// SPDX-License-Identifier: GPL-3.0-or-later
//
// Ids ordered by rank, the least first; any id can be taken out. For calendars of pass numbers and LRU orders. A binary heap that knows the place
// of each id; push and remove are O(log n).
#ifndef SIM_ENGINE_RANKED_HEAP_H
#define SIM_ENGINE_RANKED_HEAP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sim_ranked {
    uint64_t rank, tie; // by rank, then by tie
    uint32_t id;
} sim_ranked;

typedef struct sim_ranked_heap {
    sim_ranked *items;
    uint32_t *places; // by id: place in items, or SIM_RANKED_ABSENT
    uint32_t n, n_ids;
} sim_ranked_heap; // {0} is empty

#define SIM_RANKED_ABSENT UINT32_MAX

// Room for ids 0 .. n_ids-1, so that push never allocates. False: no memory.
bool sim_ranked_heap_reserve(sim_ranked_heap *heap, uint32_t n_ids);
void sim_ranked_heap_clear(sim_ranked_heap *heap);

static inline bool sim_ranked_heap_has(const sim_ranked_heap *heap, uint32_t id) {
    return heap->places[id] != SIM_RANKED_ABSENT;
}
// `item.id` is not in the heap.
void sim_ranked_heap_push(sim_ranked_heap *heap, sim_ranked item);
// `id` is in the heap.
void sim_ranked_heap_remove(sim_ranked_heap *heap, uint32_t id);

#endif
