// SPDX-License-Identifier: GPL-3.0-or-later
//
// Batch sums of one rank: what the native price of a pass depends on.
#ifndef PERFMODEL_NATIVE_BATCH_H
#define PERFMODEL_NATIVE_BATCH_H

#include "perfmodel/perfmodel.h"

typedef struct fpm_batch {
    double tokens;         // rows of the projections: fresh prompt tokens and one per decode
    double prefill_tokens; // fresh prompt tokens
    double shared_tokens;  // `tokens` of all ranks that share the experts; 0 until somebody knows them
    double rows;           // sequences that sample a token: decodes and prompts that end
    double n_prefills, prefill_pairs, prefill_kv_tokens; // pairs: sum new x (past + new / 2); kv: sum past + new
    double n_decodes, decode_kv_tokens;
} fpm_batch;

// fmin of two numbers, as one instruction instead of a call.
static inline double fpm_smaller(double a, double b) { return a < b ? a : b; }

// Schema alone: items of equal past, new tokens as unequal as the prompt lengths; never more pairs than one prompt of all the tokens has.
double fpm_derived_pairs(const fpm_scheduled_requests *s);

// From a record; without moments with those that follow from the schema: items of equal past, new tokens as unequal as the prompt lengths, every
// prompt ending in this pass.
static inline fpm_batch fpm_batch_of(const fpm_metrics *rank) {
    const fpm_scheduled_requests *s = &rank->scheduled;
    fpm_batch batch = {
        .tokens = (double)s->sum_prefill_tokens + (double)s->num_decode_requests,
        .prefill_tokens = (double)s->sum_prefill_tokens,
        .rows = (double)s->num_decode_requests,
        .n_decodes = (double)s->num_decode_requests,
        .decode_kv_tokens = (double)s->sum_decode_kv_tokens,
    };
    if (s->sum_prefill_tokens == 0) return batch;
    batch.n_prefills = (double)s->num_prefill_requests;
    batch.prefill_kv_tokens = (double)s->sum_prefill_kv_tokens + batch.prefill_tokens;
    batch.prefill_pairs = rank->moments.is_present ? rank->moments.sum_prefill_attention : fpm_derived_pairs(s);
    batch.rows += rank->moments.is_present ? (double)rank->moments.num_finished_prompts : batch.n_prefills;
    return batch;
}

#endif
