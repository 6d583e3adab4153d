// SPDX-License-Identifier: GPL-3.0-or-later
//
// Facts of the SGLang scheduler (notes/simulation-semantics.md 3.3, and the decisions at the top of scheduler_sglang.c) with numbers worked out by
// hand. Pages have 4 tokens; C is the pool in tokens; a request (in, out) has `in` prompt tokens and asks for `out`. A line reads
//   events while scheduling, prefill COUNT:CACHED+NEW, decode COUNT:CONTEXTS | events at the end of the pass
#include "sim/engine/worker.h"
#include "tests/support/engine_probe.h"

// With `conservativeness` 0 running requests are expected to generate nothing more: admission looks at the pool as it is.
static void init(probe *p, int64_t n_pages, double conservativeness) {
    probe_init(p, n_pages);
    p->config.backend = SIM_BACKEND_SGLANG;
    p->config.max_prefill_tokens = 16384;
    p->config.clip_max_new_tokens = 4096;
    p->config.schedule_conservativeness = conservativeness;
}

static void share(probe *p, uint32_t request, uint32_t family, uint32_t n_tokens) {
    p->family[request] = family;
    p->n_shared_tokens[request] = n_tokens;
}

Test(scheduler_sglang, a_prompt_emits_its_first_token_at_the_end_of_its_prefill) {
    probe p;
    init(&p, 100, 1);
    probe_enqueue(&p, 0, 6, 3);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+6 | first0 ");
    PROBE_EXPECT(&p, "decode 1:7 | gap1x1 second0 ");
    PROBE_EXPECT(&p, "decode 1:8 | gap1x1 finish0:3 ");
    cr_expect(!sim_engine_has_work(p.engine));
    PROBE_EXPECT(&p, "idle ");
}

Test(scheduler_sglang, prompts_go_first_and_running_requests_wait) {
    probe p;
    init(&p, 100, 1);
    probe_enqueue(&p, 0, 6, 3);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+6 | first0 ");
    probe_enqueue(&p, 1, 4, 2);
    PROBE_EXPECT(&p, "admit1(0) prefill 1:0+4 | first1 ");
    cr_expect_eq(p.metrics.scheduled.num_decode_requests, 0);
    // 0 has waited a pass longer for its second token.
    PROBE_EXPECT(&p, "decode 2:12 | gap2x1 gap1x1 second0 second1 finish1:2 ");
    PROBE_EXPECT(&p, "decode 1:8 | gap1x1 finish0:3 ");
}

Test(scheduler_sglang, a_token_after_several_prefill_passes_has_one_gap_for_each_time_of_the_one_before) {
    probe p;
    init(&p, 100, 1);
    probe_enqueue(&p, 0, 4, 4);
    probe_enqueue(&p, 1, 4, 4);
    PROBE_EXPECT(&p, "admit0(0) admit1(0) prefill 2:0+8 | first0 first1 ");
    PROBE_EXPECT(&p, "decode 2:10 | gap1x2 second0 second1 ");
    probe_enqueue(&p, 2, 4, 4);
    probe_enqueue(&p, 3, 4, 4);
    PROBE_EXPECT(&p, "admit2(0) admit3(0) prefill 2:0+8 | first2 first3 ");
    probe_enqueue(&p, 4, 4, 4);
    PROBE_EXPECT(&p, "admit4(0) prefill 1:0+4 | first4 ");
    PROBE_EXPECT(&p, "decode 5:27 | gap2x2 gap1x1 gap3x2 second2 second3 second4 ");
    PROBE_EXPECT(&p, "decode 5:32 | gap1x5 finish0:4 finish1:4 ");
}

