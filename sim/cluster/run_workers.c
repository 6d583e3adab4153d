// SPDX-License-Identifier: GPL-3.0-or-later
//
// Workers that cannot influence each other (open loop, routing without state of the workers, nobody who wants passes in order of time) run to their end on
// their own: a tight loop over passes, on several cores where there are several observers (architecture.md, principle 2, case a). First all arrivals are
// routed, in order; then each worker has a list of its own and nothing in common with the others but what it only reads.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "sim/cluster/cluster_state.h"

// Arrivals of a run, each in the list of its worker.
typedef struct arrivals {
    int64_t *time_ns;       // by request
    uint32_t *place;        // by request
    uint32_t *next;         // by request; SIM_NO_REQUEST ends a list
    uint32_t *first, *last; // by worker
} arrivals;

bool sim_cluster_is_separable(const sim_cluster *cluster) {
    return !sim_load_needs_ends(cluster->load) && !cluster->parts.observers[0]->on_pass && !cluster->parts.tuner &&
           cluster->parts.engine->on_unservable == SIM_UNSERVABLE_REJECT;
}

static sim_status route_all(sim_cluster *cluster, int64_t max_time_ns, arrivals *all, bool *is_cut, sim_error *error) {
    size_t n_requests = cluster->parts.workload->n_requests;
    all->time_ns = malloc(n_requests * sizeof *all->time_ns);
    all->place = malloc(n_requests * sizeof *all->place);
    all->next = malloc(n_requests * sizeof *all->next);
    all->first = malloc(cluster->n_replicas * sizeof *all->first);
    all->last = malloc(cluster->n_replicas * sizeof *all->last);
    if (!all->time_ns || !all->place || !all->next || !all->first || !all->last)
        return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    for (uint32_t i = 0; i < cluster->n_replicas; i++) all->first[i] = SIM_NO_REQUEST;
    int64_t now_ns = 0;
    while ((now_ns = sim_load_next_time(cluster->load, now_ns)) <= max_time_ns && now_ns != SIM_TIME_NEVER) {
        uint32_t request;
        uint32_t place = sim_cluster_route(cluster, now_ns, &request), i = place / cluster->n_ranks;
        all->time_ns[request] = now_ns;
        all->place[request] = place;
        all->next[request] = SIM_NO_REQUEST;
        *(all->first[i] == SIM_NO_REQUEST ? &all->first[i] : &all->next[all->last[i]]) = request;
        all->last[i] = request;
    }
    *is_cut = now_ns != SIM_TIME_NEVER;
    return SIM_OK;
}

static void free_arrivals(arrivals *all) {
    free(all->time_ns);
    free(all->place);
    free(all->next);
    free(all->first);
    free(all->last);
}

static int64_t next_arrival(const sim_replica *replica, const arrivals *all) {
    return replica->next_request == SIM_NO_REQUEST ? SIM_TIME_NEVER : all->time_ns[replica->next_request];
}

// The arrivals up to `until_ns`.
static sim_status enqueue(sim_replica *replica, const arrivals *all, int64_t until_ns, sim_error *error) {
    while (next_arrival(replica, all) <= until_ns && replica->next_request != SIM_NO_REQUEST) {
        const uint32_t request = replica->next_request;
        replica->next_request = all->next[request];
        sim_status status = sim_cluster_enqueue(replica->cluster, all->place[request], request, error);
        if (status) return status;
    }
    return SIM_OK;
}

// Up to limit_ns: events at that time still happen. May be called again with a later limit.
static sim_status run_worker(sim_replica *replica, const arrivals *all, int64_t limit_ns, sim_error *error) {
    const sim_observer *observer = replica->observer;
    for (;;) {
        sim_status status = SIM_OK;
        int64_t now_ns = replica->is_busy ? replica->pass_end_ns
                                          : next_arrival(replica, all); // idle: nothing to do before the next arrival
        if (now_ns > limit_ns || now_ns == SIM_TIME_NEVER) return SIM_OK;
        if (replica->is_busy) {
            status = enqueue(replica, all, now_ns - 1, error); // they came while the pass was running
            if (!status) status = sim_replica_complete_pass(replica, error);
        }
        if (!status) status = enqueue(replica, all, now_ns, error);
        const int64_t arrival_ns = next_arrival(replica, all);
        if (!status)
            status = sim_replica_run_steady(replica, &now_ns, arrival_ns < limit_ns ? arrival_ns : limit_ns, error);
        if (!status && !replica->is_busy) status = sim_replica_begin_pass(replica, now_ns, error);
        if (!status && (replica->stats.n_passes & 63) == 0) status = observer->on_tick(observer->self, now_ns);
        if (status) return status;
    }
}

