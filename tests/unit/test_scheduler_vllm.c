// SPDX-License-Identifier: GPL-3.0-or-later
//
// Facts of the vLLM scheduler (notes/simulation-semantics.md 3.1) with numbers worked out by hand. Blocks have 4 tokens. A line reads
//   events while scheduling, prefill COUNT:CACHED+NEW, decode COUNT:CONTEXTS | events at the end of the pass
#include "tests/support/engine_probe.h"

Test(scheduler_vllm, a_prompt_emits_its_first_token_at_the_end_of_its_prefill) {
    probe p;
    probe_init(&p, 10);
    probe_enqueue(&p, 0, 6, 3);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+6 | first0 ");
    PROBE_EXPECT(&p, "decode 1:7 | gap1x1 second0 ");
    PROBE_EXPECT(&p, "decode 1:8 | gap1x1 finish0:3 ");
    cr_expect(!sim_engine_has_work(p.engine));
    PROBE_EXPECT(&p, "idle ");
}

Test(scheduler_vllm, prompts_share_the_token_budget_and_the_last_one_is_cut) {
    probe p;
    probe_init(&p, 100);
    p.config.max_num_batched_tokens = 10;
    probe_enqueue(&p, 0, 6, 2);
    probe_enqueue(&p, 1, 7, 2);
    // 6 of 0, 4 of 1; then the decode of 0 goes first, 3 left of 1.
    PROBE_EXPECT(&p, "admit0(0) admit1(0) prefill 2:0+10 | first0 ");
    PROBE_EXPECT(&p, "prefill 1:4+3 decode 1:7 | gap1x1 second0 finish0:2 first1 ");
    PROBE_EXPECT(&p, "decode 1:8 | gap1x1 second1 finish1:2 ");
}

Test(scheduler_vllm, running_requests_use_the_budget_before_waiting_ones) {
    probe p;
    probe_init(&p, 100);
    p.config.max_num_batched_tokens = 4;
    probe_enqueue(&p, 0, 10, 1);
    probe_enqueue(&p, 1, 2, 1);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+4 | ");
    PROBE_EXPECT(&p, "prefill 1:4+4 | ");
    PROBE_EXPECT(&p, "admit1(0) prefill 2:8+4 | first0 finish0:1 first1 finish1:1 ");
}

Test(scheduler_vllm, without_chunking_a_prompt_waits_until_it_fits_the_budget_whole) {
    probe p;
    probe_init(&p, 100);
    p.config.max_num_batched_tokens = 10;
    p.config.chunked_prefill = false;
    probe_enqueue(&p, 0, 6, 1);
    probe_enqueue(&p, 1, 7, 1);
    probe_enqueue(&p, 2, 11, 1); // more than the budget: never
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+6 | first0 finish0:1 ");
    PROBE_EXPECT(&p, "admit1(0) prefill 1:0+7 | first1 finish1:1 reject2:exceeds_max_num_batched_tokens ");
}

Test(scheduler_vllm, max_num_seqs_limits_the_batch) {
    probe p;
    probe_init(&p, 100);
    p.config.max_num_seqs = 1;
    probe_enqueue(&p, 0, 4, 2);
    probe_enqueue(&p, 1, 4, 1);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+4 | first0 ");
    PROBE_EXPECT(&p, "decode 1:5 | gap1x1 second0 finish0:2 ");
    PROBE_EXPECT(&p, "admit1(0) prefill 1:0+4 | first1 finish1:1 ");
}

Test(scheduler_vllm, admission_asks_for_the_whole_sequence_and_blocks_the_queue_behind_it) {
    probe p;
    probe_init(&p, 6);
    p.config.max_num_batched_tokens = 8;
    // 0 holds 2 blocks after its first pass; 1 wants 5 of the 4 others; 2 would fit but stands behind 1.
    probe_enqueue(&p, 0, 8, 2);
    probe_enqueue(&p, 1, 20, 1);
    probe_enqueue(&p, 2, 4, 1);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+8 | first0 ");
    PROBE_EXPECT(&p, "decode 1:9 | gap1x1 second0 finish0:2 ");
    PROBE_EXPECT(&p, "admit1(0) prefill 1:0+8 | ");
}

Test(scheduler_vllm, a_prefix_computed_in_this_pass_is_hit_by_the_next_request_of_the_same_pass) {
    probe p;
    probe_init(&p, 100);
    p.n_shared_tokens[0] = p.n_shared_tokens[1] = 8;
    probe_enqueue(&p, 0, 10, 1);
    probe_enqueue(&p, 1, 11, 1);
    // Two shared blocks: 1 finds 8 tokens and computes 3.
    PROBE_EXPECT(&p, "admit0(0) admit1(8) prefill 2:8+13 | first0 finish0:1 first1 finish1:1 ");
}

