// SPDX-License-Identifier: GPL-3.0-or-later
//
// The native price of a pass, straight from the prices of kernels (operators.h): what a layer launches, written down once more, added up without tables. It
// shares no line with graph.c, plan.c and estimator_native.c.
#ifndef TESTS_SUPPORT_NAIVE_NATIVE_H
#define TESTS_SUPPORT_NAIVE_NATIVE_H

#include <math.h>

#include "perfmodel/native/batch.h"
#include "perfmodel/native/operators.h"

typedef struct naive_pass {
    const fpm_deployment *d;
    const fpm_operators *operators;
    const double *terms;
    fpm_batch batch;
    double ms;
} naive_pass;

static inline double naive_cut(int64_t width, int64_t ranks) { return (double)((width + ranks - 1) / ranks); }

static inline void naive_charge(naive_pass *p, double times, fpm_price price, fpm_term work, fpm_term floor) {
    const double ms = (price.ms - price.floor_ms) * p->terms[work] + price.floor_ms * p->terms[floor];
    p->ms += times * (ms > price.bound_ms ? ms : price.bound_ms);
}

static inline fpm_term naive_gemm_term(fpm_precision weights) {
    static const fpm_term terms[FPM_PRECISIONS] = {
        [FPM_BF16] = FPM_TERM_GEMM_BF16,   [FPM_FP8] = FPM_TERM_GEMM_FP8,     [FPM_FP8_BLOCK] = FPM_TERM_GEMM_FP8_BLOCK,
        [FPM_NVFP4] = FPM_TERM_GEMM_NVFP4, [FPM_MXFP4] = FPM_TERM_GEMM_OTHER, [FPM_INT8] = FPM_TERM_GEMM_OTHER,
        [FPM_INT4] = FPM_TERM_GEMM_OTHER
    };
    return terms[weights];
}

static inline void naive_gemm(naive_pass *p, double times, fpm_precision weights, double m, double n, double k) {
    if (m <= 0) return;
    const fpm_price price = fpm_gemm_price(p->operators, weights, p->d->quantisation.has_16bit_activations, m, n, k);
    naive_charge(p, times, price, naive_gemm_term(weights), FPM_TERM_FLOOR);
}

static inline void naive_move(naive_pass *p, double times, double rows, double width) {
    if (rows > 0)
        naive_charge(p, times, fpm_memory_price(p->operators, 2 * rows * width), FPM_TERM_MEMORY, FPM_TERM_FLOOR);
}

static inline void naive_collect(naive_pass *p, double times, fpm_collective kind, int64_t ranks, double bytes) {
    if (ranks > 1 && bytes > 0)
        naive_charge(p, times, fpm_collective_price(p->operators, kind, (double)ranks, bytes), FPM_TERM_COLLECTIVE,
                     FPM_TERM_LATENCY);
}

// Sum over `tokens` new ones after `past` of the keys each sees, at most `window`: a trapezium below the window, a rectangle at it.
static inline double naive_seen_pairs(double past, double tokens, double window) {
    const double below = fmin(fmax(window - past, 0), tokens);
    return below * (past + below / 2) + (tokens - below) * window;
}

// Prompts and decodes of `times` layers, over at most `window` tokens a query.
static inline void naive_attend(naive_pass *p, double times, double window, fpm_attention_form prefill,
                                fpm_attention_form decode, fpm_term prefill_term, fpm_term decode_term) {
    const fpm_batch *b = &p->batch;
    fpm_attention_sums s = { b->prefill_pairs, b->prefill_kv_tokens, b->prefill_tokens, b->n_prefills };
    if (window > 0 && s.requests > 0) {
        s.pairs = fmin(
            s.pairs, naive_seen_pairs(s.kv_tokens / s.requests - s.tokens / s.requests, s.tokens / s.requests, window) *
                         s.requests);
        s.kv_tokens = fmin(s.kv_tokens, s.tokens + window * s.requests);
    }
    if (b->n_prefills > 0 && times > 0)
        naive_charge(p, times, fpm_attention_price(&prefill, &s), prefill_term, FPM_TERM_FLOOR);
    const double seen = window > 0 ? fmin(b->decode_kv_tokens, window * b->n_decodes) : b->decode_kv_tokens;
    s = (fpm_attention_sums){ seen, seen, b->n_decodes, b->n_decodes };
    if (b->n_decodes > 0 && times > 0)
        naive_charge(p, times, fpm_attention_price(&decode, &s), decode_term, FPM_TERM_FLOOR);
}

