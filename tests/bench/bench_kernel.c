// SPDX-License-Identifier: GPL-3.0-or-later
//
// Speed of the event queue under the hold model: with a constant number of pending events, take the earliest one and put
// it back at a later time. One "event" is one such pair of pop and push. Increments are drawn before the clock starts.
// One JSON object a line; CPU time, median of five repeats.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim/kernel/clock.h"
#include "sim/kernel/event_queue.h"
#include "sim/kernel/random.h"

enum { N_REPEATS = 5, N_EVENTS = 2000000, N_INCREMENTS = 1 << 16 };

typedef int64_t (*increment_fn)(sim_stream *dice);

static int64_t to_ns(double ms) {
    int64_t ns = 0;
    sim_ns_from_ms(ms, &ns);
    return ns;
}

static int64_t exponential(sim_stream *dice) { return to_ns(sim_stream_exponential(dice, 20)); }
static int64_t mixed(sim_stream *dice) {
    return to_ns(sim_stream_uniform(dice) < 0.9 ? sim_stream_range(dice, 5, 50) : sim_stream_exponential(dice, 30000));
}
static int64_t constant(sim_stream *dice) {
    (void)dice;
    return 20 * SIM_NS_PER_MS;
}

static double cpu_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// CPU seconds of N_EVENTS; `checksum` keeps the work alive and must not depend on the repeat.
static double hold(size_t pending, const int64_t *increments, uint64_t *checksum) {
    sim_event_queue *queue = sim_event_queue_new(pending);
    if (!queue) exit(1);
    for (size_t i = 0; i < pending; i++) {
        // phases spread over one increment
        int64_t time_ns = (int64_t)((double)increments[i % N_INCREMENTS] * ((double)i + 1) / (double)pending);
        if (!sim_event_queue_push(queue, (sim_event){ time_ns, SIM_PHASE_PASS_END, i })) exit(1);
    }
    *checksum = 0;
    double start_s = cpu_s();
    for (size_t i = 0; i < N_EVENTS; i++) {
        sim_event event = { 0 };
        sim_event_queue_pop(queue, &event);
        *checksum = *checksum * 31 + event.id;
        event.time_ns += increments[i % N_INCREMENTS];
        sim_event_queue_push(queue, event);
    }
    double seconds = cpu_s() - start_s;
    sim_event_queue_free(queue);
    return seconds;
}

int main(void) {
    static int64_t increments[N_INCREMENTS];
    const struct {
        const char *name;
        increment_fn draw;
    } shapes[] = { { "exponential", exponential }, { "mixed", mixed }, { "constant", constant } };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        sim_stream *dice = sim_stream_new(42, shapes[s].name);
        if (!dice) return 1;
        for (size_t i = 0; i < N_INCREMENTS; i++) increments[i] = shapes[s].draw(dice);
        sim_stream_free(dice);
        for (size_t pending = 10; pending <= 100000; pending *= 10) {
            double seconds[N_REPEATS];
            uint64_t checksum = 0;
            for (size_t r = 0; r < N_REPEATS; r++) seconds[r] = hold(pending, increments, &checksum);
            qsort(seconds, N_REPEATS, sizeof *seconds, ascending);
            double median_s = seconds[N_REPEATS / 2];
            printf("{\"bench\":\"kernel\",\"case\":\"hold\",\"event\":\"one pop and one push\",\"increments\":\"%s\","
                   "\"pending\":%zu,\"events\":%d,\"cpu_s\":%.6f,\"events_per_s\":%.0f,\"checksum\":%" PRIu64 "}\n",
                   shapes[s].name, pending, N_EVENTS, median_s, N_EVENTS / median_s, checksum);
        }
    }
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
