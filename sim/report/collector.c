// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/report/collector.h"

#include <stdlib.h>

#include "sim/kernel/clock.h"
#include "sim/report/fpm_log.h"
#include "sim/report/progress.h"

static void on_arrival(void *self, uint32_t request, uint32_t worker, int64_t now_ns) {
    sim_collector *collector = self;
    sim_request_record *record = &collector->records[request];
    record->arrival_ns = now_ns;
    record->worker = worker;
    record->status = SIM_REQUEST_OPEN;
    if (collector->n_arrived++ == 0) collector->first_arrival_ns = now_ns; // arrivals come in order of time
    if (request == collector->warmup_requests && collector->gaps_from_ns == SIM_TIME_NEVER)
        collector->gaps_from_ns = now_ns > collector->warmup_ns ? now_ns : collector->warmup_ns;
}

static void on_admitted(void *self, uint32_t request, uint32_t cached_tokens, bool is_first, int64_t now_ns) {
    sim_request_record *record = &((sim_collector *)self)->records[request];
    (void)now_ns;
    record->was_admitted = true;
    if (is_first) record->cached_tokens = cached_tokens;
}

static void on_preempted(void *self, uint32_t request, int64_t now_ns) {
    sim_collector *collector = self;
    (void)now_ns;
    collector->records[request].n_preemptions++;
    collector->n_preemptions++;
}

static void finish(sim_collector *collector, uint32_t request, sim_request_status status, int64_t now_ns) {
    collector->records[request].status = (uint8_t)status;
    collector->records[request].finish_ns = now_ns;
    if (now_ns > collector->last_terminal_ns)
        collector->last_terminal_ns = now_ns; // workers may run one after the other
}

static void on_rejected(void *self, uint32_t request, sim_reject_reason reason, int64_t now_ns) {
    sim_collector *collector = self;
    finish(collector, request, SIM_REQUEST_REJECTED, now_ns);
    collector->rejected[reason]++;
    collector->n_rejected++;
}

static void on_first_token(void *self, uint32_t request, int64_t now_ns) {
    ((sim_collector *)self)->records[request].first_token_ns = now_ns;
}

static void on_second_token(void *self, uint32_t request, int64_t now_ns) {
    ((sim_collector *)self)->records[request].second_token_ns = now_ns;
}

static void on_token_gaps(void *self, int64_t gap_ns, uint64_t n_tokens, int64_t now_ns) {
    sim_collector *collector = self;
    if (now_ns >= collector->gaps_from_ns) sim_gap_histogram_add(collector->gaps, gap_ns, n_tokens);
}

static void on_finished(void *self, uint32_t request, uint32_t n_output_tokens, int64_t now_ns) {
    sim_collector *collector = self;
    finish(collector, request, SIM_REQUEST_COMPLETED, now_ns);
    collector->records[request].n_output_tokens = n_output_tokens;
    collector->n_completed++;
}

static sim_status on_pass(void *self, const sim_pass_record *pass, sim_error *error) {
    return sim_fpm_log_write(((sim_collector *)self)->fpm_log, pass, error);
}

void sim_collector_log_passes(sim_collector *collector, struct sim_fpm_log *log) {
    collector->fpm_log = log;
    collector->observer.on_pass = on_pass;
}

static sim_status on_tick(void *self, int64_t now_ns) {
    sim_collector *collector = self;
    if (collector->stopped && *collector->stopped)
        return *collector->stopped == SIGTERM ? SIM_TERMINATED : SIM_INTERRUPTED;
    // The bar looks at the wall clock, which is not free: ask it now and then.
    if (collector->progress && (++collector->n_ticks & 1023) == 0)
        sim_progress_update(collector->progress, collector->n_completed + collector->n_rejected, now_ns);
    return SIM_OK;
}

sim_status sim_collector_init(sim_collector *collector, size_t n_requests, int64_t warmup_ns, uint64_t warmup_requests,
                              sim_error *error) {
    *collector = (sim_collector){
        .records = calloc(n_requests ? n_requests : 1, sizeof *collector->records),
        .n_records = n_requests,
        .gaps = sim_gap_histogram_new(),
        .warmup_ns = warmup_ns,
        .warmup_requests = warmup_requests,
        .gaps_from_ns = SIM_TIME_NEVER,
    };
    collector->observer = (sim_observer){
        .self = collector,
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
    if (collector->records && collector->gaps) return SIM_OK;
    sim_collector_clear(collector);
    return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
}

void sim_collector_clear(sim_collector *collector) {
    free(collector->records);
    sim_gap_histogram_free(collector->gaps);
    collector->records = NULL;
    collector->gaps = NULL;
}

bool sim_collector_is_measured(const sim_collector *collector, size_t request) {
    const sim_request_record *record = &collector->records[request];
    return record->status != SIM_REQUEST_PENDING && request >= collector->warmup_requests &&
           record->arrival_ns >= collector->warmup_ns;
}
