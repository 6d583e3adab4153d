// SPDX-License-Identifier: GPL-3.0-or-later
//
// What is left of a GPU's memory for the KV cache, the way each engine finds out.
//
//   vllm    requests memory_fraction x memory; a profile run at max_num_batched_tokens measures the peak of the activations; the rest of the request is KV.
//           CUDA graphs are captured afterwards, into what was not requested.
//   sglang  memory_fraction x memory holds weights and KV; activations and graphs live in what is left.
//   trtllm  memory_fraction of what is free when weights are loaded and a profile run has been made.
//
// The peak of a profile run is the larger of two moments: the widest layer, at max_num_batched_tokens, or the sampler, at max_num_seqs rows of logits. Sizes of
// both follow from the shapes; constants that no shape explains stand below with their source.
#include "perfmodel/native/native.h"

#include <math.h>
#include <stdio.h>

static const double gib = 1024.0 * 1024 * 1024;

// Buffers of NCCL and of custom all-reduce by ranks (AIConfigurator systems/*.yaml `nccl_mem`).
static const double collectives_of_2_bytes = 358612992.0, collectives_of_more_bytes = 411041792.0;
// Sampling keeps, for each logit, the 16-bit and the fp32 logit, its sorted copy with 64-bit indices, probabilities, their sums and a mask; the number is fitted
// to KV block counts that vLLM 0.15 reports on H100.
static const double sampler_bytes_per_logit = 32;
// Context tokens whose latents vLLM widens at once beside the pass (mla/common.py, chunked prefill workspace).
static const double latent_workspace_tokens = 65536;
static const double index_scale_bytes = 4, index_scale_group = 128;

// ---------------------------------------------------------------------------------------------------------------------
// KV cache and state
// ---------------------------------------------------------------------------------------------------------------------

static double per_stage(int64_t n_layers, const fpm_layout *layout) {
    return ceil((double)n_layers / (double)layout->pipeline);
}

// Of one layer.
static double layer_kv_bytes(const fpm_architecture *a, const fpm_layout *layout, const fpm_quantisation *q) {
    const double bytes = fpm_precision_bytes(q->kv_cache);
    if (a->attention == FPM_ATTENTION_GROUPED)
        return 2 * ceil((double)a->n_kv_heads / (double)layout->tensor) * (double)a->head_dim * bytes;
    double sum = (double)(a->kv_rank + a->rope_dim) * bytes;
    if (a->attention == FPM_ATTENTION_SPARSE)
        sum += (double)a->index_dim + index_scale_bytes * ceil((double)a->index_dim / index_scale_group);
    return sum;
}

double fpm_kv_bytes_per_token(const fpm_architecture *a, const fpm_layout *layout, const fpm_quantisation *q) {
    return layer_kv_bytes(a, layout, q) * per_stage(a->n_layers - a->n_linear_layers, layout);
}

// Recurrent state in fp32 (Qwen3.5 `mamba_ssm_dtype`) and the last inputs of the convolution in bf16.
static double state_bytes(const fpm_architecture *a, const fpm_layout *layout) {
    const double heads = (double)a->linear_value_heads / (double)layout->tensor;
    const double keys = (double)(a->linear_key_heads * a->linear_key_dim) / (double)layout->tensor;
    const double recurrent = heads * (double)(a->linear_key_dim * a->linear_value_dim) * 4;
    const double width = a->linear_conv_width > 0 ? (double)a->linear_conv_width - 1 : 0;
    const double convolution = width * (2 * keys + heads * (double)a->linear_value_dim) * 2;
    return (recurrent + convolution) * per_stage(a->n_linear_layers, layout);
}

// Window layers of one running request hold the window and a block more, however long the request is (hybrid KV cache managers). So they are taken off for
// every request that may run, and tokens cost what the full layers need; where that gives less than counting every layer in full (few tokens, long windows),
// the cache is one without such a manager.
static double kv_tokens(double kv_bytes, const fpm_architecture *a, const fpm_layout *layout, const fpm_quantisation *q,
                        const fpm_memory_options *options) {
    const double per_token = fpm_kv_bytes_per_token(a, layout, q);
    double tokens = kv_bytes / per_token;
    const double n_window = per_stage(a->n_window_layers, layout);
    const double full = per_token - n_window * layer_kv_bytes(a, layout, q);
    if (n_window > 0 && full > 0) {
        const double held = (double)(a->window_tokens + options->block_size_tokens) * (double)options->max_num_seqs;
        tokens = fmax(tokens, (kv_bytes - held * (per_token - full)) / full);
    }
    return fmax(0, tokens);
}

