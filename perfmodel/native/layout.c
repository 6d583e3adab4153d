// SPDX-License-Identifier: GPL-3.0-or-later
//
// May a model be cut this way, and can the GPU multiply these formats? The rules are the engines': heads, feed-forward columns and linear-attention
// heads must divide by `tensor`; KV heads divide it or are divided by it (then they are replicated); whole experts divide by `expert`; pipeline stages may
// differ by one layer (vLLM get_pp_indices, SGLang the same), so any number up to the layers will do. The vocabulary is padded, so it is no rule.
#include "perfmodel/native/native.h"

#include <stdio.h>

#define MAX_RANKS 65536

// ---------------------------------------------------------------------------------------------------------------------
// Layout
// ---------------------------------------------------------------------------------------------------------------------

typedef struct division {
    const char *name;
    int64_t value;
    bool is_needed;
} division;

enum { N_TENSOR_DIVISIONS = 5 };

// What must divide by `tensor`.
static void tensor_divisions(const fpm_architecture *a, division out[N_TENSOR_DIVISIONS]) {
    const bool has_linear = a->n_linear_layers > 0;
    out[0] = (division){ "attention heads", a->n_heads, true };
    out[1] = (division){ "intermediate", a->intermediate, a->n_moe_layers < a->n_layers };
    out[2] = (division){ "shared_intermediate", a->shared_intermediate, a->shared_intermediate > 0 };
    out[3] = (division){ "linear_key_heads", a->linear_key_heads, has_linear };
    out[4] = (division){ "linear_value_heads", a->linear_value_heads, has_linear };
}

// NULL: tensor is well; else what it does not divide.
static const division *broken_division(const division rules[N_TENSOR_DIVISIONS], int64_t tensor) {
    for (size_t i = 0; i < N_TENSOR_DIVISIONS; i++)
        if (rules[i].is_needed && rules[i].value % tensor != 0) return &rules[i];
    return NULL;
}

static bool splits_kv_heads(const fpm_architecture *a, int64_t tensor) {
    return a->attention != FPM_ATTENTION_GROUPED || a->n_kv_heads % tensor == 0 || tensor % a->n_kv_heads == 0;
}

// tensor = 1 always is, so there is one. Of two equally near ones the smaller.
static int64_t nearest_tensor(const fpm_architecture *a, const division rules[N_TENSOR_DIVISIONS], int64_t tensor) {
    for (int64_t distance = 1; distance < tensor; distance++) {
        const int64_t below = tensor - distance, above = tensor + distance;
        if (!broken_division(rules, below) && splits_kv_heads(a, below)) return below;
        if (!broken_division(rules, above) && splits_kv_heads(a, above)) return above;
    }
    return 1;
}

static fpm_status check_tensor(const fpm_layout *layout, const fpm_architecture *a, fpm_error *error) {
    division rules[N_TENSOR_DIVISIONS];
    tensor_divisions(a, rules);
    const division *broken = broken_division(rules, layout->tensor);
    if (broken)
        return fpm_error_set(error, FPM_UNSUPPORTED,
                             "tensor = %lld does not divide the %lld %s of %s (the nearest that does is tensor = %lld)",
                             (long long)layout->tensor, (long long)broken->value, broken->name, a->name,
                             (long long)nearest_tensor(a, rules, layout->tensor));
    if (!splits_kv_heads(a, layout->tensor))
        return fpm_error_set(
            error, FPM_UNSUPPORTED,
            "tensor = %lld neither divides the %lld KV heads of %s nor is a multiple of them (the nearest "
            "that does is tensor = %lld)",
            (long long)layout->tensor, (long long)a->n_kv_heads, a->name,
            (long long)nearest_tensor(a, rules, layout->tensor));
    return FPM_OK;
}

static int64_t nearest_divisor(int64_t of, int64_t wanted) {
    for (int64_t distance = 1; distance < wanted; distance++) {
        if (of % (wanted - distance) == 0) return wanted - distance;
        if (wanted + distance <= of && of % (wanted + distance) == 0) return wanted + distance;
    }
    return 1;
}

static fpm_status check_experts(const fpm_layout *layout, const fpm_architecture *a, fpm_error *error) {
    if (a->n_moe_layers == 0) {
        if (layout->expert == 1 && layout->moe_tensor == 1) return FPM_OK;
        return fpm_error_set(error, FPM_UNSUPPORTED, "%s = %lld has no effect: %s has no experts (leave it at 1)",
                             layout->expert != 1 ? "expert" : "moe_tensor",
                             (long long)(layout->expert != 1 ? layout->expert : layout->moe_tensor), a->name);
    }
    const int64_t n_ranks = layout->tensor * layout->data;
    if (layout->moe_tensor * layout->expert != n_ranks) {
        const int64_t expert =
            n_ranks % layout->expert == 0 ? layout->expert : nearest_divisor(n_ranks, layout->expert);
        return fpm_error_set(
            error, FPM_UNSUPPORTED,
            "tensor x data = %lld x %lld differs from moe_tensor x expert = %lld x %lld (with expert = "
            "%lld, moe_tensor = %lld)",
            (long long)layout->tensor, (long long)layout->data, (long long)layout->moe_tensor,
            (long long)layout->expert, (long long)expert, (long long)(n_ranks / expert));
    }
    if (a->n_experts % layout->expert != 0)
        return fpm_error_set(error, FPM_UNSUPPORTED,
                             "expert = %lld does not divide the %lld experts of %s (the nearest that does is expert = "
                             "%lld)",
                             (long long)layout->expert, (long long)a->n_experts, a->name,
                             (long long)nearest_divisor(a->n_experts, layout->expert));
    if (a->expert_intermediate % layout->moe_tensor != 0)
        return fpm_error_set(
            error, FPM_UNSUPPORTED,
            "moe_tensor = %lld does not divide the expert_intermediate = %lld of %s (the nearest that does "
            "is moe_tensor = %lld)",
            (long long)layout->moe_tensor, (long long)a->expert_intermediate, a->name,
            (long long)nearest_divisor(a->expert_intermediate, layout->moe_tensor));
    return FPM_OK;
}

