// SPDX-License-Identifier: GPL-3.0-or-later
//
// Whole plans, of experiments that take milliseconds.
#include "tests/support/plan_fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include "sim/experiment/plan/plan_report.h"

// A closed loop of 40 requests on one worker: few places make requests wait (TTFT), many make decode steps long (TPOT).
static const char window[] = "[workload]\nrequests = 600\ninput_tokens = 200\noutput_tokens = uniform(80, 120)\n"
                             "[load]\nmode = concurrency\nconcurrency = 40\nwarmup_requests = 100\n"
                             "[kv_cache]\nnum_blocks = 900\nprefix_caching = false\n"
                             "[perfmodel]\nestimator = polynomial\n"
                             "[sla]\nttft = 2200ms\ntpot = 30ms\npercentile = 95\n"
                             "[plan]\nover = engine.max_num_seqs\nrange = 1:64\n";
// A cluster of fixed passes under Poisson arrivals, each worker one request at a time: 110 ms each.
static const char open_loop[] = "[workload]\nrequests = 800\ninput_tokens = 16\noutput_tokens = 11\n"
                                "[load]\nmode = poisson\nrate = 20\n"
                                "[engine]\nmax_num_seqs = 1\n[kv_cache]\nnum_blocks = 100\n"
                                "[perfmodel]\nestimator = fixed\nprefill_ms = 10\ndecode_ms = 10\n"
                                "[sla]\nttft = 300ms\npercentile = 90\n"
                                "[plan]\nrange = 1:16\n";

#define RUN(p, text, ...) planned_run(p, text, (const char *[]){ __VA_ARGS__, NULL }, 1)
#define RUN_PLAIN(p, text) planned_run(p, text, (const char *[]){ NULL }, 1)

static sim_plan_verdict verdict_at(const planned *p, double value) {
    for (size_t i = 0; i < p->answer.n_rows; i++)
        if (p->answer.rows[i].value == value) return p->answer.rows[i].point->verdicts[SIM_PLAN_AS_MODELLED];
    return SIM_PLAN_OPEN;
}

Test(plan_answer, is_the_smallest_value_that_meets_the_sla) {
    planned p;
    RUN_PLAIN(&p, open_loop);
    cr_assert_eq(p.status, SIM_OK, "%s", p.error.message);
    const double answer = planned_value(&p);
    cr_expect(answer > 2 && answer < 8, "%g", answer); // 2.2 workers would be busy all the time
    cr_expect_eq(verdict_at(&p, answer), SIM_PLAN_MEETS);
    cr_expect_eq(verdict_at(&p, answer - 1), SIM_PLAN_MISSES);
    cr_expect(planned_choice(&p)->found.is_monotone);
    cr_expect_eq(planned_choice(&p)->point->gpus, (uint64_t)answer);
    cr_expect_eq(p.answer.beyond_value, answer - 1);
    cr_expect_eq(p.answer.cause.kind, SIM_PLAN_CAUSE_PLACES, "%s", p.answer.cause.text);
    cr_expect(p.answer.headroom.is_known && p.answer.headroom.factor >= 1);
    planned_clear(&p);
}

Test(plan_answer, of_a_load_is_the_highest_that_meets_the_sla) {
    planned p;
    RUN(&p, open_loop, "plan.find=max_rate", "plan.range=1:100", "plan.resolution=0.2", "cluster.replicas=4");
    cr_assert_eq(p.status, SIM_OK, "%s", p.error.message);
    cr_expect(planned_value(&p) > 4 && planned_value(&p) < 36, "%g", planned_value(&p)); // 4 workers serve 36 a second
    cr_expect_gt(p.answer.beyond_value, planned_value(&p));
    cr_expect_not(p.answer.headroom.is_known);
    planned_clear(&p);
    RUN(&p, window, "plan.find=max_concurrency", "plan.over=cluster.replicas", "engine.max_num_seqs=24",
        "plan.range=1:200");
    cr_assert_eq(p.status, SIM_OK, "%s", p.error.message);
    cr_expect(planned_value(&p) >= 36 && planned_value(&p) <= 44, "%g", planned_value(&p));
    planned_clear(&p);
}