// One thread's share: the next worker nobody has taken, until there is none.
typedef struct lane {
    sim_cluster *cluster;
    const sim_observer *observer;
    const arrivals *all;
    int64_t limit_ns;
    atomic_uint *next_replica;
    sim_status status; // of the first worker of this lane that failed, and which that was
    uint32_t failed;
    sim_error error;
    pthread_t thread;
    bool is_thread;
} lane;

static void *run_lane(void *argument) {
    lane *l = argument;
    uint32_t i;
    while (!l->status && (i = atomic_fetch_add(l->next_replica, 1)) < l->cluster->n_replicas) {
        sim_replica *replica = &l->cluster->replicas[i];
        replica->observer = l->observer;
        l->failed = i;
        l->status = run_worker(replica, l->all, l->limit_ns, &l->error);
    }
    return NULL;
}

// A thread that cannot be had is done without: its share goes to the others.
static void run_lanes(lane *lanes, uint32_t n_lanes) {
    for (uint32_t t = 1; t < n_lanes; t++)
        lanes[t].is_thread = pthread_create(&lanes[t].thread, NULL, run_lane, &lanes[t]) == 0;
    run_lane(&lanes[0]);
    for (uint32_t t = 1; t < n_lanes; t++)
        if (lanes[t].is_thread) pthread_join(lanes[t].thread, NULL);
}

// The failure of the lowest worker counts, so that it is the same with any number of threads.
static sim_status first_failure(const lane *lanes, uint32_t n_lanes, sim_error *error) {
    const lane *first = NULL;
    for (uint32_t t = 0; t < n_lanes; t++)
        if (lanes[t].status && (!first || lanes[t].failed < first->failed)) first = &lanes[t];
    if (!first) return SIM_OK;
    if (error) *error = first->error;
    return first->status;
}

static sim_status run_slice(sim_cluster *cluster, const arrivals *all, int64_t limit_ns, lane *lanes, uint32_t n_lanes,
                            sim_error *error) {
    atomic_uint next_replica = 0;
    for (uint32_t t = 0; t < n_lanes; t++)
        lanes[t] = (lane){ .cluster = cluster,
                           .observer = cluster->parts.observers[t],
                           .all = all,
                           .limit_ns = limit_ns,
                           .next_replica = &next_replica };
    run_lanes(lanes, n_lanes);
    return first_failure(lanes, n_lanes, error);
}

// A run that is interrupted should find its workers at about the same virtual time, or its rates would mean nothing: they go through the arrivals in slices.
enum { N_SLICES = 16 };

static sim_status run_slices(sim_cluster *cluster, const arrivals *all, int64_t max_time_ns, lane *lanes,
                             uint32_t n_lanes, sim_error *error) {
    int64_t last_ns = 0;
    for (uint32_t i = 0; i < cluster->n_replicas; i++) {
        cluster->replicas[i].next_request = all->first[i];
        if (all->first[i] != SIM_NO_REQUEST && all->time_ns[all->last[i]] > last_ns)
            last_ns = all->time_ns[all->last[i]];
    }
    sim_status status = SIM_OK;
    for (int64_t k = 1; k <= N_SLICES && !status; k++) {
        int64_t limit_ns = k < N_SLICES ? last_ns / N_SLICES * k : max_time_ns;
        status = run_slice(cluster, all, limit_ns, lanes, n_lanes, error);
    }
    return status;
}

sim_status sim_cluster_run_workers(sim_cluster *cluster, int64_t max_time_ns, bool *is_cut, sim_error *error) {
    arrivals all = { .time_ns = NULL };
    uint32_t n_lanes =
        cluster->parts.n_observers < cluster->n_replicas ? cluster->parts.n_observers : cluster->n_replicas;
    lane *lanes = calloc(n_lanes, sizeof *lanes);
    sim_status status = lanes ? route_all(cluster, max_time_ns, &all, is_cut, error)
                              : sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    if (!status) status = run_slices(cluster, &all, max_time_ns, lanes, n_lanes, error);
    for (uint32_t i = 0; i < cluster->n_replicas && !status; i++) *is_cut |= cluster->replicas[i].is_busy;
    free_arrivals(&all);
    free(lanes);
    return status;
}
