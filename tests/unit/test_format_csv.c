// SPDX-License-Identifier: GPL-3.0-or-later
#include <unistd.h>

#include "tests/support/workload_fixture.h"

static sim_workload_config csv_settings(void) {
    sim_workload_config settings = trace_settings();
    settings.csv = (sim_csv_config){ .arrival = "at", .input_tokens = "in", .output_tokens = "out" };
    return settings;
}

Test(format_csv, columns_are_those_that_the_keys_name_and_others_are_ignored) {
    static const char *const texts[] = {
        "at,in,out\n1.5,10,1\n", "out,note,in,at\r\n1,\"a,\"\"b\n\",10,1.5\r\n",
        "\xef\xbb\xbf\"at\", in ,out\n\n1.5,10,1",
        "in,out,at,,\n10,1,15e-1,,\n", // columns without a name
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sim_workload_config settings = csv_settings();
        settings.rebase = false;
        sim_workload *workload = good_workload(texts[i], &settings);
        cr_assert_eq(workload->n_requests, 1, "case %zu", i);
        cr_expect_eq(workload->requests[0].stamp_ns, 1500000000, "case %zu", i);
        cr_expect_eq(workload->requests[0].input_tokens, 10);
        cr_expect_eq(workload->requests[0].output_tokens, 1);
        cr_expect_eq(workload->n_warnings, 0);
        cr_expect_str_eq(workload->format_name, "csv");
        cr_expect(workload->has_stamps);
        cr_expect(has_text(workload->notes, workload->n_notes, "read as csv: time unit s"));
        sim_workload_free(workload);
    }
}

Test(format_csv, every_unit_is_exact) {
    static const struct {
        int unit;
        const char *stamp;
        int64_t ns;
    } cases[] = {
        { SIM_CSV_S, "0.123456789", 123456789 },
        { SIM_CSV_MS, "0.5", 500000 },
        { SIM_CSV_US, "7", 7000 },
        { SIM_CSV_NS, "1700000000000000001", 1700000000000000001 },
        { SIM_CSV_CALENDAR, "2023-11-16 18:15:46.5", 1700158546500000000 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_workload_config settings = csv_settings();
        settings.csv.unit = cases[i].unit;
        settings.rebase = false;
        char text[80];
        snprintf(text, sizeof text, "at,in,out\n%s,1,1\n", cases[i].stamp);
        sim_workload *workload = good_workload(text, &settings);
        cr_expect_eq(workload->requests[0].stamp_ns, cases[i].ns, "case %zu", i);
        cr_expect_eq(workload->n_warnings, 0); // the unit is said, so that there is nothing to suspect
        sim_workload_free(workload);
    }
}

Test(format_csv, without_an_arrival_column_there_are_no_timestamps) {
    sim_workload_config settings = csv_settings();
    settings.csv.arrival = "";
    cr_expect_not(sim_workload_can_have_stamps(&settings));
    sim_workload *workload = good_workload("at,in,out\n5,10,1\n4,20,0\n", &settings);
    cr_expect_not(workload->has_stamps);
    cr_expect_eq(workload->requests[1].input_tokens, 20); // file order
    cr_expect_eq(workload->requests[1].output_tokens, 0);
    sim_workload_free(workload);
    settings.csv.arrival = "at";
    cr_expect(sim_workload_can_have_stamps(&settings));
}

Test(format_csv, rows_of_one_session_are_its_turns) {
    sim_workload_config settings = csv_settings();
    settings.csv.session = "chat";
    sim_workload *workload =
        good_workload("at,in,out,chat\n0,1,1,a\n1,1,1,b\n2,1,1,\"a\"\n3,1,1,\n4,1,1,\n", &settings);
    cr_expect_eq(workload->n_sessions, 2);
    cr_expect(workload->has_turns);
    cr_expect_eq(workload->requests[2].previous, 0);
    cr_expect_eq(workload->requests[2].session, workload->requests[0].session);
    cr_expect_eq(workload->requests[4].session, SIM_NO_SESSION);
    cr_expect_eq(workload->requests[4].previous, SIM_NO_REQUEST);
    sim_workload_free(workload);
}

Test(format_csv, a_header_without_a_named_column_is_refused_with_the_nearest_one) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "at,inn,out\n1,1,1\n", "no column \"in\", which csv.input_tokens names" },
        { "at,in,Out\n1,1,1\n", "which csv.output_tokens names (did you mean \"Out\"?)" },
        { "arrival,in,out\n", "no column \"at\", which csv.arrival names" },
        { "at,in,in,out\n1,1,1,1\n", "two columns are called \"in\" (csv.input_tokens)" },
        { "at;in;out\n1;1;1\n", "no column \"at\"" },
        { "at,in,out\r1,1,1\r", "CR alone" },
        { "\"at,in,out\n", "no end" },
        { "at,in,out\n", "no requests" },
    };
    for (int skip = 0; skip < 2; skip++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            sim_workload_config settings = csv_settings();
            settings.on_bad_record = skip;
            sim_error error = { 0 };
            cr_expect_null(workload_from_text(cases[i].text, strlen(cases[i].text), &settings, &error));
            cr_expect_eq(error.code, SIM_BAD_DATA);
            cr_expect(strstr(error.message, cases[i].message), "%s", error.message);
        }
}

