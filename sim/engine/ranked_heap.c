// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/engine/ranked_heap.h"

#include <assert.h>
#include <stdlib.h>

bool sim_ranked_heap_reserve(sim_ranked_heap *heap, uint32_t n_ids) {
    if (n_ids <= heap->n_ids) return true;
    sim_ranked *items = realloc(heap->items, n_ids * sizeof *items);
    if (!items) return false;
    heap->items = items;
    uint32_t *places = realloc(heap->places, n_ids * sizeof *places);
    if (!places) return false;
    heap->places = places;
    while (heap->n_ids < n_ids) places[heap->n_ids++] = SIM_RANKED_ABSENT;
    return true;
}

void sim_ranked_heap_clear(sim_ranked_heap *heap) {
    free(heap->items);
    free(heap->places);
    *heap = (sim_ranked_heap){ .n = 0 };
}

static bool is_before(sim_ranked a, sim_ranked b) { return a.rank != b.rank ? a.rank < b.rank : a.tie < b.tie; }

static void place(sim_ranked_heap *heap, uint32_t at, sim_ranked item) {
    heap->items[at] = item;
    heap->places[item.id] = at;
}

static void sift_up(sim_ranked_heap *heap, uint32_t at, sim_ranked item) {
    while (at > 0 && is_before(item, heap->items[(at - 1) / 2])) {
        place(heap, at, heap->items[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    place(heap, at, item);
}

static void sift_down(sim_ranked_heap *heap, uint32_t at, sim_ranked item) {
    for (uint32_t child; (child = 2 * at + 1) < heap->n; at = child) {
        if (child + 1 < heap->n && is_before(heap->items[child + 1], heap->items[child])) child++;
        if (!is_before(heap->items[child], item)) break;
        place(heap, at, heap->items[child]);
    }
    place(heap, at, item);
}

void sim_ranked_heap_push(sim_ranked_heap *heap, sim_ranked item) {
    assert(item.id < heap->n_ids && !sim_ranked_heap_has(heap, item.id));
    sift_up(heap, heap->n++, item);
}

void sim_ranked_heap_remove(sim_ranked_heap *heap, uint32_t id) {
    uint32_t at = heap->places[id];
    assert(at != SIM_RANKED_ABSENT);
    heap->places[id] = SIM_RANKED_ABSENT;
    sim_ranked last = heap->items[--heap->n];
    if (at == heap->n) return;
    if (at > 0 && is_before(last, heap->items[(at - 1) / 2]))
        sift_up(heap, at, last);
    else
        sift_down(heap, at, last);
}
