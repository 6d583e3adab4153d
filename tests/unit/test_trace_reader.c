// SPDX-License-Identifier: GPL-3.0-or-later
//
// The rules all formats share.
#include "sim/workload/trace_reader.h"

#include "tests/support/workload_fixture.h"

#define ROW(stamp, input) "{\"timestamp\":" #stamp ",\"input_length\":" #input ",\"output_length\":1}\n"
#define BARE(input) "{\"input_length\":" #input ",\"output_length\":1}\n"

static sim_error refusal(const char *text, const sim_workload_config *settings) {
    sim_error error = { 0 };
    sim_workload *workload = workload_from_text(text, strlen(text), settings, &error);
    cr_expect_null(workload, "accepted: %s", text);
    sim_workload_free(workload);
    return error;
}

Test(trace_reader, the_first_bad_record_stops_the_reading_with_file_line_and_column) {
    const sim_workload_config settings = trace_settings();
    sim_error error = refusal(ROW(0, 5) "\n" ROW(1, -5) ROW(2, 0), &settings);
    cr_expect_eq(error.code, SIM_BAD_DATA);
    cr_expect_str_eq(error.file, "t");
    cr_expect_eq(error.line, 3);
    cr_expect_eq(error.column, 31);
}

Test(trace_reader, skipping_counts_bad_records_by_reason_and_tells_the_first_of_each) {
    sim_workload_config settings = trace_settings();
    settings.on_bad_record = SIM_BAD_RECORD_SKIP;
    sim_workload *workload =
        good_workload(ROW(0, 5) ROW(1, 0) "{\n" ROW(2, 0) ROW("x", 5) ROW(3, 7) "nonsense\n", &settings);
    cr_expect_eq(workload->rows_read, 7);
    cr_expect_eq(workload->rows_kept, 2);
    cr_expect_eq(workload->n_requests, 2);
    cr_expect_eq(workload->dropped[SIM_DROP_ZERO_INPUT], 2);
    cr_expect_eq(workload->dropped[SIM_DROP_SYNTAX], 2);
    cr_expect_eq(workload->dropped[SIM_DROP_BAD_TIMESTAMP], 1);
    cr_expect_eq(workload->n_warnings, 3);
    cr_expect(has_text(workload->warnings, 3, "t:2: "));
    cr_expect(has_text(workload->warnings, 3, "zero_input: 2 of 7 rows"));
    sim_workload_free(workload);
    cr_expect(strstr(refusal(ROW(1, 0) ROW(2, 0), &settings).message, "all 2 rows are bad"));
}

Test(trace_reader, ids_of_dropped_rows_are_gone) {
    sim_workload_config settings = trace_settings();
    settings.on_bad_record = SIM_BAD_RECORD_SKIP;
    sim_workload *workload = good_workload(
        "{\"timestamp\":0,\"input_length\":600,\"output_length\":1,\"hash_ids\":[1,2]}\n"
        "{\"timestamp\":0,\"input_length\":600,\"output_length\":1,\"hash_ids\":[3,4,5]}\n"
        "{\"timestamp\":0,\"input_length\":600,\"output_length\":1,\"hash_ids\":[6,7],\"delay\":5}\n"
        "{\"timestamp\":0,\"input_length\":600,\"output_length\":1,\"hash_ids\":[1,18446744073709551615]}\n",
        &settings);
    cr_assert_eq(workload->n_requests, 2);
    cr_assert_eq(workload->n_ids, 4);
    cr_expect_eq(workload->ids[workload->requests[1].first_id + 1], UINT64_MAX);
    cr_expect_eq(workload->dropped[SIM_DROP_HASH_COUNT], 1);
    cr_expect_eq(workload->dropped[SIM_DROP_BAD_TIMESTAMP], 1);
    cr_expect_eq(workload->census.distinct, 3);
    sim_workload_free(workload);
}

Test(trace_reader, a_file_has_stamps_on_all_rows_or_on_none) {
    sim_workload_config settings = trace_settings();
    sim_workload *workload = good_workload(BARE(5) BARE(6), &settings);
    cr_expect_not(workload->has_stamps);
    cr_expect(has_text(workload->notes, workload->n_notes, "no row has a timestamp"));
    sim_workload_free(workload);
    cr_expect_eq(refusal(ROW(0, 5) BARE(6), &settings).line, 2);
    sim_error error = refusal(BARE(5) BARE(6) ROW(0, 7), &settings);
    cr_expect_eq(error.line, 1, "the rows without a stamp are the bad ones");
    cr_expect(strstr(error.message, "line 3 has one"));
    settings.on_bad_record = SIM_BAD_RECORD_SKIP;
    workload = good_workload("{\"input_length\":6,\"output_length\":1,\"hash_ids\":[1],\"session_id\":\"a\"}\n" BARE(5)
                                 BARE(6) "{\"timestamp\":9,\"input_length\":7,\"output_length\":1,\"hash_ids\":[2],"
                                         "\"session_id\":\"b\"}\n" BARE(8) ROW(10, 9),
                             &settings);
    cr_expect_eq(workload->n_requests, 2);
    cr_expect_eq(workload->dropped[SIM_DROP_BAD_TIMESTAMP], 4);
    cr_expect_eq(workload->rows_read, 6);
    cr_expect_eq(workload->n_sessions, 1);
    cr_expect_str_eq(sim_workload_session_name(workload, workload->requests[0].session), "b");
    cr_expect(workload->n_ids == 1 && workload->ids[0] == 2 && workload->requests[0].first_id == 0);
    cr_expect(workload->has_stamps);
    sim_workload_free(workload);
}

