// SPDX-License-Identifier: GPL-3.0-or-later
//
// Generated conversations (source = sessions) end to end, with prices of 10 ms a prefill pass and 1 ms a decode pass, worked out by hand.
#include "tests/support/replay.h"

static double ms(int64_t ns) { return (double)ns / 1e6; }

#define COMMON                                                                                                   \
    "workload.source=sessions", "perfmodel.estimator=fixed", "perfmodel.prefill_ms=10", "perfmodel.decode_ms=1", \
        "kv_cache.num_blocks=1000", "kv_cache.block_size=4"

Test(sessions, the_next_prompt_is_the_whole_sequence_before_it_and_the_new_tokens) {
    replay r;
    replay_run(&r, (const char *[]){ COMMON, "workload.requests=3", "workload.turns=3", "workload.input_tokens=6",
                                     "workload.output_tokens=5", NULL });
    cr_assert_eq(r.status, SIM_OK, "%s", r.error.message);
    static const uint32_t inputs[] = { 6, 6 + 5 + 6, 17 + 5 + 6 };
    for (int i = 0; i < 3; i++) cr_expect_eq(r.summary->facts->workload->requests[i].input_tokens, inputs[i]);
    // The last token of an answer has no KV entry: of the 11 tokens before turn 2, 10 are computed, 2 blocks of 4 are full. Of the 22 before turn 3, 21: 5 blocks.
    cr_expect_eq(r.records[0].cached_tokens, 0);
    cr_expect_eq(r.records[1].cached_tokens, 8);
    cr_expect_eq(r.records[2].cached_tokens, 20);
    replay_free(&r);
}

Test(sessions, a_turn_begins_think_time_after_the_one_before_has_ended) {
    replay r;
    replay_run(&r, (const char *[]){ COMMON, "workload.requests=2", "workload.turns=2", "workload.input_tokens=6",
                                     "workload.output_tokens=5", "workload.think_time=100ms", NULL });
    cr_assert_eq(r.status, SIM_OK, "%s", r.error.message);
    cr_expect_eq(ms(r.records[0].finish_ns), 14); // 10 + 4 x 1
    cr_expect_eq(ms(r.records[1].arrival_ns), 114);
    cr_expect_eq(ms(r.records[1].finish_ns), 128);
    replay_free(&r);
}

Test(sessions, a_closed_loop_slot_holds_a_session_through_its_think_times) {
    replay r;
    replay_run(&r,
               (const char *[]){ COMMON, "workload.requests=4", "workload.turns=2", "workload.input_tokens=6",
                                 "workload.output_tokens=5", "workload.think_time=100ms", "load.concurrency=1", NULL });
    cr_assert_eq(r.status, SIM_OK, "%s", r.error.message);
    static const double arrivals_ms[] = { 0, 114, 128, 242 }; // the second session waits for the last turn of the first
    for (int i = 0; i < 4; i++) cr_expect_eq(ms(r.records[i].arrival_ns), arrivals_ms[i]);
    replay_free(&r);
}

Test(sessions, a_rate_counts_sessions_not_turns) {
    replay r;
    replay_run(&r, (const char *[]){ COMMON, "workload.requests=6", "workload.turns=2", "workload.input_tokens=6",
                                     "workload.output_tokens=1", "load.mode=constant", "load.rate=1", NULL });
    cr_assert_eq(r.status, SIM_OK, "%s", r.error.message);
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(ms(r.records[2 * i].arrival_ns), 1000.0 * i);
        cr_expect_eq(ms(r.records[2 * i + 1].arrival_ns), 1000.0 * i + 10); // its first turn took one prefill
    }
    replay_free(&r);
}

Test(sessions, the_turn_after_a_rejected_one_still_comes) {
    replay r;
    replay_run(&r, (const char *[]){ COMMON, "workload.requests=3", "workload.turns=3", "workload.input_tokens=6",
                                     "workload.output_tokens=5", "engine.max_model_len=16", NULL });
    cr_assert_eq(r.status, SIM_OK, "%s", r.error.message);
    cr_expect_eq(r.records[0].status, SIM_REQUEST_COMPLETED);
    cr_expect_eq(r.records[1].status, SIM_REQUEST_REJECTED); // 17 tokens
    cr_expect_eq(r.records[2].status, SIM_REQUEST_REJECTED); // 28
    cr_expect_eq(r.records[2].arrival_ns, r.records[1].finish_ns);
    replay_free(&r);
}

