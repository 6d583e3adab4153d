// SPDX-License-Identifier: GPL-3.0-or-later
//
// Two ways to let time pass (architecture.md, principle 2):
// - Workers that cannot influence each other (open loop, routing without state of the workers, nobody who wants passes in order) run to their end one
//   after the other, a tight loop over passes.
// - Else events: one is pending per busy worker, the end of its pass. At each instant, in this order and repeated until nothing changes: passes end (by
//   worker), arrivals are admitted (a pass end may have freed a slot of a closed loop), idle workers start passes (by worker).
#include "sim/cluster/cluster.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/kernel/clock.h"
#include "sim/kernel/event_queue.h"

typedef struct worker {
    sim_engine *engine;
    sim_pass pass; // the open one
    int64_t pass_start_ns, pass_end_ns;
    bool is_busy;
    bool is_touched; // in the list of workers to look at in this instant
    char id[12];
    sim_worker_stats stats;
} worker;

struct sim_cluster {
    sim_cluster_parts parts;
    sim_content_source content;
    sim_engine_events events;
    worker *workers;
    uint32_t n_workers;
    uint32_t *touched; // workers whose queue or pass changed in this instant
    uint32_t n_touched;
    uint64_t router_state;
    sim_event_queue *queue;
    sim_load *load;
    uint64_t n_arrived, n_terminal;
};

// --- what engines tell ------------------------------------------------------------------------------------------------

static void on_admitted(void *self, uint32_t request, uint32_t cached_tokens, bool is_first, int64_t now_ns) {
    const sim_observer *observer = ((sim_cluster *)self)->parts.observer;
    observer->on_admitted(observer->self, request, cached_tokens, is_first, now_ns);
}

static void on_preempted(void *self, uint32_t request, int64_t now_ns) {
    const sim_observer *observer = ((sim_cluster *)self)->parts.observer;
    observer->on_preempted(observer->self, request, now_ns);
}

static void on_rejected(void *self, uint32_t request, sim_reject_reason reason, int64_t now_ns) {
    sim_cluster *cluster = self;
    const sim_observer *observer = cluster->parts.observer;
    observer->on_rejected(observer->self, request, reason, now_ns);
    sim_load_on_terminal(cluster->load, request, now_ns);
    cluster->n_terminal++;
}

static void on_first_token(void *self, uint32_t request, int64_t now_ns) {
    const sim_observer *observer = ((sim_cluster *)self)->parts.observer;
    observer->on_first_token(observer->self, request, now_ns);
}

static void on_second_token(void *self, uint32_t request, int64_t now_ns) {
    const sim_observer *observer = ((sim_cluster *)self)->parts.observer;
    observer->on_second_token(observer->self, request, now_ns);
}

static void on_token_gaps(void *self, int64_t gap_ns, uint64_t n_tokens, int64_t now_ns) {
    const sim_observer *observer = ((sim_cluster *)self)->parts.observer;
    observer->on_token_gaps(observer->self, gap_ns, n_tokens, now_ns);
}

static void on_finished(void *self, uint32_t request, uint32_t n_output_tokens, int64_t now_ns) {
    sim_cluster *cluster = self;
    const sim_observer *observer = cluster->parts.observer;
    observer->on_finished(observer->self, request, n_output_tokens, now_ns);
    sim_load_on_terminal(cluster->load, request, now_ns);
    cluster->n_terminal++;
}

static sim_content_run run_at(const void *self, uint32_t request, uint32_t token) {
    sim_span span = sim_workload_span(self, request, token);
    return (sim_content_run){ (uint64_t)span.content, span.id, span.end_token };
}

// --- construction -----------------------------------------------------------------------------------------------------

static sim_status make_workers(sim_cluster *cluster, sim_error *error) {
    uint32_t n = (uint32_t)cluster->parts.cluster->replicas;
    cluster->workers = calloc(n, sizeof *cluster->workers);
    cluster->touched = calloc(n, sizeof *cluster->touched);
    cluster->queue = sim_event_queue_new(n);
    if (!cluster->workers || !cluster->touched || !cluster->queue)
        return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    for (uint32_t i = 0; i < n; i++) {
        worker *w = &cluster->workers[i];
        snprintf(w->id, sizeof w->id, "%u", i);
        w->pass.metrics = fpm_metrics_idle();
        w->pass.metrics.worker_id = w->id;
        sim_status status =
            sim_engine_new(&w->engine, cluster->parts.engine, cluster->parts.kv_cache, &cluster->content,
                           &cluster->events, cluster->parts.observer->on_pass != NULL, error);
        if (status) return status;
        cluster->n_workers++;
    }
    return SIM_OK;
}

