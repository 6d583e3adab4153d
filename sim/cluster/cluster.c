// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a run is made of and what happens in it. How time passes is the business of run_events.c and run_workers.c.
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cluster/cluster_state.h"

// --- what engines tell ------------------------------------------------------------------------------------------------

static void on_admitted(void *self, uint32_t request, uint32_t cached_tokens, bool is_first, int64_t now_ns) {
    const sim_observer *observer = ((sim_replica *)self)->observer;
    observer->on_admitted(observer->self, request, cached_tokens, is_first, now_ns);
}

static void on_preempted(void *self, uint32_t request, int64_t now_ns) {
    const sim_observer *observer = ((sim_replica *)self)->observer;
    observer->on_preempted(observer->self, request, now_ns);
}

// A load that nobody waits in need not be told of ends, and several threads could not tell it.
static void count_terminal(sim_replica *replica, uint32_t request, int64_t now_ns) {
    sim_load *load = replica->cluster->load;
    replica->n_terminal++;
    if (sim_load_needs_ends(load)) sim_load_on_terminal(load, request, now_ns);
}

static void on_rejected(void *self, uint32_t request, sim_reject_reason reason, int64_t now_ns) {
    sim_replica *replica = self;
    replica->observer->on_rejected(replica->observer->self, request, reason, now_ns);
    count_terminal(replica, request, now_ns);
}

static void on_first_token(void *self, uint32_t request, int64_t now_ns) {
    const sim_observer *observer = ((sim_replica *)self)->observer;
    observer->on_first_token(observer->self, request, now_ns);
}

static void on_second_token(void *self, uint32_t request, int64_t now_ns) {
    const sim_observer *observer = ((sim_replica *)self)->observer;
    observer->on_second_token(observer->self, request, now_ns);
}

static void on_token_gaps(void *self, int64_t gap_ns, uint64_t n_tokens, int64_t now_ns) {
    const sim_observer *observer = ((sim_replica *)self)->observer;
    observer->on_token_gaps(observer->self, gap_ns, n_tokens, now_ns);
}

static void on_finished(void *self, uint32_t request, uint32_t n_output_tokens, int64_t now_ns) {
    sim_replica *replica = self;
    replica->observer->on_finished(replica->observer->self, request, n_output_tokens, now_ns);
    count_terminal(replica, request, now_ns);
}

static sim_content_run run_at(const void *self, uint32_t request, uint32_t token) {
    sim_span span = sim_workload_span(self, request, token);
    uint64_t kind = span.content == SIM_CONTENT_GENERATED ? SIM_CONTENT_KIND_GENERATED : (uint64_t)span.content;
    return (sim_content_run){ kind, span.id, span.end_token };
}

// --- construction -----------------------------------------------------------------------------------------------------

static sim_status make_replica(sim_cluster *cluster, uint32_t i, sim_error *error) {
    sim_replica *replica = &cluster->replicas[i];
    snprintf(replica->id, sizeof replica->id, "%u", i);
    replica->cluster = cluster;
    replica->observer = cluster->parts.observers[0];
    replica->events = (sim_engine_events){
        .self = replica,
        .on_admitted = on_admitted,
        .on_preempted = on_preempted,
        .on_rejected = on_rejected,
        .on_first_token = on_first_token,
        .on_second_token = on_second_token,
        .on_token_gaps = on_token_gaps,
        .on_finished = on_finished,
    };
    sim_worker_parts parts = {
        .engine = cluster->parts.engine,
        .kv_cache = cluster->parts.kv_cache,
        .content = &cluster->content,
        .events = &replica->events,
        .n_ranks = cluster->n_ranks,
        .wants_variances = replica->observer->on_pass != NULL,
        .id = replica->id,
    };
    return sim_worker_new(&replica->worker, &parts, error);
}

static sim_status make_replicas(sim_cluster *cluster, sim_error *error) {
    cluster->n_replicas = (uint32_t)cluster->parts.cluster->replicas;
    cluster->n_ranks = (uint32_t)cluster->parts.parallel->data;
    cluster->replicas = calloc(cluster->n_replicas, sizeof *cluster->replicas);
    cluster->touched = calloc(cluster->n_replicas, sizeof *cluster->touched);
    cluster->queue = sim_event_queue_new(cluster->n_replicas);
    if (!cluster->replicas || !cluster->touched || !cluster->queue)
        return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    for (uint32_t i = 0; i < cluster->n_replicas; i++) {
        sim_status status = make_replica(cluster, i, error);
        if (status) return status;
    }
    return SIM_OK;
}

sim_status sim_cluster_new(sim_cluster **cluster, const sim_cluster_parts *parts, sim_error *error) {
    sim_cluster *made = calloc(1, sizeof *made);
    if (!made) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    made->parts = *parts;
    made->content = (sim_content_source){ parts->workload, run_at };
    sim_status status = make_replicas(made, error);
    if (status) {
        sim_cluster_free(made);
        return status;
    }
    *cluster = made;
    return SIM_OK;
}

