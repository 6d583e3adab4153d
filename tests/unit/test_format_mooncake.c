// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/workload_fixture.h"

static sim_workload_config mooncake_settings(void) {
    sim_workload_config settings = trace_settings();
    settings.format = 1;
    return settings;
}

Test(format_mooncake, the_published_row_and_its_dialects_are_read) {
    static const char *const rows[] = {
        "{\"timestamp\": 27482, \"input_length\": 6955, \"output_length\": 52, \"hash_ids\": [46, 47, 48, 49, 50, 51, "
        "52, 53, 54, 55, 56, 57, 2353, 2354]}",
        "{\"hash_ids\":[46,47,48,49,50,51,52,53,54,55,56,57,2353,2354],\"output_tokens\":52,\"input_tokens\":6955,"
        "\"created_time\":\"27482\"}",
        " { \"extra\" : [ { } , null ] , \"timestamp\" : 2.7482e4 , \"input_length\" : 6955 , \"output_length\" : 52 , "
        "\"hash_ids\" : null } ",
        "{\"timestamp\":27482.0,\"input_length\":6955,\"output_length\":52,\"delay\":null,\"session_id\":null}\r",
        "{\"\\u0074imestamp\":27482,\"input_length\":6955,\"output_length\":52,\"session_id\":\"\"}",
    };
    const sim_workload_config settings = mooncake_settings();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sim_workload_config kept = settings;
        kept.rebase = false;
        sim_workload *workload = good_workload(rows[i], &kept);
        const sim_request *request = workload->requests;
        cr_expect_eq(request->stamp_ns, 27482000000, "row %zu", i);
        cr_expect_eq(request->input_tokens, 6955);
        cr_expect_eq(request->output_tokens, 52);
        cr_expect_eq(request->session, SIM_NO_SESSION);
        cr_expect_eq(request->line, 1);
        cr_expect_eq(request->n_ids, i < 2 ? 14 : 0);
        if (i < 2) cr_expect(workload->ids[0] == 46 && workload->ids[13] == 2354);
        sim_workload_free(workload);
    }
}