Test(scheduler_sglang, the_chunk_budget_is_rounded_down_to_pages_and_charged_in_pages) {
    probe p;
    init(&p, 100, 1);
    p.config.chunked_prefill_size = 10;
    probe_enqueue(&p, 0, 5, 1);
    probe_enqueue(&p, 1, 9, 1);
    // 0 is charged 2 pages; 2 tokens are left, no page: 1 gets nothing. Then 2 pages of 1, and its last token.
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+5 | first0 finish0:1 ");
    PROBE_EXPECT(&p, "admit1(0) prefill 1:0+8 | ");
    PROBE_EXPECT(&p, "prefill 1:8+1 | first1 finish1:1 ");
}

Test(scheduler_sglang, a_second_prompt_gets_the_rest_of_the_chunk_budget) {
    probe p;
    init(&p, 100, 1);
    p.config.chunked_prefill_size = 8; // the older rule refused 1, as its 8 tokens are no more than the whole budget
    probe_enqueue(&p, 0, 4, 1);
    probe_enqueue(&p, 1, 8, 1);
    PROBE_EXPECT(&p, "admit0(0) admit1(0) prefill 2:0+8 | first0 finish0:1 ");
    PROBE_EXPECT(&p, "prefill 1:4+4 | first1 finish1:1 ");
}

Test(scheduler_sglang, an_unfinished_prompt_goes_on_before_older_decodes_and_newer_prompts) {
    probe p;
    init(&p, 100, 1);
    p.config.max_num_batched_tokens = 8; // chunked_prefill_size is empty: the same
    probe_enqueue(&p, 0, 4, 3);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+4 | first0 ");
    probe_enqueue(&p, 1, 20, 1);
    probe_enqueue(&p, 2, 4, 1);
    PROBE_EXPECT(&p, "admit1(0) prefill 1:0+8 | ");
    PROBE_EXPECT(&p, "prefill 1:8+8 | ");
    cr_expect_eq(p.metrics.queued.num_prefill_requests, 1); // 2; what is part of the pass is not queued
    PROBE_EXPECT(&p, "admit2(0) prefill 2:16+8 | first1 finish1:1 first2 finish2:1 ");
    PROBE_EXPECT(&p, "decode 1:5 | gap4x1 second0 ");
}

Test(scheduler_sglang, a_match_leaves_the_last_token_to_compute_unless_no_output_is_wanted) {
    probe p;
    init(&p, 100, 1);
    for (uint32_t r = 0; r < 4; r++) share(&p, r, 1, 8);
    probe_enqueue(&p, 0, 8, 1);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+8 | first0 finish0:1 ");
    probe_enqueue(&p, 1, 8, 1); // of 7 tokens one whole page
    PROBE_EXPECT(&p, "admit1(4) prefill 1:4+4 | first1 finish1:1 ");
    probe_enqueue(&p, 2, 9, 1); // of 8 tokens two
    PROBE_EXPECT(&p, "admit2(8) prefill 1:8+1 | first2 finish2:1 ");
    probe_enqueue(&p, 3, 8, 0);
    PROBE_EXPECT(&p, "admit3(8) | finish3:0 ");
}

Test(scheduler_sglang, a_request_without_output_makes_a_prefill_pass_of_its_own_even_with_nothing_to_compute) {
    probe p;
    init(&p, 100, 1);
    share(&p, 0, 1, 8);
    share(&p, 1, 1, 8);
    probe_enqueue(&p, 0, 8, 3);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+8 | first0 ");
    probe_enqueue(&p, 1, 8, 0);
    PROBE_EXPECT(&p, "admit1(8) | finish1:0 ");
    PROBE_EXPECT(&p, "decode 1:9 | gap2x1 second0 ");
    probe_enqueue(&p, 2, 6, 0);
    PROBE_EXPECT(&p, "admit2(0) prefill 1:0+6 | finish2:0 ");
}