Test(trace_reader, limit_takes_the_first_good_rows_of_the_file) {
    sim_workload_config settings = trace_settings();
    settings.limit = 2;
    settings.on_bad_record = SIM_BAD_RECORD_SKIP;
    sim_workload *workload = good_workload(ROW(9, 5) ROW(8, 0) ROW(7, 6) ROW(1, 7) "nonsense\n", &settings);
    cr_expect_eq(workload->n_requests, 2);
    cr_expect_eq(workload->rows_read, 3, "what comes behind the limit is not read");
    cr_expect_eq(workload->requests[0].input_tokens, 6);
    cr_expect_eq(workload->requests[1].stamp_ns, 2000000);
    sim_workload_free(workload);
}

Test(trace_reader, rows_are_sorted_stably_with_a_warning_above_one_second) {
    const sim_workload_config settings = trace_settings();
    sim_workload *workload = good_workload(ROW(2000, 1) ROW(1000, 2) ROW(2000, 3) ROW(1500, 4) ROW(1000, 5), &settings);
    static const uint32_t order[] = { 2, 5, 4, 1, 3 };
    for (int i = 0; i < 5; i++) cr_expect_eq(workload->requests[i].input_tokens, order[i]);
    cr_expect_eq(workload->n_warnings, 0, "1 s out of order is silent");
    cr_expect_eq(workload->disorder.adjacent_decreases, 3);
    sim_workload_free(workload);
    workload = good_workload(ROW(2000, 1) ROW(999.999, 2) ROW(3000, 2) ROW(500, 3), &settings);
    cr_assert_eq(workload->n_warnings, 1, "one line for the largest step");
    cr_expect(strstr(workload->warnings[0], "t:4: "));
    cr_expect(strstr(workload->warnings[0], "2.5 s"));
    sim_workload_free(workload);
}

Test(trace_reader, negative_stamps_are_legal_unless_the_trace_keeps_its_times) {
    sim_workload_config settings = trace_settings();
    sim_workload *workload = good_workload(ROW(-5, 1) ROW(7, 1), &settings);
    cr_expect(workload->requests[0].stamp_ns == 0 && workload->requests[1].stamp_ns == 12000000);
    sim_workload_free(workload);
    settings.rebase = false;
    workload = good_workload(ROW(5, 1) ROW(7, 1), &settings);
    cr_expect(workload->requests[0].stamp_ns == 5000000 && workload->requests[1].stamp_ns == 7000000);
    sim_workload_free(workload);
    cr_expect_eq(refusal(ROW(5, 1) ROW(-5, 1), &settings).line, 2);
    settings.rebase = true;
    settings.time_unit = SIM_UNIT_NS;
    cr_expect(
        strstr(refusal(ROW(-9000000000000000000, 1) ROW(9000000000000000000, 1), &settings).message, "292 years"));
}

Test(trace_reader, auto_says_what_it_took_and_refuses_what_it_does_not_know) {
    const sim_workload_config settings = trace_settings();
    sim_workload *workload = good_workload(ROW(0, 5), &settings);
    cr_expect_str_eq(workload->format_name, "mooncake");
    cr_expect(has_text(workload->notes, workload->n_notes, "t: read as mooncake: time unit ms, blocks of 512 tokens"));
    sim_workload_free(workload);
    static const char *const unknown[] = { "{\"a\":1}\n", "a,b,c\n1,2,3\n", "hello\n",
                                           "{\"chat_id\":1,\"input_length\":5}\n", "[\n" };
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) cr_expect_eq(refusal(unknown[i], &settings).line, 1);
    cr_expect(strstr(refusal("", &settings).message, "no requests"));
    cr_expect(strstr(refusal(" \n\n\t\n", &settings).message, "no requests"));
}

Test(trace_reader, lengths_stop_at_two_to_the_31) {
    const sim_workload_config settings = trace_settings();
    sim_workload *workload = good_workload(ROW(0, 2147483647), &settings);
    cr_expect_eq(workload->requests[0].input_tokens, SIM_MAX_TOKENS);
    sim_workload_free(workload);
    cr_expect(strstr(refusal(ROW(0, 2147483648), &settings).message, "at most 2147483647"));
    cr_expect(strstr(refusal(ROW(0, 18446744073709551616), &settings).message, "2^64"));
}

Test(trace_reader, seconds_in_a_millisecond_format_are_suspected_by_fraction_and_span) {
    static const struct {
        const char *text;
        bool warns;
    } cases[] = {
        { ROW(0.25, 1) ROW(40.5, 1), true },    { ROW(0, 1) ROW(40, 1), false },
        { ROW(0.5, 1) ROW(60000.5, 1), false }, { ROW(0.5, 1), false },
        { ROW(0.0, 1) ROW(40.0, 1), false },
    };
    const sim_workload_config settings = trace_settings();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_workload *workload = good_workload(cases[i].text, &settings);
        cr_expect_eq(has_text(workload->warnings, workload->n_warnings, "look like seconds"), cases[i].warns,
                     "case %zu", i);
        sim_workload_free(workload);
    }
}
