// SPDX-License-Identifier: GPL-3.0-or-later
//
// From a sample to the price that a set of curves gives it; whole modules are the sum of their kernels.
#include "sim/experiment/operator_samples.h"

#include <math.h>

static fpm_price price_of_form(fpm_attention_form form, const fpm_attention_sums *sums) {
    return fpm_attention_price(&form, sums);
}

// One of the two products into and out of the latent space.
static fpm_price price_of_product(const fpm_operators *operators, const sim_operator_sample *sample) {
    const fpm_latent_shape *latent = &sample->shape.latent;
    fpm_price price = price_of_form(fpm_latent_product_form(operators, latent), &sample->sums);
    const double width = (latent->nope_dim + latent->value_dim) / 2, tokens = sample->sums.tokens;
    const double bytes = 2 * latent->n_heads * (latent->kv_rank * width + tokens * (latent->kv_rank + width));
    const double flops = 2 * tokens * latent->n_heads * latent->kv_rank * width;
    const fpm_system *system = operators->system;
    price.ms /= 2;
    price.floor_ms /= 2;
    price.bound_ms = 1e3 * fmax(bytes / system->memory_bytes_per_s, flops / system->flops_per_s[FPM_ARITHMETIC_BF16]);
    return price;
}

static fpm_price price_of_linear(const fpm_operators *operators, const sim_operator_sample *sample) {
    const fpm_linear_shape *shape = &sample->shape.linear;
    const bool is_prefill = sample->kind == SIM_SAMPLE_LINEAR_PREFILL;
    const fpm_family family = is_prefill ? FPM_FAMILY_LINEAR_PREFILL : FPM_FAMILY_LINEAR_DECODE;
    const fpm_attention_form part = fpm_linear_convolution_form(operators, family, shape);
    if (sample->is_part) return fpm_attention_price(&part, &sample->sums);
    fpm_attention_form form =
        is_prefill ? fpm_linear_prefill_form(operators, shape) : fpm_linear_decode_form(operators, shape);
    form.floor_ms -= part.floor_ms; // the sample is the recurrence alone
    form.serial_token_ms -= part.serial_token_ms;
    form.serial_request_ms -= part.serial_request_ms;
    form.bound_token_ms -= part.bound_token_ms;
    return fpm_attention_price(&form, &sample->sums);
}

static double gemm_ms(const fpm_operators *operators, fpm_precision weights, double m, double n, double k) {
    return fpm_gemm_price(operators, weights, false, m, n, k).ms;
}

// The projections of a latent block: down, queries up, output; prefill with expanded heads also expands the cache.
static double projections_ms(const fpm_operators *operators, const sim_operator_sample *sample, bool is_expanded) {
    const sim_module_shape *module = &sample->shape.module;
    const fpm_latent_shape *latent = &module->latent;
    const double tokens = sample->sums.tokens, heads = latent->n_heads;
    const fpm_precision weights = module->weights;
    double ms =
        gemm_ms(operators, weights, tokens, module->q_rank + latent->kv_rank + latent->rope_dim, module->hidden) +
        gemm_ms(operators, weights, tokens, heads * (latent->nope_dim + latent->rope_dim), module->q_rank) +
        gemm_ms(operators, weights, tokens, module->hidden, heads * latent->value_dim);
    if (is_expanded)
        ms += gemm_ms(operators, weights, sample->sums.kv_tokens, heads * (latent->nope_dim + latent->value_dim),
                      latent->kv_rank);
    return ms;
}

// Two norms, the rotation, the write into the cache and what quantises the inputs: about 16 bits in and out of a token's widths.
static double small_kernels_ms(const fpm_operators *operators, const sim_operator_sample *sample) {
    const sim_module_shape *module = &sample->shape.module;
    const fpm_latent_shape *latent = &module->latent;
    const double tokens = sample->sums.tokens;
    const double queries = latent->n_heads * (latent->nope_dim + latent->rope_dim);
    return fpm_memory_price(operators, 4 * tokens * (module->q_rank + latent->kv_rank)).ms +
           fpm_memory_price(operators, 4 * tokens * queries).ms;
}

