// SPDX-License-Identifier: GPL-3.0-or-later
//
// Virtual time event by event: one is pending per busy worker, the end of its pass. At each instant, in this order and repeated until nothing changes:
// passes end (by worker), arrivals are admitted (a pass end may have freed a slot of a closed loop), idle workers start passes (by worker).
#include <assert.h>
#include <stdlib.h>

#include "sim/cluster/cluster_state.h"

enum { INSTANTS_PER_TICK = 16 }; // a microsecond or ten

static void touch(sim_cluster *cluster, uint32_t i) {
    if (cluster->replicas[i].is_touched) return;
    cluster->replicas[i].is_touched = true;
    cluster->touched[cluster->n_touched++] = i;
}

// To the end, and to whoever wants passes in order of time.
static sim_status end_and_tell(sim_replica *replica, uint32_t i, int64_t now_ns, sim_error *error) {
    const sim_observer *observer = replica->observer;
    const sim_pass_record record = { i,
                                     replica->pass_start_ns,
                                     now_ns,
                                     sim_worker_metrics(replica->worker),
                                     replica->cluster->n_ranks,
                                     sim_worker_has_queue_overflow(replica->worker) };
    const sim_status status = sim_replica_complete_pass(replica, error);
    return status ? status : observer->on_pass(observer->self, &record, error);
}

static sim_status end_pass(sim_cluster *cluster, uint32_t i, int64_t now_ns, sim_error *error) {
    sim_replica *replica = &cluster->replicas[i];
    touch(cluster, i);
    return replica->observer->on_pass ? end_and_tell(replica, i, now_ns, error)
                                      : sim_replica_complete_pass(replica, error);
}

static sim_status end_passes(sim_cluster *cluster, int64_t now_ns, sim_error *error) {
    sim_event event;
    while (sim_event_queue_peek(cluster->queue, &event) && event.time_ns == now_ns) {
        sim_event_queue_pop(cluster->queue, &event);
        sim_status status = end_pass(cluster, (uint32_t)event.id, now_ns, error);
        if (status) return status;
    }
    return SIM_OK;
}

// When the next request arrives, not before now_ns. Asked many times an instant, and it moves only when one is taken, or where ends bring the next.
static int64_t arrival_time(sim_cluster *cluster, int64_t now_ns) {
    if (!cluster->knows_arrival || sim_load_needs_ends(cluster->load)) {
        cluster->arrival_ns = sim_load_next_time(cluster->load, now_ns);
        cluster->knows_arrival = true;
    }
    return cluster->arrival_ns;
}

static sim_status admit_arrivals(sim_cluster *cluster, int64_t now_ns, sim_error *error) {
    while (arrival_time(cluster, now_ns) <= now_ns) {
        uint32_t request;
        uint32_t place = sim_cluster_route(cluster, now_ns, &request);
        cluster->knows_arrival = false;
        sim_status status = sim_cluster_enqueue(cluster, place, request, error);
        if (status) return status;
        touch(cluster, place / cluster->n_ranks);
    }
    return SIM_OK;
}

static int64_t next_time(sim_cluster *cluster, int64_t now_ns) {
    int64_t arrival_ns = arrival_time(cluster, now_ns);
    sim_event event;
    if (!sim_event_queue_peek(cluster->queue, &event)) return arrival_ns;
    return event.time_ns < arrival_ns ? event.time_ns : arrival_ns;
}

// `is_alone`: nobody else has anything to do in this instant, so that until the next event only this worker acts, and passes that decide nothing can follow
// each other.
static sim_status start_pass(sim_cluster *cluster, uint32_t i, bool is_alone, int64_t now_ns, sim_error *error) {
    sim_replica *replica = &cluster->replicas[i];
    if (replica->is_busy) return SIM_OK;
    sim_status status = SIM_OK;
    if (!replica->observer->on_pass) {
        int64_t until_ns = is_alone ? next_time(cluster, now_ns) : now_ns;
        if (until_ns > cluster->max_time_ns) until_ns = cluster->max_time_ns;
        status = sim_replica_run_steady(replica, &now_ns, until_ns, error);
    }
    if (!status && !replica->is_busy) status = sim_replica_begin_pass(replica, now_ns, error);
    if (status || !replica->is_busy) return status;
    if (!sim_event_queue_push(cluster->queue, (sim_event){ replica->pass_end_ns, SIM_PHASE_PASS_END, i }))
        return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    return SIM_OK;
}