Test(format_mooncake, bad_rows_are_told_apart_by_reason) {
    static const struct {
        const char *row;
        sim_drop_reason reason;
    } cases[] = {
        { "{\"timestamp\":0,\"input_length\":5,\"output_length\":1", SIM_DROP_SYNTAX },
        { "{\"timestamp\":0,\"input_length\":5,\"output_le", SIM_DROP_SYNTAX },
        { "{\"timestamp\":0,\"input_length\":", SIM_DROP_SYNTAX },
        { "{\"timestamp\":0,\"input_length\":5,\"output_length\":1}}", SIM_DROP_SYNTAX },
        { "{\"timestamp\":0,\"input_length\":5,\"output_length\":1,}", SIM_DROP_SYNTAX },
        { "{\"timestamp\":0,\"timestamp\":0,\"input_length\":5,\"output_length\":1}", SIM_DROP_SYNTAX },
        { "{\"timestamp\":0,\"created_time\":0,\"input_length\":5,\"output_length\":1}", SIM_DROP_SYNTAX },
        { "{\"timestamp\":0,\"input_length\":5,\"input_tokens\":5,\"output_length\":1}", SIM_DROP_SYNTAX },
        { "{\"timestamp\":0,\"input_length\":5,\"output_length\":1,\"hash_ids\":[1.5]}", SIM_DROP_SYNTAX },
        { "{\"timestamp\":0,\"input_length\":5,\"output_length\":1,\"hash_ids\":[-1]}", SIM_DROP_SYNTAX },
        { "{\"timestamp\":0,\"input_length\":5,\"output_length\":1,\"hash_ids\":7}", SIM_DROP_SYNTAX },
        { "{\"timestamp\":0,\"input_length\":5,\"output_length\":1,\"hash_ids\":[18446744073709551616]}",
          SIM_DROP_SYNTAX },
        { "{\"timestamp\":0,\"input_length\":5,\"output_length\":1,\"session_id\":1.5}", SIM_DROP_SYNTAX },
        { "{\"timestamp\":0,\"input_length\":5,\"output_length\":1,\"session_id\":[1]}", SIM_DROP_SYNTAX },
        { "[0,5,1]", SIM_DROP_SYNTAX },
        { "null", SIM_DROP_SYNTAX },
        { "# comment", SIM_DROP_SYNTAX },
        { "{\"timestamp\":NaN,\"input_length\":5,\"output_length\":1}", SIM_DROP_BAD_TIMESTAMP },
        { "{\"timestamp\":\"soon\",\"input_length\":5,\"output_length\":1}", SIM_DROP_BAD_TIMESTAMP },
        { "{\"timestamp\":true,\"input_length\":5,\"output_length\":1}", SIM_DROP_BAD_TIMESTAMP },
        { "{\"timestamp\":1e400,\"input_length\":5,\"output_length\":1}", SIM_DROP_BAD_TIMESTAMP },
        { "{\"timestamp\":null,\"input_length\":5,\"output_length\":1}", SIM_DROP_BAD_TIMESTAMP },
        { "{\"input_length\":5,\"output_length\":1}", SIM_DROP_BAD_TIMESTAMP },
        { "{\"timestamp\":0,\"output_length\":1}", SIM_DROP_BAD_LENGTH },
        { "{\"timestamp\":0,\"input_length\":5}", SIM_DROP_BAD_LENGTH },
        { "{\"timestamp\":0,\"input_length\":\"5\",\"output_length\":1}", SIM_DROP_BAD_LENGTH },
        { "{\"timestamp\":0,\"input_length\":5.0,\"output_length\":1}", SIM_DROP_BAD_LENGTH },
        { "{\"timestamp\":0,\"input_length\":5,\"output_length\":-1}", SIM_DROP_BAD_LENGTH },
        { "{\"timestamp\":0,\"input_length\":5,\"output_length\":null}", SIM_DROP_BAD_LENGTH },
        { "{\"timestamp\":0,\"input_length\":5,\"output_length\":3000000000}", SIM_DROP_BAD_LENGTH },
        { "{\"timestamp\":0,\"input_length\":0,\"output_length\":1,\"hash_ids\":[]}", SIM_DROP_ZERO_INPUT },
        { "{\"timestamp\":0,\"input_length\":5,\"output_length\":1,\"hash_ids\":[]}", SIM_DROP_HASH_COUNT },
        { "{\"timestamp\":0,\"input_length\":512,\"output_length\":1,\"hash_ids\":[1,2]}", SIM_DROP_HASH_COUNT },
        { "{\"timestamp\":0,\"input_length\":513,\"output_length\":1,\"hash_ids\":[1]}", SIM_DROP_HASH_COUNT },
        // a delay needs a turn before it, is a number, not negative, and given once
        { "{\"timestamp\":0,\"input_length\":5,\"output_length\":1,\"delay\":7}", SIM_DROP_BAD_TIMESTAMP },
        { "{\"timestamp\":0,\"input_length\":5,\"output_length\":1,\"session_id\":\"new\",\"delay\":7}",
          SIM_DROP_BAD_TIMESTAMP },
        { "{\"timestamp\":0,\"input_length\":5,\"output_length\":1,\"delay\":-1}", SIM_DROP_BAD_TIMESTAMP },
        { "{\"timestamp\":0,\"input_length\":5,\"output_length\":1,\"delay\":\"7\"}", SIM_DROP_BAD_TIMESTAMP },
        { "{\"timestamp\":0,\"input_length\":5,\"output_length\":1,\"delay\":0,\"delay_ms\":0}", SIM_DROP_SYNTAX },
        { "{\"input_length\":5,\"output_length\":1,\"session_id\":\"new\",\"delay\":0}", SIM_DROP_BAD_TIMESTAMP },
    };
    sim_workload_config settings = mooncake_settings();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, "{\"timestamp\":0,\"input_length\":5,\"output_length\":1}\n%s\n", cases[i].row);
        settings.on_bad_record = SIM_BAD_RECORD_SKIP;
        sim_workload *workload = good_workload(text, &settings);
        cr_expect_eq(workload->n_requests, 1, "%s", cases[i].row);
        cr_expect_eq(workload->dropped[cases[i].reason], 1, "%s: %s", cases[i].row,
                     workload->n_warnings ? workload->warnings[0] : "kept");
        sim_workload_free(workload);
        settings.on_bad_record = SIM_BAD_RECORD_FAIL;
        sim_error error = { 0 };
        cr_expect_null(workload_from_text(text, strlen(text), &settings, &error));
        cr_expect_eq(error.line, 2, "%s", cases[i].row);
    }
}

Test(format_mooncake, ids_tell_the_length_of_a_prompt_that_does_not_say_it) {
    const sim_workload_config settings = mooncake_settings();
    sim_workload *workload = good_workload(
        "{\"timestamp\":0,\"output_length\":2,\"hash_ids\":[1,2,3],\"output_token_ids\":[7,9]}\n", &settings);
    cr_expect_eq(workload->requests[0].input_tokens, 3 * 512);
    sim_workload_free(workload);
    sim_error error = { 0 };
    const char *text = "{\"timestamp\":0,\"input_length\":5,\"output_length\":3,\"output_token_ids\":[7,9]}\n";
    cr_expect_null(workload_from_text(text, strlen(text), &settings, &error));
    cr_expect(strstr(error.message, "2 output_token_ids for an output_length of 3"), "%s", error.message);
}