static inline void naive_grouped_layer(naive_pass *p, double window) {
    const fpm_architecture *a = &p->d->architecture;
    const int64_t tp = p->d->layout.tensor;
    const fpm_precision w = p->d->quantisation.weights;
    const double heads = naive_cut(a->n_heads, tp), kv_heads = naive_cut(a->n_kv_heads, tp), d = (double)a->head_dim;
    const double t = p->batch.tokens, h = (double)a->hidden;
    naive_gemm(p, 1, w, t, ((a->has_output_gate ? 2 : 1) * heads + 2 * kv_heads) * d, h);
    naive_move(p, 1, t, ((a->has_qk_norm ? 4 : 2) * (heads + kv_heads) + 2 * kv_heads) * d);
    const fpm_attention_shape shape = { heads, kv_heads, d, p->d->quantisation.kv_cache, false, window > 0 };
    naive_attend(p, 1, window, fpm_attention_prefill_form(p->operators, &shape),
                 fpm_attention_decode_form(p->operators, &shape), FPM_TERM_ATTENTION_PREFILL,
                 FPM_TERM_ATTENTION_DECODE);
    if (a->has_output_gate) naive_move(p, 1, t, 3 * heads * d);
    naive_gemm(p, 1, w, t, h, heads * d);
}

static inline void naive_latent_layer(naive_pass *p) {
    const fpm_architecture *a = &p->d->architecture;
    const fpm_precision w = p->d->quantisation.weights;
    const double heads = naive_cut(a->n_heads, p->d->layout.tensor), t = p->batch.tokens, h = (double)a->hidden;
    const double nope = (double)a->nope_dim, rope = (double)a->rope_dim, value = (double)a->value_dim;
    const double q = (double)a->q_rank, kv = (double)a->kv_rank;
    naive_gemm(p, 1, w, t, (q > 0 ? q : heads * (nope + rope)) + (q > 0 ? kv + rope : 0), h);
    if (q > 0) naive_move(p, 1, t, 2 * (q + kv + rope));
    if (q > 0) naive_gemm(p, 1, w, t, heads * (nope + rope), q);
    if (q <= 0) naive_gemm(p, 1, w, t, kv + rope, h);
    naive_gemm(p, 1, w, p->batch.prefill_tokens, heads * (nope + value), kv);
    naive_move(p, 1, t, 2 * (heads * rope + kv + rope));
    double window = 0;
    if (a->attention == FPM_ATTENTION_SPARSE) {
        const double index = (double)a->index_heads, dim = (double)a->index_dim;
        const fpm_indexer_shape shape = { index, dim, (double)a->index_topk };
        naive_gemm(p, 1, w, t, index * dim, q);
        naive_gemm(p, 1, w, t, dim + index, h);
        naive_attend(p, 1, 0, fpm_indexer_prefill_form(p->operators, &shape),
                     fpm_indexer_decode_form(p->operators, &shape), FPM_TERM_LATENT_PREFILL, FPM_TERM_LATENT_DECODE);
        window = (double)a->index_topk;
    }
    const fpm_latent_shape shape = { heads, kv, nope, rope, value, p->d->quantisation.kv_cache };
    naive_attend(p, 1, window, fpm_latent_prefill_form(p->operators, &shape),
                 fpm_latent_decode_form(p->operators, &shape), FPM_TERM_LATENT_PREFILL, FPM_TERM_LATENT_DECODE);
    naive_gemm(p, 1, w, t, h, heads * value);
    p->ms += 1e-3 * p->terms[FPM_TERM_LATENT_LAYER];
    if (a->attention == FPM_ATTENTION_SPARSE) p->ms += 1e-3 * p->terms[FPM_TERM_SPARSE_LAYER];
}

