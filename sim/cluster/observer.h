// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a run shows to whoever measures it. The cluster calls, report/ implements; nothing here can change the run. Arrivals come in order of virtual time;
// the other events of one worker too, but those of two workers may come in any order unless on_pass is given, so observers add up and compare, they do not
// rely on who comes first.
#ifndef SIM_CLUSTER_OBSERVER_H
#define SIM_CLUSTER_OBSERVER_H

#include "sim/engine/worker.h"

typedef struct sim_pass_record {
    uint32_t worker;
    int64_t start_ns, end_ns;
    const fpm_metrics *
        metrics; // n_ranks rows; wall_time_s is the price as the model gave it, before rounding to nanoseconds, or what the truth says it took
    uint32_t n_ranks;
    bool has_queue_overflow;
} sim_pass_record;

typedef struct sim_observer {
    void *self;
    void (*on_arrival)(void *self, uint32_t request, uint32_t worker, int64_t now_ns);
    void (*on_admitted)(void *self, uint32_t request, uint32_t cached_tokens, bool is_first, int64_t now_ns);
    void (*on_preempted)(void *self, uint32_t request, int64_t now_ns);
    void (*on_rejected)(void *self, uint32_t request, sim_reject_reason reason, int64_t now_ns);
    void (*on_first_token)(void *self, uint32_t request, int64_t now_ns);
    void (*on_second_token)(void *self, uint32_t request, int64_t now_ns);
    void (*on_token_gaps)(void *self, int64_t gap_ns, uint64_t n_tokens, int64_t now_ns);
    void (*on_finished)(void *self, uint32_t request, uint32_t n_output_tokens, int64_t now_ns);
    // Called at the end of every pass, in order of time and worker. May fail, as it may write. NULL: passes are not described in full, and workers that
    // cannot influence each other may run one after the other.
    sim_status (*on_pass)(void *self, const sim_pass_record *pass, sim_error *error);
    // Called between events; a status other than SIM_OK (SIM_INTERRUPTED, SIM_TERMINATED) stops the run in good order.
    sim_status (*on_tick)(void *self, int64_t now_ns);
} sim_observer;

#endif
