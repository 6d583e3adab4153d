// SPDX-License-Identifier: GPL-3.0-or-later
//
// Pending events, ordered by time, then phase, then stable identity; never by insertion or address, so a run does not
// depend on the order in which things were scheduled (architecture.md, principle 1).
//
// A 4-ary heap of 16-byte keys (time in the high word, phase and identity in the low one) with a branch-free choice of the
// smallest child: notes/speed-limits.md section 2 measured it against heaps, calendar and ladder queues. An entity has at most
// one event of a phase pending, so (phase, id) is the payload and there is nothing to cancel.
#ifndef SIM_KERNEL_EVENT_QUEUE_H
#define SIM_KERNEL_EVENT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// In the order in which events of one instant are handled.
typedef enum sim_phase {
    SIM_PHASE_PASS_END,
    SIM_PHASE_WORKER_READY,
    SIM_PHASE_TRANSFER,
    SIM_PHASE_ADMISSION,
    SIM_PHASE_TELEMETRY,
    SIM_PHASE_SCALING
} sim_phase;

typedef struct sim_event {
    int64_t time_ns; // >= 0
    sim_phase phase;
    uint64_t id; // stable identity inside the phase, < 2^56: a worker, a request, ...
} sim_event;

typedef struct sim_event_queue sim_event_queue;

sim_event_queue *sim_event_queue_new(size_t capacity_hint); // NULL: no memory
void sim_event_queue_free(sim_event_queue *queue);

// O(log n). False: no memory (the queue is unchanged). Asserts time_ns >= 0 and id < 2^56.
bool sim_event_queue_push(sim_event_queue *queue, sim_event event);
// Earliest event; false when empty. O(1) and O(log n).
bool sim_event_queue_peek(const sim_event_queue *queue, sim_event *event);
bool sim_event_queue_pop(sim_event_queue *queue, sim_event *event);
// Of a queue that is not empty: the time of the earliest event behind the first; INT64_MAX: there is none. O(1).
int64_t sim_event_queue_second_ns(const sim_event_queue *queue);
// Of a queue that is not empty: pop and push in one. O(log n).
void sim_event_queue_replace_first(sim_event_queue *queue, sim_event event);
size_t sim_event_queue_count(const sim_event_queue *queue);

#endif
