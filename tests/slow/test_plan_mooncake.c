// SPDX-License-Identifier: GPL-3.0-or-later
//
// Issue 7, point 4, on the real trace: what lies next to the answer fails the SLA in runs of its own, and the cost is the logarithm of the range.
#include <stdio.h>
#include <unistd.h>

#include "sim/experiment/trial.h"
#include "tests/support/plan_fixture.h"

static const char trace[] = SHARED_DIR "/traces/mooncake/conversation_trace.jsonl";
static const char base[] =
    "[workload]\nsource = trace\nformat = mooncake\npath = " SHARED_DIR "/traces/mooncake/conversation_trace.jsonl\n"
    "[kv_cache]\nblock_size = 512\nnum_blocks = 16384\n[perfmodel]\nestimator = polynomial\n"
    "[cluster]\nreplicas = 8\n[sla]\nttft = 4s\ntpot = 60ms\npercentile = 95\n";

static void skip_without_trace(void) {
    if (access(trace, R_OK) == 0) return;
    fprintf(stderr, "SKIPPED: %s is not there\n", trace);
    cr_skip_test("no trace");
}

// Attainment of a run of its own, by the summary.
static double attainment(const planned *p, const char *const *sets) {
    sim_config *config;
    sim_trials *trials;
    sim_trial trial;
    sim_error error;
    double share;
    cr_assert_eq(sim_config_copy(&config, p->config, &error), SIM_OK);
    for (; *sets; sets++) cr_assert_eq(sim_config_set(config, *sets, &error), SIM_OK, "%s", error.message);
    cr_assert_eq(sim_trials_new(&trials, 1, NULL, &error), SIM_OK);
    cr_assert_eq(sim_trial_run(trials, config, &trial, &error), SIM_OK, "%s", error.message);
    cr_assert(sim_trial_figure(&trial, "sla_attainment", &share));
    sim_trial_clear(&trial);
    sim_trials_free(trials);
    sim_config_free(config);
    return share;
}

Test(plan_mooncake, one_replica_fewer_than_the_answer_fails, .timeout = 600) {
    skip_without_trace();
    for (int ms = 1500; ms <= 4500; ms += 1000) {
        planned p;
        char ttft[32], fewer[64], enough[64];
        snprintf(ttft, sizeof ttft, "sla.ttft=%dms", ms);
        planned_run(&p, base, (const char *[]){ ttft, "plan.range=1:64", NULL }, 2);
        cr_assert_eq(p.status, SIM_OK, "%s", p.error.message);
        cr_assert(planned_choice(&p)->point);
        const double answer = planned_value(&p);
        snprintf(enough, sizeof enough, "cluster.replicas=%.0f", answer);
        snprintf(fewer, sizeof fewer, "cluster.replicas=%.0f", answer - 1);
        for (int seed = 1; seed <= 3; seed++) {
            char seeded[32];
            snprintf(seeded, sizeof seeded, "load.seed=%d", seed * 1000);
            cr_expect(attainment(&p, (const char *[]){ seeded, enough, NULL }) >= 0.95, "%s", enough);
            if (answer > 1) cr_expect(attainment(&p, (const char *[]){ seeded, fewer, NULL }) < 0.95, "%s", fewer);
        }
        fprintf(stderr, "TTFT %d ms: %g replicas, %zu runs\n", ms, answer, sim_plan_points_n_runs(p.answer.points));
        cr_expect(sim_plan_points_n_runs(p.answer.points) < 100);
        planned_clear(&p);
    }
}

Test(plan_mooncake, three_per_cent_more_load_than_the_answer_fails, .timeout = 600) {
    skip_without_trace();
    for (int ms = 2000; ms <= 6000; ms += 2000) {
        planned p;
        char ttft[32], more[64], most[64];
        snprintf(ttft, sizeof ttft, "sla.ttft=%dms", ms);
        planned_run(&p, base, (const char *[]){ ttft, "plan.find=max_rate", "plan.range=0.5:64", NULL }, 2);
        cr_assert_eq(p.status, SIM_OK, "%s", p.error.message);
        cr_assert(planned_choice(&p)->point);
        const double speedup = planned_value(&p) / p.answer.space.trace_rate;
        snprintf(most, sizeof most, "load.speedup=%.17g", speedup);
        snprintf(more, sizeof more, "load.speedup=%.17g", speedup * 1.03);
        for (int seed = 1; seed <= 3; seed++) {
            char seeded[32];
            snprintf(seeded, sizeof seeded, "load.seed=%d", seed * 1000);
            cr_expect(attainment(&p, (const char *[]){ seeded, most, NULL }) >= 0.95, "%s", most);
            cr_expect(attainment(&p, (const char *[]){ seeded, more, NULL }) < 0.95, "%s", more);
        }
        fprintf(stderr, "TTFT %d ms: %g requests/s, %zu runs\n", ms, planned_value(&p),
                sim_plan_points_n_runs(p.answer.points));
        planned_clear(&p);
    }
}

// Bisection adds one value for each doubling of the range, and each value is run twice.
Test(plan_mooncake, the_cost_is_the_logarithm_of_the_range, .timeout = 600) {
    skip_without_trace();
    size_t before = 0;
    for (int high = 16; high <= 1024; high *= 8) {
        planned p;
        char range[32];
        snprintf(range, sizeof range, "plan.range=1:%d", high);
        planned_run(&p, base, (const char *[]){ "workload.limit=3000", range, NULL }, 2);
        cr_assert_eq(p.status, SIM_OK, "%s", p.error.message);
        const size_t n_runs = sim_plan_points_n_runs(p.answer.points);
        fprintf(stderr, "1:%d: %g replicas, %zu runs\n", high, planned_value(&p), n_runs);
        cr_expect(before == 0 || n_runs <= before + 3 * 2 + 8, "%zu runs after %zu", n_runs, before);
        before = n_runs;
        planned_clear(&p);
    }
}
