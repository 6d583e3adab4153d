// SPDX-License-Identifier: GPL-3.0-or-later
//
// Multi-head latent attention, and the indexer that picks the tokens of sparse attention.
#include "perfmodel/native/operator_parts.h"

fpm_attention_form fpm_latent_prefill_form(const fpm_operators *operators, const fpm_latent_shape *shape) {
    const double width = shape->nope_dim + shape->rope_dim + shape->value_dim;
    const fpm_attention_work work = { .heads = shape->n_heads,
                                      .kv_heads = shape->n_heads,
                                      .width = 128,
                                      .pair_flops = 2 * shape->n_heads * width,
                                      .kv_bytes =
                                          shape->n_heads * width * fpm_format_weight_bytes((int)shape->kv_cache),
                                      .token_bytes = 2 * shape->n_heads * width };
    return fpm_attention_form_of(operators, FPM_FAMILY_LATENT_PREFILL, (int)shape->kv_cache, &work);
}

fpm_attention_form fpm_latent_kernel_form(const fpm_operators *operators, const fpm_latent_shape *shape) {
    const double latent = shape->kv_rank + shape->rope_dim;
    const fpm_attention_work work = { .heads = shape->n_heads,
                                      .kv_heads = 1,
                                      .width = 128,
                                      .pair_flops = 2 * shape->n_heads * (latent + shape->kv_rank),
                                      .kv_bytes = latent * fpm_format_weight_bytes((int)shape->kv_cache),
                                      .token_bytes = 2 * shape->n_heads * (latent + shape->kv_rank) };
    return fpm_attention_form_of(operators, FPM_FAMILY_LATENT_DECODE, (int)shape->kv_cache, &work);
}

// Every head has weights of its own, read once a pass; tokens take the larger of compute and memory. The products run one after the other and beside
// nothing else, so what they take adds up.
fpm_attention_form fpm_latent_product_form(const fpm_operators *operators, const fpm_latent_shape *shape) {
    const int format = (int)FPM_BF16;
    const double *curve = fpm_curve_of(operators, FPM_FAMILY_LATENT_BMM, format);
    const double weights = shape->n_heads * shape->kv_rank * (shape->nope_dim + shape->value_dim);
    const double token_values = shape->n_heads * (2 * shape->kv_rank + shape->nope_dim + shape->value_dim);
    const double byte_ms = fpm_byte_ms(operators) / curve[BMM_MEMORY];
    const double weight_bytes = weights * fpm_format_weight_bytes(format);
    const double compute_ms = 2 * weights * fpm_flop_ms(operators, format) / curve[BMM_COMPUTE];
    return (fpm_attention_form){
        .floor_ms = 2e-3 * curve[BMM_FLOOR],
        .serial_ms = weight_bytes * byte_ms,
        .serial_token_ms = fmax(compute_ms, token_values * fpm_format_activation_bytes(format) * byte_ms),
        .bound_ms = weight_bytes * fpm_byte_ms(operators),
        .family = FPM_FAMILY_LATENT_BMM,
        .format = format,
    };
}

fpm_attention_form fpm_latent_decode_form(const fpm_operators *operators, const fpm_latent_shape *shape) {
    fpm_attention_form form = fpm_latent_kernel_form(operators, shape);
    const fpm_attention_form products = fpm_latent_product_form(operators, shape);
    form.floor_ms += products.floor_ms;
    form.serial_ms += products.serial_ms;
    form.bound_ms += products.bound_ms;
    form.serial_token_ms += products.serial_token_ms;
    return form;
}

// Keys of the indexer are fp8 with a 32-bit scale for 128 of them; queries and scores are 16 and 32 bits wide.
static fpm_attention_work indexer_work(const fpm_indexer_shape *shape) {
    return (fpm_attention_work){ .heads = shape->heads,
                                 .kv_heads = 1,
                                 .width = 128,
                                 .pair_flops = 2 * shape->heads * shape->dim,
                                 .kv_bytes = shape->dim * (1 + 4.0 / 128),
                                 .token_bytes = shape->heads * shape->dim };
}

fpm_attention_form fpm_indexer_prefill_form(const fpm_operators *operators, const fpm_indexer_shape *shape) {
    const fpm_attention_work work = indexer_work(shape);
    return fpm_attention_form_of(operators, FPM_FAMILY_INDEXER_PREFILL, FPM_BF16, &work);
}

fpm_attention_form fpm_indexer_decode_form(const fpm_operators *operators, const fpm_indexer_shape *shape) {
    const fpm_attention_work work = indexer_work(shape);
    return fpm_attention_form_of(operators, FPM_FAMILY_INDEXER_DECODE, FPM_BF16, &work);
}