Test(format_mooncake, a_row_with_a_delay_follows_the_turn_before_in_place_of_a_stamp) {
    const sim_workload_config settings = mooncake_settings();
    sim_workload *workload =
        good_workload("{\"timestamp\":100,\"input_length\":5,\"output_length\":1,\"session_id\":\"a\"}\n"
                      "{\"timestamp\":300,\"input_length\":6,\"output_length\":1,\"session_id\":\"b\"}\n"
                      "{\"input_length\":7,\"output_length\":1,\"session_id\":\"a\",\"delay\":2.5}\n"
                      "{\"input_length\":8,\"output_length\":1,\"session_id\":\"a\",\"delay_ms\":0}\n",
                      &settings);
    // It stands where its turn before does, so that the table is in order of time.
    static const uint32_t inputs[] = { 5, 7, 8, 6 }, previous[] = { SIM_NO_REQUEST, 0, 1, SIM_NO_REQUEST };
    static const int64_t delays_ns[] = { -1, 2500000, 0, -1 };
    cr_assert_eq(workload->n_requests, 4);
    cr_expect(workload->has_stamps && workload->has_turns);
    for (int i = 0; i < 4; i++) {
        cr_expect_eq(workload->requests[i].input_tokens, inputs[i]);
        cr_expect_eq(workload->requests[i].previous, previous[i]);
        cr_expect_eq(workload->requests[i].delay_ns, delays_ns[i]);
        cr_expect_eq(workload->requests[i].has_stamp, i == 0 || i == 3);
    }
    sim_workload_free(workload);
}

Test(format_mooncake, sessions_are_counted_by_name_whether_string_or_integer) {
    const sim_workload_config settings = mooncake_settings();
    sim_workload *workload =
        good_workload("{\"timestamp\":0,\"input_length\":5,\"output_length\":1,\"session_id\":\"7\"}\n"
                      "{\"timestamp\":1,\"input_length\":5,\"output_length\":1,\"session_id\":8}\n"
                      "{\"timestamp\":2,\"input_length\":5,\"output_length\":1,\"session_id\":7}\n"
                      "{\"timestamp\":3,\"input_length\":5,\"output_length\":1}\n"
                      "{\"timestamp\":4,\"input_length\":5,\"output_length\":1,\"session_id\":\"\\u0061\"}\n",
                      &settings);
    static const uint32_t sessions[] = { 0, 1, 0, SIM_NO_SESSION, 2 };
    for (int i = 0; i < 5; i++) cr_expect_eq(workload->requests[i].session, sessions[i]);
    cr_expect_eq(workload->n_sessions, 3);
    cr_expect_str_eq(sim_workload_session_name(workload, 2), "a");
    cr_expect_str_eq(sim_workload_session_name(workload, SIM_NO_SESSION), "");
    sim_workload_free(workload);
}

Test(format_mooncake, units_and_block_rules_follow_the_settings) {
    sim_workload_config settings = mooncake_settings();
    settings.time_unit = SIM_UNIT_CALENDAR;
    settings.block_size = 64;
    settings.block_rounding = SIM_ROUNDING_FLOOR;
    sim_workload *workload = good_workload(
        "{\"timestamp\":\"2024-01-01 00:00:00\",\"input_length\":200,\"output_length\":1,\"hash_ids\":[1,2,3]}\n"
        "{\"timestamp\":\"2024-01-01T00:00:01.5Z\",\"input_length\":63,\"output_length\":1,\"hash_ids\":[]}\n",
        &settings);
    cr_expect_eq(workload->requests[1].stamp_ns, 1500000000);
    cr_expect_eq(workload->id_tokens, 64);
    cr_expect_eq(workload->requests[1].n_ids, 0);
    const sim_span tail = sim_workload_span(workload, 0, 192);
    cr_expect(tail.content == SIM_CONTENT_OWN && tail.end_token == 200);
    sim_workload_free(workload);
}

Test(format_mooncake, cr_line_ends_are_named_as_the_cause) {
    const sim_workload_config settings = mooncake_settings();
    const char *text =
        "{\"timestamp\":0,\"input_length\":5,\"output_length\":1}\r{\"timestamp\":0,\"input_length\":5}\r";
    sim_error error = { 0 };
    cr_expect_null(workload_from_text(text, strlen(text), &settings, &error));
    cr_expect(strstr(error.message, "CR alone"), "%s", error.message);
}
