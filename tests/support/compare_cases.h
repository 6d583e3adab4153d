// SPDX-License-Identifier: GPL-3.0-or-later
//
// How often intervals of a comparison hold the truth: pairs of runs that differ in one key, on synthetic loads that differ in their seed. The truth is the
// difference of the expected values, from many other seeds.
#ifndef TESTS_SUPPORT_COMPARE_CASES_H
#define TESTS_SUPPORT_COMPARE_CASES_H

#include <math.h>

#include "sim/experiment/compare.h"
#include "sim/kernel/random.h"
#include "tests/support/replay.h"

enum { COMPARE_MAX_FIGURES = 24 };

typedef struct compare_case {
    const char *name;
    const char *common[12]; // keys of both; ends with NULL
    const char *a, *b;      // the key that differs
} compare_case;

// The load is even enough for its length: a request stays in the system for less than a thirtieth of the run.
#define COMPARE_LOAD                                                                            \
    "load.mode=poisson", "workload.requests=2500", "workload.input_tokens=lognormal(800, 0.8)", \
        "workload.output_tokens=uniform(5, 60)", "kv_cache.num_blocks=100000"

static const compare_case compare_cases[] = {
    { "replicas halved", { COMPARE_LOAD, "load.rate=30", NULL }, "cluster.replicas=4", "cluster.replicas=2" },
    { "batched tokens changed",
      { COMPARE_LOAD, "load.rate=20", "cluster.replicas=2", NULL },
      "engine.max_num_batched_tokens=8192",
      "engine.max_num_batched_tokens=512" },
};

typedef struct compare_run {
    replay replay;
    sim_request_table table;
} compare_run;

static inline void compare_run_new(compare_run *run, const compare_case *of, const char *own, int seed) {
    const char *sets[16];
    char seed_set[32];
    size_t n = 0;
    for (; of->common[n]; n++) sets[n] = of->common[n];
    snprintf(seed_set, sizeof seed_set, "load.seed=%d", seed);
    sets[n++] = own;
    sets[n++] = seed_set;
    sets[n] = NULL;
    replay_run(&run->replay, sets);
    cr_assert_eq(run->replay.status, SIM_OK, "%s", run->replay.error.message);
    const sim_run_facts *facts = run->replay.summary->facts;
    cr_assert_eq(sim_request_table_of(&run->table, facts->collector, facts->workload, NULL), SIM_OK);
}

static inline void compare_run_free(compare_run *run) {
    sim_request_table_clear(&run->table);
    replay_free(&run->replay);
}

static inline void compare_tables(const sim_request_table *a, const sim_request_table *b, sim_pairing *pairing,
                                  sim_compared_figures *figures) {
    const sim_pairing_rule rule = { .has_given_arrivals = true };
    const sim_compared_run runs[2] = { { a, NULL }, { b, NULL } };
    const sim_row_pool_options pool = { .n_threads = 1 };
    sim_error error = { 0 };
    cr_assert_eq(
        sim_pairing_new(pairing, (const sim_request_table *[]){ a, b }, (const char *[]){ "A", "B" }, &rule, &error),
        SIM_OK);
    cr_assert_eq(sim_compared_figures_new(figures, runs, pairing, 42, &pool, &error), SIM_OK, "%s", error.message);
}

typedef struct compare_tally {
    int n_truth, n_seeds;
    double a[COMPARE_MAX_FIGURES], b[COMPARE_MAX_FIGURES]; // expected values
    int n_covered[COMPARE_MAX_FIGURES], n_named[COMPARE_MAX_FIGURES];
    char keys[COMPARE_MAX_FIGURES][48];
    size_t n_figures;
} compare_tally;

// The means and percentiles of the summary are those of the comparison (a test of its own), so the truth needs no bootstrap.
static inline void compare_truth_of(compare_tally *tally, const compare_case *of, int n) {
    for (int s = 0; s < n; s++) {
        for (int side = 0; side < 2; side++) {
            compare_run run;
            compare_run_new(&run, of, side ? of->b : of->a, 100000 + s);
            const sim_statistics *latencies[] = { &run.replay.summary->ttft_ms, &run.replay.summary->tpot_ms,
                                                  &run.replay.summary->e2e_latency_ms };
            size_t at = 0;
            double *to = side ? tally->b : tally->a;
            for (size_t l = 0; l < 3; l++) {
                const double *p = latencies[l]->percentiles; // of 50, 75, 90, 95, 99
                const double values[] = { latencies[l]->mean, p[0], p[2], p[3], p[4] };
                for (size_t v = 0; v < 5; v++) to[at++] += values[v] / n;
            }
            compare_run_free(&run);
        }
    }
    tally->n_truth = n;
}

static inline void compare_seeds(compare_tally *tally, const compare_case *of, int n) {
    for (int s = 0; s < n; s++) {
        compare_run runs[2];
        compare_run_new(&runs[0], of, of->a, s + 1);
        compare_run_new(&runs[1], of, of->b, s + 1);
        sim_pairing pairing;
        sim_compared_figures figures;
        compare_tables(&runs[0].table, &runs[1].table, &pairing, &figures);
        cr_assert(pairing.is_paired);
        for (size_t i = 0; i < 15; i++) {
            const sim_difference *difference = &figures.set.estimates[i].difference;
            const double truth = tally->b[i] / tally->a[i] - 1;
            snprintf(tally->keys[i], sizeof tally->keys[i], "%s", figures.figures[i].key);
            tally->n_covered[i] +=
                difference->relative_interval.low <= truth && truth <= difference->relative_interval.high;
            tally->n_named[i] += difference->is_significant && (difference->relative > 0) == (truth > 0);
        }
        sim_compared_figures_clear(&figures);
        sim_pairing_clear(&pairing);
        for (int side = 0; side < 2; side++) compare_run_free(&runs[side]);
    }
    tally->n_seeds = n;
    tally->n_figures = 15;
}

#endif