void sim_cluster_free(sim_cluster *cluster) {
    if (!cluster) return;
    for (uint32_t i = 0; cluster->replicas && i < cluster->n_replicas; i++)
        sim_worker_free(cluster->replicas[i].worker);
    free(cluster->replicas);
    free(cluster->touched);
    sim_event_queue_free(cluster->queue);
    free(cluster);
}

int64_t sim_cluster_end_ns(const sim_cluster *cluster) {
    int64_t end_ns = 0;
    for (uint32_t i = 0; i < cluster->n_replicas; i++)
        if (cluster->replicas[i].stats.last_end_ns > end_ns) end_ns = cluster->replicas[i].stats.last_end_ns;
    return end_ns;
}

const sim_worker_stats *sim_cluster_worker_stats(const sim_cluster *cluster, uint32_t i) {
    return &cluster->replicas[i].stats;
}

// --- steps of virtual time --------------------------------------------------------------------------------------------

uint32_t sim_cluster_route(sim_cluster *cluster, int64_t now_ns, uint32_t *request) {
    const sim_observer *observer = cluster->parts.observers[0];
    const sim_router_policy *policy = sim_router_policies[cluster->parts.router->policy];
    *request = sim_load_take(cluster->load, now_ns);
    uint32_t place = policy->place(&cluster->router_state, cluster->n_replicas * cluster->n_ranks, *request);
    cluster->n_arrived++;
    cluster->replicas[place / cluster->n_ranks].stats.n_requests++;
    observer->on_arrival(observer->self, *request, place / cluster->n_ranks, now_ns);
    return place;
}

sim_status sim_cluster_enqueue(sim_cluster *cluster, uint32_t place, uint32_t request, sim_error *error) {
    const sim_request *spec = &cluster->parts.workload->requests[request];
    sim_worker *worker = cluster->replicas[place / cluster->n_ranks].worker;
    return sim_worker_enqueue(worker, place % cluster->n_ranks, request, spec->input_tokens, spec->output_tokens,
                              error);
}

static sim_status estimate(const sim_replica *replica, const fpm_metrics *metrics, double *ms, sim_error *error) {
    fpm_error reason;
    if (!fpm_estimate_valid_ms(replica->cluster->parts.estimator, metrics, replica->cluster->n_ranks, ms, &reason))
        return SIM_OK;
    // A pass that the estimator has no price for is no fault of the program: the run cannot go on.
    return sim_error_set(error, reason.code == FPM_UNSUPPORTED ? SIM_DEAD_END : SIM_INTERNAL, NULL, 0,
                         "pricing a pass of worker %s: %s", replica->id, reason.message);
}

// When a pass that begins now ends. The price is given as the model has it; the clock takes whole nanoseconds, at least one.
static sim_status end_of_pass(const sim_replica *replica, double ms, int64_t now_ns, int64_t *end_ns,
                              sim_error *error) {
    int64_t duration_ns;
    // Prices come from our own estimators; wall times from what a user says of them.
    const bool is_truth = replica->cluster->parts.tuner;
    const sim_status code = is_truth ? SIM_DEAD_END : SIM_INTERNAL;
    const char *hint = is_truth ? " (biases, drift, steps or noise of [truth] are too large)" : "";
    if (!sim_ns_from_ms(ms, &duration_ns))
        return sim_error_set(error, code, NULL, 0, "a pass of worker %s is priced at %g ms, which is no duration%s",
                             replica->id, ms, hint);
    if (!sim_ns_add(now_ns, duration_ns < 1 ? 1 : duration_ns, end_ns))
        return sim_error_set(error, code, NULL, 0, "virtual time exceeds 292 years%s", hint);
    return SIM_OK;
}

// How long the pass that begins takes, also into its metrics.
static sim_status time_pass(const sim_replica *replica, fpm_metrics *metrics, int64_t now_ns, double *ms,
                            sim_error *error) {
    const sim_cluster *cluster = replica->cluster;
    if (cluster->parts.tuner) {
        const uint32_t worker = (uint32_t)(replica - cluster->replicas);
        return sim_tuner_begin_pass(cluster->parts.tuner, worker, now_ns, metrics, ms, error);
    }
    const sim_status status = estimate(replica, metrics, ms, error);
    for (uint32_t i = 0; i < cluster->n_ranks && !status; i++) metrics[i].wall_time_s = *ms / 1e3;
    return status;
}

static sim_status price_plain_pass(void *self, fpm_metrics *metrics, int64_t now_ns, int64_t *end_ns,
                                   sim_error *error) {
    double ms;
    const sim_status status = estimate(self, metrics, &ms, error);
    return status ? status : end_of_pass(self, ms, now_ns, end_ns, error);
}

static sim_status price_tuned_pass(void *self, fpm_metrics *metrics, int64_t now_ns, int64_t *end_ns,
                                   sim_error *error) {
    double ms;
    const sim_status status = time_pass(self, metrics, now_ns, &ms, error);
    return status ? status : end_of_pass(self, ms, now_ns, end_ns, error);
}

