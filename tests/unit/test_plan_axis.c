// SPDX-License-Identifier: GPL-3.0-or-later
#include <criterion/criterion.h>
#include <string.h>

#include "sim/experiment/plan/plan_axis.h"
#include "sim/experiment/settings.h"

static sim_config *config;
static sim_error error;

static void setup(void) {
    cr_assert_eq(sim_config_new(&config, sim_settings_tables, sim_settings_n_tables, &error), SIM_OK);
}
static void teardown(void) { sim_config_free(config); }
TestSuite(plan_axis, .init = setup, .fini = teardown);

Test(plan_axis, of_whole_numbers_has_every_one_of_the_range) {
    sim_plan_axis axis;
    char text[64];
    cr_assert_eq(sim_plan_axis_init(&axis, config, "cluster.replicas", 2, 4, 0.01, &error), SIM_OK);
    cr_expect_eq(axis.n, 3);
    cr_expect_eq(sim_plan_axis_value(&axis, 0), 2);
    cr_expect(sim_plan_axis_assign(&axis, 2, text, sizeof text));
    cr_expect_str_eq(text, "cluster.replicas=4");
    axis.is_falling = true;
    cr_expect_eq(sim_plan_axis_value(&axis, 0), 4);
}

Test(plan_axis, of_real_numbers_is_as_fine_as_asked_for_and_keeps_its_ends) {
    sim_plan_axis axis;
    cr_assert_eq(sim_plan_axis_init(&axis, config, "load.rate", 0.3, 70, 0.01, &error), SIM_OK);
    cr_expect_eq(sim_plan_axis_value(&axis, 0), 0.3);
    cr_expect_eq(sim_plan_axis_value(&axis, axis.n - 1), 70);
    for (int64_t i = 1; i < axis.n; i++) {
        const double ratio = sim_plan_axis_value(&axis, i) / sim_plan_axis_value(&axis, i - 1);
        cr_expect(ratio > 1.009 && ratio < 1.0102, "%g", ratio);
    }
}

Test(plan_axis, that_reaches_to_zero_has_equal_steps) {
    sim_plan_axis axis;
    cr_assert_eq(sim_plan_axis_init(&axis, config, "cluster.gpu_hour_price", 0, 10, 0.1, &error), SIM_OK);
    cr_expect_eq(axis.n, 11);
    cr_expect_eq(sim_plan_axis_value(&axis, 3), 3);
}

Test(plan_axis, writes_the_key_in_its_own_unit) {
    sim_plan_axis axis;
    char text[64];
    cr_assert_eq(sim_plan_axis_init(&axis, config, "load.speedup", 4, 4, 0.01, &error), SIM_OK);
    axis.per_unit = 2; // a trace of two requests per second
    cr_expect_eq(axis.n, 1);
    cr_expect(sim_plan_axis_assign(&axis, 0, text, sizeof text));
    cr_expect_str_eq(text, "load.speedup=2");
    cr_expect_not(sim_plan_axis_assign(&axis, 0, text, 8));
}

Test(plan_axis, refuses_what_is_no_number_or_part_of_the_question) {
    static const struct {
        const char *key;
        double low, high;
        const char *says;
    } cases[] = {
        { "cluster.replica", 1, 2, "did you mean cluster.replicas" },
        { "engine.backend", 1, 2, "holds no number" },
        { "load.seed", 1, 2, "part of the question" },
        { "sla.percentile", 1, 2, "part of the question" },
        { "plan.confidence", 1, 2, "part of the question" },
        { "cluster.replicas", 0.5, 4, "does not begin and end at whole numbers, which cluster.replicas counts in" },
        { "cluster.replicas", 4, 1, "holds no value" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_plan_axis axis;
        cr_expect_eq(sim_plan_axis_init(&axis, config, cases[i].key, cases[i].low, cases[i].high, 0.01, &error),
                     SIM_USAGE);
        cr_expect(strstr(error.message, cases[i].says), "%s", error.message);
    }
}

Test(plan_axis, assignments_are_words_of_a_command_line) {
    cr_expect_eq(sim_plan_assign(config, "  cluster.replicas=3\tparallel.tensor=2 ", &error), SIM_OK);
    sim_cluster_config cluster;
    sim_config_fill(config, &sim_cluster_keys, &cluster);
    cr_expect_eq(cluster.replicas, 3);
    static const char *const bad[] = { "cluster.replicas", "cluster.replicas=0", "no.such=1", "load.seed=3" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_expect_eq(sim_plan_assign(config, bad[i], &error), SIM_USAGE, "%s", bad[i]);
        cr_expect_str_empty(error.file);
    }
}
