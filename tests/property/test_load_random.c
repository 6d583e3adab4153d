// SPDX-License-Identifier: GPL-3.0-or-later
//
// A random server takes what arrives and ends it after random times; the arrivals must be those of a naive list of
// times (open loop) or of a count of slots (closed loop).
#include <math.h>

#include "sim/kernel/clock.h"
#include "tests/support/dice.h"
#include "tests/support/workload_fixture.h"

enum { MAX_REQUESTS = 60, ROUNDS = 3000 };

typedef struct served {
    int64_t ends_ns[MAX_REQUESTS]; // of requests in flight, SIM_TIME_NEVER for others
    uint32_t n_in_flight;
} served;

static int64_t earliest_end(const served *server, uint32_t *request) {
    int64_t best_ns = SIM_TIME_NEVER;
    for (uint32_t i = 0; i < MAX_REQUESTS; i++)
        if (server->ends_ns[i] < best_ns) best_ns = server->ends_ns[i], *request = i;
    return best_ns;
}

// When request `i` should arrive in an open loop.
static int64_t due_ns(const sim_workload *workload, const sim_load_config *config, uint32_t i) {
    long double exact = config->mode == SIM_LOAD_CONSTANT
                            ? (long double)i * 1e9L / (long double)config->rate
                            : (long double)workload->requests[i].stamp_ns / (long double)config->speedup;
    return (int64_t)floorl(exact + 0.5L);
}

static void drive(const sim_workload *workload, const sim_load_config *config) {
    sim_load *load;
    cr_assert_eq(sim_load_new(&load, NULL, config, workload, NULL), SIM_OK);
    const bool is_closed = sim_load_is_closed_loop(load);
    const int64_t until_ns = config->admit_until_ns ? config->admit_until_ns : SIM_TIME_NEVER - 1;
    served server = { .n_in_flight = 0 };
    for (uint32_t i = 0; i < MAX_REQUESTS; i++) server.ends_ns[i] = SIM_TIME_NEVER;
    int64_t now_ns = 0;
    for (uint32_t next = 0;;) {
        uint32_t ending = 0;
        int64_t end_ns = earliest_end(&server, &ending), arrival_ns = sim_load_next_time(load, now_ns);
        cr_assert_eq(sim_load_remaining(load), workload->n_requests - next);
        if (is_closed) {
            bool may_come =
                next < workload->n_requests && server.n_in_flight < config->concurrency && now_ns <= until_ns;
            cr_assert_eq(arrival_ns, may_come ? now_ns : SIM_TIME_NEVER);
        } else {
            int64_t due = next < workload->n_requests ? due_ns(workload, config, next) : SIM_TIME_NEVER;
            if (due < now_ns) due = now_ns;
            cr_assert_eq(arrival_ns, due <= until_ns ? due : SIM_TIME_NEVER);
        }
        if (arrival_ns == SIM_TIME_NEVER && end_ns == SIM_TIME_NEVER) break;
        if (end_ns <= arrival_ns) {
            now_ns = end_ns;
            server.ends_ns[ending] = SIM_TIME_NEVER;
            server.n_in_flight--;
            sim_load_on_terminal(load, ending, now_ns);
        } else {
            now_ns = arrival_ns;
            cr_assert_eq(sim_load_take(load, now_ns), next);
            server.ends_ns[next++] = now_ns + (int64_t)dice(2000000);
            server.n_in_flight++;
        }
    }
    sim_load_free(load);
}

Test(load_random, arrivals_agree_with_a_naive_list_of_times_and_slots) {
    for (int round = 0; round < ROUNDS; round++) {
        char text[MAX_REQUESTS * 80];
        const uint32_t n = 1 + (uint32_t)dice(MAX_REQUESTS);
        size_t at = 0;
        for (uint32_t i = 0, ms = 0; i < n; i++, ms += (uint32_t)dice(3))
            at += (size_t)snprintf(text + at, sizeof text - at,
                                   "{\"timestamp\":%u.%u,\"input_length\":1,\"output_length\":1}\n", ms,
                                   (unsigned)dice(10));
        const sim_workload_config settings = trace_settings();
        sim_workload *workload = good_workload(text, &settings);
        sim_load_config config = load_settings();
        config.mode = 1 + (int)dice(3);
        if (config.mode == SIM_LOAD_TIMESTAMPS) config.speedup = dice(2) ? 1 : 0.1 + (double)dice(50) / 7;
        if (config.mode == SIM_LOAD_CONCURRENCY) config.concurrency = 1 + (int64_t)dice(8);
        if (config.mode == SIM_LOAD_CONSTANT) config.rate = 100 + (double)dice(5000) / 3;
        if (dice(3) == 0) config.admit_until_ns = 1 + (int64_t)dice(60000000);
        drive(workload, &config);
        sim_workload_free(workload);
    }
}
