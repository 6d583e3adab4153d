// SPDX-License-Identifier: GPL-3.0-or-later
//
// Expressions over the keys of a configuration.
#include <criterion/criterion.h>
#include <string.h>

#include "sim/experiment/settings.h"
#include "sim/experiment/sweep/expressions.h"

static sim_config *config;
static sim_expressions *expressions;

static void set_up(void) {
    sim_error error;
    cr_assert_eq(sim_config_new(&config, sim_settings_tables, sim_settings_n_tables, &error), SIM_OK);
    static const char *const sets[] = { "parallel.tensor=4",     "cluster.replicas=3", "load.rate=2.5",
                                        "engine.backend=sglang", "sla.ttft=1.5s",      "kv_cache.num_blocks=2k" };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        cr_assert_eq(sim_config_set(config, sets[i], &error), SIM_OK, "%s", error.message);
    const sim_key_table *tables[64]; // without [sweep] and [plan], as sim_space_new does it
    size_t n_tables = 0;
    for (size_t t = 0; t < sim_settings_n_tables; t++) {
        const char *section = sim_settings_tables[t]->section;
        if (strcmp(section, "sweep") != 0 && strcmp(section, "plan") != 0) tables[n_tables++] = sim_settings_tables[t];
    }
    cr_assert_eq(sim_expressions_new(&expressions, config, tables, n_tables, &error), SIM_OK, "%s", error.message);
}

static void tear_down(void) {
    sim_expressions_free(expressions);
    sim_config_free(config);
}

// Its value, or the message.
static const char *value_of(const char *text) {
    static char out[1100];
    sim_expression *expression;
    sim_error error;
    sim_status status = sim_expression_new(&expression, expressions, text, "a.ini", 3, &error);
    if (!status) {
        status = sim_expression_text(expression, out, &error);
        sim_expression_free(expression);
    }
    if (!status) return out;
    cr_expect_eq(error.code, SIM_USAGE);
    snprintf(out, sizeof out, "%s:%d: %s", error.file, (int)error.line, error.message);
    return out;
}

TestSuite(expressions, .init = set_up, .fini = tear_down);

Test(expressions, are_over_keys_by_their_meaning) {
    cr_expect_str_eq(value_of("parallel.tensor * cluster.replicas <= 16"), "1");
    cr_expect_str_eq(value_of("gpus"), "12");
    cr_expect_str_eq(value_of("2048 * parallel.tensor"), "8192");
    cr_expect_str_eq(value_of("load.rate / 4"), "0.625");
    cr_expect_str_eq(value_of("sla.ttft"), "1500", "durations are milliseconds");
    cr_expect_str_eq(value_of("kv_cache.num_blocks"), "2000");
    cr_expect_str_eq(value_of("engine.chunked_prefill"), "1");
    cr_expect_str_eq(value_of("workload.limit + 1"), "1", "a key that is a word of SQL");
    cr_expect_str_eq(value_of("max(256, 100 * parallel.tensor)"), "400");
}

Test(expressions, know_choices_without_quotes) {
    cr_expect_str_eq(value_of("engine.backend = sglang"), "1");
    cr_expect_str_eq(value_of("engine.backend == 'vllm'"), "0");
    cr_expect_str_eq(value_of("engine.backend in (vllm, sglang) and load.rate > 2"), "1");
}

Test(expressions, follow_a_key_that_changes) {
    sim_expression *expression;
    sim_error error;
    bool holds;
    cr_assert_eq(sim_expression_new(&expression, expressions, "cluster.replicas > 5", "", 0, &error), SIM_OK);
    cr_assert_eq(sim_expression_holds(expression, &holds, &error), SIM_OK);
    cr_expect_not(holds);
    cr_assert_eq(sim_config_set(config, "cluster.replicas=6", &error), SIM_OK);
    cr_assert_eq(sim_expressions_set(expressions, config, "cluster.replicas", &error), SIM_OK);
    cr_assert_eq(sim_expression_holds(expression, &holds, &error), SIM_OK);
    cr_expect(holds);
    sim_expression_free(expression);
}

#define expect_refused(text, part)                                \
    do {                                                          \
        const char *got_ = value_of(text);                        \
        cr_expect(strstr(got_, part), "%s: \"%s\"", text, got_);  \
        cr_expect(strstr(got_, "a.ini:3: ") == got_, "%s", got_); \
    } while (0)

Test(expressions, that_are_none_are_refused_at_their_place) {
    expect_refused("cluster.replics < 3", "did you mean cluster.replicas?");
    expect_refused("cluster.replicas <", "is no expression");
    expect_refused("", "is no expression");
    expect_refused("1) ; DROP TABLE cluster; SELECT (1", "is no expression");
    expect_refused("1, 2", "is no expression");
    expect_refused("nonsense", "no such column: nonsense");
    expect_refused("nosuch(1)", "no such function: nosuch");
    cr_expect_str_eq(value_of("cluster.replicas"), "3", "nothing was dropped");
}

Test(expressions, without_a_value_say_so) {
    expect_refused("1 / 0", "comes to nothing");
    expect_refused("1e999", "comes to no finite number");
    expect_refused("''", "comes to an empty text");
}

Test(expressions, follow_from_the_keys_alone) {
    cr_expect_str_eq(value_of("iif(load.rate BETWEEN 1 AND 9, round(load.rate), 0) + length('ab')"), "5");
    expect_refused("random()", "it cannot use the function random");
    expect_refused("current_time", "it cannot use the function current_time");
    expect_refused("count(*)", "it cannot use the function count");
    expect_refused("(SELECT 1)", "it asks a database");
    expect_refused("EXISTS (SELECT replicas FROM cluster)", "it asks a database");
}
