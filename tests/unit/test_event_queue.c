// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/kernel/event_queue.h"

#include <criterion/criterion.h>

static void expect_next(sim_event_queue *queue, sim_event wanted) {
    sim_event event = { 0 };
    cr_assert(sim_event_queue_pop(queue, &event));
    cr_expect_eq(event.time_ns, wanted.time_ns);
    cr_expect_eq(event.phase, wanted.phase);
    cr_expect_eq(event.id, wanted.id);
}

Test(event_queue, an_empty_queue_gives_nothing) {
    sim_event_queue *queue = sim_event_queue_new(0);
    sim_event event;
    cr_expect_not(sim_event_queue_peek(queue, &event));
    cr_expect_not(sim_event_queue_pop(queue, &event));
    cr_expect_eq(sim_event_queue_count(queue), 0);
    sim_event_queue_free(queue);
    sim_event_queue_free(NULL);
}

Test(event_queue, time_goes_before_phase_and_phase_before_identity) {
    const sim_event in_order[] = {
        { 5, SIM_PHASE_SCALING, 9 },    { 10, SIM_PHASE_PASS_END, 7 }, { 10, SIM_PHASE_PASS_END, 8 },
        { 10, SIM_PHASE_ADMISSION, 0 }, { 10, SIM_PHASE_SCALING, 1 },  { INT64_MAX, SIM_PHASE_PASS_END, 0 },
    };
    const size_t n = sizeof in_order / sizeof *in_order;
    for (size_t start = 0; start < n; start++) { // whatever the order of insertion
        sim_event_queue *queue = sim_event_queue_new(1);
        for (size_t i = 0; i < n; i++) cr_assert(sim_event_queue_push(queue, in_order[(start + i * 5) % n]));
        for (size_t i = 0; i < n; i++) expect_next(queue, in_order[i]);
        cr_expect_eq(sim_event_queue_count(queue), 0);
        sim_event_queue_free(queue);
    }
}

Test(event_queue, the_extreme_event_survives_packing) {
    const sim_event last = { INT64_MAX, SIM_PHASE_SCALING, (UINT64_C(1) << 56) - 1 };
    sim_event_queue *queue = sim_event_queue_new(4);
    cr_assert(sim_event_queue_push(queue, last));
    cr_assert(sim_event_queue_push(queue, (sim_event){ 0, SIM_PHASE_PASS_END, 0 }));
    sim_event event;
    cr_assert(sim_event_queue_peek(queue, &event));
    cr_expect_eq(event.time_ns, 0);
    cr_expect_eq(sim_event_queue_count(queue), 2, "peeking takes nothing");
    expect_next(queue, (sim_event){ 0, SIM_PHASE_PASS_END, 0 });
    expect_next(queue, last);
    sim_event_queue_free(queue);
}

Test(event_queue, a_capacity_nobody_has_is_refused) { cr_expect_null(sim_event_queue_new(SIZE_MAX)); }