Test(plan_answer, is_found_inside_a_range_whose_ends_both_miss_the_sla) {
    planned p;
    RUN_PLAIN(&p, window);
    cr_assert_eq(p.status, SIM_OK, "%s", p.error.message);
    cr_assert(planned_choice(&p)->point);
    const double answer = planned_value(&p);
    cr_expect(answer >= 22 && answer <= 27, "%g", answer);
    cr_expect_neq(verdict_at(&p, answer - 1), SIM_PLAN_MEETS);
    cr_expect_not(planned_choice(&p)->found.is_monotone);
    cr_expect_eq(planned_choice(&p)->found.safe, SIM_PLAN_NOWHERE);
    cr_assert_geq(p.answer.warnings.n, 1);
    cr_expect(strstr(p.answer.warnings.items[0], "not monotone"), "%s", p.answer.warnings.items[0]);
    planned_clear(&p);
}

Test(plan_answer, names_the_bound_and_what_is_waited_for) {
    static const struct {
        const char *base, *sets[6];
        sim_plan_bound bound;
        sim_plan_cause_kind kind;
    } cases[] = {
        { open_loop, { "cluster.replicas=1" }, SIM_PLAN_TTFT, SIM_PLAN_CAUSE_PLACES },
        // more places do not help while every pass prefills one long prompt
        { open_loop,
          { "perfmodel.prefill_ms=60", "workload.input_tokens=8192", "workload.output_tokens=1",
            "kv_cache.num_blocks=10k", "engine.max_num_seqs=64" },
          SIM_PLAN_TTFT,
          SIM_PLAN_CAUSE_PREFILL },
        { open_loop, { "perfmodel.prefill_ms=400", "load.rate=1" }, SIM_PLAN_TTFT, SIM_PLAN_CAUSE_PROMPT },
        { open_loop, { "sla.ttft=", "sla.tpot=5ms" }, SIM_PLAN_TPOT, SIM_PLAN_CAUSE_DECODE },
        { window, { "engine.max_num_seqs=64", "sla.ttft=100s" }, SIM_PLAN_TPOT, SIM_PLAN_CAUSE_BATCH },
        { window,
          { "engine.max_num_seqs=64", "kv_cache.num_blocks=300", "sla.tpot=" },
          SIM_PLAN_TTFT,
          SIM_PLAN_CAUSE_BLOCKS },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        planned p = { .options = { .n_threads = 1 } };
        sim_plan_config plan;
        sim_plan_points *points;
        sim_plan_point *point;
        sim_plan_cause cause;
        cr_assert_eq(sim_config_new(&p.config, sim_settings_tables, sim_settings_n_tables, &p.error), SIM_OK);
        cr_assert_eq(sim_config_load_text(p.config, cases[i].base, strlen(cases[i].base), "plan", &p.error), SIM_OK);
        for (int k = 0; k < 6 && cases[i].sets[k]; k++)
            cr_assert_eq(sim_config_set(p.config, cases[i].sets[k], &p.error), SIM_OK, "%s", p.error.message);
        sim_config_fill(p.config, &sim_plan_keys, &plan);
        sim_plan_choose_over(&plan);
        cr_assert_eq(sim_plan_points_new(&points, p.config, &plan, &p.options, &p.error), SIM_OK);
        cr_assert_eq(sim_plan_points_find(points, "", &point, &p.error), SIM_OK);
        cr_assert_eq(sim_plan_points_judge(points, &point, 1, SIM_PLAN_AS_MODELLED, &p.error), SIM_OK);
        cr_expect_eq(point->verdicts[SIM_PLAN_AS_MODELLED], SIM_PLAN_MISSES, "case %zu", i);
        cr_assert_eq(sim_plan_explain(points, point, &cause, &p.error), SIM_OK);
        cr_expect(cause.kind == cases[i].kind && cause.bound == cases[i].bound, "case %zu: %s", i, cause.text);
        sim_plan_points_free(points);
        sim_config_free(p.config);
    }
}

