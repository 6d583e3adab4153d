// SPDX-License-Identifier: GPL-3.0-or-later
//
// Slots: the root stands at 3, so that the children of slot p are the four slots from 4 (p - 2), one cache line of its own.
// Slots behind the last event hold the largest key: a group of children is always complete and the smallest of four is
// found by two rounds of comparisons without a branch, which is what makes this heap quick (a mispredicted branch per level
// costs more than the comparisons it saves).
#include "sim/kernel/event_queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 key128;

enum { ROOT = 3, GROUP = 4, CACHE_LINE_BYTES = 64, ID_BITS = 56 };
static_assert(GROUP * sizeof(key128) == CACHE_LINE_BYTES, "a group of children is one cache line");

struct sim_event_queue {
    key128 *slots;
    size_t end;     // first free slot
    size_t n_slots; // a multiple of GROUP
};

static const key128 no_event = ~(key128)0;

static key128 key_from_event(sim_event event) {
    assert(event.time_ns >= 0 && event.id < UINT64_C(1) << ID_BITS);
    return (key128)(uint64_t)event.time_ns << 64 | (uint64_t)event.phase << ID_BITS | event.id;
}

static sim_event event_from_key(key128 key) {
    uint64_t low = (uint64_t)key;
    return (sim_event){
        .time_ns = (int64_t)(uint64_t)(key >> 64),
        .phase = (sim_phase)(low >> ID_BITS),
        .id = low & ((UINT64_C(1) << ID_BITS) - 1),
    };
}

static bool resize(sim_event_queue *queue, size_t n_slots) {
    if (n_slots > SIZE_MAX / sizeof(key128)) return false;
    key128 *slots = aligned_alloc(CACHE_LINE_BYTES, n_slots * sizeof(key128));
    if (!slots) return false;
    size_t n_kept = queue->slots ? queue->end : ROOT;
    if (queue->slots) memcpy(slots + ROOT, queue->slots + ROOT, (n_kept - ROOT) * sizeof(key128));
    for (size_t i = 0; i < ROOT; i++) slots[i] = no_event;
    for (size_t i = n_kept; i < n_slots; i++) slots[i] = no_event;
    free(queue->slots);
    queue->slots = slots;
    queue->n_slots = n_slots;
    return true;
}

sim_event_queue *sim_event_queue_new(size_t capacity_hint) {
    if (capacity_hint > SIZE_MAX / 2 / sizeof(key128)) return NULL;
    sim_event_queue *queue = calloc(1, sizeof *queue);
    if (!queue) return NULL;
    queue->end = ROOT;
    if (!resize(queue, (capacity_hint + ROOT + GROUP) / GROUP * GROUP + GROUP)) {
        free(queue);
        return NULL;
    }
    return queue;
}

void sim_event_queue_free(sim_event_queue *queue) {
    if (!queue) return;
    free(queue->slots);
    free(queue);
}

size_t sim_event_queue_count(const sim_event_queue *queue) { return queue->end - ROOT; }

bool sim_event_queue_push(sim_event_queue *queue, sim_event event) {
    if (queue->end == queue->n_slots) {
        if (queue->n_slots > SIZE_MAX / 2 || !resize(queue, queue->n_slots * 2)) return false;
    }
    key128 key = key_from_event(event);
    key128 *slots = queue->slots;
    size_t slot = queue->end++;
    while (slot > ROOT) {
        size_t parent = slot / GROUP + 2;
        if (slots[parent] <= key) break;
        slots[slot] = slots[parent];
        slot = parent;
    }
    slots[slot] = key;
    return true;
}

bool sim_event_queue_peek(const sim_event_queue *queue, sim_event *event) {
    if (queue->end == ROOT) return false;
    *event = event_from_key(queue->slots[ROOT]);
    return true;
}

// The slot of the smallest key of the group that begins at `first`.
static inline size_t smallest_of_group(const key128 *slots, size_t first) {
    size_t a = first + (slots[first + 1] < slots[first]);
    size_t b = first + 2 + (slots[first + 3] < slots[first + 2]);
    size_t is_b = slots[b] < slots[a];
    return a ^ ((a ^ b) & (0 - is_b));
}

// `key` looks for its place from the root, which is a hole, down; `end` is the first free slot.
static void sift_down(key128 *slots, size_t end, key128 key) {
    size_t hole = ROOT;
    for (size_t children = GROUP * (hole - 2); children < end; children = GROUP * (hole - 2)) {
        size_t smallest = smallest_of_group(slots, children);
        if (key <= slots[smallest]) break;
        slots[hole] = slots[smallest];
        hole = smallest;
    }
    slots[hole] = key;
}

bool sim_event_queue_pop(sim_event_queue *queue, sim_event *event) {
    if (queue->end == ROOT) return false;
    key128 *slots = queue->slots;
    *event = event_from_key(slots[ROOT]);
    size_t end = --queue->end;
    key128 last = slots[end];
    slots[end] = no_event;
    if (end > ROOT) sift_down(slots, end, last);
    return true;
}

void sim_event_queue_replace_first(sim_event_queue *queue, sim_event event) {
    assert(queue->end > ROOT);
    sift_down(queue->slots, queue->end, key_from_event(event));
}

int64_t sim_event_queue_second_ns(const sim_event_queue *queue) {
    assert(queue->end > ROOT);
    if (queue->end == ROOT + 1) return INT64_MAX;
    const key128 *slots = queue->slots;
    return (int64_t)(uint64_t)(slots[smallest_of_group(slots, GROUP * (ROOT - 2))] >> 64);
}