static inline void naive_linear_layer(naive_pass *p) {
    const fpm_architecture *a = &p->d->architecture;
    const int64_t tp = p->d->layout.tensor;
    const fpm_precision w = p->d->quantisation.weights;
    const double t = p->batch.tokens, h = (double)a->hidden;
    const double keys = naive_cut(a->linear_key_heads, tp), values = naive_cut(a->linear_value_heads, tp);
    const double k = (double)a->linear_key_dim, v = (double)a->linear_value_dim;
    naive_gemm(p, 1, w, t, 2 * keys * k + 2 * values * v + 2 * values, h);
    const fpm_linear_shape shape = { keys, k, values, v, (double)a->linear_conv_width };
    naive_attend(p, 1, 0, fpm_linear_prefill_form(p->operators, &shape), fpm_linear_decode_form(p->operators, &shape),
                 FPM_TERM_LINEAR, FPM_TERM_LINEAR);
    naive_move(p, 1, t, 3 * values * v);
    naive_gemm(p, 1, w, t, h, values * v);
    p->ms += 1e-3 * p->terms[FPM_TERM_LINEAR_LAYER];
}

static inline void naive_ffn(naive_pass *p, double width) {
    const fpm_architecture *a = &p->d->architecture;
    const fpm_precision w = p->d->quantisation.weights;
    const double matrices = a->has_ungated_ffn ? 1 : 2;
    naive_gemm(p, 1, w, p->batch.tokens, matrices * width, (double)a->hidden);
    naive_move(p, 1, p->batch.tokens, (matrices + 1) * width);
    naive_gemm(p, 1, w, p->batch.tokens, (double)a->hidden, width);
}

// Of one layer of experts, what a rank does alone.
static inline void naive_own_experts(naive_pass *p) {
    const fpm_architecture *a = &p->d->architecture;
    const fpm_layout *l = &p->d->layout;
    if (a->shared_intermediate > 0) naive_ffn(p, naive_cut(a->shared_intermediate, l->tensor));
    naive_gemm(p, 1, FPM_BF16, p->batch.tokens, (double)a->n_experts, (double)a->hidden);
    if (l->data == 1)
        naive_collect(p, 1, FPM_ALL_REDUCE, l->moe_tensor * l->expert, 2 * p->batch.tokens * (double)a->hidden);
    p->ms += 1e-3 * p->terms[FPM_TERM_MOE_LAYER];
}

static inline fpm_term naive_moe_term(fpm_precision weights) {
    static const fpm_term terms[FPM_PRECISIONS] = {
        [FPM_BF16] = FPM_TERM_MOE_BF16,   [FPM_FP8] = FPM_TERM_MOE_FP8,     [FPM_FP8_BLOCK] = FPM_TERM_MOE_FP8_BLOCK,
        [FPM_NVFP4] = FPM_TERM_MOE_NVFP4, [FPM_MXFP4] = FPM_TERM_MOE_MXFP4, [FPM_INT8] = FPM_TERM_MOE_INT,
        [FPM_INT4] = FPM_TERM_MOE_INT
    };
    return terms[weights];
}

// And what all ranks do together, with the tokens of all.
static inline void naive_shared_experts(naive_pass *p, double tokens) {
    const fpm_architecture *a = &p->d->architecture;
    const fpm_layout *l = &p->d->layout;
    const fpm_quantisation *q = &p->d->quantisation;
    if (tokens <= 0) return;
    const double bytes = 2 * tokens * (double)a->hidden;
    if (l->data > 1) naive_collect(p, 1, FPM_ALL_GATHER, l->moe_tensor * l->expert, bytes);
    fpm_moe_shape shape = { .hidden = (double)a->hidden,
                            .intermediate = (double)a->expert_intermediate,
                            .n_experts = (double)a->n_experts,
                            .experts_per_token = (double)a->experts_per_token,
                            .tensor = (double)l->moe_tensor,
                            .expert = (double)l->expert,
                            .skew = 1,
                            .is_ungated = a->has_ungated_ffn };
    shape.imbalance = fpm_moe_imbalance(&shape);
    naive_charge(p, 1, fpm_moe_price(p->operators, q->moe_weights, q->has_16bit_activations, &shape, tokens),
                 naive_moe_term(q->moe_weights), FPM_TERM_FLOOR);
    if (l->data > 1) naive_collect(p, 1, FPM_REDUCE_SCATTER, l->moe_tensor * l->expert, bytes);
}