Test(plan_answer, of_layouts_is_the_cheapest_that_meets_the_sla) {
    planned p;
    RUN(&p, open_loop, "plan.find=min_cost", "plan.over=layouts", "plan.layout_1=cluster.replicas=12",
        "plan.layout_2=cluster.replicas=1", "plan.layout_3=cluster.replicas=9");
    cr_assert_eq(p.status, SIM_OK, "%s", p.error.message);
    cr_expect_str_eq(planned_choice(&p)->point->assignments, "cluster.replicas=9");
    cr_expect_str_eq(p.answer.beyond->assignments, "cluster.replicas=1");
    planned_clear(&p);
    // dear GPUs that are few against cheap ones that are many
    RUN(&p, open_loop, "plan.find=min_cost", "plan.over=layouts",
        "plan.layout_1=cluster.replicas=12 cluster.gpu_hour_price=1",
        "plan.layout_2=cluster.replicas=9 cluster.gpu_hour_price=2");
    cr_assert_eq(p.status, SIM_OK, "%s", p.error.message);
    cr_expect_eq(planned_choice(&p)->point->gpus, 12);
    planned_clear(&p);
    RUN(&p, open_loop, "plan.find=min_cost", "plan.over=layouts", "plan.layout_1=cluster.replicas=12",
        "plan.layout_2=cluster.replicas=9 cluster.gpu_hour_price=2");
    cr_expect_eq(p.status, SIM_USAGE);
    cr_expect(strstr(p.error.message, "price"), "%s", p.error.message);
    planned_clear(&p);
}

// One request at a time, or four at a time on a worker that costs two GPUs.
Test(plan_answer, of_a_mix_is_the_cheapest_of_all_pairs) {
    planned p, each;
    RUN(&p, open_loop, "plan.find=min_cost", "plan.over=engine.max_num_seqs, cluster.replicas", "plan.range=1:3, 1:16");
    cr_assert_eq(p.status, SIM_OK, "%s", p.error.message);
    RUN(&each, open_loop, "engine.max_num_seqs=3");
    cr_assert_eq(each.status, SIM_OK, "%s", each.error.message);
    cr_expect_eq(planned_choice(&p)->point->gpus, planned_choice(&each)->point->gpus);
    planned_clear(&p);
    planned_clear(&each);
}

Test(plan_answer, says_what_is_missed_where_nothing_meets_the_sla) {
    planned p;
    char text[512];
    RUN(&p, open_loop, "plan.range=1:2");
    cr_assert_eq(p.status, SIM_OK, "%s", p.error.message);
    cr_expect_null(planned_choice(&p)->point);
    sim_plan_answer_refusal(&p.answer, text, sizeof text);
    cr_expect(strstr(text, "no value of cluster.replicas in 1:2 meets [sla]: at 2,"), "%s", text);
    cr_expect(strstr(text, "p90 TTFT is"), "%s", text);
    planned_clear(&p);
}

Test(plan_answer, is_the_lowest_value_where_the_whole_range_meets_the_sla) {
    planned p;
    RUN(&p, open_loop, "plan.range=10:16");
    cr_assert_eq(p.status, SIM_OK, "%s", p.error.message);
    cr_expect_eq(planned_value(&p), 10);
    cr_expect_null(p.answer.beyond);
    planned_clear(&p);
}

// 90 % is what three workers reach on average, as near as this load can be cut.
Test(plan_answer, is_an_interval_where_replicates_do_not_decide) {
    planned p;
    double low, high;
    RUN(&p, open_loop, "plan.max_repeats=2", "sla.percentile=90", "workload.requests=60", "plan.resolution=0.01",
        "plan.find=max_rate", "plan.range=5:60", "cluster.replicas=4");
    cr_assert_eq(p.status, SIM_OK, "%s", p.error.message);
    cr_assert(planned_choice(&p)->point);
    sim_plan_answer_interval(&p.answer, &low, &high);
    cr_expect_lt(low, high);
    cr_expect_eq(low, planned_value(&p), "the load that is certain to be served");
    planned_clear(&p);
}

Test(plan_answer, tells_what_an_error_of_the_model_does_to_it) {
    planned p;
    RUN(&p, open_loop, "plan.model_error_ttft=0.6");
    cr_assert_eq(p.status, SIM_OK, "%s", p.error.message);
    cr_expect_str_eq(p.answer.model_error.source, "plan");
    const sim_plan_choice *slower = &p.answer.choices[SIM_PLAN_SLOWER], *faster = &p.answer.choices[SIM_PLAN_FASTER];
    cr_assert(slower->point && faster->point);
    cr_expect_gt(slower->point->gpus, planned_choice(&p)->point->gpus);
    cr_expect_leq(faster->point->gpus, planned_choice(&p)->point->gpus);
    planned_clear(&p);
}

Test(plan_answer, by_max_repeats_of_one_is_of_single_runs) {
    planned p;
    RUN(&p, open_loop, "plan.max_repeats=1");
    cr_assert_eq(p.status, SIM_OK, "%s", p.error.message);
    cr_expect_eq(planned_choice(&p)->point->n_replicates, 1);
    cr_expect_str_eq(sim_plan_judged_by(&p.answer), "run");
    planned_clear(&p);
}