Test(format_csv, bad_rows_end_the_reading_or_are_counted_by_reason) {
    static const struct {
        const char *row, *message;
        sim_drop_reason reason;
    } cases[] = {
        { "x,1,1", "t:3: ", SIM_DROP_BAD_TIMESTAMP },
        { ",1,1", "the timestamp is missing", SIM_DROP_BAD_TIMESTAMP },
        { "2023-11-16 18:15:46,1,1", "t:3: ", SIM_DROP_BAD_TIMESTAMP },
        { "1,1.0,1", "in is \"1.0\"", SIM_DROP_BAD_LENGTH },
        { "1,-1,1", "in is \"-1\"", SIM_DROP_BAD_LENGTH },
        { "1,1,", "out is \"\"", SIM_DROP_BAD_LENGTH },
        { "1,1,2147483648", "tokens (at most", SIM_DROP_BAD_LENGTH },
        { "1,0,1", "0 tokens", SIM_DROP_ZERO_INPUT },
        { "1,1", "the row has 2 fields, the header 3", SIM_DROP_FIELD_COUNT },
        { "1,1,1,", "the row has 4 fields, the header 3", SIM_DROP_FIELD_COUNT },
        { "1,\"1\"x,1", "closing quote", SIM_DROP_SYNTAX },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[120], told[1100];
        snprintf(text, sizeof text, "at,in,out\n1,1,1\n%s\n2,1,1\n", cases[i].row);
        sim_workload_config settings = csv_settings();
        sim_error error = { 0 };
        cr_expect_null(workload_from_text(text, strlen(text), &settings, &error));
        snprintf(told, sizeof told, "%s:%lld: %s", error.file, (long long)error.line, error.message);
        cr_expect(strstr(told, cases[i].message), "%s", told);
        cr_expect_eq(error.line, 3);
        settings.on_bad_record = SIM_BAD_RECORD_SKIP;
        sim_workload *workload = good_workload(text, &settings);
        cr_expect_eq(workload->n_requests, 2, "%s", cases[i].row);
        cr_expect_eq(workload->dropped[cases[i].reason], 1, "%s", cases[i].row);
        sim_workload_free(workload);
    }
}