Test(sessions, the_last_session_may_be_shorter_and_sessions_have_names) {
    replay r;
    replay_run(&r, (const char *[]){ COMMON, "workload.requests=5", "workload.turns=2", NULL });
    cr_assert_eq(r.status, SIM_OK, "%s", r.error.message);
    const sim_workload *workload = r.summary->facts->workload;
    cr_expect_eq(workload->n_sessions, 3);
    cr_expect_str_eq(sim_workload_session_name(workload, workload->requests[4].session), "2");
    cr_expect_eq(r.summary->completed_requests, 5);
    replay_free(&r);
}

// Sessions of a trace: the rows of one session_id, in file order.
static void run_trace(replay *r, const char *mode) {
    const char *path =
        replay_trace("{\"session_id\": \"s\", \"timestamp\": 0, \"input_length\": 8, \"output_length\": 5}\n"
                     "{\"session_id\": \"t\", \"timestamp\": 5, \"input_length\": 8, \"output_length\": 5}\n"
                     "{\"session_id\": \"s\", \"timestamp\": 10, \"input_length\": 16, \"output_length\": 5}\n");
    char source[96];
    snprintf(source, sizeof source, "workload.path=%s", path);
    replay_run(r, (const char *[]){ "workload.source=trace", source, "perfmodel.estimator=fixed",
                                    "perfmodel.prefill_ms=10", "perfmodel.decode_ms=1", "kv_cache.num_blocks=1000",
                                    "engine.max_num_seqs=1", mode, NULL });
    unlink(path);
    cr_assert_eq(r->status, SIM_OK, "%s", r->error.message);
}

Test(sessions, recorded_turns_keep_their_stamps_in_an_open_loop) {
    replay r;
    run_trace(&r, "load.mode=timestamps");
    cr_expect_eq(ms(r.records[2].arrival_ns), 10); // while the turn before is still running
    cr_expect_eq(ms(r.records[0].finish_ns), 14);
    replay_free(&r);
}

Test(sessions, recorded_turns_wait_for_the_one_before_in_a_closed_loop_as_far_apart_as_they_were) {
    replay r;
    run_trace(&r, "load.mode=concurrency");
    cr_expect_eq(ms(r.records[1].arrival_ns), 0); // the two sessions are in at once
    cr_expect_eq(ms(r.records[2].arrival_ns), ms(r.records[0].finish_ns) + 10);
    replay_free(&r);
}

Test(sessions, a_row_with_a_delay_begins_that_long_after_the_turn_before_has_ended) {
    static const char *const modes[] = { "load.mode=timestamps", "load.mode=concurrency" };
    for (int k = 0; k < 2; k++) {
        replay r;
        const char *path =
            replay_trace("{\"session_id\": \"s\", \"timestamp\": 0, \"input_length\": 8, \"output_length\": 5}\n"
                         "{\"session_id\": \"s\", \"delay\": 30, \"input_length\": 16, \"output_length\": 5}\n"
                         "{\"session_id\": \"s\", \"delay\": 0, \"input_length\": 24, \"output_length\": 5}\n");
        char source[96];
        snprintf(source, sizeof source, "workload.path=%s", path);
        replay_run(&r, (const char *[]){ "workload.source=trace", source, "perfmodel.estimator=fixed",
                                         "perfmodel.prefill_ms=10", "perfmodel.decode_ms=1", "kv_cache.num_blocks=1000",
                                         modes[k], NULL });
        unlink(path);
        cr_assert_eq(r.status, SIM_OK, "%s", r.error.message);
        cr_expect_eq(ms(r.records[1].arrival_ns), 14 + 30);
        cr_expect_eq(ms(r.records[2].arrival_ns), 44 + 14);
        replay_free(&r);
    }
}
