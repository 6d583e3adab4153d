// SPDX-License-Identifier: GPL-3.0-or-later
//
// Attention-data-parallel ranks of one worker, worked out by hand: 10 ms a prefill pass, 1 ms a decode pass, 12 ms a mixed one.
#include "tests/support/replay.h"

static double ms(int64_t ns) { return (double)ns / 1e6; }

#define COMMON                                                                                                \
    "perfmodel.estimator=fixed", "perfmodel.prefill_ms=10", "perfmodel.decode_ms=1", "perfmodel.mixed_ms=12", \
        "kv_cache.num_blocks=1000", "kv_cache.block_size=4"

Test(worker, requests_are_dealt_to_ranks_in_order_and_every_rank_is_a_gpu) {
    replay r;
    replay_run(&r, (const char *[]){ COMMON, "parallel.data=2", "cluster.replicas=2", "workload.requests=6", NULL });
    cr_assert_eq(r.status, SIM_OK, "%s", r.error.message);
    static const uint32_t workers[] = { 0, 0, 1, 1, 0, 0 };
    for (int i = 0; i < 6; i++) cr_expect_eq(r.records[i].worker, workers[i]);
    cr_expect_eq(r.summary->num_gpus, 4);
    replay_free(&r);
}

Test(worker, a_pass_lasts_as_long_as_that_of_its_slowest_rank) {
    replay r;
    // Two at 0 ms go to rank 0 and 1; the third, to rank 0 again, comes during the first pass.
    const char *path = replay_trace("{\"timestamp\": 0, \"input_length\": 8, \"output_length\": 3}\n"
                                    "{\"timestamp\": 0, \"input_length\": 8, \"output_length\": 3}\n"
                                    "{\"timestamp\": 5, \"input_length\": 8, \"output_length\": 1}\n");
    char source[96];
    snprintf(source, sizeof source, "workload.path=%s", path);
    replay_run(&r, (const char *[]){ COMMON, "workload.source=trace", "workload.format=mooncake", source,
                                     "parallel.data=2", NULL });
    unlink(path);
    cr_assert_eq(r.status, SIM_OK, "%s", r.error.message);
    // 0..10 both prefill. 10..22 rank 0 mixes its decode with the prompt of 2, and rank 1, which only decodes, waits for it. 22..23 decode.
    cr_expect_eq(ms(r.records[2].first_token_ns), 22);
    cr_expect_eq(ms(r.records[0].second_token_ns), 22);
    cr_expect_eq(ms(r.records[1].second_token_ns), 22);
    cr_expect_eq(ms(r.records[1].finish_ns), 23);
    replay_free(&r);
}

Test(worker, a_request_for_an_idle_rank_waits_for_the_pass_of_the_others) {
    replay r;
    const char *path = replay_trace("{\"timestamp\": 0, \"input_length\": 8, \"output_length\": 1}\n"
                                    "{\"timestamp\": 4, \"input_length\": 8, \"output_length\": 1}\n");
    char source[96];
    snprintf(source, sizeof source, "workload.path=%s", path);
    replay_run(&r, (const char *[]){ COMMON, "workload.source=trace", "workload.format=mooncake", source,
                                     "parallel.data=2", NULL });
    unlink(path);
    cr_assert_eq(r.status, SIM_OK, "%s", r.error.message);
    cr_expect_eq(ms(r.records[1].first_token_ns), 20); // begins at 10, not at 4
    replay_free(&r);
}

Test(worker, with_an_interval_prompts_wait_for_every_nth_pass_while_the_rank_decodes) {
    replay r;
    // 0 and 1 prefill in pass 0 (0..10). 2 comes at 5 for rank 0, which decodes: with an interval of 4 it waits for pass 4, after the decode passes 1, 2, 3 of 1 ms.
    const char *path = replay_trace("{\"timestamp\": 0, \"input_length\": 8, \"output_length\": 9}\n"
                                    "{\"timestamp\": 0, \"input_length\": 8, \"output_length\": 9}\n"
                                    "{\"timestamp\": 5, \"input_length\": 8, \"output_length\": 1}\n");
    char source[96];
    snprintf(source, sizeof source, "workload.path=%s", path);
    replay_run(&r, (const char *[]){ COMMON, "workload.source=trace", "workload.format=mooncake", source,
                                     "parallel.data=2", "engine.prefill_schedule_interval=4", NULL });
    unlink(path);
    cr_assert_eq(r.status, SIM_OK, "%s", r.error.message);
    cr_expect_eq(ms(r.records[2].first_token_ns), 13 + 12);
    replay_free(&r);
}

