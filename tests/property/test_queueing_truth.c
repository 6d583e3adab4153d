// SPDX-License-Identifier: GPL-3.0-or-later
//
// A server that takes one request at a time is a queue with known answers. Waiting times are strongly correlated, so bounds are those of a long run, not
// of the square root of n.
#include "tests/support/replay.h"

// Pollaczek-Khinchine: mean wait = load / (1 - load) x mean service x (1 + cv^2) / 2.
static double mean_wait_ms(double load, double service_ms, double service_cv) {
    return load / (1 - load) * service_ms * (1 + service_cv * service_cv) / 2;
}

static void run(replay *r, double load, double service_ms, const char *requests, const char *output,
                const char *prefill, const char *decode) {
    char rate[64];
    snprintf(rate, sizeof rate, "load.rate=%.12g", load / service_ms * 1e3);
    replay_run(r, (const char *[]){ "load.mode=poisson", rate, "workload.input_tokens=64", requests, output, prefill,
                                    decode, "perfmodel.estimator=fixed", "engine.max_num_seqs=1",
                                    "kv_cache.num_blocks=10000", "kv_cache.prefix_caching=false", NULL });
    cr_assert_eq(r->status, SIM_OK, "%s", r->error.message);
}

Test(queueing_truth, constant_service_is_an_m_d_1_queue) {
    static const struct { double load, bound; } cases[] = { { 0.3, 0.025 }, { 0.6, 0.025 }, { 0.8, 0.05 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        replay r;
        run(&r, cases[i].load, 120, "workload.requests=200000", "workload.output_tokens=11", "perfmodel.prefill_ms=20",
            "perfmodel.decode_ms=10");
        double expected_ms = mean_wait_ms(cases[i].load, 120, 0) + 20;
        cr_expect_float_eq(r.summary->ttft_ms.mean / expected_ms, 1, cases[i].bound, "load %g: %g ms for %g ms",
                           cases[i].load, r.summary->ttft_ms.mean, expected_ms);
        replay_free(&r);
    }
}

// Exponential output lengths of mean 200 with 1 ms a pass: service 200 ms, exponential but for the rounding to tokens.
Test(queueing_truth, exponential_service_is_an_m_m_1_queue) {
    replay r;
    run(&r, 0.6, 200, "workload.requests=100000", "workload.output_tokens=gamma(1, 200)", "perfmodel.prefill_ms=1",
        "perfmodel.decode_ms=1");
    double expected_ms = mean_wait_ms(0.6, 200, 1) + 1;
    cr_expect_float_eq(r.summary->ttft_ms.mean / expected_ms, 1, 0.05, "%g ms for %g ms", r.summary->ttft_ms.mean,
                       expected_ms);
    replay_free(&r);
}

// L = lambda W, exactly, over a whole run: the sum of times in the system equals the time integral of how many are in it.
Test(queueing_truth, little_s_law_holds_for_a_closed_loop) {
    replay r;
    replay_run(&r, (const char *[]){ "workload.requests=2000", "workload.input_tokens=uniform(10, 300)",
                                     "workload.output_tokens=uniform(5, 50)", "load.concurrency=16",
                                     "engine.max_num_seqs=8", "kv_cache.num_blocks=10000", NULL });
    cr_assert_eq(r.status, SIM_OK, "%s", r.error.message);
    // 16 are in the system from the first moment until the last admission; after that the number falls.
    double in_system_ms = r.summary->e2e_latency_ms.mean * (double)r.summary->completed_requests;
    double l = in_system_ms / r.summary->duration_ms;
    cr_expect(l <= 16 && l > 15.5, "%g in the system on average", l);
    replay_free(&r);
}
