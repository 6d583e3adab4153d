// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/workload/workload.h"

#include "tests/support/workload_fixture.h"

static const sim_key_table *const tables[] = { &sim_workload_keys, &sim_csv_keys, &sim_load_keys };

Test(workload, defaults_of_the_key_table_are_those_of_the_interface) {
    sim_config *config;
    sim_error error;
    cr_assert_eq(sim_config_new(&config, tables, 3, &error), SIM_OK, "%s", error.message);
    sim_workload_config settings;
    sim_config_fill(config, &sim_workload_keys, &settings);
    sim_config_fill(config, &sim_csv_keys, &settings.csv);
    cr_expect_eq(settings.source, SIM_SOURCE_SYNTHETIC);
    cr_expect_eq(settings.format, 0);
    cr_expect_str_eq(settings.path, "");
    cr_expect_eq(settings.block_size, 0);
    cr_expect_eq(settings.block_rounding, SIM_ROUNDING_FORMAT);
    cr_expect_eq(settings.time_unit, SIM_UNIT_FORMAT);
    cr_expect(settings.rebase);
    cr_expect_eq(settings.limit, 0);
    cr_expect_eq(settings.on_bad_record, SIM_BAD_RECORD_FAIL);
    cr_expect(settings.input_tokens.kind == SIM_DIST_CONSTANT && settings.input_tokens.a == 1024);
    cr_expect(settings.output_tokens.kind == SIM_DIST_CONSTANT && settings.output_tokens.a == 128);
    cr_expect_eq(settings.requests, 100);
    cr_expect_eq(settings.shared_prefix_tokens, 0);
    cr_expect_eq(settings.prefix_groups, 1);
    cr_expect_eq(sim_workload_check(config, &settings, &error), SIM_OK, "the defaults do not contradict each other");
    sim_config_free(config);
}

// The place of the contradiction that these assignments make, "" for none.
static void contradiction_of(const char *const *sets, char *place, size_t capacity) {
    sim_config *config;
    sim_error error = { 0 };
    cr_assert_eq(sim_config_new(&config, tables, 3, &error), SIM_OK);
    for (; *sets; sets++) cr_assert_eq(sim_config_set(config, *sets, &error), SIM_OK, "%s: %s", *sets, error.message);
    sim_workload_config settings;
    sim_config_fill(config, &sim_workload_keys, &settings);
    sim_config_fill(config, &sim_csv_keys, &settings.csv);
    error = (sim_error){ 0 };
    if (sim_workload_check(config, &settings, &error) != SIM_OK) cr_expect_eq(error.code, SIM_USAGE);
    snprintf(place, capacity, "%s", error.file);
    if (error.code && !error.file[0]) snprintf(place, capacity, "%s", error.message);
    sim_config_free(config);
}

Test(workload, contradictions_are_placed_at_the_key_that_makes_them) {
    static const struct {
        const char *sets[5];
        const char *place;
    } cases[] = {
        { { "workload.source=trace", "workload.path=x.jsonl" }, "" },
        { { "workload.source=trace", "workload.path=x.jsonl", "workload.requests=100", "workload.input_tokens=1024" },
          "" },
        { { "workload.source=trace" }, "workload.source" },
        { { "workload.path=x.jsonl" }, "workload.path" },
        { { "workload.format=azure" }, "workload.format" },
        { { "workload.block_size=16" }, "workload.block_size" },
        { { "workload.block_rounding=floor" }, "workload.block_rounding" },
        { { "workload.time_unit=s" }, "workload.time_unit" },
        { { "workload.rebase=false" }, "workload.rebase" },
        { { "workload.limit=5" }, "workload.limit" },
        { { "workload.on_bad_record=skip" }, "workload.on_bad_record" },
        { { "workload.source=trace", "workload.path=x", "workload.requests=7" }, "workload.requests" },
        { { "workload.source=trace", "workload.path=x", "workload.input_tokens=7" }, "workload.input_tokens" },
        { { "workload.source=trace", "workload.path=x", "workload.output_tokens=zipf(1,9)" },
          "workload.output_tokens" },
        { { "workload.source=trace", "workload.path=x", "workload.shared_prefix_tokens=7" },
          "workload.shared_prefix_tokens" },
        { { "workload.source=trace", "workload.path=x", "workload.prefix_groups=7" }, "workload.prefix_groups" },
        { { "workload.prefix_groups=2" }, "workload.prefix_groups" },
        { { "workload.prefix_groups=2", "workload.shared_prefix_tokens=100" }, "" },
        { { "workload.input_tokens=0" }, "workload.input_tokens" },
        { { "workload.input_tokens=uniform(0,5)" }, "workload.input_tokens" },
        { { "workload.output_tokens=0" }, "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char place[512];
        contradiction_of(cases[i].sets, place, sizeof place);
        if (cases[i].place[0])
            cr_expect(strstr(place, cases[i].place), "case %zu: %s instead of %s", i, place, cases[i].place);
        else
            cr_expect_str_eq(place, "", "case %zu: %s", i, place);
    }
}

Test(workload, a_missing_trace_is_an_io_error_and_block_keys_of_azure_are_contradictions) {
    sim_workload_config settings = trace_settings();
    sim_workload *workload;
    sim_error error;
    settings.path = "/nowhere/trace.jsonl";
    cr_expect_eq(sim_workload_new(&workload, NULL, &settings, 1, &error), SIM_IO);
    cr_expect_str_eq(error.file, "/nowhere/trace.jsonl");
    cr_expect_null(workload);
    static const char azure[] = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46,10,1\n";
    settings.block_size = 16;
    cr_expect_null(workload_from_text(azure, sizeof azure - 1, &settings, &error));
    cr_expect_eq(error.code, SIM_USAGE);
    settings.block_size = 0;
    settings.block_rounding = SIM_ROUNDING_CEIL;
    cr_expect_null(workload_from_text(azure, sizeof azure - 1, &settings, &error));
    cr_expect_eq(error.code, SIM_USAGE);
    sim_workload_free(NULL);
}

Test(workload, spans_name_the_content_of_every_token) {
    sim_workload_config settings = trace_settings();
    sim_workload *trace =
        good_workload("{\"timestamp\":0,\"input_length\":1200,\"output_length\":1,\"hash_ids\":[7,8,9]}\n"
                      "{\"timestamp\":1,\"input_length\":300,\"output_length\":1}\n",
                      &settings);
    static const struct {
        uint32_t request, token;
        sim_span span;
    } cases[] = {
        { 0, 0, { SIM_CONTENT_TRACE, 7, 512 } },     { 0, 511, { SIM_CONTENT_TRACE, 7, 512 } },
        { 0, 512, { SIM_CONTENT_TRACE, 8, 1024 } },  { 0, 1024, { SIM_CONTENT_TRACE, 9, 1200 } },
        { 0, 1199, { SIM_CONTENT_TRACE, 9, 1200 } }, { 1, 0, { SIM_CONTENT_OWN, 1, 300 } },
        { 1, 299, { SIM_CONTENT_OWN, 1, 300 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_span span = sim_workload_span(trace, cases[i].request, cases[i].token);
        cr_expect(span.content == cases[i].span.content && span.id == cases[i].span.id &&
                      span.end_token == cases[i].span.end_token,
                  "case %zu", i);
    }
    sim_workload_free(trace);
}
