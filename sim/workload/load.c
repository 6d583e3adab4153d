// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/workload/load.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "sim/kernel/clock.h"
#include "sim/kernel/event_queue.h"
#include "sim/kernel/random.h"
#include "sim/workload/contradiction.h"

struct sim_load {
    const sim_workload *workload;
    sim_load_mode mode;
    double speedup, rate;
    int64_t admit_until_ns; // SIM_TIME_NEVER without one
    size_t n_given;
    size_t next;                     // request to give out next, of those that wait for nobody
    uint64_t n_starts;               // of those, given out so far
    int64_t pending_ns;              // open loop: arrival of `next`
    uint64_t concurrency, in_flight; // requests or sessions
    sim_stream *arrivals;            // poisson
    // turns that begin after the one before has ended
    uint32_t *successors;   // by request; NULL: nobody waits
    sim_event_queue *turns; // due, by time and request
};

// Round half up; times that do not fit were refused when the load was made. Long double holds every int64 exactly.
static int64_t round_ns(long double ns) { return (int64_t)floorl(ns + 0.5L); }

static int64_t sped_up(const sim_load *load, int64_t ns) {
    return load->speedup == 1 ? ns : round_ns((long double)ns / (long double)load->speedup);
}

// --- turns --------------------------------------------------------------------------------------------------------------

// Recorded arrival times are kept where there are any; else a turn begins when the one before has ended.
static bool waits(const sim_load *load, const sim_request *request) {
    return request->previous != SIM_NO_REQUEST && !(load->mode == SIM_LOAD_TIMESTAMPS && request->has_stamp);
}

// From the end of the turn before to this one: as given, else as far apart as they were recorded.
static int64_t delay_of(const sim_load *load, const sim_request *request) {
    if (request->delay_ns >= 0) return sped_up(load, request->delay_ns);
    int64_t apart_ns = request->stamp_ns - load->workload->requests[request->previous].stamp_ns;
    return apart_ns > 0 ? sped_up(load, apart_ns) : 0;
}

static bool link_turns(sim_load *load) {
    const sim_workload *workload = load->workload;
    if (!workload->has_turns) return true;
    load->successors = malloc(workload->n_requests * sizeof *load->successors);
    load->turns = sim_event_queue_new(workload->n_sessions); // each session has one due at most: pushing never fails
    if (!load->successors || !load->turns) return false;
    for (size_t i = 0; i < workload->n_requests; i++) load->successors[i] = SIM_NO_REQUEST;
    for (size_t i = 0; i < workload->n_requests; i++)
        if (waits(load, &workload->requests[i])) load->successors[workload->requests[i].previous] = (uint32_t)i;
    return true;
}

// --- starts: requests that wait for nobody --------------------------------------------------------------------------------

static void skip_waiting(sim_load *load) {
    while (load->next < load->workload->n_requests && waits(load, &load->workload->requests[load->next])) load->next++;
}

// Arrival of the start load->next, which follows one at load->pending_ns.
static int64_t next_arrival(sim_load *load) {
    switch (load->mode) {
    case SIM_LOAD_TIMESTAMPS:
        return sped_up(load, load->workload->requests[load->next].stamp_ns);
    case SIM_LOAD_CONSTANT:
        return round_ns((long double)load->n_starts * 1e9L / (long double)load->rate);
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

// --- the load -----------------------------------------------------------------------------------------------------------

static sim_status prepare(sim_load *load, const sim_config *config, uint64_t seed, sim_error *error) {
    sim_status status = check_span(config, load, error);
    if (status) return status;
    if (load->mode == SIM_LOAD_POISSON) load->arrivals = sim_stream_new(seed, "arrivals");
    if ((load->mode == SIM_LOAD_POISSON && !load->arrivals) || !link_turns(load))
        return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    skip_waiting(load);
    if (load->mode == SIM_LOAD_TIMESTAMPS && load->next < load->workload->n_requests)
        load->pending_ns = next_arrival(load);
    return SIM_OK;
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
    status = prepare(load, config, (uint64_t)settings->seed, error);
    if (status)
        sim_load_free(load);
    else
        *out = load;
    return status;
}

void sim_load_free(sim_load *load) {
    if (!load) return;
    sim_stream_free(load->arrivals);
    sim_event_queue_free(load->turns);
    free(load->successors);
    free(load);
}

bool sim_load_is_closed_loop(const sim_load *load) { return load->mode == SIM_LOAD_CONCURRENCY; }
bool sim_load_needs_ends(const sim_load *load) { return sim_load_is_closed_loop(load) || load->successors; }

size_t sim_load_remaining(const sim_load *load) { return load->workload->n_requests - load->n_given; }

// When the next start is due, not before now_ns.
static int64_t start_time(const sim_load *load, int64_t now_ns) {
    if (load->next == load->workload->n_requests) return SIM_TIME_NEVER;
    if (sim_load_is_closed_loop(load)) return load->in_flight < load->concurrency ? now_ns : SIM_TIME_NEVER;
    return load->pending_ns > now_ns ? load->pending_ns : now_ns;
}

// When the next turn is due.
static int64_t turn_time(const sim_load *load, int64_t now_ns) {
    sim_event event;
    if (!load->turns || !sim_event_queue_peek(load->turns, &event)) return SIM_TIME_NEVER;
    return event.time_ns > now_ns ? event.time_ns : now_ns;
}

int64_t sim_load_next_time(const sim_load *load, int64_t now_ns) {
    int64_t start_ns = start_time(load, now_ns), turn_ns = turn_time(load, now_ns);
    int64_t time_ns = start_ns < turn_ns ? start_ns : turn_ns;
    return time_ns <= load->admit_until_ns ? time_ns : SIM_TIME_NEVER;
}

static uint32_t take_turn(sim_load *load) {
    sim_event event;
    sim_event_queue_pop(load->turns, &event);
    return (uint32_t)event.id;
}

static uint32_t take_start(sim_load *load) {
    uint32_t request = (uint32_t)load->next++;
    load->n_starts++;
    skip_waiting(load);
    if (sim_load_is_closed_loop(load))
        load->in_flight++;
    else if (load->next < load->workload->n_requests)
        load->pending_ns = next_arrival(load);
    return request;
}

uint32_t sim_load_take(sim_load *load, int64_t now_ns) {
    assert(sim_load_next_time(load, now_ns) == now_ns);
    bool is_turn = turn_time(load, now_ns) == now_ns;
    if (is_turn && start_time(load, now_ns) == now_ns) { // of two that are due the lower index
        sim_event event;
        sim_event_queue_peek(load->turns, &event);
        is_turn = event.id < load->next;
    }
    load->n_given++;
    return is_turn ? take_turn(load) : take_start(load);
}

void sim_load_on_terminal(sim_load *load, uint32_t request, int64_t now_ns) {
    uint32_t successor = load->successors ? load->successors[request] : SIM_NO_REQUEST;
    if (successor != SIM_NO_REQUEST) {
        int64_t due_ns;
        if (!sim_ns_add(now_ns, delay_of(load, &load->workload->requests[successor]), &due_ns))
            due_ns = SIM_TIME_NEVER - 1;
        bool is_pushed = sim_event_queue_push(load->turns, (sim_event){ due_ns, SIM_PHASE_ADMISSION, successor });
        assert(is_pushed);
        (void)is_pushed;
    } else if (sim_load_is_closed_loop(load)) {
        assert(load->in_flight > 0);
        load->in_flight--; // a session keeps its slot through all turns and think times
    }
}
