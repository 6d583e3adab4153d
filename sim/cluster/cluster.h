// SPDX-License-Identifier: GPL-3.0-or-later
//
// The workers of a run and the loop of virtual time: arrivals go through the router to a worker's engine, engines form passes, the forward-pass
// model says how long each takes, and pass ends bring tokens, free slots and the next pass (simulation-semantics.md 3.5).
#ifndef SIM_CLUSTER_CLUSTER_H
#define SIM_CLUSTER_CLUSTER_H

#include "sim/cluster/observer.h"
#include "sim/cluster/router.h"
#include "sim/tuning/tuner.h"
#include "sim/workload/load.h"

typedef enum sim_cluster_mode { SIM_CLUSTER_AGGREGATED } sim_cluster_mode;

typedef struct sim_cluster_config { // section [cluster]
    int mode;                       // sim_cluster_mode
    int64_t replicas;
    double gpu_hour_price; // 0 = not priced
} sim_cluster_config;

extern const sim_key_table sim_cluster_keys;

typedef struct sim_cluster sim_cluster;

typedef struct sim_cluster_parts {
    const sim_cluster_config *cluster;
    const sim_router_config *router;
    const sim_parallel_config *parallel;
    const sim_engine_config *engine;
    const sim_kv_cache_config *kv_cache;
    const sim_workload *workload;
    const fpm_estimator *estimator;
    sim_tuner *tuner; // how long passes take, in place of the estimator; NULL = nothing is tuned and there is no truth
    const sim_observer *const *
        observers; // the first is told of arrivals; each further one is a thread more for runs whose workers are independent
    uint32_t n_observers; // >= 1
} sim_cluster_parts;

typedef struct sim_worker_stats {
    uint64_t n_passes;
    int64_t busy_ns;
    uint64_t n_requests; // routed to it
    int64_t last_end_ns; // of its last complete pass
} sim_worker_stats;

// The parts must outlive the cluster.
sim_status sim_cluster_new(sim_cluster **cluster, const sim_cluster_parts *parts, sim_error *error);
void sim_cluster_free(sim_cluster *cluster);

// Run until every request is terminal, until max_time_ns (0 = none; what is unfinished then stays incomplete), or until nothing can go on:
// SIM_DEAD_END, naming the stuck requests. Also ends with the status of an observer that asks for it.
sim_status sim_cluster_run(sim_cluster *cluster, sim_load *load, int64_t max_time_ns, sim_error *error);

// End of the last complete pass of any worker.
int64_t sim_cluster_end_ns(const sim_cluster *cluster);
const sim_worker_stats *sim_cluster_worker_stats(const sim_cluster *cluster, uint32_t worker);

#endif