Test(worker, the_interval_means_nothing_to_a_single_rank) {
    replay one, many;
    static const char *const sets[] = { COMMON, "workload.requests=50", "load.mode=poisson", "load.rate=60", NULL };
    static const char *const with_interval[] = {
        COMMON, "workload.requests=50", "load.mode=poisson", "load.rate=60", "engine.prefill_schedule_interval=4", NULL
    };
    replay_run(&one, sets);
    replay_run(&many, with_interval);
    cr_expect_eq(one.summary->ttft_ms.mean, many.summary->ttft_ms.mean);
    cr_expect_eq(one.summary->num_iterations, many.summary->num_iterations);
    replay_free(&one);
    replay_free(&many);
}

// The decode of request 0 finds no block and, being the oldest, gives itself up, in a pass that defers the prompt of request 2: the next round goes on with that.
Test(worker, a_pass_that_would_start_nothing_for_deferring_prompts_does_not_defer_them) {
    replay r;
    const char *path = replay_trace("{\"timestamp\": 0, \"input_length\": 6, \"output_length\": 6}\n"
                                    "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1}\n"
                                    "{\"timestamp\": 1, \"input_length\": 16, \"output_length\": 1}\n");
    char source[96];
    snprintf(source, sizeof source, "workload.path=%s", path);
    replay_run(&r, (const char *[]){ "workload.source=trace", source, "engine.max_num_seqs=7",
                                     "engine.max_num_batched_tokens=10", "engine.preemption=fifo",
                                     "kv_cache.block_size=8", "kv_cache.num_blocks=3", "parallel.data=2",
                                     "engine.prefill_schedule_interval=2", NULL });
    unlink(path);
    cr_assert_eq(r.status, SIM_OK, "%s", r.error.message);
    cr_expect_eq(r.summary->completed_requests, 3);
    cr_expect_eq(r.summary->num_preemptions, 1);
    replay_free(&r);
}

// One request decodes from 10 ms on; another comes at 12.5 ms, during the third decode pass (12..13): it is seen N passes after that one.
static double seen_ms(const char *passes, const char *more_row) {
    replay r;
    char rows[300], source[96];
    snprintf(rows, sizeof rows,
             "{\"timestamp\": 0, \"input_length\": 8, \"output_length\": 40}\n%s"
             "{\"timestamp\": 12.5, \"input_length\": 8, \"output_length\": 1}\n",
             more_row);
    const char *path = replay_trace(rows);
    snprintf(source, sizeof source, "workload.path=%s", path);
    replay_run(&r,
               (const char *[]){ COMMON, "workload.source=trace", "workload.format=mooncake", source, passes, NULL });
    unlink(path);
    cr_assert_eq(r.status, SIM_OK, "%s", r.error.message);
    const double ms_of_first_token = ms(r.records[*more_row ? 2 : 1].first_token_ns);
    replay_free(&r);
    return ms_of_first_token;
}

Test(worker, a_busy_engine_sees_an_arrival_some_decode_passes_later) {
    cr_expect_eq(seen_ms("engine.admission_passes=0", ""), 13 + 12);
    cr_expect_eq(seen_ms("engine.admission_passes=1", ""), 14 + 12);
    cr_expect_eq(seen_ms("engine.admission_passes=5", ""), 18 + 12);
}

Test(worker, the_wait_ends_with_the_batch_that_it_waits_for) {
    // 39 decode passes end at 49 ms; the engine is idle then and looks.
    cr_expect_eq(seen_ms("engine.admission_passes=1000", ""), 49 + 10);
}

// Another one came at 10.5, during the first decode pass (10..11). With 5 passes it is seen at 11 + 5 = 16 and computed in 16..28; the end of that pass with a
// prompt lets in the one of 12.5 as well, which alone would have been seen at 13 + 5 = 18, inside it.
Test(worker, a_pass_with_prompts_ends_the_wait_of_all) {
    static const char another[] = "{\"timestamp\": 10.5, \"input_length\": 8, \"output_length\": 1}\n";
    cr_expect_eq(seen_ms("engine.admission_passes=5", another), 28 + 12);
    cr_expect_eq(seen_ms("engine.admission_passes=20", another), 31 + 12 + 12);
}

Test(worker, an_idle_engine_sees_an_arrival_at_once) {
    replay r;
    replay_run(&r, (const char *[]){ COMMON, "engine.admission_passes=50", "workload.requests=1", NULL });
    cr_assert_eq(r.status, SIM_OK, "%s", r.error.message);
    cr_expect_eq(ms(r.records[0].first_token_ns - r.records[0].arrival_ns), 10);
    replay_free(&r);
}