fpm_status fpm_layout_check(const fpm_layout *layout, const fpm_architecture *a, fpm_error *error) {
    const struct {
        const char *name;
        int64_t value;
    } sizes[] = {
        { "tensor", layout->tensor }, { "pipeline", layout->pipeline },     { "data", layout->data },
        { "expert", layout->expert }, { "moe_tensor", layout->moe_tensor },
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].value < 1 || sizes[i].value > MAX_RANKS)
            return fpm_error_set(error, FPM_UNSUPPORTED, "%s = %lld is out of range (1 to %d)", sizes[i].name,
                                 (long long)sizes[i].value, MAX_RANKS);
    if (layout->pipeline > a->n_layers)
        return fpm_error_set(error, FPM_UNSUPPORTED, "pipeline = %lld exceeds the %lld layers of %s",
                             (long long)layout->pipeline, (long long)a->n_layers, a->name);
    const fpm_status status = check_tensor(layout, a, error);
    return status ? status : check_experts(layout, a, error);
}

// ---------------------------------------------------------------------------------------------------------------------
// Number formats
// ---------------------------------------------------------------------------------------------------------------------

// What a product with such weights is computed in. Weight-only formats are widened on the way into the tensor core.
static fpm_arithmetic arithmetic_of(fpm_precision weights, bool has_16bit_activations) {
    if (has_16bit_activations) return FPM_ARITHMETIC_BF16;
    switch (weights) {
    case FPM_FP8:
    case FPM_FP8_BLOCK:
    case FPM_MXFP4: // times mxfp8 activations
        return FPM_ARITHMETIC_FP8;
    case FPM_NVFP4:
        return FPM_ARITHMETIC_FP4;
    case FPM_INT8:
        return FPM_ARITHMETIC_INT8;
    case FPM_BF16:
    case FPM_INT4:
    case FPM_PRECISIONS:
        break;
    }
    return FPM_ARITHMETIC_BF16;
}

static void list_arithmetics(const fpm_system *system, char *text, size_t n_bytes) {
    size_t at = 0;
    for (int i = 0; i < (int)FPM_ARITHMETICS; i++) {
        if (!(system->flops_per_s[i] > 0) || at >= n_bytes) continue;
        const int n = snprintf(text + at, n_bytes - at, "%s%s", at ? ", " : "", fpm_arithmetic_name((fpm_arithmetic)i));
        at += n > 0 ? (size_t)n : 0;
    }
}

static fpm_status check_weights(const char *key, fpm_precision weights, bool has_16bit_activations,
                                const fpm_system *system, fpm_error *error) {
    if (weights >= FPM_PRECISIONS) return fpm_error_set(error, FPM_UNSUPPORTED, "%s is none of the formats", key);
    const fpm_arithmetic needed = arithmetic_of(weights, has_16bit_activations);
    if (system->flops_per_s[needed] > 0) return FPM_OK;
    char there[64] = "";
    list_arithmetics(system, there, sizeof there);
    return fpm_error_set(
        error, FPM_UNSUPPORTED,
        "%s = %s needs %s arithmetic, which %s (%s) does not have (it has %s; or say activations = bf16 "
        "to keep only the weights in that format)",
        key, fpm_precision_name(weights), fpm_arithmetic_name(needed), system->name,
        fpm_generation_name(system->generation), there);
}

fpm_status fpm_quantisation_check(const fpm_quantisation *q, const fpm_architecture *a, const fpm_system *system,
                                  fpm_error *error) {
    fpm_status status = check_weights("weights", q->weights, q->has_16bit_activations, system, error);
    if (!status && a->n_moe_layers > 0)
        status = check_weights("moe_weights", q->moe_weights, q->has_16bit_activations, system, error);
    if (status) return status;
    // An fp8 cache is a way of storing: engines widen it where the GPU cannot multiply it.
    if (q->kv_cache == FPM_BF16 || q->kv_cache == FPM_FP8) return FPM_OK;
    return fpm_error_set(error, FPM_UNSUPPORTED, "kv_cache = %s is not possible (bf16 or fp8)",
                         fpm_precision_name(q->kv_cache));
}
