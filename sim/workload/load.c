// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/workload/load.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "sim/kernel/clock.h"
#include "sim/kernel/random.h"
#include "sim/workload/contradiction.h"

struct sim_load {
    const sim_workload *workload;
    sim_load_mode mode;
    double speedup, rate;
    int64_t admit_until_ns; // SIM_TIME_NEVER without one
    size_t next;            // request to give out
    int64_t pending_ns;     // open loop: its arrival
    uint64_t concurrency, in_flight;
    sim_stream *arrivals; // poisson
};

// Round half up; times that do not fit were refused when the load was made. Long double holds every int64 exactly.
static int64_t round_ns(long double ns) { return (int64_t)floorl(ns + 0.5L); }

static int64_t stamp_of(const sim_load *load, size_t request) {
    int64_t stamp_ns = load->workload->requests[request].stamp_ns;
    return load->speedup == 1 ? stamp_ns : round_ns((long double)stamp_ns / (long double)load->speedup);
}

static int64_t slot_of(const sim_load *load, size_t request) {
    return round_ns((long double)request * 1e9L / (long double)load->rate);
}

// Arrival of request load->next, which follows one at load->pending_ns.
static int64_t next_arrival(sim_load *load) {
    switch (load->mode) {
    case SIM_LOAD_TIMESTAMPS:
        return stamp_of(load, load->next);
    case SIM_LOAD_CONSTANT:
        return slot_of(load, load->next);
    case SIM_LOAD_POISSON: {
        // The sum may in principle run past the end of time, however unlikely: such a request never comes.
        long double gap_ns = floorl((long double)sim_stream_exponential(load->arrivals, 1e9 / load->rate) + 0.5L);
        long double sum_ns = (long double)load->pending_ns + gap_ns;
        return sum_ns < (long double)SIM_TIME_NEVER ? (int64_t)sum_ns : SIM_TIME_NEVER;
    }
    case SIM_LOAD_CONCURRENCY:
    case SIM_LOAD_DEFAULT:
        break;
    }
    return SIM_TIME_NEVER;
}

// The latest arrival, or the mean of it, must fit with room to spare.
static sim_status check_span(const sim_config *config, const sim_load *load, sim_error *error) {
    const size_t n = load->workload->n_requests;
    if (n == 0 || load->mode == SIM_LOAD_CONCURRENCY) return SIM_OK;
    const bool is_recorded = load->mode == SIM_LOAD_TIMESTAMPS;
    long double last_ns = is_recorded
                              ? (long double)load->workload->requests[n - 1].stamp_ns / (long double)load->speedup
                              : (long double)n * 1e9L / (long double)load->rate;
    if (last_ns < (is_recorded ? 0x1p63L - 1 : 0x1p62L)) return SIM_OK;
    return sim_contradiction(config, error, "load", is_recorded ? "speedup" : "rate",
                             "the last of %zu requests would arrive more than 146 years from the start", n);
}

sim_status sim_load_new(sim_load **out, const sim_config *config, const sim_load_config *settings,
                        const sim_workload *workload, sim_error *error) {
    *out = NULL;
    sim_status status = sim_load_check(config, settings, workload->has_stamps, error);
    if (status) return status;
    sim_load *load = calloc(1, sizeof *load);
    if (!load) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    load->workload = workload;
    load->mode = sim_load_resolve(settings, workload->has_stamps);
    load->speedup = settings->speedup;
    load->rate = settings->rate;
    load->admit_until_ns = settings->admit_until_ns > 0 ? settings->admit_until_ns : SIM_TIME_NEVER;
    load->concurrency = (uint64_t)settings->concurrency;
    status = check_span(config, load, error);
    if (!status && load->mode == SIM_LOAD_POISSON) {
        load->arrivals = sim_stream_new((uint64_t)settings->seed, "arrivals");
        if (!load->arrivals) status = sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    }
    if (status) {
        sim_load_free(load);
        return status;
    }
    if (load->mode == SIM_LOAD_TIMESTAMPS && workload->n_requests > 0) load->pending_ns = stamp_of(load, 0);
    *out = load;
    return SIM_OK;
}

void sim_load_free(sim_load *load) {
    if (!load) return;
    sim_stream_free(load->arrivals);
    free(load);
}

bool sim_load_is_closed_loop(const sim_load *load) { return load->mode == SIM_LOAD_CONCURRENCY; }

size_t sim_load_remaining(const sim_load *load) { return load->workload->n_requests - load->next; }

int64_t sim_load_next_time(const sim_load *load, int64_t now_ns) {
    if (load->next == load->workload->n_requests) return SIM_TIME_NEVER;
    int64_t time_ns = now_ns;
    if (sim_load_is_closed_loop(load)) {
        if (load->in_flight >= load->concurrency) return SIM_TIME_NEVER;
    } else if (load->pending_ns > now_ns) {
        time_ns = load->pending_ns;
    }
    return time_ns <= load->admit_until_ns ? time_ns : SIM_TIME_NEVER;
}

uint32_t sim_load_take(sim_load *load, int64_t now_ns) {
    assert(sim_load_next_time(load, now_ns) == now_ns);
    (void)now_ns;
    uint32_t request = (uint32_t)load->next++;
    if (sim_load_is_closed_loop(load))
        load->in_flight++;
    else if (load->next < load->workload->n_requests)
        load->pending_ns = next_arrival(load);
    return request;
}

void sim_load_on_terminal(sim_load *load, uint32_t request, int64_t now_ns) {
    (void)request;
    (void)now_ns;
    if (!sim_load_is_closed_loop(load)) return;
    assert(load->in_flight > 0);
    load->in_flight--;
}
