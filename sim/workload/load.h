// SPDX-License-Identifier: GPL-3.0-or-later
//
// When it is asked: the arrival process of a run, open or closed loop.
//
// Requests are offered in table order. An open loop knows every arrival in advance; a closed loop keeps `concurrency`
// requests in flight, and learns of each end by sim_load_on_terminal (the cluster calls it). Arrival of a closed-loop
// request is its moment of admission.
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

// The mode in force: SIM_LOAD_DEFAULT resolved.
sim_load_mode sim_load_resolve(const sim_load_config *settings, bool has_stamps);

// Contradictions between the keys of [load], for `check` (which takes has_stamps = source is a trace) and as the first
// step of sim_load_new. Keys count by value, as in sim_workload_check. SIM_USAGE.
sim_status sim_load_check(const sim_config *config, const sim_load_config *settings, bool has_stamps, sim_error *error);

// `config` places errors and may be NULL; the workload must outlive the load. SIM_USAGE: timestamps without a source
// that has them, a rate that is missing, speedup in another mode, arrivals later than 292 years.
sim_status sim_load_new(sim_load **load, const sim_config *config, const sim_load_config *settings,
                        const sim_workload *workload, sim_error *error);
void sim_load_free(sim_load *load);

// When the next request arrives, as known at `now_ns`: never before now_ns; SIM_TIME_NEVER when nothing is pending (all
// given out, the closed loop is full, or admit_until has passed). In a closed loop with a free slot that is now. O(1),
// changes nothing.
//   timestamps:  stamp / speedup, rounded half up
//   constant:    request i at i / rate, rounded from the exact value, so that errors do not add up
//   poisson:     the first at 0, then exponential gaps (stream "arrivals"), each rounded to whole ns
//   concurrency: the first N at 0, then one for each that ends
int64_t sim_load_next_time(const sim_load *load, int64_t now_ns);
// Take that arrival (there must be one): the index of its request, which are given out in table order. `now_ns` is its
// time.
uint32_t sim_load_take(sim_load *load, int64_t now_ns);
// A request ended (completed, rejected): the next turn of its session becomes due after its delay, else its slot of a closed loop is free.
void sim_load_on_terminal(sim_load *load, uint32_t request, int64_t now_ns);
// Requests not given out yet.
size_t sim_load_remaining(const sim_load *load);
bool sim_load_is_closed_loop(const sim_load *load);
// Must ends be told by sim_load_on_terminal? In a closed loop, and where turns wait for the one before.
bool sim_load_needs_ends(const sim_load *load);

#endif