Test(format_csv, a_csv_is_never_taken_for_one_unasked) {
    sim_workload_config settings = trace_settings();
    sim_error error = { 0 };
    static const char text[] = "at,in,out\n1,1,1\n";
    cr_expect_not(sim_workload_is_csv(&settings));
    cr_expect_null(workload_from_text(text, sizeof text - 1, &settings, &error));
    cr_expect(strstr(error.message, "fits no known format"));
    // Columns that are named win over the format that a header looks like.
    settings.csv = (sim_csv_config){ .input_tokens = "ContextTokens", .output_tokens = "GeneratedTokens" };
    sim_workload *workload = good_workload("TIMESTAMP,ContextTokens,GeneratedTokens\nnever,3,4\n", &settings);
    cr_expect_str_eq(workload->format_name, "csv");
    sim_workload_free(workload);
}

Test(format_csv, keys_that_contradict_each_other_are_refused) {
    static const struct {
        sim_csv_config csv;
        int source, format, time_unit; // SIM_SOURCE_TRACE, auto, the format's own = 0
        const char *message;
    } cases[] = {
        { { .input_tokens = "i" }, SIM_SOURCE_TRACE, 0, 0, "needs csv.output_tokens" },
        { { .output_tokens = "o" }, SIM_SOURCE_TRACE, 0, 0, "needs csv.input_tokens" },
        { { .arrival = "" }, SIM_SOURCE_TRACE, 3, 0, "needs csv.input_tokens" },
        { { .input_tokens = "i", .output_tokens = "o", .unit = SIM_CSV_MS },
          SIM_SOURCE_TRACE,
          0,
          0,
          "csv.unit has no effect without csv.arrival" },
        { { .input_tokens = "i", .output_tokens = "o", .priority = "p" }, SIM_SOURCE_TRACE, 3, 0, "by priority" },
        { { .input_tokens = "i", .output_tokens = "o", .cached_tokens = "p" }, SIM_SOURCE_TRACE, 3, 0, "prefix hits" },
        { { .input_tokens = "i", .output_tokens = "o" }, SIM_SOURCE_TRACE, 3, SIM_UNIT_MS, "csv.unit says it" },
        { { .input_tokens = "i" }, SIM_SOURCE_TRACE, 1, 0, "no effect with format = mooncake" },
        { { .unit = SIM_CSV_US }, SIM_SOURCE_TRACE, 2, 0, "no effect with format = azure" },
        { { .input_tokens = "i" }, SIM_SOURCE_SYNTHETIC, 0, 0, "no effect without a trace" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_workload_config settings = trace_settings();
        settings.csv = cases[i].csv;
        settings.source = cases[i].source;
        if (settings.source != SIM_SOURCE_TRACE) settings.path = "";
        settings.format = cases[i].format;
        settings.time_unit = cases[i].time_unit;
        sim_error error = { 0 };
        cr_expect_eq(sim_workload_check(NULL, &settings, &error), SIM_USAGE, "case %zu", i);
        cr_expect(strstr(error.message, cases[i].message), "case %zu: %s", i, error.message);
    }
}

Test(format_csv, requests_of_a_real_server_are_read) {
    static const char path[] = SHARED_DIR "/silicon/vllm_requests.csv";
    if (access(path, R_OK) != 0) cr_skip_test("SKIPPED: %s is not there", path);
    sim_workload_config settings = trace_settings();
    settings.path = path;
    settings.csv = (sim_csv_config){ .arrival = "arrival_s", .input_tokens = "isl", .output_tokens = "osl" };
    sim_workload *workload;
    sim_error error = { 0 };
    cr_assert_eq(sim_workload_new(&workload, NULL, &settings, 1, &error), SIM_OK, "%s", error.message);
    uint64_t input = 0, output = 0;
    for (size_t i = 0; i < workload->n_requests; i++) {
        input += workload->requests[i].input_tokens;
        output += workload->requests[i].output_tokens;
    }
    cr_expect_eq(workload->n_requests, 600);
    cr_expect_eq(input, 515930);
    cr_expect_eq(output, 395239);
    // two runs stand one below the other, each beginning at 0
    cr_expect_eq(workload->disorder.adjacent_decreases, 1);
    cr_expect_eq(workload->disorder.largest_step_line, 302);
    sim_workload_free(workload);
}
