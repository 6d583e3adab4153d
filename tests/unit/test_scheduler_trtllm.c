// SPDX-License-Identifier: GPL-3.0-or-later
//
// Facts of TensorRT-LLM's GUARANTEED_NO_EVICT (notes/simulation-semantics.md 3.1) with numbers worked out by hand. Blocks have 4 tokens; how a line reads is said in
// test_scheduler_vllm.c.
#include "tests/support/engine_probe.h"

static void init(probe *p, int64_t n_blocks) {
    probe_init(p, n_blocks);
    p->config.backend = SIM_BACKEND_TRTLLM;
}

Test(scheduler_trtllm, a_request_is_admitted_only_when_all_blocks_to_its_end_fit) {
    probe p;
    init(&p, 5);
    // 0: 8 + 4 tokens, 3 blocks to the end, 2 held. 1: the same; 2 blocks are free beside the one promised. It waits, though its prompt would fit.
    probe_enqueue(&p, 0, 8, 4);
    probe_enqueue(&p, 1, 8, 4);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+8 | first0 ");
    PROBE_EXPECT(&p, "decode 1:9 | gap1x1 second0 ");
    PROBE_EXPECT(&p, "decode 1:10 | gap1x1 ");
    PROBE_EXPECT(&p, "decode 1:11 | gap1x1 finish0:4 ");
    PROBE_EXPECT(&p, "admit1(0) prefill 1:0+8 | first1 ");
}

Test(scheduler_trtllm, two_requests_that_fit_to_their_ends_run_together_and_nobody_is_preempted) {
    probe p;
    init(&p, 6);
    probe_enqueue(&p, 0, 8, 4);
    probe_enqueue(&p, 1, 8, 4);
    PROBE_EXPECT(&p, "admit0(0) admit1(0) prefill 2:0+16 | first0 first1 ");
    PROBE_EXPECT(&p, "decode 2:18 | gap1x2 second0 second1 ");
    PROBE_EXPECT(&p, "decode 2:20 | gap1x2 ");
    PROBE_EXPECT(&p, "decode 2:22 | gap1x2 finish0:4 finish1:4 ");
}

Test(scheduler_trtllm, the_output_is_clamped_to_what_the_pool_holds_behind_the_prompt) {
    probe p;
    init(&p, 3);
    probe_enqueue(&p, 0, 10, 100); // 12 tokens in all
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+10 | first0 ");
    PROBE_EXPECT(&p, "decode 1:11 | gap1x1 second0 finish0:2 ");
}

Test(scheduler_trtllm, a_prompt_that_leaves_no_room_for_a_token_is_rejected) {
    probe p;
    init(&p, 3);
    probe_enqueue(&p, 0, 12, 1);
    probe_enqueue(&p, 1, 12, 0); // wants none
    PROBE_EXPECT(&p, "admit1(0) prefill 1:0+12 | finish1:0 reject0:exceeds_kv_cache ");
}

Test(scheduler_trtllm, max_model_len_clamps_the_output_and_rejects_longer_prompts) {
    probe p;
    init(&p, 100);
    p.config.max_model_len = 8;
    probe_enqueue(&p, 0, 8, 1);
    probe_enqueue(&p, 1, 7, 5);
    PROBE_EXPECT(&p, "admit1(0) prefill 1:0+7 | first1 finish1:1 reject0:exceeds_max_model_len ");
}

Test(scheduler_trtllm, a_context_cached_to_its_end_computes_its_last_token_only) {
    probe p;
    init(&p, 100);
    p.n_shared_tokens[0] = p.n_shared_tokens[1] = 8;
    probe_enqueue(&p, 0, 8, 1);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+8 | first0 finish0:1 ");
    probe_enqueue(&p, 1, 8, 1);
    PROBE_EXPECT(&p, "admit1(7) prefill 1:7+1 | first1 finish1:1 ");
}

Test(scheduler_trtllm, only_blocks_that_somebody_holds_are_discounted) {
    probe p;
    init(&p, 4);
    p.n_shared_tokens[0] = p.n_shared_tokens[1] = p.n_shared_tokens[2] = 8;
    // 0 holds the 2 shared blocks and is promised a third. 1 wants 3 blocks to its end, 2 of them active: 1 more, which fits beside the promise: 3 + 1 = 4.
    probe_enqueue(&p, 0, 8, 4);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+8 | first0 ");
    probe_enqueue(&p, 1, 9, 3);
    PROBE_EXPECT(&p, "admit1(8) prefill 1:8+1 decode 1:9 | gap1x1 second0 first1 ");
}

Test(scheduler_trtllm, found_but_inactive_blocks_use_capacity_as_new_ones_do) {
    probe p;
    init(&p, 4);
    p.n_shared_tokens[0] = p.n_shared_tokens[2] = 8;
    probe_enqueue(&p, 0, 8, 1);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+8 | first0 finish0:1 "); // 2 blocks stay cached
    probe_enqueue(&p, 1, 6, 2);                                      // 2 blocks
    PROBE_EXPECT(&p, "admit1(0) prefill 1:0+6 | first1 ");
    probe_enqueue(&p, 2, 8, 1); // 3 to its end, the 2 cached among them: more than the 2 that 1 leaves
    PROBE_EXPECT(&p, "decode 1:7 | gap1x1 second1 finish1:2 ");
    PROBE_EXPECT(&p, "admit2(7) prefill 1:7+1 | first2 finish2:1 ");
}

Test(scheduler_trtllm, a_long_prompt_is_computed_in_chunks_of_the_budget) {
    probe p;
    init(&p, 100);
    p.config.max_num_batched_tokens = 5;
    probe_enqueue(&p, 0, 12, 1);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+5 | ");
    PROBE_EXPECT(&p, "prefill 1:5+5 | ");
    PROBE_EXPECT(&p, "prefill 1:10+2 | first0 finish0:1 ");
}
