// SPDX-License-Identifier: GPL-3.0-or-later
//
// Worked examples of ../shared/notes/blackbox-cases.md, by their numbers there.
#include <string.h>

#include "tests/support/replay.h"

static double ms(int64_t ns) { return (double)ns / 1e6; }

static const char four_arrivals[] = "{\"timestamp\": 1, \"input_length\": 128, \"output_length\": 10}\n"
                                    "{\"timestamp\": 2, \"input_length\": 128, \"output_length\": 10}\n"
                                    "{\"timestamp\": 3, \"input_length\": 128, \"output_length\": 10}\n"
                                    "{\"timestamp\": 4, \"input_length\": 128, \"output_length\": 10}\n";

static void run_four_arrivals(replay *r, const char *max_num_seqs) {
    char path[96];
    snprintf(path, sizeof path, "workload.path=%s", replay_trace(four_arrivals));
    replay_run(r, (const char *[]){ "workload.source=trace", "workload.format=mooncake", path, max_num_seqs,
                                    "kv_cache.num_blocks=1000", "perfmodel.estimator=fixed",
                                    "perfmodel.prefill_ms=3.059", "perfmodel.decode_ms=3.05", NULL });
    unlink(path + strlen("workload.path="));
    cr_assert_eq(r->status, SIM_OK, "%s", r->error.message);
}

Test(blackbox_cases, case_3_a_serial_server_starts_each_request_at_the_end_of_the_one_before) {
    static const double waits_ms[] = { 0, 29.509, 59.018, 88.527 }, e2e_ms[] = { 30.509, 60.018, 89.527, 119.036 };
    replay r;
    run_four_arrivals(&r, "engine.max_num_seqs=1");
    for (int i = 0; i < 4; i++) {
        const sim_request_record *record = &r.records[i];
        cr_expect_float_eq(ms(record->first_token_ns - record->arrival_ns) - 3.059, waits_ms[i], 1e-9);
        cr_expect_float_eq(ms(record->finish_ns - record->arrival_ns), e2e_ms[i], 1e-9);
    }
    replay_free(&r);
}

Test(blackbox_cases, case_4_batched_requests_wait_for_the_step_of_the_first_and_share_the_second) {
    static const double waits_ms[] = { 0, 2.059, 1.059, 0.059 };
    replay r;
    run_four_arrivals(&r, "engine.max_num_seqs=256");
    for (int i = 0; i < 4; i++) {
        const sim_request_record *record = &r.records[i];
        double second_step_ms =
            3.059; // the three prefills share a pass with the first decode of request 0: max(3.059, 3.05)
        cr_expect_float_eq(ms(record->first_token_ns - record->arrival_ns) - second_step_ms, waits_ms[i], 1e-9);
    }
    cr_expect_eq(r.records[1].first_token_ns, r.records[0].second_token_ns);
    replay_free(&r);
}

Test(blackbox_cases, case_5_e2e_is_ttft_plus_the_sum_of_itls) {
    static const char *const common[] = { "workload.requests=1",         "workload.input_tokens=512",
                                          "kv_cache.num_blocks=1000",    "perfmodel.estimator=fixed",
                                          "perfmodel.prefill_ms=11.884", "perfmodel.decode_ms=3.06652" };
    const char *sets[8] = {
        common[0], common[1], common[2], common[3], common[4], common[5], "workload.output_tokens=101"
    };
    replay r;
    replay_run(&r, sets);
    cr_assert_eq(r.status, SIM_OK, "%s", r.error.message);
    cr_expect_float_eq(r.summary->e2e_latency_ms.mean, 318.536, 1e-9);
    cr_expect_float_eq(r.summary->ttft_ms.mean + 100 * r.summary->itl_ms.mean, 318.536, 1e-9);
    cr_expect_eq(r.summary->itl_ms.n_samples, 100);
    replay_free(&r);
    sets[6] = "workload.output_tokens=1";
    replay_run(&r, sets);
    cr_expect_eq(r.summary->itl_ms.n_samples, 0);
    cr_expect_eq(r.summary->e2e_latency_ms.mean, r.summary->ttft_ms.mean);
    replay_free(&r);
}

Test(blackbox_cases, case_6_prompts_larger_than_the_pool_are_all_dropped_and_the_run_ends) {
    replay r;
    replay_run(&r, (const char *[]){ "workload.requests=5", "workload.input_tokens=1000", "kv_cache.num_blocks=50",
                                     "kv_cache.block_size=16", NULL });
    cr_assert_eq(r.status, SIM_OK, "%s", r.error.message);
    cr_expect_eq(r.summary->completed_requests, 0);
    cr_expect_eq(r.summary->rejected_requests, 5);
    cr_expect_eq(r.summary->rejected[SIM_REJECT_KV_CACHE], 5);
    replay_free(&r);
}

Test(blackbox_cases, case_14_round_robin_deals_ten_requests_to_four_workers_as_3_3_2_2) {
    static const uint64_t dealt[] = { 3, 3, 2, 2 };
    replay r;
    replay_run(&r, (const char *[]){ "workload.requests=10", "cluster.replicas=4", "kv_cache.num_blocks=1000", NULL });
    cr_assert_eq(r.status, SIM_OK, "%s", r.error.message);
    for (uint32_t i = 0; i < 4; i++)
        cr_expect_eq(sim_cluster_worker_stats(r.summary->facts->cluster, i)->n_requests, dealt[i]);
    replay_free(&r);
}

Test(blackbox_cases, case_15_a_shared_head_is_computed_once) {
    replay r;
    replay_run(&r,
               (const char *[]){ "workload.requests=4", "workload.input_tokens=64", "workload.shared_prefix_tokens=512",
                                 "load.concurrency=1", "kv_cache.num_blocks=1000", "kv_cache.block_size=16", NULL });
    cr_assert_eq(r.status, SIM_OK, "%s", r.error.message);
    cr_expect_eq(r.records[0].cached_tokens, 0);
    for (int i = 1; i < 4; i++) cr_expect_eq(r.records[i].cached_tokens, 32 * 16);
    cr_expect_eq(r.summary->cached_input_tokens, 1536);
    cr_expect_eq(r.summary->total_input_tokens, 2304);
    replay_free(&r);
}
