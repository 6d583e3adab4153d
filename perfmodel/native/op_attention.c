// SPDX-License-Identifier: GPL-3.0-or-later
//
// Attention with grouped heads, and what all forms of attention have in common.
#include "perfmodel/native/operator_parts.h"

fpm_attention_form fpm_attention_form_times(const fpm_attention_form *form, double times, double work_factor,
                                            double floor_factor) {
    const double work = times * work_factor;
    return (fpm_attention_form){
        .family = form->family,
        .format = form->format,
        .floor_ms = form->floor_ms * times * floor_factor,
        .compute_pair_ms = form->compute_pair_ms * work,
        .compute_kv_ms = form->compute_kv_ms * work,
        .compute_token_ms = form->compute_token_ms * work,
        .compute_request_ms = form->compute_request_ms * work,
        .memory_kv_ms = form->memory_kv_ms * work,
        .memory_token_ms = form->memory_token_ms * work,
        .memory_request_ms = form->memory_request_ms * work,
        .serial_ms = form->serial_ms * work,
        .apart = form->apart,
        .serial_token_ms = form->serial_token_ms * work,
        .serial_request_ms = form->serial_request_ms * work,
        .bound_ms = form->bound_ms * times,
        .bound_pair_ms = form->bound_pair_ms * times,
        .bound_kv_ms = form->bound_kv_ms * times,
        .bound_token_ms = form->bound_token_ms * times,
        .bound_request_ms = form->bound_request_ms * times,
    };
}

// (new + pad queries) x (keys + pad keys) of every request, multiplied out into batch sums.
fpm_attention_form fpm_attention_form_of(const fpm_operators *operators, fpm_family family, int format,
                                         const fpm_attention_work *work) {
    const double *curve = fpm_curve_of(operators, family, format);
    const double flop_ms = fpm_flop_ms(operators, format), byte_ms = fpm_byte_ms(operators);
    const double heads = (work->heads + curve[ATTENTION_PAD_HEADS]) / work->heads;
    const double kv_heads = (work->kv_heads + curve[ATTENTION_PAD_KV_HEADS]) / work->kv_heads;
    const double width = (work->width + curve[ATTENTION_PAD_DIM]) / work->width;
    const double crowded = work->heads > 32 * work->kv_heads ? curve[ATTENTION_CROWDED] : 1;
    const double wide = crowded * (work->width > 128 ? pow(curve[ATTENTION_WIDE], log2(work->width / 128)) : 1);
    const double pair_ms = work->pair_flops * flop_ms;
    const double padded_pair_ms = pair_ms * heads * width * wide / curve[ATTENTION_COMPUTE];
    const double kv_ms = work->kv_bytes * byte_ms, token_ms = work->token_bytes * byte_ms;
    const double pad_queries = curve[ATTENTION_PAD_QUERIES], pad_keys = curve[ATTENTION_PAD_KEYS];
    const double key_ms = 1e-9 * curve[ATTENTION_KEY];
    const double request_ms = 1e-6 * (curve[ATTENTION_REQUEST] + work->heads * curve[ATTENTION_QUERY_HEAD] +
                                      work->kv_heads * curve[ATTENTION_KEY_HEAD]);
    return (fpm_attention_form){ .family = family,
                                 .format = format,
                                 .floor_ms = 1e-3 * curve[ATTENTION_FLOOR],
                                 .compute_pair_ms = padded_pair_ms,
                                 .compute_kv_ms = padded_pair_ms * pad_queries + key_ms,
                                 .compute_token_ms = padded_pair_ms * pad_keys,
                                 .compute_request_ms = padded_pair_ms * pad_queries * pad_keys + request_ms,
                                 .memory_kv_ms = kv_ms * kv_heads * wide / curve[ATTENTION_MEMORY],
                                 .memory_token_ms = token_ms * wide / curve[ATTENTION_MEMORY],
                                 .memory_request_ms = request_ms,
                                 .apart = curve[ATTENTION_APART],
                                 .bound_pair_ms = pair_ms,
                                 .bound_kv_ms = kv_ms,
                                 .bound_token_ms = token_ms };
}

static int score_format(const fpm_operators *operators, const fpm_attention_shape *shape) {
    const bool has_fp8 = operators->system->flops_per_s[FPM_ARITHMETIC_FP8] > 0;
    return fpm_format(shape->kv_cache, shape->has_16bit_scores || operators->backend == FPM_VLLM || !has_fp8);
}

static fpm_attention_work grouped_work(const fpm_attention_shape *shape) {
    // A token reads its query and writes its output in 16 bits.
    return (fpm_attention_work){ .heads = shape->n_heads,
                                 .kv_heads = shape->n_kv_heads,
                                 .width = shape->head_dim,
                                 .pair_flops = 4 * shape->n_heads * shape->head_dim,
                                 .kv_bytes = 2 * shape->n_kv_heads * shape->head_dim *
                                             fpm_format_weight_bytes((int)shape->kv_cache),
                                 .token_bytes = 4 * shape->n_heads * shape->head_dim };
}

fpm_family fpm_attention_family(const fpm_attention_shape *shape, bool is_prefill) {
    const bool is_usual = shape->head_dim == 64 || shape->head_dim == 128 || shape->head_dim == 256;
    if (shape->has_window || !is_usual) return is_prefill ? FPM_FAMILY_SPECIAL_PREFILL : FPM_FAMILY_SPECIAL_DECODE;
    return is_prefill ? FPM_FAMILY_ATTENTION_PREFILL : FPM_FAMILY_ATTENTION_DECODE;
}

fpm_attention_form fpm_attention_prefill_form(const fpm_operators *operators, const fpm_attention_shape *shape) {
    const fpm_attention_work work = grouped_work(shape);
    return fpm_attention_form_of(operators, fpm_attention_family(shape, true), score_format(operators, shape), &work);
}

fpm_attention_form fpm_attention_decode_form(const fpm_operators *operators, const fpm_attention_shape *shape) {
    const fpm_attention_work work = grouped_work(shape);
    return fpm_attention_form_of(operators, fpm_attention_family(shape, false), (int)shape->kv_cache, &work);
}