Test(scheduler_vllm, a_context_cached_to_its_exact_end_recomputes_its_last_block) {
    probe p;
    probe_init(&p, 100);
    p.n_shared_tokens[0] = p.n_shared_tokens[1] = p.n_shared_tokens[2] = 8;
    probe_enqueue(&p, 0, 8, 1);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+8 | first0 finish0:1 ");
    probe_enqueue(&p, 1, 8, 1); // logits are wanted: 4 cached, 4 computed
    PROBE_EXPECT(&p, "admit1(4) prefill 1:4+4 | first1 finish1:1 ");
    probe_enqueue(&p, 2, 8, 0); // no output, no logits: all cached, nothing to compute
    PROBE_EXPECT(&p, "admit2(8) | finish2:0 ");
}

Test(scheduler_vllm, without_prefix_caching_nothing_is_found) {
    probe p;
    probe_init(&p, 100);
    p.kv_cache.prefix_caching = false;
    p.n_shared_tokens[0] = p.n_shared_tokens[1] = 8;
    probe_enqueue(&p, 0, 10, 1);
    probe_enqueue(&p, 1, 10, 1);
    PROBE_EXPECT(&p, "admit0(0) admit1(0) prefill 2:0+20 | first0 finish0:1 first1 finish1:1 ");
}

Test(scheduler_vllm, the_newest_token_gets_its_kv_entry_in_the_next_pass) {
    probe p;
    probe_init(&p, 2);
    // 7 + 1 generated = 8 tokens = 2 blocks; the second generated token would need a third block only when it is computed, and the third is the
    // last one: it never is.
    probe_enqueue(&p, 0, 7, 2);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+7 | first0 ");
    PROBE_EXPECT(&p, "decode 1:8 | gap1x1 second0 finish0:2 ");
}

Test(scheduler_vllm, lifo_preempts_the_newest_and_readmits_it_from_what_is_still_cached) {
    probe p;
    probe_init(&p, 4);
    // Each prompt fills 2 blocks, the pool is full. Both want a third block: 1 gives up its two. 0 takes one of them (the tail, released first),
    // the head of 1 stays cached.
    probe_enqueue(&p, 0, 8, 3);
    probe_enqueue(&p, 1, 8, 3);
    PROBE_EXPECT(&p, "admit0(0) admit1(0) prefill 2:0+16 | first0 first1 ");
    PROBE_EXPECT(&p, "preempt1 decode 1:9 | gap1x1 second0 ");
    // No admission in a pass with a preemption. Next pass: 1 knows 9 tokens, needs 3 blocks, 1 is there.
    PROBE_EXPECT(&p, "decode 1:10 | gap1x1 finish0:3 ");
    PROBE_EXPECT(&p, "readmit1(4) prefill 1:4+5 | gap3x1 second1 ");
    PROBE_EXPECT(&p, "decode 1:10 | gap1x1 finish1:3 ");
}

Test(scheduler_vllm, queued_requests_are_counted_as_prefills_and_preempted_ones_as_decodes) {
    probe p;
    probe_init(&p, 4);
    probe_enqueue(&p, 0, 8, 3);
    probe_enqueue(&p, 1, 8, 3);
    probe_pass(&p);
    probe_enqueue(&p, 2, 8, 1);
    probe_enqueue(&p, 3, 6, 1);
    PROBE_EXPECT(&p, "preempt1 decode 1:9 | gap1x1 second0 ");
    const fpm_queued_requests *queued = &p.metrics.queued;
    cr_expect_eq(queued->num_prefill_requests, 2);
    cr_expect_eq(queued->sum_prefill_tokens, 14);
    cr_expect_eq(queued->var_prefill_length, 1.0); // 8 and 6
    cr_expect_eq(queued->num_decode_requests, 1);
    cr_expect_eq(queued->sum_decode_kv_tokens, 9); // 8 + 1 generated
}

Test(scheduler_vllm, fifo_preempts_the_oldest_and_undoes_its_work_of_this_pass) {
    probe p;
    probe_init(&p, 5);
    p.config.preemption = SIM_PREEMPT_FIFO;
    // 0: 8 tokens, 2 blocks; 1: 8 tokens, 2 blocks. Both need a third: 0 takes the fifth block and is scheduled, then 1 finds none, and the oldest,
    // 0, gives up everything, its scheduled decode included: only 1 decodes.
    probe_enqueue(&p, 0, 8, 4);
    probe_enqueue(&p, 1, 8, 4);
    PROBE_EXPECT(&p, "admit0(0) admit1(0) prefill 2:0+16 | first0 first1 ");
    PROBE_EXPECT(&p, "preempt0 decode 1:9 | gap1x1 second1 ");
}