sim_status sim_cluster_new(sim_cluster **cluster, const sim_cluster_parts *parts, sim_error *error) {
    sim_cluster *made = calloc(1, sizeof *made);
    if (!made) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    made->parts = *parts;
    made->content = (sim_content_source){ parts->workload, run_at };
    made->events = (sim_engine_events){
        .self = made,
        .on_admitted = on_admitted,
        .on_preempted = on_preempted,
        .on_rejected = on_rejected,
        .on_first_token = on_first_token,
        .on_second_token = on_second_token,
        .on_token_gaps = on_token_gaps,
        .on_finished = on_finished,
    };
    sim_status status = make_workers(made, error);
    if (status) {
        sim_cluster_free(made);
        return status;
    }
    *cluster = made;
    return SIM_OK;
}

void sim_cluster_free(sim_cluster *cluster) {
    if (!cluster) return;
    for (uint32_t i = 0; i < cluster->n_workers; i++) sim_engine_free(cluster->workers[i].engine);
    free(cluster->workers);
    free(cluster->touched);
    sim_event_queue_free(cluster->queue);
    free(cluster);
}

const sim_worker_stats *sim_cluster_worker_stats(const sim_cluster *cluster, uint32_t w) {
    return &cluster->workers[w].stats;
}

// --- one instant ------------------------------------------------------------------------------------------------------

static void touch(sim_cluster *cluster, uint32_t w) {
    if (cluster->workers[w].is_touched) return;
    cluster->workers[w].is_touched = true;
    cluster->touched[cluster->n_touched++] = w;
}

static sim_status complete_pass(worker *w, sim_error *error) {
    w->is_busy = false;
    w->stats.n_passes++;
    w->stats.busy_ns += w->pass_end_ns - w->pass_start_ns;
    return sim_engine_complete(w->engine, w->pass_end_ns, error);
}

