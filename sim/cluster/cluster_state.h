// SPDX-License-Identifier: GPL-3.0-or-later
//
// Inside of a cluster, shared by its files only.
#ifndef SIM_CLUSTER_CLUSTER_STATE_H
#define SIM_CLUSTER_CLUSTER_STATE_H

#include "sim/cluster/cluster.h"
#include "sim/kernel/clock.h"
#include "sim/kernel/event_queue.h"

typedef struct sim_replica {
    sim_cluster *cluster;
    sim_worker *worker;
    sim_engine_events events;           // of its engines; they come to this replica
    const sim_observer *observer;       // who is told
    int64_t pass_start_ns, pass_end_ns; // of the open pass
    bool is_busy;
    bool is_steady;        // the open pass decides nothing, and neither may the next
    bool is_touched;       // in the list of workers to look at in this instant
    uint32_t next_request; // run_workers.c: the next of its arrivals
    char id[12];
    uint64_t n_terminal;
    sim_worker_stats stats;
} sim_replica;

struct sim_cluster {
    sim_cluster_parts parts;
    sim_content_source content;
    sim_replica *replicas;
    uint32_t n_replicas, n_ranks;
    uint64_t router_state, n_arrived;
    sim_load *load;
    // events only
    sim_event_queue *queue;
    uint32_t *touched; // workers whose queue or pass changed in this instant
    uint32_t n_touched;
    int64_t max_time_ns;
    int64_t arrival_ns; // of the next request
    bool knows_arrival;
};

// --- steps of virtual time (cluster.c) ---
// The next arrival finds its place: ranks are counted through, those of worker 0 first.
uint32_t sim_cluster_route(sim_cluster *cluster, int64_t now_ns, uint32_t *request);
sim_status sim_cluster_enqueue(sim_cluster *cluster, uint32_t place, uint32_t request, sim_error *error);
// The passes that decide nothing and end before `until_ns`, of an idle worker or from the open pass on if that is_steady (it ends before until_ns then); the first
// that ends later is left open, as by sim_replica_begin_pass. *now_ns goes to the end of the last complete one. With until_ns = *now_ns an idle worker
// completes none, which is all that may be done where others act in between.
sim_status sim_replica_run_steady(sim_replica *replica, int64_t *now_ns, int64_t until_ns, sim_error *error);
// Begin the next pass of an idle worker, if there is anything to do; pass_end_ns says when it ends.
sim_status sim_replica_begin_pass(sim_replica *replica, int64_t now_ns, sim_error *error);
sim_status sim_replica_complete_pass(sim_replica *replica, sim_error *error);

// --- the two ways to let time pass ---
// Event by event, for any run (run_events.c).
sim_status sim_cluster_run_events(sim_cluster *cluster, int64_t max_time_ns, bool *is_cut, sim_error *error);
// Each worker to its end on its own, on as many threads as there are observers (run_workers.c). Only for runs in which no worker can influence another.
bool sim_cluster_is_separable(const sim_cluster *cluster);
sim_status sim_cluster_run_workers(sim_cluster *cluster, int64_t max_time_ns, bool *is_cut, sim_error *error);

#endif