static fpm_price price_of_latent_module(const fpm_operators *operators, const sim_operator_sample *sample) {
    const bool is_prefill = sample->kind == SIM_SAMPLE_LATENT_MODULE_PREFILL;
    const fpm_latent_shape *latent = &sample->shape.module.latent;
    fpm_price price = price_of_form(is_prefill ? fpm_latent_prefill_form(operators, latent)
                                               : fpm_latent_decode_form(operators, latent),
                                    &sample->sums);
    price.ms += projections_ms(operators, sample, is_prefill) + small_kernels_ms(operators, sample);
    return price;
}

static fpm_price price_of_sparse_module(const fpm_operators *operators, const sim_operator_sample *sample) {
    const bool is_prefill = sample->kind == SIM_SAMPLE_SPARSE_MODULE_PREFILL;
    const sim_module_shape *module = &sample->shape.module;
    const double tokens = sample->sums.tokens;
    fpm_price price = price_of_form(fpm_latent_decode_form(operators, &module->latent), &sample->sums);
    price.ms += projections_ms(operators, sample, false) + small_kernels_ms(operators, sample);
    price.ms +=
        gemm_ms(operators, module->weights, tokens, module->indexer.heads * module->indexer.dim, module->q_rank) +
        gemm_ms(operators, FPM_BF16, tokens, module->indexer.dim + module->indexer.heads, module->hidden);
    price.ms += price_of_form(is_prefill ? fpm_indexer_prefill_form(operators, &module->indexer)
                                         : fpm_indexer_decode_form(operators, &module->indexer),
                              &sample->dense)
                    .ms;
    return price;
}

fpm_price sim_sample_price(const sim_operator_sample *sample, const fpm_operators *operators) {
    const fpm_precision precision = (fpm_precision)(sample->format % FPM_PRECISIONS);
    const bool is_16bit = sample->format >= FPM_PRECISIONS;
    switch (sample->kind) {
    case SIM_SAMPLE_GEMM:
        return fpm_gemm_price(operators, precision, is_16bit, sample->m, sample->n, sample->k);
    case SIM_SAMPLE_MOE:
        return fpm_moe_price(operators, precision, is_16bit, &sample->shape.moe, sample->tokens);
    case SIM_SAMPLE_ATTENTION_PREFILL:
        return price_of_form(fpm_attention_prefill_form(operators, &sample->shape.attention), &sample->sums);
    case SIM_SAMPLE_ATTENTION_DECODE:
        return price_of_form(fpm_attention_decode_form(operators, &sample->shape.attention), &sample->sums);
    case SIM_SAMPLE_LATENT_PREFILL:
        return price_of_form(fpm_latent_prefill_form(operators, &sample->shape.latent), &sample->sums);
    case SIM_SAMPLE_LATENT_DECODE:
        return price_of_form(fpm_latent_kernel_form(operators, &sample->shape.latent), &sample->sums);
    case SIM_SAMPLE_LATENT_BMM:
        return price_of_product(operators, sample);
    case SIM_SAMPLE_LINEAR_PREFILL:
    case SIM_SAMPLE_LINEAR_DECODE:
        return price_of_linear(operators, sample);
    case SIM_SAMPLE_ALL_REDUCE:
        return fpm_collective_price(operators, FPM_ALL_REDUCE, sample->ranks, sample->bytes);
    case SIM_SAMPLE_ALL_GATHER:
        return fpm_collective_price(operators, FPM_ALL_GATHER, sample->ranks, sample->bytes);
    case SIM_SAMPLE_REDUCE_SCATTER:
        return fpm_collective_price(operators, FPM_REDUCE_SCATTER, sample->ranks, sample->bytes);
    case SIM_SAMPLE_ALL_TO_ALL:
        return fpm_collective_price(operators, FPM_ALL_TO_ALL, sample->ranks, sample->bytes);
    case SIM_SAMPLE_LATENT_MODULE_PREFILL:
    case SIM_SAMPLE_LATENT_MODULE_DECODE:
        return price_of_latent_module(operators, sample);
    case SIM_SAMPLE_SPARSE_MODULE_PREFILL:
    case SIM_SAMPLE_SPARSE_MODULE_DECODE:
        return price_of_sparse_module(operators, sample);
    case SIM_SAMPLE_KINDS:
        break;
    }
    return (fpm_price){ .ms = 0 };
}