Test(scheduler_sglang, what_a_pass_computes_is_found_from_the_next_pass_on) {
    probe p;
    init(&p, 100, 1);
    for (uint32_t r = 0; r < 3; r++) share(&p, r, 1, 8);
    probe_enqueue(&p, 0, 10, 1);
    probe_enqueue(&p, 1, 11, 1);
    PROBE_EXPECT(&p, "admit0(0) admit1(0) prefill 2:0+21 | first0 finish0:1 first1 finish1:1 ");
    probe_enqueue(&p, 2, 11, 1);
    PROBE_EXPECT(&p, "admit2(8) prefill 1:8+3 | first2 finish2:1 ");
}

Test(scheduler_sglang, without_prefix_caching_nothing_is_found) {
    probe p;
    init(&p, 100, 1);
    p.kv_cache.prefix_caching = false;
    for (uint32_t r = 0; r < 2; r++) share(&p, r, 1, 8);
    probe_enqueue(&p, 0, 8, 1);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+8 | first0 finish0:1 ");
    probe_enqueue(&p, 1, 9, 2);
    PROBE_EXPECT(&p, "admit1(0) prefill 1:0+9 | first1 ");
    PROBE_EXPECT(&p, "decode 1:10 | gap1x1 second1 finish1:2 ");
}

Test(scheduler_sglang, lpm_admits_the_longest_match_first) {
    probe p;
    init(&p, 100, 1);
    p.config.schedule_policy = SIM_POLICY_LPM;
    p.config.max_num_seqs = 1;
    share(&p, 0, 1, 8);
    share(&p, 2, 1, 4);
    share(&p, 3, 1, 8);
    probe_enqueue(&p, 0, 8, 1);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+8 | first0 finish0:1 ");
    probe_enqueue(&p, 1, 12, 1); // finds nothing
    probe_enqueue(&p, 2, 12, 1); // one page
    probe_enqueue(&p, 3, 12, 1); // two
    PROBE_EXPECT(&p, "admit3(8) prefill 1:8+4 | first3 finish3:1 ");
    PROBE_EXPECT(&p, "admit2(4) prefill 1:4+8 | first2 finish2:1 ");
    PROBE_EXPECT(&p, "admit1(0) prefill 1:0+12 | first1 finish1:1 ");
}

Test(scheduler_sglang, lpm_leaves_a_queue_of_more_than_128_as_it_is) {
    for (int n_more = 126; n_more <= 127; n_more++) { // 128 and 129 waiting
        probe p;
        init(&p, 100, 1);
        p.config.schedule_policy = SIM_POLICY_LPM;
        p.config.max_num_seqs = 1;
        share(&p, 0, 1, 8);
        share(&p, 2, 1, 8);
        probe_enqueue(&p, 0, 8, 1);
        probe_pass(&p);
        probe_enqueue(&p, 1, 12, 1);
        probe_enqueue(&p, 2, 12, 1);
        for (int i = 0; i < n_more; i++) probe_enqueue(&p, 3, 12, 1);
        const char *sorted = "admit2(8) prefill 1:8+4 | first2 finish2:1 ";
        const char *unsorted = "admit1(0) prefill 1:0+12 | first1 finish1:1 ";
        PROBE_EXPECT(&p, n_more == 126 ? sorted : unsorted);
        PROBE_EXPECT(&p, n_more == 126 ? unsorted : sorted); // then 128 wait
    }
}

Test(scheduler_sglang, lpm_lets_all_but_the_first_of_those_that_begin_alike_wait_for_what_it_computes) {
    probe p;
    init(&p, 100, 1);
    p.config.schedule_policy = SIM_POLICY_LPM;
    p.config.chunked_prefill_size = 40;
    share(&p, 1, 1, 32);
    share(&p, 2, 1, 32);
    share(&p, 4, 1, 31); // differs from them in the 32nd token
    probe_enqueue(&p, 1, 36, 1);
    probe_enqueue(&p, 2, 36, 1);
    probe_enqueue(&p, 3, 4, 1);
    probe_enqueue(&p, 4, 36, 1);
    // 1, 3, 4, then 2. 40 tokens: 1 and 3; of 4 nothing. Then 2 finds 32 and 4 finds 28 tokens.
    PROBE_EXPECT(&p, "admit1(0) admit3(0) prefill 2:0+40 | first1 finish1:1 first3 finish3:1 ");
    PROBE_EXPECT(&p, "admit2(32) admit4(28) prefill 2:60+12 | first2 finish2:1 first4 finish4:1 ");
}

