// SPDX-License-Identifier: GPL-3.0-or-later
//
// The observer of a run: one record per request, one histogram of token gaps, counters. What is asked for beyond that (the FPM log, a progress
// bar) hangs on it. Memory: 56 bytes a request; nothing grows with simulated tokens or passes.
#ifndef SIM_REPORT_COLLECTOR_H
#define SIM_REPORT_COLLECTOR_H

#include <signal.h>
#include <stdatomic.h>

#include "sim/cluster/cluster.h"
#include "sim/report/gap_histogram.h"
#include "sim/report/sla.h"

typedef enum sim_request_status {
    SIM_REQUEST_PENDING, // never arrived
    SIM_REQUEST_OPEN,    // arrived, not finished: incomplete at the end of the run
    SIM_REQUEST_COMPLETED,
    SIM_REQUEST_REJECTED
} sim_request_status;

typedef struct sim_request_record {
    int64_t arrival_ns;
    int64_t first_token_ns;  // valid from n_output_tokens >= 1 on
    int64_t second_token_ns; // valid from n_output_tokens >= 2 on
    int64_t finish_ns;       // last token, end of prefill without output, or rejection
    uint32_t worker;
    uint32_t cached_tokens; // at the first admission
    uint32_t n_output_tokens;
    uint32_t n_preemptions;
    uint8_t status; // sim_request_status
    bool was_admitted;
} sim_request_record;

struct sim_fpm_log;
struct sim_progress;
typedef struct sim_collector sim_collector;

// What one thread of the run counts. Everything in it adds up or compares, so that lanes can be joined in any order.
typedef struct sim_collector_lane {
    sim_collector *collector;
    sim_observer observer;
    sim_gap_histogram *gaps;
    uint64_t n_completed, n_rejected, n_preemptions;
    uint64_t rejected[SIM_REJECT_REASONS];
    int64_t last_terminal_ns;
    uint32_t n_ticks;
} sim_collector_lane;

struct sim_collector {
    sim_request_record *records; // by request; a request belongs to one worker, so no two threads write one record
    size_t n_records;
    sim_collector_lane *lanes;
    const sim_observer **observers; // of the lanes, for sim_cluster_parts
    uint32_t n_lanes;
    uint64_t n_arrived;
    int64_t first_arrival_ns;
    // warm-up: requests below this index and arrivals before this time are not measured
    int64_t warmup_ns;
    uint64_t warmup_requests;
    int64_t
        gaps_from_ns; // gaps emitted before are not measured; SIM_TIME_NEVER until the warm-up requests have arrived
    struct sim_fpm_log *fpm_log;          // NULL = none; not owned
    struct sim_progress *progress;        // NULL = none; not owned
    const volatile sig_atomic_t *stopped; // signal that asks to stop, 0 = none; may be NULL
    // Once more than `max_misses` measured requests have missed `give_up_on` the run ends as SIM_GIVEN_UP; NULL = never.
    const sim_sla_config *give_up_on;
    uint64_t max_misses;
    // Asked each time `watch_every` more requests have ended, by the first lane; false ends the run as SIM_GIVEN_UP. NULL = never.
    bool (*is_worthwhile)(void *watcher);
    void *watcher;
    uint64_t watch_every, n_watched;
    atomic_uint_least64_t n_missed;
    atomic_uint_least64_t n_done; // terminal requests, for the progress bar
};

// n_lanes >= 1 threads will tell it, each through its own observer.
sim_status sim_collector_init(sim_collector *collector, uint32_t n_lanes, size_t n_requests, int64_t warmup_ns,
                              uint64_t warmup_requests, sim_error *error);
// Write every pass to `log` too. Passes then come in order of time, which costs the run its short cut (cluster/run_workers.c).
void sim_collector_log_passes(sim_collector *collector, struct sim_fpm_log *log);
void sim_collector_clear(sim_collector *collector);

// After the run: all lanes together, in the first one.
const sim_collector_lane *sim_collector_join(sim_collector *collector);

// Does the request count in the latency statistics?
bool sim_collector_is_measured(const sim_collector *collector, size_t request);

// (last token - first token) / (tokens - 1) of a completed request with two tokens or more.
double sim_record_tpot_ns(const sim_request_record *record);

#endif
