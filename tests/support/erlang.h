// SPDX-License-Identifier: GPL-3.0-or-later
//
// A worker whose passes all last 1 ms, with exponential answers of 500 tokens on average, is an M/M/c queue: c = engine.max_num_seqs servers, service 500 ms. A request waits for a
// server as Erlang's C formula says, up to half a pass for the one that is running and one pass for its own prefill.
#ifndef TESTS_SUPPORT_ERLANG_H
#define TESTS_SUPPORT_ERLANG_H

#include <math.h>

#include "tests/support/plan_fixture.h"

static const double erlang_service_s = 0.5;

// Share of requests that wait longer than `wait_s` (Erlang 1917; Gross and Harris, Fundamentals of Queueing Theory, 2.3).
static inline double erlang_late_share(int servers, double rate, double wait_s) {
    const double offered = rate * erlang_service_s;
    if (offered >= servers) return 1;
    double blocked = 1; // Erlang B, by its recursion
    for (int k = 1; k <= servers; k++) blocked = offered * blocked / (k + offered * blocked);
    const double waits = servers * blocked / (servers - offered * (1 - blocked));
    return waits * exp(-(servers / erlang_service_s - rate) * wait_s);
}

typedef struct erlang_case {
    double rate, ttft_ms, percentile;
} erlang_case;

static inline double erlang_attainment(const erlang_case *c, int servers) {
    return 1 - erlang_late_share(servers, c->rate, (c->ttft_ms - 1.5) / 1e3);
}

static inline int erlang_servers(const erlang_case *c) {
    int servers = 1;
    while (erlang_attainment(c, servers) < c->percentile / 100) servers++;
    return servers;
}

static const char erlang_base[] = "[workload]\ninput_tokens = 1\noutput_tokens = gamma(1, 500)\n"
                                  "[load]\nmode = poisson\nwarmup = 30s\n"
                                  "[kv_cache]\nnum_blocks = 1000000\nprefix_caching = false\n"
                                  "[perfmodel]\nestimator = fixed\nprefill_ms = 1\ndecode_ms = 1\n"
                                  "[plan]\nover = engine.max_num_seqs\nrange = 1:64\n";

// Is Erlang's number what the plan answers, or does its interval around Erlang's share leave the answer open? *is_exact: the former.
static inline void erlang_expect(const erlang_case *c, const char *requests, bool *is_exact) {
    char rate[64], ttft[64], percentile[64];
    snprintf(rate, sizeof rate, "load.rate=%g", c->rate);
    snprintf(ttft, sizeof ttft, "sla.ttft=%gms", c->ttft_ms);
    snprintf(percentile, sizeof percentile, "sla.percentile=%g", c->percentile);
    planned p;
    planned_run(&p, erlang_base, (const char *[]){ requests, rate, ttft, percentile, NULL }, 2);
    cr_assert_eq(p.status, SIM_OK, "%s", p.error.message);
    const int truth = erlang_servers(c);
    *is_exact = planned_value(&p) == truth;
    double low, high;
    bool is_open = false;
    sim_plan_answer_interval(&p.answer, &low, &high);
    for (size_t i = 0; i < p.answer.n_rows; i++) {
        if (p.answer.rows[i].value != truth) continue;
        const sim_interval share =
            sim_plan_point_attainment(p.answer.points, p.answer.rows[i].point, SIM_PLAN_AS_MODELLED);
        const double expected = erlang_attainment(c, truth);
        is_open = low <= truth && truth <= high && share.low <= expected && expected <= share.high;
    }
    cr_expect(*is_exact || is_open, "rate %g, TTFT %g ms, p%g: Erlang %d, plan %g (%g to %g)", c->rate, c->ttft_ms,
              c->percentile, truth, planned_value(&p), low, high);
    fprintf(stderr, "rate %g, TTFT %g ms, p%g: Erlang %d, plan %g (%g to %g), %zu runs\n", c->rate, c->ttft_ms,
            c->percentile, truth, planned_value(&p), low, high, sim_plan_points_n_runs(p.answer.points));
    cr_expect_eq(p.answer.cause.kind, SIM_PLAN_CAUSE_PLACES, "%s", p.answer.cause.text);
    planned_clear(&p);
}

#endif