Test(scheduler_sglang, the_queue_waits_behind_a_head_that_does_not_fit) {
    probe p;
    init(&p, 6, 0); // C = 24
    // 0 holds 3 pages after its prefill (8 tokens, and a page for the first token): 12 tokens are left. 1 asks for 12 + 1, 2 would fit.
    probe_enqueue(&p, 0, 8, 3);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+8 | first0 ");
    probe_enqueue(&p, 1, 12, 1);
    probe_enqueue(&p, 2, 4, 1);
    PROBE_EXPECT(&p, "decode 1:9 | gap1x1 second0 ");
    PROBE_EXPECT(&p, "decode 1:10 | gap1x1 finish0:3 ");
    PROBE_EXPECT(&p, "admit1(0) admit2(0) prefill 2:0+16 | first1 finish1:1 first2 finish2:1 ");
}

Test(scheduler_sglang, admission_waits_until_the_ratio_of_outstanding_output_lets_it) {
    probe p;
    init(&p, 100, 1); // C = 400
    // 0 holds 8 of 400 and has 299 to go: 392 - 0.7 x 299 = 182.7. Each decode pass takes 0.602 / 600 off the ratio and 1 off the 299:
    //   392 - 0.698997 x 298 = 183.7, 392 - 0.697993 x 297 = 184.7. 1 asks for 180 + 4 = 184.
    probe_enqueue(&p, 0, 4, 300);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+4 | first0 ");
    probe_enqueue(&p, 1, 180, 4);
    PROBE_EXPECT(&p, "decode 1:5 | gap1x1 second0 ");
    PROBE_EXPECT(&p, "decode 1:6 | gap1x1 ");
    PROBE_EXPECT(&p, "admit1(0) prefill 1:0+180 | first1 ");
}

Test(scheduler_sglang, the_ratio_decays_in_decode_passes_and_outstanding_output_is_clipped) {
    probe p;
    init(&p, 100, 1); // C = 400
    p.config.clip_max_new_tokens = 100;
    // 392 - 0.7 x 100 = 322, and 1 asks for 320 + 2: not less. A decode pass later 392 - 0.698997 x 100 = 322.1.
    probe_enqueue(&p, 0, 4, 290);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+4 | first0 ");
    probe_enqueue(&p, 1, 320, 2);
    PROBE_EXPECT(&p, "decode 1:5 | gap1x1 second0 ");
    PROBE_EXPECT(&p, "admit1(0) prefill 1:0+320 | first1 ");
}

