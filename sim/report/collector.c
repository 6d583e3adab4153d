// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/report/collector.h"

#include <stdlib.h>

#include "sim/kernel/clock.h"
#include "sim/report/fpm_log.h"
#include "sim/report/progress.h"

static sim_request_record *record_of(const sim_collector_lane *lane, uint32_t request) {
    return &lane->collector->records[request];
}

// Arrivals all come through the first lane, in order of time, and in a run on several threads before anything else.
static void on_arrival(void *self, uint32_t request, uint32_t worker, int64_t now_ns) {
    sim_collector *collector = ((sim_collector_lane *)self)->collector;
    sim_request_record *record = &collector->records[request];
    record->arrival_ns = now_ns;
    record->worker = worker;
    record->status = SIM_REQUEST_OPEN;
    if (collector->n_arrived++ == 0) collector->first_arrival_ns = now_ns;
    if (request == collector->warmup_requests && collector->gaps_from_ns == SIM_TIME_NEVER)
        collector->gaps_from_ns = now_ns > collector->warmup_ns ? now_ns : collector->warmup_ns;
}

static void on_admitted(void *self, uint32_t request, uint32_t cached_tokens, bool is_first, int64_t now_ns) {
    sim_request_record *record = record_of(self, request);
    (void)now_ns;
    record->was_admitted = true;
    if (is_first) record->cached_tokens = cached_tokens;
}

static void on_preempted(void *self, uint32_t request, int64_t now_ns) {
    sim_collector_lane *lane = self;
    (void)now_ns;
    record_of(lane, request)->n_preemptions++;
    lane->n_preemptions++;
}

static void count_miss(sim_collector *collector, uint32_t request) {
    const sim_request_record *record = &collector->records[request];
    const bool is_good = record->status == SIM_REQUEST_COMPLETED && sim_sla_is_good(collector->give_up_on, record);
    if (is_good || !sim_collector_is_measured(collector, request)) return;
    atomic_fetch_add_explicit(&collector->n_missed, 1, memory_order_relaxed);
}

static void finish(sim_collector_lane *lane, uint32_t request, sim_request_status status, int64_t now_ns) {
    sim_request_record *record = record_of(lane, request);
    record->status = (uint8_t)status;
    record->finish_ns = now_ns;
    if (now_ns > lane->last_terminal_ns) lane->last_terminal_ns = now_ns;
    atomic_fetch_add_explicit(&lane->collector->n_done, 1, memory_order_relaxed);
    if (lane->collector->give_up_on) count_miss(lane->collector, request);
}

static void on_rejected(void *self, uint32_t request, sim_reject_reason reason, int64_t now_ns) {
    sim_collector_lane *lane = self;
    finish(lane, request, SIM_REQUEST_REJECTED, now_ns);
    lane->rejected[reason]++;
    lane->n_rejected++;
}

static void on_first_token(void *self, uint32_t request, int64_t now_ns) {
    record_of(self, request)->first_token_ns = now_ns;
}

static void on_second_token(void *self, uint32_t request, int64_t now_ns) {
    record_of(self, request)->second_token_ns = now_ns;
}

static void on_token_gaps(void *self, int64_t gap_ns, uint64_t n_tokens, int64_t now_ns) {
    sim_collector_lane *lane = self;
    if (now_ns >= lane->collector->gaps_from_ns) sim_gap_histogram_add(lane->gaps, gap_ns, n_tokens);
}

static void on_finished(void *self, uint32_t request, uint32_t n_output_tokens, int64_t now_ns) {
    sim_collector_lane *lane = self;
    record_of(lane, request)->n_output_tokens = n_output_tokens;
    finish(lane, request, SIM_REQUEST_COMPLETED, now_ns);
    lane->n_completed++;
}

static sim_status on_pass(void *self, const sim_pass_record *pass, sim_error *error) {
    return sim_fpm_log_write(((sim_collector_lane *)self)->collector->fpm_log, pass, error);
}

static bool is_still_worthwhile(sim_collector *collector) {
    const uint64_t n_done = atomic_load_explicit(&collector->n_done, memory_order_relaxed);
    if (n_done < collector->n_watched + collector->watch_every) return true;
    collector->n_watched = n_done;
    return collector->is_worthwhile(collector->watcher);
}

