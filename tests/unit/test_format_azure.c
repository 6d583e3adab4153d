// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/workload_fixture.h"

#define HEADER "TIMESTAMP,ContextTokens,GeneratedTokens\n"

static sim_workload_config azure_settings(void) {
    sim_workload_config settings = trace_settings();
    settings.format = 2;
    return settings;
}

Test(format_azure, columns_are_bound_by_name_and_others_ignored) {
    static const struct {
        const char *text;
        bool warns;
    } cases[] = {
        { HEADER "2023-11-16 18:15:46,10,1\n", false },
        { HEADER "2023-11-16 18:15:46 , 10,\t1 ", false },
        { "\"TIMESTAMP\",\"ContextTokens\",\"GeneratedTokens\"\r\n\"2023-11-16 18:15:46\",\"10\",\"1\"", false },
        { "GeneratedTokens,TIMESTAMP,NumImages,ContextTokens\n1,2023-11-16T18:15:46Z,\"a,\"\"b\n\",10\n", false },
        { "\n\nTIMESTAMP,ContextTokens,GeneratedTokens\n\n2023-11-16 18:15:46,10,1\n\n", false },
        { "timestamp,CONTEXTTOKENS, GeneratedTokens \n2023-11-16 18:15:46,10,1\n", true },
        { "TIMESTAMP, ContextTokens,GeneratedTokens\n2023-11-16 18:15:46,10,1\n", true },
    };
    sim_workload_config settings = azure_settings();
    settings.rebase = false;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_workload *workload = good_workload(cases[i].text, &settings);
        cr_assert_eq(workload->n_requests, 1, "case %zu", i);
        cr_expect_eq(workload->requests[0].stamp_ns, 1700158546000000000, "case %zu", i);
        cr_expect_eq(workload->requests[0].input_tokens, 10);
        cr_expect_eq(workload->requests[0].output_tokens, 1);
        cr_expect_eq(workload->n_warnings, cases[i].warns, "case %zu", i);
        sim_workload_free(workload);
    }
}

Test(format_azure, a_header_that_lacks_or_repeats_a_column_is_refused_whatever_on_bad_record_says) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "2023-11-16 18:15:46,10,1\n2023-11-16 18:15:47,10,1\n", "no column TIMESTAMP" },
        { "TIMESTAMP,ContextTokens\n", "no column GeneratedTokens" },
        { "TIMESTAMP;ContextTokens;GeneratedTokens\n", "commas, not by ';'" },
        { "TIMESTAMP,ContextTokens,ContextTokens,GeneratedTokens\n", "2 columns ContextTokens" },
        { "TIMESTAMP,ContextTokens,GeneratedTokens\rx,1,1\r", "CR alone" },
        { "\"TIMESTAMP,ContextTokens,GeneratedTokens\n", "no end" },
        { HEADER, "no requests" },
        { "", "no requests" },
    };
    sim_workload_config settings = azure_settings();
    for (int skip = 0; skip < 2; skip++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            settings.on_bad_record = skip;
            sim_error error = { 0 };
            cr_expect_null(workload_from_text(cases[i].text, strlen(cases[i].text), &settings, &error));
            cr_expect_eq(error.code, SIM_BAD_DATA);
            cr_expect(strstr(error.message, cases[i].message), "%s", error.message);
        }
}

Test(format_azure, bad_rows_are_told_apart_by_reason) {
    static const struct {
        const char *row;
        sim_drop_reason reason;
    } cases[] = {
        { "2023-02-30 18:15:46,10,1", SIM_DROP_BAD_TIMESTAMP },
        { "1700158546,10,1", SIM_DROP_BAD_TIMESTAMP },
        { ",10,1", SIM_DROP_BAD_TIMESTAMP },
        { "2023-11-16 18:15:46,10", SIM_DROP_FIELD_COUNT },
        { "2023-11-16 18:15:46,10,1,", SIM_DROP_FIELD_COUNT },
        { "x", SIM_DROP_FIELD_COUNT },
        { "2023-11-16 18:15:46,,1", SIM_DROP_BAD_LENGTH },
        { "2023-11-16 18:15:46,10x,1", SIM_DROP_BAD_LENGTH },
        { "2023-11-16 18:15:46,10,-1", SIM_DROP_BAD_LENGTH },
        { "2023-11-16 18:15:46,10,1.0", SIM_DROP_BAD_LENGTH },
        { "2023-11-16 18:15:46,9999999999,1", SIM_DROP_BAD_LENGTH },
        { "2023-11-16 18:15:46,0,1", SIM_DROP_ZERO_INPUT },
        { "2023-11-16 18:15:46,1\"0,1", SIM_DROP_SYNTAX },
        { "2023-11-16 18:15:46,\"10\" ,1", SIM_DROP_SYNTAX },
    };
    sim_workload_config settings = azure_settings();
    settings.on_bad_record = SIM_BAD_RECORD_SKIP;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, HEADER "%s\n2023-11-16 18:15:46,10,0\n", cases[i].row);
        sim_error error = { 0 };
        sim_workload *workload = workload_from_text(text, strlen(text), &settings, &error);
        if (!workload) {
            cr_expect(false, "%s: %s", cases[i].row, error.message);
            continue;
        }
        cr_expect_eq(workload->dropped[cases[i].reason], 1, "%s: %s", cases[i].row,
                     workload->n_warnings ? workload->warnings[0] : "kept");
        sim_workload_free(workload);
    }
}

Test(format_azure, a_quoted_field_over_several_lines_counts_as_its_first_line) {
    const sim_workload_config settings = azure_settings();
    const char *text =
        "TIMESTAMP,ContextTokens,GeneratedTokens,Note\n2023-11-16 18:15:46,10,1,\"a\nb\"\n2023-11-16 18:15:47,x,1,c\n";
    sim_error error = { 0 };
    cr_expect_null(workload_from_text(text, strlen(text), &settings, &error));
    cr_expect_eq(error.line, 4);
}

Test(format_azure, a_numeric_time_unit_reads_numbers_in_the_timestamp_column) {
    sim_workload_config settings = azure_settings();
    settings.time_unit = SIM_UNIT_S;
    sim_workload *workload = good_workload(HEADER "0.25,10,1\n1.5,10,1\n", &settings);
    cr_expect_eq(workload->requests[1].stamp_ns, 1250000000);
    sim_workload_free(workload);
}