Test(scheduler_sglang, the_request_with_the_fewest_generated_tokens_is_retracted_to_the_back_of_the_queue) {
    probe p;
    init(&p, 7, 0);
    // 0: 2 pages, then 3. 1: 2 pages, 3 from its 9th token on. 0 takes the last page for its 13th token; 1 finds none for its own: it has generated
    // 5, 0 has 6. Of its 11 computed tokens 2 pages stay in the tree.
    probe_enqueue(&p, 0, 7, 8);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+7 | first0 ");
    PROBE_EXPECT(&p, "decode 1:8 | gap1x1 second0 ");
    probe_enqueue(&p, 1, 7, 6);
    PROBE_EXPECT(&p, "admit1(0) prefill 1:0+7 | first1 ");
    PROBE_EXPECT(&p, "decode 2:17 | gap1x1 gap2x1 second1 ");
    PROBE_EXPECT(&p, "decode 2:19 | gap1x2 ");
    PROBE_EXPECT(&p, "decode 2:21 | gap1x2 ");
    PROBE_EXPECT(&p, "decode 2:23 | gap1x2 ");
    probe_enqueue(&p, 2, 4, 1);
    PROBE_EXPECT(&p, "preempt1 decode 1:13 | gap1x1 ");
    const fpm_queued_requests *queued = &p.metrics.queued;
    cr_expect_eq(queued->num_prefill_requests, 1);
    cr_expect_eq(queued->num_decode_requests, 1);
    cr_expect_eq(queued->sum_decode_kv_tokens, 12);
    // 2 is in front of 1 and takes the free page. 1 wants one more than its two in the tree: none. Then it is the page of 2.
    PROBE_EXPECT(&p, "admit2(0) prefill 1:0+4 | first2 finish2:1 ");
    PROBE_EXPECT(&p, "readmit1(8) prefill 1:8+4 | gap3x1 finish1:6 ");
    PROBE_EXPECT(&p, "decode 1:14 | gap3x1 finish0:8 ");
}

Test(scheduler_sglang, of_equals_the_first_is_retracted_and_its_last_token_is_a_prefill_item_like_any_other) {
    probe p;
    init(&p, 5, 0); // C = 20
    // Three prompts of one page and 2 tokens: 18 < 20. Their first tokens want a page each, two are left: 2 emits all the same and lacks one. All have
    // generated 1 token: 0 goes.
    for (uint32_t r = 0; r < 3; r++) probe_enqueue(&p, r, 4, 2);
    PROBE_EXPECT(&p, "admit0(0) admit1(0) admit2(0) prefill 3:0+12 | first0 first1 first2 ");
    PROBE_EXPECT(&p, "preempt0 decode 2:10 | gap1x2 second1 second2 finish1:2 finish2:2 ");
    PROBE_EXPECT(&p, "readmit0(4) prefill 1:4+1 | gap2x1 second0 finish0:2 ");
}

Test(scheduler_sglang, after_a_retraction_the_ratio_is_what_survivors_have_generated_and_20_tokens_more) {
    probe p;
    init(&p, 16, 0); // C = 64
    probe_enqueue(&p, 0, 7, 51);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+7 | first0 ");
    PROBE_EXPECT(&p, "decode 1:8 | gap1x1 second0 ");
    probe_enqueue(&p, 1, 44, 5); // 49 < 64 - 12; holds 12 pages with its first token: one page is left
    PROBE_EXPECT(&p, "admit1(0) prefill 1:0+44 | first1 ");
    PROBE_EXPECT(&p, "decode 2:54 | gap1x1 gap2x1 second1 ");
    PROBE_EXPECT(&p, "decode 2:56 | gap1x2 ");
    PROBE_EXPECT(&p, "decode 2:58 | gap1x2 ");
    probe_enqueue(&p, 2, 20, 7);
    // Both want a page, 12 and 48 tokens long. 1 has 4 tokens, 0 has 5. Then 0 holds 16 of 64 and the ratio is (5 + 20) / (51 + 1) = 0.48; with a
    // minimum of 0 it stays. 2 asks for 27:  48 - 0.48 x 45 = 26.4,  48 - 0.48 x 44 = 26.8,  48 - 0.48 x 43 = 27.3.
    PROBE_EXPECT(&p, "preempt1 decode 1:12 | gap1x1 ");
    PROBE_EXPECT(&p, "decode 1:13 | gap1x1 ");
    PROBE_EXPECT(&p, "decode 1:14 | gap1x1 ");
    PROBE_EXPECT(&p, "admit2(0) prefill 1:0+20 | first2 ");
}

