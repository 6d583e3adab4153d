// SPDX-License-Identifier: GPL-3.0-or-later
//
// Batch sums of a record, with moments and without (perfmodel/native/batch.c; test_batch.c is the scheduler's batch).
#include "perfmodel/native/batch.h"

#include <criterion/criterion.h>

Test(native_batch, decodes_are_rows_and_tokens) {
    fpm_metrics pass = fpm_metrics_idle();
    pass.scheduled.num_decode_requests = 7;
    pass.scheduled.sum_decode_kv_tokens = 700;
    const fpm_batch b = fpm_batch_of(&pass);
    cr_expect_eq(b.tokens, 7);
    cr_expect_eq(b.rows, 7);
    cr_expect_eq(b.n_decodes, 7);
    cr_expect_eq(b.decode_kv_tokens, 700);
    cr_expect_eq(b.n_prefills + b.prefill_tokens + b.prefill_kv_tokens + b.prefill_pairs + b.shared_tokens, 0);
}

Test(native_batch, moments_are_taken_as_they_are) {
    fpm_metrics pass = fpm_metrics_idle();
    pass.scheduled.num_prefill_requests = 2;
    pass.scheduled.sum_prefill_tokens = 30;
    pass.scheduled.sum_prefill_kv_tokens = 100;
    pass.scheduled.num_decode_requests = 3;
    pass.moments = (fpm_moments){ .sum_prefill_attention = 12345, .num_finished_prompts = 1, .is_present = true };
    const fpm_batch b = fpm_batch_of(&pass);
    cr_expect_eq(b.tokens, 33);
    cr_expect_eq(b.prefill_tokens, 30);
    cr_expect_eq(b.prefill_kv_tokens, 130); // past + new
    cr_expect_eq(b.prefill_pairs, 12345);
    cr_expect_eq(b.rows, 4);
}

Test(native_batch, without_moments_they_follow_from_the_schema) {
    static const struct {
        const char *what;
        uint32_t n, tokens, past;
        double variance, pairs;
    } cases[] = {
        { "one prompt of 100 after 50: 100 x (50 + 100 / 2)", 1, 100, 50, 0, 10000 },
        { "4 alike of 25 after 10 each: 4 x 25 x (10 + 12.5)", 4, 100, 40, 0, 2250 },
        { "10 and 30 (variance 100): (100 + 900) / 2", 2, 40, 0, 100, 500 },
        { "a variance of prompt lengths that no split of the tokens has: one prompt of all", 2, 40, 0, 1e9, 800 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fpm_metrics pass = fpm_metrics_idle();
        pass.scheduled.num_prefill_requests = cases[i].n;
        pass.scheduled.sum_prefill_tokens = cases[i].tokens;
        pass.scheduled.sum_prefill_kv_tokens = cases[i].past;
        pass.scheduled.var_prefill_length = cases[i].variance;
        const fpm_batch b = fpm_batch_of(&pass);
        cr_expect_float_eq(b.prefill_pairs, cases[i].pairs, 1e-9, "%s: %g", cases[i].what, b.prefill_pairs);
        cr_expect_eq(b.rows, cases[i].n, "%s", cases[i].what); // every prompt ends
    }
}

Test(native_batch, items_without_fresh_tokens_are_no_prompts) {
    fpm_metrics pass = fpm_metrics_idle();
    pass.scheduled.num_prefill_requests = 2;
    pass.scheduled.num_decode_requests = 1;
    const fpm_batch b = fpm_batch_of(&pass);
    cr_expect_eq(b.n_prefills, 0);
    cr_expect_eq(b.rows, 1);
}