static sim_status end_tuned_pass(void *self, int64_t end_ns, sim_error *error) {
    const sim_replica *replica = self;
    const uint32_t worker = (uint32_t)(replica - replica->cluster->replicas);
    return sim_tuner_end_pass(replica->cluster->parts.tuner, worker, end_ns, error);
}

sim_status sim_replica_run_steady(sim_replica *replica, int64_t *now_ns, int64_t until_ns, sim_error *error) {
    const bool is_tuned = replica->cluster->parts.tuner != NULL;
    const sim_pricer pricer = { replica, is_tuned ? price_tuned_pass : price_plain_pass,
                                is_tuned ? end_tuned_pass : NULL };
    const int64_t from_ns = replica->is_busy ? replica->pass_start_ns : *now_ns;
    sim_steady steady = { .now_ns = from_ns, .open_end_ns = replica->is_busy ? replica->pass_end_ns : 0 };
    const sim_status status = sim_worker_run_steady(replica->worker, until_ns, &pricer, &steady, error);
    if (steady.n_passes > 0) {
        replica->stats.n_passes += steady.n_passes;
        replica->stats.busy_ns += steady.now_ns - from_ns;
        replica->stats.last_end_ns = *now_ns = steady.now_ns;
    }
    replica->is_busy = replica->is_steady = steady.open_end_ns > 0;
    replica->pass_start_ns = steady.now_ns;
    replica->pass_end_ns = steady.open_end_ns;
    return status;
}

sim_status sim_replica_begin_pass(sim_replica *replica, int64_t now_ns, sim_error *error) {
    if (!sim_worker_has_work(replica->worker)) return SIM_OK;
    bool is_started;
    sim_status status = sim_worker_schedule(replica->worker, now_ns, &is_started, error);
    if (status || !is_started) return status;
    double ms;
    status = time_pass(replica, sim_worker_metrics(replica->worker), now_ns, &ms, error);
    if (!status) status = end_of_pass(replica, ms, now_ns, &replica->pass_end_ns, error);
    if (status) return status;
    replica->is_busy = true;
    replica->pass_start_ns = now_ns;
    return SIM_OK;
}

sim_status sim_replica_complete_pass(sim_replica *replica, sim_error *error) {
    replica->is_busy = replica->is_steady = false;
    replica->stats.n_passes++;
    replica->stats.busy_ns += replica->pass_end_ns - replica->pass_start_ns;
    replica->stats.last_end_ns = replica->pass_end_ns;
    sim_tuner *tuner = replica->cluster->parts.tuner;
    if (tuner) {
        const uint32_t worker = (uint32_t)(replica - replica->cluster->replicas);
        const sim_status status = sim_tuner_end_pass(tuner, worker, replica->pass_end_ns, error);
        if (status) return status;
    }
    return sim_worker_complete(replica->worker, replica->pass_end_ns, error);
}

// --- the run ----------------------------------------------------------------------------------------------------------

// Nothing can go on, but some workers have work: who is stuck and why, the first two of them in words.
static sim_status explain_dead_end(const sim_cluster *cluster, sim_error *error) {
    char who[420] = "";
    uint32_t n_stuck = 0;
    for (uint32_t i = 0; i < cluster->n_replicas; i++) {
        if (!sim_worker_has_work(cluster->replicas[i].worker) || n_stuck++ >= 2) continue;
        char why[192];
        size_t n = strlen(who);
        sim_worker_explain_stuck(cluster->replicas[i].worker, why, sizeof why);
        snprintf(who + n, sizeof who - n, "%sworker %u: %s", n > 0 ? "; " : "", i, why);
    }
    return sim_error_set(error, SIM_DEAD_END, NULL, 0,
                         "dead end on %u of %u workers: %s (more kv_cache.num_blocks, or a shorter "
                         "engine.max_model_len)",
                         n_stuck, cluster->n_replicas, who);
}

static sim_status check_finished(const sim_cluster *cluster, sim_error *error) {
    uint64_t n_terminal = 0;
    bool is_stuck = false;
    for (uint32_t i = 0; i < cluster->n_replicas; i++) {
        n_terminal += cluster->replicas[i].n_terminal;
        is_stuck |= sim_worker_has_work(cluster->replicas[i].worker);
    }
    if (is_stuck) return explain_dead_end(cluster, error);
    assert(n_terminal == cluster->n_arrived);
    (void)n_terminal;
    return SIM_OK;
}

sim_status sim_cluster_run(sim_cluster *cluster, sim_load *load, int64_t max_time_ns, sim_error *error) {
    cluster->load = load;
    if (max_time_ns == 0) max_time_ns = INT64_MAX;
    bool is_cut;
    sim_status status = sim_cluster_is_separable(cluster)
                            ? sim_cluster_run_workers(cluster, max_time_ns, &is_cut, error)
                            : sim_cluster_run_events(cluster, max_time_ns, &is_cut, error);
    return status || is_cut ? status : check_finished(cluster, error);
}