Test(scheduler_vllm, a_request_that_finishes_makes_room_before_anybody_is_preempted) {
    probe p;
    probe_init(&p, 4);
    // 0 holds 3 blocks and 1 the fourth. 1 ends with the pass in which 0 fills its third block; what 0 wants next is free by then.
    probe_enqueue(&p, 0, 11, 6);
    probe_enqueue(&p, 1, 3, 2);
    PROBE_EXPECT(&p, "admit0(0) admit1(0) prefill 2:0+14 | first0 first1 ");
    PROBE_EXPECT(&p, "decode 2:16 | gap1x2 second0 second1 finish1:2 ");
    PROBE_EXPECT(&p, "decode 1:13 | gap1x1 ");
}

Test(scheduler_vllm, a_sequence_that_outgrows_the_pool_is_stuck_and_says_why) {
    probe p;
    probe_init(&p, 2);
    probe_enqueue(&p, 0, 7, 9);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+7 | first0 ");
    PROBE_EXPECT(&p, "decode 1:8 | gap1x1 second0 ");
    PROBE_EXPECT(&p, "preempt0 idle "); // 9 tokens want 3 blocks
    char why[256];
    sim_engine_explain_stuck(p.engine, why, sizeof why);
    cr_expect(strstr(why, "needs 3 KV blocks, the pool has 2"), "%s", why);
}

Test(scheduler_vllm, max_model_len_rejects_long_prompts_and_ends_generation) {
    probe p;
    probe_init(&p, 100);
    p.config.max_model_len = 8;
    probe_enqueue(&p, 0, 8, 1); // no room for a token
    probe_enqueue(&p, 1, 6, 9); // room for two
    PROBE_EXPECT(&p, "admit1(0) prefill 1:0+6 | first1 reject0:exceeds_max_model_len ");
    PROBE_EXPECT(&p, "decode 1:7 | gap1x1 second1 finish1:2 ");
}

Test(scheduler_vllm, a_prompt_larger_than_the_pool_is_rejected_at_once_when_nothing_else_runs) {
    probe p;
    probe_init(&p, 3);
    probe_enqueue(&p, 0, 13, 1);
    PROBE_EXPECT(&p, "reject0:exceeds_kv_cache idle ");
    cr_expect(!sim_engine_has_work(p.engine));
    p.config.on_unservable = SIM_UNSERVABLE_FAIL;
    probe_enqueue(&p, 1, 13, 1);
    bool is_started;
    sim_error error;
    cr_expect_eq(sim_engine_schedule(p.engine, 0, false, &p.pass, &is_started, &error), SIM_DEAD_END);
    cr_expect(strstr(error.message, "exceeds_kv_cache"));
}

Test(scheduler_vllm, a_pass_is_described_by_exact_moments) {
    probe p;
    probe_init(&p, 100);
    p.config.max_num_batched_tokens = 12;
    p.n_shared_tokens[1] = p.n_shared_tokens[2] = 4;
    probe_enqueue(&p, 0, 5, 4);
    probe_enqueue(&p, 1, 6, 4);
    probe_pass(&p);             // 11 tokens: both prompts
    probe_enqueue(&p, 2, 9, 4); // finds 4
    probe_enqueue(&p, 3, 8, 4);
    PROBE_EXPECT(&p, "admit2(4) admit3(0) prefill 2:4+10 decode 2:13 | gap1x2 second0 second1 first2 ");
    const fpm_metrics *m = &p.metrics;
    // 2: 5 new on 4 past, 3: 5 new of 8 (budget 12 - 2 - 5)
    cr_expect_eq(m->moments.sum_prefill_attention, 5 * (4 + 2.5) + 5 * (0 + 2.5));
    cr_expect_eq(m->moments.max_context_tokens, 9);
    cr_expect_eq(m->moments.num_finished_prompts, 1);
    cr_expect_eq(m->scheduled.var_prefill_length, 0.25);   // 9 and 8
    cr_expect_eq(m->scheduled.var_decode_kv_tokens, 0.25); // 6 and 7
}

Test(scheduler_vllm, deferred_prompts_go_on_at_once_when_the_decodes_they_waited_for_are_gone) {
    probe p;
    probe_init(&p, 3);
    p.config.preemption = SIM_PREEMPT_FIFO;
    p.config.max_num_batched_tokens = 6;
    // 0 holds one block, 1 the two others with 5 of its 8 tokens. When 0 wants a block for its fifth token none is left, and it is the oldest: it gives itself up. 1 is
    // deferred in that round, in which nothing starts; the worker asks again, and there is no decode to defer for.
    probe_enqueue(&p, 0, 2, 6);
    PROBE_EXPECT(&p, "admit0(0) prefill 1:0+2 | first0 ");
    probe_enqueue(&p, 1, 8, 1);
    PROBE_EXPECT(&p, "admit1(0) prefill 1:0+5 decode 1:3 | gap1x1 second0 ");
    p.defers_prefills = true;
    PROBE_EXPECT(&p, "decode 1:4 | gap1x1 ");
    PROBE_EXPECT(&p, "preempt0 idle ");
    p.defers_prefills = false;
    PROBE_EXPECT(&p, "prefill 1:5+3 | first1 finish1:1 ");
}