Test(scheduler_sglang, the_ratio_after_a_retraction_is_at_most_1) {
    probe p;
    init(&p, 7, 0);
    probe_enqueue(&p, 0, 7, 8);
    probe_pass(&p);
    probe_pass(&p);
    probe_enqueue(&p, 1, 7, 6);
    for (int i = 0; i < 5; i++) probe_pass(&p);
    probe_enqueue(&p, 2, 8, 3);
    PROBE_EXPECT(&p, "preempt1 decode 1:13 | gap1x1 "); // as above; (6 + 20) / (8 + 1) is more than 1
    // 3 pages can be had, and 0 has 1 token to go: 2 asks for 8 + 3, which is not less than 12 - 1 x 1.
    PROBE_EXPECT(&p, "decode 1:14 | gap1x1 finish0:8 ");
    PROBE_EXPECT(&p, "admit2(0) readmit1(8) prefill 2:8+12 | first2 gap3x1 finish1:6 ");
}

Test(scheduler_sglang, an_unfinished_prompt_gives_up_its_pages_for_the_last_running_request) {
    probe p;
    init(&p, 6, 0); // C = 24
    p.config.chunked_prefill_size = 8;
    probe_enqueue(&p, 0, 4, 16);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+4 | first0 ");
    probe_enqueue(&p, 1, 16, 1);
    PROBE_EXPECT(&p, "admit1(0) prefill 1:0+8 | ");   // 0 and 1 hold 2 pages each
    PROBE_EXPECT(&p, "decode 1:5 | gap2x1 second0 "); // 8 + 1 is not less than 8: 1 must wait
    cr_expect_eq(p.metrics.queued.sum_prefill_tokens, 16);
    for (int i = 0; i < 10; i++) probe_pass(&p);
    // 0 has 16 tokens in 4 pages and wants a fifth. The two of 1 go into the tree, and are evicted as one leaf.
    PROBE_EXPECT(&p, "preempt1 decode 1:16 | gap1x1 ");
    PROBE_EXPECT(&p, "decode 1:17 | gap1x1 ");
    PROBE_EXPECT(&p, "decode 1:18 | gap1x1 ");
    PROBE_EXPECT(&p, "decode 1:19 | gap1x1 finish0:16 ");
    PROBE_EXPECT(&p, "readmit1(0) prefill 1:0+8 | ");
    PROBE_EXPECT(&p, "prefill 1:8+8 | first1 finish1:1 ");
}

Test(scheduler_sglang, whole_leaves_are_evicted_the_least_recently_used_first) {
    probe p;
    init(&p, 6, 0); // C = 24
    for (uint32_t r = 0; r < 6; r++) share(&p, r, r % 2, 8);
    share(&p, 3, 9, 12);
    const uint32_t order[] = { 0, 1, 2 }; // 0 and 1 leave 2 pages each; 2 touches those of 0
    for (int i = 0; i < 3; i++) {
        probe_enqueue(&p, order[i], 8, 1);
        probe_pass(&p);
    }
    probe_enqueue(&p, 3, 12, 1); // 3 pages, 2 are free: those of 1 go, both
    PROBE_EXPECT(&p, "admit3(0) prefill 1:0+12 | first3 finish3:1 ");
    probe_enqueue(&p, 4, 9, 1);
    PROBE_EXPECT(&p, "admit4(8) prefill 1:8+1 | first4 finish4:1 ");
    probe_enqueue(&p, 5, 9, 1);
    PROBE_EXPECT(&p, "admit5(0) prefill 1:0+9 | first5 finish5:1 "); // in the place of 3
    share(&p, 6, 9, 12);
    probe_enqueue(&p, 6, 13, 0);
    PROBE_EXPECT(&p, "admit6(0) prefill 1:0+13 | finish6:0 ");
}

