// SPDX-License-Identifier: GPL-3.0-or-later
//
// What sim_outlook_best says while a run goes on is never worse than what the run comes to, whatever the figure and the run; and it gets near it.
#include <cjson/cJSON.h>
#include <math.h>

#include "sim/experiment/trial.h"
#include "sim/report/outlook.h"
#include "tests/support/dice.h"
#include "tests/support/replay.h"

enum { MAX_FIGURES = 200, MAX_LOOKS = 16 };

typedef struct looks {
    char names[MAX_FIGURES][96];
    size_t n_names;
    bool is_smaller_better[MAX_FIGURES];
    double best[MAX_LOOKS][MAX_FIGURES];
    size_t n;
} looks;

static bool look(void *self, const sim_run_facts *facts, double *values) {
    looks *all = self;
    cr_assert_lt(all->n, MAX_LOOKS);
    for (size_t i = 0; i < all->n_names; i++) all->best[all->n][i] = sim_outlook_best(facts, all->names[i], values);
    all->n++;
    return true;
}

static void add_covered(looks *all, const char *block, const cJSON *item) {
    char key[96];
    snprintf(key, sizeof key, "%s%s%s", block, *block ? "." : "", item->string);
    for (int smaller = 0; smaller < 2; smaller++) {
        if (!sim_outlook_covers(key, smaller)) continue;
        cr_assert_lt(all->n_names, MAX_FIGURES);
        strcpy(all->names[all->n_names], key);
        all->is_smaller_better[all->n_names++] = smaller;
    }
}

// Every figure of such a run's summary that it says something about.
static void list_figures(looks *all, const char *const *sets) {
    replay r;
    const cJSON *item;
    replay_run(&r, sets);
    cr_assert_eq(r.status, SIM_OK, "%s", r.error.message);
    cJSON *summary = sim_summary_json(r.summary);
    cJSON_ArrayForEach(item, summary) if (cJSON_IsRaw(item)) add_covered(all, "", item);
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(summary, "cost")) add_covered(all, "cost", item);
    cJSON_Delete(summary);
    replay_free(&r);
}

static const char *const engines[] = { "engine.backend=vllm", "engine.backend=sglang", "engine.backend=trtllm" };
static const char *const cuts[] = { "load.max_time=0",         "load.max_time=40s", "load.admit_until=30s",
                                    "load.warmup_requests=40", "load.warmup=10s",   "kv_cache.num_blocks=64" };

typedef struct random_run {
    char requests[64], rate[64], replicas[64], input[64];
    const char *sets[16];
} random_run;

static void draw_run(random_run *run) {
    size_t n = 0;
    snprintf(run->requests, sizeof run->requests, "workload.requests=%d", 1 + (int)dice(400));
    snprintf(run->rate, sizeof run->rate, "load.rate=%d", 1 + (int)dice(40));
    snprintf(run->replicas, sizeof run->replicas, "cluster.replicas=%d", 1 + (int)dice(3));
    snprintf(run->input, sizeof run->input, "workload.input_tokens=lognormal(%d, 1)", 50 + (int)dice(2000));
    run->sets[n++] = run->requests;
    run->sets[n++] = run->rate;
    run->sets[n++] = run->replicas;
    run->sets[n++] = run->input;
    run->sets[n++] = engines[dice(3)];
    run->sets[n++] = "load.mode=poisson";
    run->sets[n++] = "workload.output_tokens=gamma(1, 60)";
    run->sets[n++] = "kv_cache.num_blocks=2000";
    run->sets[n++] = "cluster.gpu_hour_price=2.5";
    run->sets[n++] = "sla.ttft=500ms";
    run->sets[n++] = "sla.tpot=30ms";
    run->sets[n++] = "report.percentiles=10, 50, 90, 99, 99.9";
    run->sets[n++] = cuts[dice(6)];
    run->sets[n] = NULL;
}