static int by_identity(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static sim_status start_passes(sim_cluster *cluster, int64_t now_ns, sim_error *error) {
    const uint32_t n_touched = cluster->n_touched;
    cluster->n_touched = 0;
    if (n_touched == 1) { // as in most instants
        cluster->replicas[cluster->touched[0]].is_touched = false;
        return start_pass(cluster, cluster->touched[0], true, now_ns, error);
    }
    qsort(cluster->touched, n_touched, sizeof *cluster->touched, by_identity);
    for (uint32_t i = 0; i < n_touched; i++) cluster->replicas[cluster->touched[i]].is_touched = false;
    for (uint32_t i = 0; i < n_touched; i++) {
        sim_status status = start_pass(cluster, cluster->touched[i], false, now_ns, error);
        if (status) return status;
    }
    return SIM_OK;
}

// All that happens at now_ns, to a fixed point. A pass lasts at least 1 ns, so no pass begins and ends in one instant; what can repeat is a rejection
// that frees a slot of a closed loop, and every one of those uses up a request.
static sim_status run_instant(sim_cluster *cluster, int64_t now_ns, sim_error *error) {
    sim_status status = end_passes(cluster, now_ns, error);
    do {
        if (!status) status = admit_arrivals(cluster, now_ns, error);
        if (!status) status = start_passes(cluster, now_ns, error);
    } while (!status && arrival_time(cluster, now_ns) <= now_ns);
    return status;
}

// Most instants are the end of one steady pass, and nothing else: its worker goes on until something else happens. False: it is another kind of instant.
static bool is_quiet(sim_cluster *cluster, int64_t now_ns, int64_t *until_ns, uint32_t *i) {
    sim_event event;
    if (!sim_event_queue_peek(cluster->queue, &event)) return false;
    const sim_replica *replica = &cluster->replicas[event.id];
    if (!replica->is_steady) return false;
    const int64_t second_ns = sim_event_queue_second_ns(cluster->queue),
                  arrival_ns = arrival_time(cluster, now_ns); // as known now: at the event admit_until may have passed
    *until_ns = second_ns < arrival_ns ? second_ns : arrival_ns;
    if (*until_ns > cluster->max_time_ns) *until_ns = cluster->max_time_ns;
    *i = (uint32_t)event.id;
    return event.time_ns < *until_ns;
}

static sim_status run_quiet_instant(sim_cluster *cluster, uint32_t i, int64_t until_ns, int64_t *now_ns,
                                    sim_error *error) {
    sim_replica *replica = &cluster->replicas[i];
    sim_status status = sim_replica_run_steady(replica, now_ns, until_ns, error);
    if (status) return status;
    if (replica->is_busy) {
        sim_event_queue_replace_first(cluster->queue, (sim_event){ replica->pass_end_ns, SIM_PHASE_PASS_END, i });
        return SIM_OK;
    }
    sim_event ended;
    sim_event_queue_pop(cluster->queue, &ended);
    return start_pass(cluster, i, true, *now_ns, error);
}

// At the next time anything happens.
static sim_status run_next_instant(sim_cluster *cluster, int64_t *now_ns, bool *is_over, bool *is_cut,
                                   sim_error *error) {
    int64_t until_ns;
    uint32_t i;
    if (is_quiet(cluster, *now_ns, &until_ns, &i)) return run_quiet_instant(cluster, i, until_ns, now_ns, error);
    const int64_t next_ns = next_time(cluster, *now_ns);
    *is_cut = next_ns > cluster->max_time_ns && next_ns != SIM_TIME_NEVER;
    *is_over = *is_cut || next_ns == SIM_TIME_NEVER;
    if (*is_over) return SIM_OK;
    assert(next_ns >= *now_ns);
    *now_ns = next_ns;
    return run_instant(cluster, next_ns, error);
}

sim_status sim_cluster_run_events(sim_cluster *cluster, int64_t max_time_ns, bool *is_cut, sim_error *error) {
    const sim_observer *observer = cluster->parts.observers[0];
    int64_t now_ns = 0;
    bool is_over = false;
    cluster->max_time_ns = max_time_ns;
    *is_cut = false;
    for (uint64_t n_instants = 1; !is_over; n_instants++) {
        sim_status status = run_next_instant(cluster, &now_ns, &is_over, is_cut, error);
        if (!status && n_instants % INSTANTS_PER_TICK == 0) status = observer->on_tick(observer->self, now_ns);
        if (status) return status;
    }
    return SIM_OK;
}
