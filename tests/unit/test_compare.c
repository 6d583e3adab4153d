// SPDX-License-Identifier: GPL-3.0-or-later
//
// The comparison as a whole: figures, verdict, both forms of the result.
#include "sim/experiment/compare.h"

#include <cjson/cJSON.h>

#include "tests/support/compare_cases.h"

static void side_of(sim_side *side, const char *name, const compare_run *run) {
    *side = (sim_side){ .kind = SIM_SIDE_CONFIG, .path = "test.ini" };
    snprintf(side->name, sizeof side->name, "%s", name);
    cr_assert_eq(sim_summary_figures_of(&side->figures, run->replay.summary, NULL), SIM_OK);
    side->table = run->table;
}

typedef struct fixture {
    compare_run runs[2];
    sim_side sides[2];
    sim_comparison comparison;
} fixture;

static void set_up(fixture *f, const char *a, const char *b, int seed_b, uint32_t n_threads) {
    static const char *const names[] = { "A", "B" };
    const sim_row_pool_options pool = { .n_threads = n_threads };
    for (int i = 0; i < 2; i++) {
        compare_run_new(&f->runs[i], &compare_cases[0], i ? b : a, i ? seed_b : 1);
        side_of(&f->sides[i], names[i], &f->runs[i]);
    }
    cr_assert_eq(sim_comparison_new(&f->comparison, f->sides, 2, 42, &pool, NULL), SIM_OK);
}

static void tear_down(fixture *f) {
    sim_comparison_clear(&f->comparison);
    for (int i = 0; i < 2; i++) {
        sim_summary_figures_clear(&f->sides[i].figures);
        compare_run_free(&f->runs[i]);
    }
}

typedef sim_status writer(const sim_comparison *, FILE *, sim_error *);

static char *written(const fixture *f, writer *write) {
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    cr_assert_eq(write(&f->comparison, out, NULL), SIM_OK);
    fclose(out);
    return text;
}

Test(compare, figures_are_those_of_the_summaries) {
    fixture f;
    set_up(&f, "cluster.replicas=4", "cluster.replicas=2", 1, 1);
    const sim_compared_figures *figures = &f.comparison.pairs[0].figures;
    size_t n_checked = 0;
    for (size_t i = 0; i < figures->set.n; i++) {
        if (figures->figures[i].kind == SIM_FIGURE_CLASS_MEAN) continue;
        for (int side = 0; side < 2; side++) {
            double wanted;
            cr_assert(sim_summary_figures_find(&f.sides[side].figures, figures->figures[i].key, &wanted), "%s",
                      figures->figures[i].key);
            cr_expect_float_eq(figures->set.estimates[i].values[side] / wanted, 1, 1e-9, "%s: %g for %g",
                               figures->figures[i].key, figures->set.estimates[i].values[side], wanted);
            n_checked++;
        }
    }
    cr_expect_eq(n_checked, 32);
    tear_down(&f);
}

Test(compare, a_verdict_names_what_gets_worse_and_for_whom) {
    fixture f;
    set_up(&f, "cluster.replicas=4", "cluster.replicas=2", 1, 1);
    const sim_text_list *verdict = &f.comparison.pairs[0].verdict;
    cr_assert_geq(verdict->n, 3);
    cr_expect(strstr(verdict->items[0], "B raises mean TTFT by "), "%s", verdict->items[0]);
    cr_expect(strstr(verdict->items[0], " and p99 TTFT by "), "%s", verdict->items[0]);
    cr_expect(strstr(verdict->items[1], "B raises mean TPOT by "), "%s", verdict->items[1]);
    tear_down(&f);
}

Test(compare, identical_runs_have_no_difference) {
    fixture f;
    set_up(&f, "cluster.replicas=2", "cluster.replicas=2", 1, 1);
    cr_expect_eq(f.comparison.pairs[0].verdict.n, 1);
    cr_expect_str_eq(f.comparison.pairs[0].verdict.items[0], "B: no difference: all 2500 requests have the same times");
    tear_down(&f);
}

Test(compare, other_requests_are_compared_unpaired_and_said_to_be) {
    fixture f;
    set_up(&f, "cluster.replicas=4", "cluster.replicas=2", 77, 1);
    cr_expect_not(f.comparison.pairs[0].pairing.is_paired);
    char *text = written(&f, sim_comparison_write_table);
    cr_expect(strstr(text, "A and B are compared unpaired: their requests are not the same"));
    cr_expect(strstr(text, "B raises mean TPOT by "));
    free(text);
    tear_down(&f);
}

Test(compare, swapping_the_runs_turns_the_verdict_around) {
    fixture f, g;
    set_up(&f, "cluster.replicas=4", "cluster.replicas=2", 1, 1);
    set_up(&g, "cluster.replicas=2", "cluster.replicas=4", 1, 1);
    const sim_estimate_set *first = &f.comparison.pairs[0].figures.set, *second = &g.comparison.pairs[0].figures.set;
    for (size_t i = 0; i < 15; i++) {
        const sim_interval x = first->estimates[i].difference.relative_interval,
                           y = second->estimates[i].difference.relative_interval;
        cr_expect_float_eq((1 + x.low) * (1 + y.high), 1, 1e-9);
        cr_expect_float_eq((1 + x.high) * (1 + y.low), 1, 1e-9);
        cr_expect_eq(first->estimates[i].difference.is_significant, second->estimates[i].difference.is_significant);
    }
    tear_down(&f);
    tear_down(&g);
}

Test(compare, the_result_has_the_same_bytes_with_any_number_of_threads) {
    fixture one, three;
    set_up(&one, "cluster.replicas=4", "cluster.replicas=2", 1, 1);
    set_up(&three, "cluster.replicas=4", "cluster.replicas=2", 1, 3);
    static writer *const writers[] = { sim_comparison_write_table, sim_comparison_write_json };
    for (int i = 0; i < 2; i++) {
        char *a = written(&one, writers[i]), *b = written(&three, writers[i]);
        cr_expect_str_eq(a, b);
        free(a);
        free(b);
    }
    tear_down(&one);
    tear_down(&three);
}

Test(compare, json_has_runs_and_intervals_by_key) {
    fixture f;
    set_up(&f, "cluster.replicas=4", "cluster.replicas=2", 1, 1);
    char *text = written(&f, sim_comparison_write_json);
    cJSON *root = cJSON_Parse(text);
    cr_assert_not_null(root);
    cr_expect_str_eq(cJSON_GetObjectItem(root, "schema")->valuestring, "forepass.compare");
    cr_expect_eq(cJSON_GetArraySize(cJSON_GetObjectItem(root, "runs")), 2);
    const cJSON *pair = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "comparisons"), 0);
    cr_expect(cJSON_IsTrue(cJSON_GetObjectItem(pair, "paired")));
    const cJSON *mean = cJSON_GetArrayItem(cJSON_GetObjectItem(pair, "intervals"), 0);
    cr_expect_str_eq(cJSON_GetObjectItem(mean, "key")->valuestring, "mean_ttft_ms");
    const double low = cJSON_GetObjectItem(mean, "difference_pct_low")->valuedouble,
                 high = cJSON_GetObjectItem(mean, "difference_pct_high")->valuedouble,
                 at = cJSON_GetObjectItem(mean, "difference_pct")->valuedouble;
    cr_expect(low < at && at < high);
    cr_expect_geq(cJSON_GetArraySize(cJSON_GetObjectItem(pair, "classes")), 6);
    cr_expect_geq(cJSON_GetArraySize(cJSON_GetObjectItem(pair, "metrics")), 50);
    cJSON_Delete(root);
    free(text);
    tear_down(&f);
}