static inline void naive_layers(naive_pass *p) {
    const fpm_architecture *a = &p->d->architecture;
    const double t = p->batch.tokens, h = (double)a->hidden;
    const int64_t tp = p->d->layout.tensor, n_full = a->n_layers - a->n_linear_layers;
    for (int64_t layer = 0; layer < a->n_layers; layer++) {
        naive_move(p, 2, t, 4 * h); // both norms
        if (layer >= n_full)
            naive_linear_layer(p);
        else if (a->attention == FPM_ATTENTION_GROUPED)
            naive_grouped_layer(p, layer < a->n_window_layers ? (double)a->window_tokens : 0);
        else
            naive_latent_layer(p);
        naive_collect(p, 1, FPM_ALL_REDUCE, tp, 2 * t * h);
        p->ms += 1e-3 * (p->terms[FPM_TERM_LAYER] + (tp > 1 ? p->terms[FPM_TERM_TENSOR_LAYER] : 0) +
                         (p->batch.n_prefills > 0 ? p->terms[FPM_TERM_PREFILL_LAYER] : 0));
        if (layer < a->n_moe_layers) {
            naive_own_experts(p);
            continue;
        }
        naive_ffn(p, naive_cut(a->intermediate, tp));
        naive_collect(p, 1, FPM_ALL_REDUCE, tp, 2 * t * h);
    }
}

// The pass of one rank, without what ranks compute together.
static inline double naive_rank_ms(naive_pass *p, const fpm_batch *batch) {
    const fpm_architecture *a = &p->d->architecture;
    const int64_t tp = p->d->layout.tensor, stages = p->d->layout.pipeline;
    const double h = (double)a->hidden, vocab = (double)a->vocab, rows = batch->rows;
    p->batch = *batch;
    p->ms = 0;
    if (batch->tokens <= 0) return 0;
    naive_move(p, 1, batch->tokens, 2 * h);
    naive_collect(p, 1, FPM_ALL_REDUCE, tp, 2 * batch->tokens * h);
    naive_layers(p);
    naive_gemm(p, 1, FPM_BF16, rows, naive_cut(a->vocab, tp), h);
    naive_collect(p, 1, FPM_ALL_GATHER, tp, 2 * rows * vocab);
    naive_move(p, 1, rows, 6 * vocab);
    if (stages > 1)
        naive_charge(p, (double)(stages - 1), fpm_send_price(p->operators, 2 * batch->tokens * h), FPM_TERM_COLLECTIVE,
                     FPM_TERM_LATENCY);
    p->ms += 1e-3 * (p->terms[FPM_TERM_PASS] + rows * p->terms[FPM_TERM_REQUEST]);
    if (batch->n_prefills > 0)
        p->ms += 1e-3 * (p->terms[FPM_TERM_PREFILL_PASS] + batch->n_prefills * p->terms[FPM_TERM_PROMPT]);
    return p->ms;
}

// All ranks, fused pricing.
static inline double naive_native_ms(const fpm_deployment *d, const fpm_operators *operators,
                                     const fpm_calibration *calibration, const fpm_metrics *ranks, size_t n_ranks) {
    naive_pass p = { .d = d, .operators = operators, .terms = calibration->terms };
    double slowest = 0, tokens = 0;
    for (size_t i = 0; i < n_ranks; i++) {
        const fpm_batch batch = fpm_batch_of(&ranks[i]);
        slowest = fmax(slowest, naive_rank_ms(&p, &batch));
        tokens += batch.tokens;
    }
    p.ms = 0;
    for (int64_t layer = 0; layer < d->architecture.n_moe_layers; layer++) naive_shared_experts(&p, tokens);
    return slowest + p.ms;
}

#endif