// Fixed arrivals and lengths: nothing is drawn.
Test(plan_answer, runs_a_value_once_where_the_seed_changes_nothing) {
    planned p;
    RUN(&p, open_loop, "load.mode=constant");
    cr_assert_eq(p.status, SIM_OK, "%s", p.error.message);
    cr_expect(planned_choice(&p)->point->is_seedless);
    cr_expect_eq(planned_choice(&p)->point->n_replicates, 1);
    planned_clear(&p);
    RUN(&p, open_loop, "load.mode=constant", "plan.judge_by=batches");
    cr_assert_eq(p.status, SIM_OK, "%s", p.error.message);
    cr_expect_str_eq(sim_plan_judged_by(&p.answer), "batches");
    planned_clear(&p);
}

static char *json_of(const planned *p) {
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    cr_assert_eq(sim_plan_write_json(&p->answer, out, NULL), SIM_OK);
    fclose(out);
    return text;
}

Test(plan_answer, is_the_same_at_any_number_of_threads) {
    planned one, three;
    planned_run(&one, open_loop, (const char *[]){ NULL }, 1);
    planned_run(&three, open_loop, (const char *[]){ NULL }, 3);
    char *a = json_of(&one), *b = json_of(&three);
    cr_expect_str_eq(a, b);
    free(a);
    free(b);
    planned_clear(&one);
    planned_clear(&three);
}

Test(plan_answer, stops_at_a_signal) {
    volatile sig_atomic_t stopped = SIGINT;
    planned p = { .options = { .n_threads = 1, .stopped = &stopped } };
    cr_assert_eq(sim_config_new(&p.config, sim_settings_tables, sim_settings_n_tables, &p.error), SIM_OK);
    cr_assert_eq(sim_config_load_text(p.config, open_loop, strlen(open_loop), "plan", &p.error), SIM_OK);
    cr_expect_eq(sim_plan_execute(p.config, &p.options, &p.answer, &p.error), SIM_INTERRUPTED);
    stopped = SIGTERM;
    cr_expect_eq(sim_plan_execute(p.config, &p.options, &p.answer, &p.error), SIM_TERMINATED);
    sim_config_free(p.config);
}

static volatile sig_atomic_t stopped;
static void stop(int signal_number) { stopped = signal_number; }

// The plan above with many more requests, stopped after so many milliseconds.
static void run_stopped(planned *p, int ms) {
    static const char *const sets[] = { "workload.requests=20000", "plan.range=1:64", NULL };
    const struct itimerval timer = { .it_value = { ms / 1000, ms % 1000 * 1000 } };
    const struct sigaction action = { .sa_handler = stop };
    stopped = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    planned_run_until(p, open_loop, sets, 1, &stopped);
    setitimer(ITIMER_REAL, &(struct itimerval){ .it_value = { 0, 0 } }, NULL);
}

Test(plan_answer, that_a_signal_cuts_short_keeps_what_was_tried) {
    planned p;
    char *text = NULL;
    size_t n;
    run_stopped(&p, 5);
    for (int ms = 10; p.status == SIM_INTERRUPTED && !p.answer.is_stopped; ms *= 2) { // until there is a first verdict
        planned_clear(&p);
        run_stopped(&p, ms);
    }
    cr_assert_eq(p.status, SIM_INTERRUPTED, "%s", p.error.message);
    cr_assert_gt(p.answer.n_rows, 0);
    for (size_t i = 0; i < p.answer.n_rows; i++)
        cr_expect_neq(p.answer.rows[i].point->verdicts[SIM_PLAN_AS_MODELLED], SIM_PLAN_OPEN);
    FILE *out = open_memstream(&text, &n);
    cr_expect_eq(sim_plan_write_table(&p.answer, out, NULL), SIM_OK);
    fclose(out);
    cr_expect(planned_choice(&p)->point || strstr(text, "Answer           not found yet"), "%s", text);
    cr_expect(strstr(text, "\n  tried "), "%s", text);
    free(text);
    out = open_memstream(&text, &n);
    cr_expect_eq(sim_plan_write_json(&p.answer, out, NULL), SIM_OK);
    fclose(out);
    cr_expect(strstr(text, "\"interrupted\":\ttrue"), "%s", text);
    free(text);
    planned_clear(&p);
}