static void check_run(const random_run *run, looks *all, double *nearest) {
    replay r;
    const sim_run_watch watch = { look, all };
    all->n = 0;
    replay_run_watched(&r, run->sets, &watch);
    if (r.status == SIM_DEAD_END) { // a pool too small for an answer
        replay_free(&r);
        return;
    }
    cr_assert_eq(r.status, SIM_OK, "%s", r.error.message);
    cJSON *summary = sim_summary_json(r.summary);
    for (size_t i = 0; i < all->n_names; i++) {
        double end;
        cr_assert(sim_summary_figure(summary, all->names[i], &end), "%s", all->names[i]);
        if (r.summary->completed_requests == 0) continue; // latencies of nothing are zero
        for (size_t k = 0; k < all->n; k++) {
            const double best = all->best[k][i], rounding = 1e-12 * fabs(end);
            const bool holds = all->is_smaller_better[i] ? best <= end + rounding : best >= end - rounding;
            cr_assert(holds, "%s: %.17g at best at look %zu, %.17g at the end (%s, %s, %s, %s, %s, %s)", all->names[i],
                      best, k, end, run->requests, run->rate, run->replicas, run->input, run->sets[4], run->sets[12]);
            if (end > 0 && best > 0) nearest[i] = fmin(nearest[i], fabs(best / end - 1));
        }
    }
    cJSON_Delete(summary);
    replay_free(&r);
}

Test(outlook, is_never_worse_than_the_end_and_gets_near_it) {
    static looks all;
    double nearest[MAX_FIGURES];
    random_run run;
    draw_run(&run);
    list_figures(&all, run.sets);
    cr_assert_geq(all.n_names, 50, "%zu", all.n_names);
    for (size_t i = 0; i < all.n_names; i++) nearest[i] = (double)INFINITY;
    for (int n = 0; n < 120; n++) {
        check_run(&run, &all, nearest);
        draw_run(&run);
    }
    for (size_t i = 0; i < all.n_names; i++)
        if (strncmp(all.names[i], "min_", 4) != 0) // which is zero to the last
            cr_expect_lt(nearest[i], 0.2, "%s: never nearer than %g", all.names[i], nearest[i]);
}

Test(outlook, says_nothing_of_what_may_turn_either_way) {
    cr_expect(sim_outlook_covers("p99_9_ttft_ms", true));
    cr_expect(sim_outlook_covers("cost.total_cost", true));
    cr_expect(sim_outlook_covers("sla_attainment", false));
    cr_expect_not(sim_outlook_covers("p99_ttft_ms", false), "a latency that shall be large");
    cr_expect_not(sim_outlook_covers("sla_attainment", true));
    cr_expect_not(sim_outlook_covers("std_ttft_ms", true));
    cr_expect_not(sim_outlook_covers("prefix_cache_reused_ratio", false));
    cr_expect_not(sim_outlook_covers("p_ttft_ms", true));
    cr_expect_not(sim_outlook_covers("pxx_ttft_ms", true));
    cr_expect_not(sim_outlook_covers("mean_output_token_throughput_per_user", false));
}

// 400 requests a second apart, each 100 ms of prefill and one token. The run looks up every 64 passes: then 336 zeros stand beside 64 times 100 ms, and 63.1 s
// have gone by.
typedef struct first_look {
    double mean, median, p90, rate;
    bool is_taken;
} first_look;

static bool take_first(void *self, const sim_run_facts *facts, double *values) {
    first_look *first = self;
    if (first->is_taken) return false; // the second look gives the run up
    *first =
        (first_look){ sim_outlook_best(facts, "mean_ttft_ms", values),
                      sim_outlook_best(facts, "median_ttft_ms", values), sim_outlook_best(facts, "p90_ttft_ms", values),
                      sim_outlook_best(facts, "request_throughput_rps", values), true };
    return true;
}

Test(outlook, takes_what_is_open_for_zeros_and_the_last_end_for_the_end) {
    static const char *const sets[] = { "workload.requests=400",
                                        "workload.input_tokens=16",
                                        "workload.output_tokens=1",
                                        "load.mode=constant",
                                        "load.rate=1",
                                        "kv_cache.num_blocks=64",
                                        "perfmodel.estimator=fixed",
                                        "perfmodel.prefill_ms=100",
                                        "perfmodel.decode_ms=10",
                                        NULL };
    replay r;
    first_look first = { .is_taken = false };
    const sim_run_watch watch = { take_first, &first };
    replay_run_watched(&r, sets, &watch);
    cr_expect_eq(r.status, SIM_GIVEN_UP);
    cr_expect_float_eq(first.mean, 16, 1e-9);
    cr_expect_eq(first.median, 0);
    cr_expect_eq(first.p90, 100);
    cr_expect_float_eq(first.rate, 400 / 63.1, 1e-9);
    replay_free(&r);
}