Test(scheduler_sglang, pages_that_a_running_request_locks_are_no_room) {
    probe p;
    init(&p, 5, 0); // C = 20
    share(&p, 0, 1, 8);
    share(&p, 3, 1, 8);
    probe_enqueue(&p, 0, 8, 4); // 3 pages to its end
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+8 | first0 ");
    probe_enqueue(&p, 1, 4, 1);
    PROBE_EXPECT(&p, "admit1(0) prefill 1:0+4 | first1 finish1:1 ");
    probe_enqueue(&p, 2, 8, 1); // 8 + 1 of the 8 that are free or were 1's
    PROBE_EXPECT(&p, "decode 1:9 | gap2x1 second0 ");
    PROBE_EXPECT(&p, "decode 1:10 | gap1x1 ");
    PROBE_EXPECT(&p, "decode 1:11 | gap1x1 finish0:4 ");
    // 2 takes 2 pages: the third of 0 held no full page and is free, so is one more. What 0 computed is there still.
    PROBE_EXPECT(&p, "admit2(0) prefill 1:0+8 | first2 finish2:1 ");
    probe_enqueue(&p, 3, 9, 1);
    PROBE_EXPECT(&p, "admit3(8) prefill 1:8+1 | first3 finish3:1 ");
}

Test(scheduler_sglang, a_single_output_token_needs_no_page_of_its_own) {
    probe p;
    init(&p, 5, 0); // C = 20
    share(&p, 0, 1, 16);
    share(&p, 1, 1, 16);
    // 16 + 1 < 20. Had 0 taken a page for its token, eviction could not have spared it, for it was locked; it ends at once.
    probe_enqueue(&p, 0, 16, 1);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+16 | first0 finish0:1 ");
    probe_enqueue(&p, 1, 16, 1);
    PROBE_EXPECT(&p, "admit1(12) prefill 1:12+4 | first1 finish1:1 ");
}

Test(scheduler_sglang, what_cannot_be_admitted_into_an_empty_pool_is_rejected) {
    probe p;
    init(&p, 6, 1); // C = 24
    p.config.max_model_len = 30;
    probe_enqueue(&p, 0, 30, 1);
    probe_enqueue(&p, 1, 24, 0); // 24 + 0 >= 24
    probe_enqueue(&p, 2, 20, 4); // 20 + 4
    probe_enqueue(&p, 3, 20, 3); // 20 + 3, but after a token 24 + 2
    PROBE_EXPECT(&p, "reject0:exceeds_max_model_len reject1:exceeds_kv_cache reject2:exceeds_kv_cache "
                     "reject3:exceeds_kv_cache idle ");
    cr_expect(!sim_engine_has_work(p.engine));
    probe_enqueue(&p, 4, 20, 1);
    probe_enqueue(&p, 5, 21, 1); // 24 + 1
    PROBE_EXPECT(&p, "admit4(0) prefill 1:0+20 | first4 finish4:1 reject5:exceeds_kv_cache ");
}

Test(scheduler_sglang, on_unservable_fail_ends_the_run_in_the_pass_that_would_reject) {
    probe p;
    bool is_started;
    sim_error error;
    init(&p, 6, 1);
    p.config.on_unservable = SIM_UNSERVABLE_FAIL;
    probe_enqueue(&p, 0, 24, 1);
    cr_expect(sim_engine_has_work(p.engine));
    cr_expect_eq(sim_engine_schedule(p.engine, 0, false, &p.pass, &is_started, &error), SIM_DEAD_END);
    cr_expect_not_null(strstr(error.message, "request 0 with a prompt of 24 tokens can never be served"));
}

Test(scheduler_sglang, max_model_len_ends_generation) {
    probe p;
    init(&p, 100, 1);
    p.config.max_model_len = 8;
    probe_enqueue(&p, 0, 6, 10);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+6 | first0 ");
    PROBE_EXPECT(&p, "decode 1:7 | gap1x1 second0 finish0:2 ");
}