static sim_status end_pass(sim_cluster *cluster, uint32_t index, int64_t now_ns, sim_error *error) {
    worker *w = &cluster->workers[index];
    const sim_observer *observer = cluster->parts.observer;
    sim_pass_record record = { index, w->pass_start_ns, now_ns, &w->pass.metrics, w->pass.has_queue_overflow };
    touch(cluster, index);
    sim_status status = complete_pass(w, error);
    if (status || !observer->on_pass) return status;
    return observer->on_pass(observer->self, &record, error);
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

// The next arrival finds its worker.
static uint32_t route_arrival(sim_cluster *cluster, int64_t now_ns, uint32_t *request) {
    const sim_observer *observer = cluster->parts.observer;
    const sim_router_policy *policy = sim_router_policies[cluster->parts.router->policy];
    *request = sim_load_take(cluster->load, now_ns);
    uint32_t index = policy->place(&cluster->router_state, cluster->n_workers, *request);
    cluster->n_arrived++;
    cluster->workers[index].stats.n_requests++;
    observer->on_arrival(observer->self, *request, index, now_ns);
    return index;
}

static sim_status enqueue(sim_cluster *cluster, worker *w, uint32_t request, sim_error *error) {
    const sim_request *spec = &cluster->parts.workload->requests[request];
    return sim_engine_enqueue(w->engine, request, spec->input_tokens, spec->output_tokens, error);
}

static sim_status admit_arrivals(sim_cluster *cluster, int64_t now_ns, sim_error *error) {
    while (sim_load_next_time(cluster->load, now_ns) <= now_ns) {
        uint32_t request;
        uint32_t index = route_arrival(cluster, now_ns, &request);
        sim_status status = enqueue(cluster, &cluster->workers[index], request, error);
        if (status) return status;
        touch(cluster, index);
    }
    return SIM_OK;
}

// How long the open pass takes. The record keeps the price as given; the clock takes whole nanoseconds, at least one.
static sim_status price_pass(sim_cluster *cluster, worker *w, int64_t *duration_ns, sim_error *error) {
    double ms;
    fpm_error reason;
    if (fpm_estimate_valid_ms(cluster->parts.estimator, &w->pass.metrics, 1, &ms, &reason))
        return sim_error_set(error, SIM_INTERNAL, NULL, 0, "pricing pass %llu of worker %s: %s",
                             (unsigned long long)w->stats.n_passes, w->id, reason.message);
    if (!sim_ns_from_ms(ms, duration_ns))
        return sim_error_set(error, SIM_INTERNAL, NULL, 0,
                             "pass %llu of worker %s is priced at %g ms, which is no duration",
                             (unsigned long long)w->stats.n_passes, w->id, ms);
    if (*duration_ns < 1) *duration_ns = 1;
    w->pass.metrics.wall_time_s = ms / 1e3;
    return SIM_OK;
}

// Begin the next pass of an idle worker, if there is anything to do; w->pass_end_ns says when it ends.
static sim_status begin_pass(sim_cluster *cluster, worker *w, int64_t now_ns, sim_error *error) {
    if (!sim_engine_has_work(w->engine)) return SIM_OK;
    bool is_started;
    sim_status status = sim_engine_schedule(w->engine, now_ns, &w->pass, &is_started, error);
    if (status || !is_started) return status;
    int64_t duration_ns;
    status = price_pass(cluster, w, &duration_ns, error);
    if (status) return status;
    if (!sim_ns_add(now_ns, duration_ns, &w->pass_end_ns))
        return sim_error_set(error, SIM_INTERNAL, NULL, 0, "virtual time exceeds 292 years");
    w->is_busy = true;
    w->pass_start_ns = now_ns;
    return SIM_OK;
}

static sim_status start_pass(sim_cluster *cluster, uint32_t index, int64_t now_ns, sim_error *error) {
    worker *w = &cluster->workers[index];
    if (w->is_busy) return SIM_OK;
    sim_status status = begin_pass(cluster, w, now_ns, error);
    if (status || !w->is_busy) return status;
    w->pass.metrics.counter_id = w->stats.n_passes;
    if (!sim_event_queue_push(cluster->queue, (sim_event){ w->pass_end_ns, SIM_PHASE_PASS_END, index }))
        return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    return SIM_OK;
}

static int by_identity(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static sim_status start_passes(sim_cluster *cluster, int64_t now_ns, sim_error *error) {
    if (cluster->n_touched > 1) qsort(cluster->touched, cluster->n_touched, sizeof *cluster->touched, by_identity);
    uint32_t n_touched = cluster->n_touched;
    cluster->n_touched = 0;
    for (uint32_t i = 0; i < n_touched; i++) cluster->workers[cluster->touched[i]].is_touched = false;
    for (uint32_t i = 0; i < n_touched; i++) {
        sim_status status = start_pass(cluster, cluster->touched[i], now_ns, error);
        if (status) return status;
    }
    return SIM_OK;
}

// All that happens at now_ns, to a fixed point. A pass lasts at least 1 ns, so no pass begins and ends in one instant; what can repeat is a
// rejection that frees a slot of a closed loop, and every one of those uses up a request.
static sim_status run_instant(sim_cluster *cluster, int64_t now_ns, sim_error *error) {
    sim_status status = end_passes(cluster, now_ns, error);
    do {
        if (!status) status = admit_arrivals(cluster, now_ns, error);
        if (!status) status = start_passes(cluster, now_ns, error);
    } while (!status && sim_load_next_time(cluster->load, now_ns) <= now_ns);
    return status;
}

// --- events -----------------------------------------------------------------------------------------------------------

static int64_t next_time(const sim_cluster *cluster, int64_t now_ns) {
    int64_t arrival_ns = sim_load_next_time(cluster->load, now_ns);
    sim_event event;
    if (!sim_event_queue_peek(cluster->queue, &event)) return arrival_ns;
    return event.time_ns < arrival_ns ? event.time_ns : arrival_ns;
}

// *is_cut: max_time_ns ended it.
static sim_status run_events(sim_cluster *cluster, int64_t max_time_ns, bool *is_cut, sim_error *error) {
    const sim_observer *observer = cluster->parts.observer;
    int64_t now_ns = 0;
    for (;;) {
        int64_t next_ns = next_time(cluster, now_ns);
        *is_cut = next_ns > max_time_ns && next_ns != SIM_TIME_NEVER;
        if (next_ns == SIM_TIME_NEVER || *is_cut) return SIM_OK;
        assert(next_ns >= now_ns);
        now_ns = next_ns;
        sim_status status = run_instant(cluster, now_ns, error);
        if (!status) status = observer->on_tick(observer->self, now_ns);
        if (status) return status;
    }
}

// --- workers on their own ---------------------------------------------------------------------------------------------

// Arrivals of a run, each in the list of its worker.
typedef struct arrivals {
    int64_t *time_ns;       // by request
    uint32_t *next;         // by request; SIM_NO_REQUEST ends a list
    uint32_t *first, *last; // by worker
} arrivals;
#define SIM_NO_REQUEST UINT32_MAX

static bool is_independent(const sim_cluster *cluster) {
    return !sim_load_is_closed_loop(cluster->load) && !cluster->parts.observer->on_pass &&
           cluster->parts.engine->on_unservable == SIM_UNSERVABLE_REJECT;
}

static sim_status route_all(sim_cluster *cluster, int64_t max_time_ns, arrivals *all, bool *is_cut, sim_error *error) {
    size_t n_requests = cluster->parts.workload->n_requests;
    all->time_ns = malloc(n_requests * sizeof *all->time_ns);
    all->next = malloc(n_requests * sizeof *all->next);
    all->first = malloc(cluster->n_workers * sizeof *all->first);
    all->last = malloc(cluster->n_workers * sizeof *all->last);
    if (!all->time_ns || !all->next || !all->first || !all->last)
        return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    for (uint32_t w = 0; w < cluster->n_workers; w++) all->first[w] = SIM_NO_REQUEST;
    int64_t now_ns = 0;
    while ((now_ns = sim_load_next_time(cluster->load, now_ns)) <= max_time_ns && now_ns != SIM_TIME_NEVER) {
        uint32_t request;
        uint32_t w = route_arrival(cluster, now_ns, &request);
        all->time_ns[request] = now_ns;
        all->next[request] = SIM_NO_REQUEST;
        *(all->first[w] == SIM_NO_REQUEST ? &all->first[w] : &all->next[all->last[w]]) = request;
        all->last[w] = request;
    }
    *is_cut |= now_ns != SIM_TIME_NEVER;
    return SIM_OK;
}

static sim_status run_worker(sim_cluster *cluster, worker *w, const arrivals *all, int64_t max_time_ns, bool *is_cut,
                             sim_error *error) {
    const sim_observer *observer = cluster->parts.observer;
    uint32_t request = all->first[w - cluster->workers];
    int64_t now_ns = 0;
    for (;;) {
        if (!w->is_busy) { // nothing to do before the next arrival
            if (request == SIM_NO_REQUEST) return SIM_OK;
            now_ns = all->time_ns[request];
        } else if (w->pass_end_ns > max_time_ns) {
            *is_cut = true;
            return SIM_OK;
        } else {
            now_ns = w->pass_end_ns;
            sim_status status = complete_pass(w, error);
            if (status) return status;
        }
        sim_status status = SIM_OK;
        for (; !status && request != SIM_NO_REQUEST && all->time_ns[request] <= now_ns; request = all->next[request])
            status = enqueue(cluster, w, request, error);
        if (!status) status = begin_pass(cluster, w, now_ns, error);
        if (!status && (w->stats.n_passes & 63) == 0) status = observer->on_tick(observer->self, now_ns);
        if (status) return status;
    }
}

static sim_status run_independently(sim_cluster *cluster, int64_t max_time_ns, bool *is_cut, sim_error *error) {
    arrivals all = { .time_ns = NULL };
    *is_cut = false;
    sim_status status = route_all(cluster, max_time_ns, &all, is_cut, error);
    for (uint32_t i = 0; i < cluster->n_workers && !status; i++)
        status = run_worker(cluster, &cluster->workers[i], &all, max_time_ns, is_cut, error);
    free(all.time_ns);
    free(all.next);
    free(all.first);
    free(all.last);
    return status;
}

// --- the run ----------------------------------------------------------------------------------------------------------

static sim_status check_finished(const sim_cluster *cluster, sim_error *error) {
    for (uint32_t i = 0; i < cluster->n_workers; i++) {
        if (!sim_engine_has_work(cluster->workers[i].engine)) continue;
        char why[256];
        sim_engine_explain_stuck(cluster->workers[i].engine, why, sizeof why);
        return sim_error_set(error, SIM_DEAD_END, NULL, 0,
                             "dead end: worker %u cannot go on: %s (give kv_cache.num_blocks more, or limit "
                             "engine.max_model_len)",
                             i, why);
    }
    assert(cluster->n_terminal == cluster->n_arrived);
    return SIM_OK;
}

sim_status sim_cluster_run(sim_cluster *cluster, sim_load *load, int64_t max_time_ns, sim_error *error) {
    cluster->load = load;
    if (max_time_ns == 0) max_time_ns = INT64_MAX;
    bool is_cut;
    sim_status status = is_independent(cluster) ? run_independently(cluster, max_time_ns, &is_cut, error)
                                                : run_events(cluster, max_time_ns, &is_cut, error);
    return status || is_cut ? status : check_finished(cluster, error);
}