static sim_status on_tick(void *self, int64_t now_ns) {
    sim_collector_lane *lane = self;
    sim_collector *collector = lane->collector;
    const sim_status signal = sim_signal_status(collector->stopped);
    if (signal) return signal;
    if (collector->give_up_on &&
        atomic_load_explicit(&collector->n_missed, memory_order_relaxed) > collector->max_misses)
        return SIM_GIVEN_UP;
    if (collector->is_worthwhile && lane == collector->lanes && !is_still_worthwhile(collector)) return SIM_GIVEN_UP;
    // The bar looks at the wall clock, which is not free: ask it now and then, and only from one thread.
    if (collector->progress && lane == collector->lanes && (++lane->n_ticks & 1023) == 0)
        sim_progress_update(collector->progress, atomic_load_explicit(&collector->n_done, memory_order_relaxed),
                            now_ns);
    return SIM_OK;
}

static bool init_lane(sim_collector *collector, uint32_t i) {
    sim_collector_lane *lane = &collector->lanes[i];
    lane->collector = collector;
    lane->gaps = sim_gap_histogram_new();
    lane->observer = (sim_observer){
        .self = lane,
        .on_arrival = on_arrival,
        .on_admitted = on_admitted,
        .on_preempted = on_preempted,
        .on_rejected = on_rejected,
        .on_first_token = on_first_token,
        .on_second_token = on_second_token,
        .on_token_gaps = on_token_gaps,
        .on_finished = on_finished,
        .on_tick = on_tick,
    };
    collector->observers[i] = &lane->observer;
    return lane->gaps != NULL;
}

sim_status sim_collector_init(sim_collector *collector, uint32_t n_lanes, size_t n_requests, int64_t warmup_ns,
                              uint64_t warmup_requests, sim_error *error) {
    *collector = (sim_collector){
        .records = calloc(n_requests ? n_requests : 1, sizeof *collector->records),
        .n_records = n_requests,
        .lanes = calloc(n_lanes, sizeof *collector->lanes),
        .observers = calloc(n_lanes, sizeof *collector->observers),
        .warmup_ns = warmup_ns,
        .warmup_requests = warmup_requests,
        .gaps_from_ns = SIM_TIME_NEVER,
    };
    bool has_all = collector->records && collector->lanes && collector->observers;
    if (has_all) collector->n_lanes = n_lanes;
    for (uint32_t i = 0; has_all && i < n_lanes; i++) has_all = init_lane(collector, i);
    if (has_all) return SIM_OK;
    sim_collector_clear(collector);
    return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
}

void sim_collector_log_passes(sim_collector *collector, struct sim_fpm_log *log) {
    collector->fpm_log = log;
    for (uint32_t i = 0; i < collector->n_lanes; i++) collector->lanes[i].observer.on_pass = on_pass;
}

void sim_collector_clear(sim_collector *collector) {
    for (uint32_t i = 0; i < collector->n_lanes; i++) sim_gap_histogram_free(collector->lanes[i].gaps);
    free(collector->records);
    free(collector->lanes);
    free(collector->observers);
    *collector = (sim_collector){ .records = NULL };
}

static void join_lane(sim_collector_lane *total, const sim_collector_lane *lane) {
    sim_gap_histogram_join(total->gaps, lane->gaps);
    total->n_completed += lane->n_completed;
    total->n_rejected += lane->n_rejected;
    total->n_preemptions += lane->n_preemptions;
    for (int i = 0; i < SIM_REJECT_REASONS; i++) total->rejected[i] += lane->rejected[i];
    if (lane->last_terminal_ns > total->last_terminal_ns) total->last_terminal_ns = lane->last_terminal_ns;
}

const sim_collector_lane *sim_collector_join(sim_collector *collector) {
    for (uint32_t i = 1; i < collector->n_lanes; i++) join_lane(&collector->lanes[0], &collector->lanes[i]);
    for (uint32_t i = 1; i < collector->n_lanes; i++) sim_gap_histogram_free(collector->lanes[i].gaps);
    collector->n_lanes = 1;
    return &collector->lanes[0];
}

bool sim_collector_is_measured(const sim_collector *collector, size_t request) {
    const sim_request_record *record = &collector->records[request];
    return record->status != SIM_REQUEST_PENDING && request >= collector->warmup_requests &&
           record->arrival_ns >= collector->warmup_ns;
}

double sim_record_tpot_ns(const sim_request_record *record) {
    return ((double)record->finish_ns - (double)record->first_token_ns) / (record->n_output_tokens - 1);
}
