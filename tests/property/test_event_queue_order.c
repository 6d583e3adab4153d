// SPDX-License-Identifier: GPL-3.0-or-later
//
// Random pushes and pops against a plain array that is searched for its smallest event.
#include "sim/kernel/event_queue.h"
#include "sim/kernel/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { MAX_PENDING = 700, N_OPERATIONS = 40000 };

static bool is_before(sim_event a, sim_event b) {
    if (a.time_ns != b.time_ns) return a.time_ns < b.time_ns;
    if (a.phase != b.phase) return a.phase < b.phase;
    return a.id < b.id;
}

static int compare(const void *a, const void *b) {
    return is_before(*(const sim_event *)a, *(const sim_event *)b)
               ? -1
               : is_before(*(const sim_event *)b, *(const sim_event *)a);
}

static sim_event draw(sim_stream *dice, uint64_t time_range) {
    return (sim_event){
        .time_ns = (int64_t)sim_stream_integer(dice, time_range),
        .phase = (sim_phase)sim_stream_integer(dice, SIM_PHASE_SCALING + 1),
        .id = sim_stream_integer(dice, UINT64_C(1) << 56),
    };
}

static bool is_same(sim_event a, sim_event b) { return !is_before(a, b) && !is_before(b, a); }

Test(event_queue_order, random_pushes_and_pops_agree_with_a_searched_array) {
    for (uint64_t seed = 1; seed <= 6; seed++) {
        sim_stream *dice = sim_stream_new(seed, "event_queue_order");
        sim_event_queue *queue = sim_event_queue_new((size_t)seed * 10);
        sim_event model[MAX_PENDING];
        size_t n = 0;
        const uint64_t time_range = seed % 2 ? 50 : UINT64_C(1) << 62; // with and without ties
        for (int step = 0; step < N_OPERATIONS; step++) {
            // drifts from empty to full and back
            const bool is_growing = step / 1500 % 2 == 0;
            if (n < MAX_PENDING && (n == 0 || sim_stream_uniform(dice) < (is_growing ? 0.75 : 0.25))) {
                model[n] = draw(dice, time_range);
                cr_assert(sim_event_queue_push(queue, model[n]));
                n++;
            } else {
                size_t first = 0;
                for (size_t i = 1; i < n; i++) {
                    if (is_before(model[i], model[first])) first = i;
                }
                sim_event event;
                cr_assert(sim_event_queue_pop(queue, &event));
                cr_assert(is_same(event, model[first]), "seed %d, step %d", (int)seed, step);
                model[first] = model[--n];
            }
            cr_assert_eq(sim_event_queue_count(queue), n);
        }
        sim_event_queue_free(queue);
        sim_stream_free(dice);
    }
}

Test(event_queue_order, the_order_is_that_of_a_sort_whatever_the_insertion) {
    enum { N = 20000 };
    sim_stream *dice = sim_stream_new(42, "event_queue_order");
    sim_event *events = calloc(N, sizeof *events);
    for (size_t i = 0; i < N; i++) events[i] = draw(dice, 1000);
    for (int round = 0; round < 3; round++) {
        sim_event_queue *queue = sim_event_queue_new(0);
        for (size_t i = 0; i < N; i++) cr_assert(sim_event_queue_push(queue, events[round == 1 ? N - 1 - i : i]));
        qsort(events, N, sizeof *events, compare); // rounds 1 and 2 insert in descending and ascending order
        for (size_t i = 0; i < N; i++) {
            sim_event event;
            cr_assert(sim_event_queue_pop(queue, &event) && is_same(event, events[i]), "round %d, event %zu", round, i);
        }
        sim_event_queue_free(queue);
    }
    free(events);
    sim_stream_free(dice);
}
