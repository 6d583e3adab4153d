// SPDX-License-Identifier: GPL-3.0-or-later
//
// When it is asked: the arrival process of a run, open or closed loop.
//
// Requests are offered in table order. An open loop knows every arrival in advance; a closed loop keeps `concurrency` requests in flight,
// and learns of each end by sim_load_on_terminal (the cluster calls it). Arrival of a closed-loop request is its moment of admission.
#ifndef SIM_WORKLOAD_LOAD_H
#define SIM_WORKLOAD_LOAD_H

#include "sim/workload/workload.h"

typedef enum sim_load_mode {
    SIM_LOAD_DEFAULT, // timestamps where the source has them, else concurrency
    SIM_LOAD_TIMESTAMPS,
    SIM_LOAD_CONCURRENCY,
    SIM_LOAD_CONSTANT,
    SIM_LOAD_POISSON
} sim_load_mode;

typedef struct sim_load_config {
    int mode;       // sim_load_mode
    double speedup; // timestamps only
    int64_t concurrency;
    double rate; // requests per second; 0 = not given
    int64_t seed;
    int64_t admit_until_ns; // 0 = never stops
    int64_t max_time_ns;    // 0 = none
    int64_t warmup_ns;
    int64_t warmup_requests;
} sim_load_config;

extern const sim_key_table sim_load_keys; // section [load]

typedef struct sim_load sim_load;

// SIM_USAGE: timestamps without a source that has them, a rate that is missing, speedup in another mode.
sim_status sim_load_new(sim_load **load, const sim_config *config, const sim_load_config *settings,
                        const sim_workload *workload, sim_error *error);
void sim_load_free(sim_load *load);

// Next arrival that is due at a known time: its time (never before `now_ns`), or SIM_TIME_NEVER when none is pending (all given out, or a
// closed loop is full). O(1).
int64_t sim_load_next_time(const sim_load *load, int64_t now_ns);
// Take that arrival: the index of its request.
uint32_t sim_load_take(sim_load *load, int64_t now_ns);
// A request ended (completed, rejected): frees its slot of a closed loop.
void sim_load_on_terminal(sim_load *load, uint32_t request, int64_t now_ns);
// Requests not given out yet.
size_t sim_load_remaining(const sim_load *load);
bool sim_load_is_closed_loop(const sim_load *load);

#endif
