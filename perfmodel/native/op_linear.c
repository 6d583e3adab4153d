// SPDX-License-Identifier: GPL-3.0-or-later
//
// Gated delta net: the recurrent state (value_heads x key_dim x value_dim in 32 bits) stands for the KV cache. Prefill runs over chunks of 64 tokens
// and touches the state once a chunk at most; decode reads and writes the state of every request.
#include "perfmodel/native/operator_parts.h"

static double state_bytes(const fpm_linear_shape *shape) {
    return 4 * shape->value_heads * shape->key_dim * shape->value_dim;
}

static double channels(const fpm_linear_shape *shape) {
    return 2 * shape->key_heads * shape->key_dim + shape->value_heads * shape->value_dim;
}

// The convolution reads and writes every channel of a token in 16 bits, and takes its time before the recurrence.
fpm_attention_form fpm_linear_convolution_form(const fpm_operators *operators, fpm_family family,
                                               const fpm_linear_shape *shape) {
    const double *curve = fpm_curve_of(operators, family, FPM_BF16);
    const double token_ms = 2 * 2 * channels(shape) * fpm_byte_ms(operators);
    return (fpm_attention_form){ .floor_ms = 1e-3 * curve[LINEAR_CONV_FLOOR],
                                 .serial_token_ms = token_ms / curve[LINEAR_CONV_MEMORY],
                                 .serial_request_ms = 1e-6 * curve[LINEAR_CONV_REQUEST],
                                 .bound_token_ms = token_ms };
}

static fpm_attention_form linear_form(const fpm_operators *operators, fpm_family family, double token_flops,
                                      const fpm_linear_shape *shape) {
    const double *curve = fpm_curve_of(operators, family, FPM_BF16);
    const double flop_ms = fpm_flop_ms(operators, FPM_BF16), byte_ms = fpm_byte_ms(operators);
    const double heads = (shape->value_heads + curve[LINEAR_PAD_HEADS]) / shape->value_heads;
    const double token_ms = 2 * (channels(shape) + shape->value_heads * shape->value_dim) * byte_ms;
    const double state_ms = 2 * state_bytes(shape) * byte_ms;
    const double request_ms = 1e-6 * curve[LINEAR_REQUEST];
    const fpm_attention_form conv = fpm_linear_convolution_form(operators, family, shape);
    return (fpm_attention_form){ .family = family,
                                 .format = FPM_BF16,
                                 .floor_ms = 1e-3 * curve[LINEAR_FLOOR] + conv.floor_ms,
                                 .compute_token_ms =
                                     token_flops * flop_ms * heads / curve[LINEAR_COMPUTE] + 1e-9 * curve[LINEAR_STEP],
                                 .compute_request_ms = request_ms,
                                 .memory_token_ms = token_ms * heads / curve[LINEAR_MEMORY],
                                 .memory_request_ms = state_ms * heads / curve[LINEAR_MEMORY] + request_ms,
                                 .serial_token_ms = conv.serial_token_ms,
                                 .serial_request_ms = conv.serial_request_ms,
                                 .bound_token_ms = token_ms + conv.bound_token_ms,
                                 .bound_request_ms = state_ms };
}

fpm_attention_form fpm_linear_prefill_form(const fpm_operators *operators, const fpm_linear_shape *shape) {
    // Within a chunk of 64: products of keys and queries, and each token against the state.
    const double token_flops =
        shape->value_heads * (2 * 64 * (shape->key_dim + shape->value_dim) + 4 * shape->key_dim * shape->value_dim);
    return linear_form(operators, FPM_FAMILY_LINEAR_PREFILL, token_flops, shape);
}

fpm_attention_form fpm_linear_decode_form(const fpm_operators *operators, const fpm_linear_shape *shape) {
    const double token_flops = shape->value_heads * 6 * shape->key_dim * shape->value_dim;
    return linear_form(operators, FPM_FAMILY_LINEAR_DECODE, token_flops, shape);
}