// ---------------------------------------------------------------------------------------------------------------------
// Everything else
// ---------------------------------------------------------------------------------------------------------------------

// Live at the widest point of attention, per token of the pass: queries, keys, values and the output.
static double attention_width(const fpm_architecture *a, const fpm_layout *layout) {
    const double heads = (double)a->n_heads / (double)layout->tensor;
    if (a->attention == FPM_ATTENTION_GROUPED) {
        const double kv_heads = ceil((double)a->n_kv_heads / (double)layout->tensor);
        return 2 * (heads * (a->has_output_gate ? 3 : 2) + 2 * kv_heads) * (double)a->head_dim;
    }
    return heads * (double)(2 * (a->nope_dim + a->rope_dim) + 2 * a->value_dim);
}

// The same of a dense feed-forward layer: its two inner halves and their product.
static double dense_width(const fpm_architecture *a, const fpm_layout *layout) {
    return (a->has_ungated_ffn ? 2 : 3) * (double)a->intermediate / (double)layout->tensor;
}

// Every token is there once per expert it goes to; tokens of all data-parallel ranks meet in the experts.
static double moe_width(const fpm_architecture *a, const fpm_layout *layout) {
    const double inner = (double)a->expert_intermediate / (double)layout->moe_tensor;
    const double widest = fmax(2 * inner, (double)a->hidden) + inner;
    return widest * (double)a->experts_per_token * (double)layout->data;
}

static double activations_bytes(const fpm_architecture *a, const fpm_layout *layout,
                                const fpm_memory_options *options) {
    const double tokens = (double)options->max_num_batched_tokens, hidden = (double)a->hidden;
    const double inner = fmax(attention_width(a, layout), fmax(dense_width(a, layout), moe_width(a, layout)));
    const double layer = tokens * (2 * hidden + inner) * 2;
    const double sampler = (double)options->max_num_seqs * (double)a->vocab * sampler_bytes_per_logit;
    // cos and sin of every position, in bf16
    const bool is_grouped = a->attention == FPM_ATTENTION_GROUPED;
    const double rope = (double)a->max_context_tokens * (double)(is_grouped ? a->head_dim : a->rope_dim) * 2;
    double workspace = 0;
    if (!is_grouped) {
        const double heads = (double)a->n_heads / (double)layout->tensor;
        workspace = latent_workspace_tokens * 2 *
                    ((double)(a->kv_rank + a->rope_dim) + heads * (double)(a->nope_dim + a->value_dim));
    }
    return fmax(layer + workspace, sampler) + rope;
}

// MLA engines keep kv_b twice: as it is for prefill, and in bf16, transposed, for decoding in the latent space.
static double absorbed_bytes(const fpm_architecture *a, const fpm_layout *layout) {
    if (a->attention == FPM_ATTENTION_GROUPED) return 0;
    const double heads = (double)a->n_heads / (double)layout->tensor;
    return (double)a->kv_rank * heads * (double)(a->nope_dim + a->value_dim) * 2 * per_stage(a->n_layers, layout);
}

static double collectives_bytes(const fpm_layout *layout) {
    const int64_t n_ranks = layout->tensor * layout->data;
    if (n_ranks * layout->pipeline == 1) return 0;
    return n_ranks <= 2 ? collectives_of_2_bytes : collectives_of_more_bytes;
}

// ---------------------------------------------------------------------------------------------------------------------
// The plan
// ---------------------------------------------------------------------------------------------------------------------

static double used_bytes(const fpm_memory_budget *b) {
    return b->weights_bytes + b->activations_bytes + b->graphs_bytes + b->collectives_bytes + b->reserved_bytes;
}

