// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/native/batch.h"

#include <math.h>

// Schema alone: items of equal past, new tokens as unequal as the prompt lengths; never more pairs than one prompt of all the tokens has.
static double derived_pairs(const fpm_scheduled_requests *s) {
    const double n = (double)s->num_prefill_requests, tokens = (double)s->sum_prefill_tokens;
    const double squares = fmin(tokens * tokens / n + n * s->var_prefill_length, tokens * tokens);
    return tokens * ((double)s->sum_prefill_kv_tokens / n) + 0.5 * squares;
}

fpm_batch fpm_batch_of(const fpm_metrics *rank) {
    const fpm_scheduled_requests *s = &rank->scheduled;
    fpm_batch batch = {
        .tokens = (double)s->sum_prefill_tokens + (double)s->num_decode_requests,
        .prefill_tokens = (double)s->sum_prefill_tokens,
        .rows = (double)s->num_decode_requests,
        .n_decodes = (double)s->num_decode_requests,
        .decode_kv_tokens = (double)s->sum_decode_kv_tokens,
    };
    if (batch.n_decodes > 0 && batch.decode_kv_tokens > 0)
        batch.decode_steps = fmin(batch.decode_kv_tokens / batch.n_decodes +
                                      batch.n_decodes * s->var_decode_kv_tokens / batch.decode_kv_tokens,
                                  batch.decode_kv_tokens);
    if (s->sum_prefill_tokens == 0) return batch;
    batch.n_prefills = (double)s->num_prefill_requests;
    batch.prefill_kv_tokens = (double)s->sum_prefill_kv_tokens + batch.prefill_tokens;
    batch.prefill_pairs = rank->moments.is_present ? rank->moments.sum_prefill_attention : derived_pairs(s);
    batch.rows += rank->moments.is_present ? (double)rank->moments.num_finished_prompts : batch.n_prefills;
    return batch;
}