Test(scheduler_sglang, max_num_seqs_limits_running_and_admitted_requests_together) {
    probe p;
    init(&p, 100, 1);
    p.config.max_num_seqs = 2;
    for (uint32_t r = 0; r < 3; r++) probe_enqueue(&p, r, 4, 2);
    PROBE_EXPECT(&p, "admit0(0) admit1(0) prefill 2:0+8 | first0 first1 ");
    PROBE_EXPECT(&p, "decode 2:10 | gap1x2 second0 second1 finish0:2 finish1:2 ");
    PROBE_EXPECT(&p, "admit2(0) prefill 1:0+4 | first2 ");
}

// --- ranks ------------------------------------------------------------------------------------------------------------------

static const char *round_of(probe *p, sim_worker *worker) {
    bool is_started;
    p->log[0] = '\0';
    cr_assert_eq(sim_worker_schedule(worker, p->now_ns, &is_started, NULL), SIM_OK);
    if (!is_started) return "idle ";
    probe_log(p, "| ");
    p->now_ns += 1000000;
    cr_assert_eq(sim_worker_complete(worker, p->now_ns, NULL), SIM_OK);
    return p->log;
}

Test(scheduler_sglang, a_round_with_prompts_forbids_them_to_all_ranks_for_the_interval) {
    probe p;
    init(&p, 100, 1);
    p.config.prefill_decode_interval = 2;
    sim_worker_parts parts = { &p.config, &p.kv_cache, &p.content, &p.events, 2, false, "0" };
    sim_worker *worker;
    cr_assert_eq(sim_worker_new(&worker, &parts, NULL), SIM_OK);
    cr_assert_eq(sim_worker_enqueue(worker, 0, 0, 4, 3, NULL), SIM_OK);
    cr_expect_str_eq(round_of(&p, worker), "admit0(0) | first0 ");
    cr_assert_eq(sim_worker_enqueue(worker, 1, 1, 4, 1, NULL), SIM_OK);
    cr_expect_str_eq(round_of(&p, worker), "| gap1x1 second0 ");
    cr_expect_str_eq(round_of(&p, worker), "| gap1x1 finish0:3 ");
    cr_expect_str_eq(round_of(&p, worker), "admit1(0) | first1 finish1:1 ");
    // Nobody decodes: the two rounds pass at once.
    cr_assert_eq(sim_worker_enqueue(worker, 0, 2, 4, 1, NULL), SIM_OK);
    cr_expect_str_eq(round_of(&p, worker), "admit2(0) | first2 finish2:1 ");
    cr_expect_str_eq(round_of(&p, worker), "idle ");
    sim_worker_free(worker);
}

Test(scheduler_sglang, a_worker_without_work_left_has_no_further_round) {
    probe p;
    init(&p, 100, 1); // C = 400
    p.config.prefill_decode_interval = 2;
    sim_worker_parts parts = { &p.config, &p.kv_cache, &p.content, &p.events, 1, false, "0" };
    sim_worker *worker;
    cr_assert_eq(sim_worker_new(&worker, &parts, NULL), SIM_OK);
    cr_assert_eq(sim_worker_enqueue(worker, 0, 0, 4, 1, NULL), SIM_OK);
    cr_expect_str_eq(round_of(&p, worker), "admit0(0) | first0 finish0:1 ");
    cr_assert_eq(sim_worker_enqueue(worker, 0, 1, 400, 1, NULL), SIM_OK);
    cr_expect_str_eq(round_of(&p, worker), "idle "); // the first of two forbidden rounds: 1 is rejected, nobody is left
    cr_expect_str_eq(p.log, "reject1:exceeds_kv_cache ");
    cr_expect(!sim_worker_has_work(worker));
    cr_assert_eq(sim_worker_enqueue(worker, 0, 2, 400, 1, NULL), SIM_OK);
    cr_assert_eq(sim_worker_enqueue(worker, 0, 3, 4, 1, NULL), SIM_OK);
    // The second one rejects 2 and starts nothing; the next is free.
    cr_expect_str_eq(round_of(&p, worker), "reject2:exceeds_kv_cache admit3(0) | first3 finish3:1 ");
    sim_worker_free(worker);
}