static fpm_memory_budget budget_of(const fpm_architecture *a, const fpm_system *system, const fpm_layout *layout,
                                   const fpm_quantisation *q, const fpm_memory_options *options) {
    fpm_memory_budget b = {
        .weights_bytes = fpm_weights_bytes(a, layout, q) + absorbed_bytes(a, layout),
        .activations_bytes = options->backend == FPM_SGLANG ? 0 : activations_bytes(a, layout, options),
        .collectives_bytes = collectives_bytes(layout),
        .reserved_bytes = system->reserved_bytes,
        .kv_bytes_per_token = fpm_kv_bytes_per_token(a, layout, q),
        .state_bytes_per_request = state_bytes(a, layout),
    };
    b.usable_bytes = system->memory_bytes * options->memory_fraction;
    if (options->backend == FPM_TRTLLM) {
        const double used = used_bytes(&b);
        b.usable_bytes = used + fmax(0, system->memory_bytes - used) * options->memory_fraction;
        if (used > system->memory_bytes) b.usable_bytes = system->memory_bytes;
    }
    b.kv_bytes = b.usable_bytes - used_bytes(&b);
    const double for_tokens = b.kv_bytes - b.state_bytes_per_request * (double)options->max_num_seqs;
    const double blocks =
        for_tokens > 0 ? floor(kv_tokens(for_tokens, a, layout, q, options) / (double)options->block_size_tokens) : 0;
    b.kv_blocks = (int64_t)fmin(blocks, 2147483647.0); // of a block pool
    b.kv_tokens = b.kv_blocks * options->block_size_tokens;
    return b;
}

// The next wider layout that the model allows, or tensor = 0: experts go with the ranks, cut the way they were.
static fpm_layout wider(const fpm_layout *layout, const fpm_architecture *a) {
    for (int64_t tensor = layout->tensor + 1; tensor <= a->n_heads && tensor <= 1024; tensor++) {
        fpm_layout next = *layout;
        next.tensor = tensor;
        if (a->n_moe_layers > 0) {
            const int64_t n_ranks = tensor * layout->data;
            if (layout->moe_tensor == 1 && layout->expert > 1)
                next.expert = n_ranks;
            else if (n_ranks % layout->expert == 0)
                next.moe_tensor = n_ranks / layout->expert;
        }
        if (fpm_layout_check(&next, a, NULL) == FPM_OK) return next;
    }
    return (fpm_layout){ .tensor = 0 };
}

// The smallest tensor at which there is room, 0 when there is none.
static int64_t tensor_that_fits(const fpm_architecture *a, const fpm_system *system, const fpm_layout *layout,
                                const fpm_quantisation *q, const fpm_memory_options *options) {
    for (fpm_layout next = wider(layout, a); next.tensor > 0; next = wider(&next, a))
        if (budget_of(a, system, &next, q, options).kv_blocks > 0) return next.tensor;
    return 0;
}

static fpm_status refuse(const fpm_memory_budget *b, const fpm_architecture *a, const fpm_system *system,
                         const fpm_layout *layout, const fpm_quantisation *q, const fpm_memory_options *options,
                         fpm_error *error) {
    const int64_t tensor = tensor_that_fits(a, system, layout, q, options);
    char hint[80] = "fewer bits, or larger GPUs";
    if (tensor > 0) snprintf(hint, sizeof hint, "try tensor >= %lld", (long long)tensor);
    char state[80] = "";
    if (b->state_bytes_per_request > 0)
        snprintf(state, sizeof state, " + state of %lld requests %.1f GiB", (long long)options->max_num_seqs,
                 b->state_bytes_per_request * (double)options->max_num_seqs / gib);
    return fpm_error_set(
        error, FPM_UNSUPPORTED,
        "no KV block fits: weights %.1f GiB + activations %.1f GiB + collectives %.1f GiB + reserved %.1f "
        "GiB%s > %.1f GiB usable of the %.0f GiB of %s at tensor = %lld (%s)",
        b->weights_bytes / gib, b->activations_bytes / gib, b->collectives_bytes / gib, b->reserved_bytes / gib, state,
        b->usable_bytes / gib, system->memory_bytes / gib, system->name, (long long)layout->tensor, hint);
}

fpm_status fpm_memory_plan(fpm_memory_budget *budget, const fpm_architecture *a, const fpm_system *system,
                           const fpm_layout *layout, const fpm_quantisation *q, const fpm_memory_options *options,
                           fpm_error *error) {
    if (!(options->memory_fraction > 0 && options->memory_fraction <= 1))
        return fpm_error_set(error, FPM_INVALID_CONFIG, "memory_fraction = %g is out of range (above 0, up to 1)",
                             options->memory_fraction);
    if (options->block_size_tokens < 1 || options->max_num_batched_tokens < 1 || options->max_num_seqs < 1)
        return fpm_error_set(error, FPM_INVALID_CONFIG,
                             "block size, max_num_batched_tokens and max_num_seqs must be 1 or more");
    const fpm_memory_budget plan = budget_of(a, system, layout, q, options);
    if (plan.kv_blocks == 0) return refuse(&plan, a, system, layout, q, options, error);
    *budget = plan;
    return FPM_OK;
}
