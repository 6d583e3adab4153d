// SPDX-License-Identifier: GPL-3.0-or-later
//
// Is an architecture one? Every count has a range where its part of the model exists and is 0 where it does not: a number that nothing reads is a
// mistake of whoever wrote it down.
#include "perfmodel/native/native.h"

#include <string.h>

#define MAX_COUNT (INT64_C(1) << 30) // products of two counts stay far from the end of 64 bits

typedef struct count_rule {
    const char *name;
    int64_t value;
    bool is_used; // else it must be 0
    int64_t min;
    const char *part; // what it belongs to
} count_rule;

static fpm_status check_counts(const fpm_architecture *a, const count_rule *rules, size_t n, fpm_error *error) {
    for (size_t i = 0; i < n; i++) {
        const count_rule *r = &rules[i];
        if (!r->is_used && r->value != 0)
            return fpm_error_set(error, FPM_INVALID_CONFIG, "model %s: %s = %lld has no effect without %s", a->name,
                                 r->name, (long long)r->value, r->part);
        if (r->is_used && (r->value < r->min || r->value > MAX_COUNT))
            return fpm_error_set(error, FPM_INVALID_CONFIG, "model %s: %s = %lld is out of range (%lld to %lld)",
                                 a->name, r->name, (long long)r->value, (long long)r->min, (long long)MAX_COUNT);
    }
    return FPM_OK;
}

#define RULE(field, is_used, min, part) \
    { #field, a->field, is_used, min, part }
#define COUNT(array) (sizeof(array) / sizeof *(array))

static fpm_status check_body(const fpm_architecture *a, fpm_error *error) {
    const bool has_experts = a->n_moe_layers > 0;
    const count_rule rules[] = {
        RULE(n_layers, true, 1, ""),
        RULE(hidden, true, 1, ""),
        RULE(vocab, true, 1, ""),
        RULE(max_context_tokens, true, 0, ""),
        RULE(n_mtp_layers, true, 0, ""),
        RULE(n_heads, true, 1, ""),
        RULE(n_linear_layers, true, 0, ""),
        RULE(n_window_layers, true, 0, ""),
        RULE(n_moe_layers, true, 0, ""),
        RULE(intermediate, a->n_moe_layers < a->n_layers, 1, "dense layers"),
        RULE(n_experts, has_experts, 1, "MoE layers"),
        RULE(experts_per_token, has_experts, 1, "MoE layers"),
        RULE(expert_intermediate, has_experts, 1, "MoE layers"),
        RULE(shared_intermediate, has_experts, 0, "MoE layers"),
    };
    return check_counts(a, rules, COUNT(rules), error);
}

static fpm_status check_attention(const fpm_architecture *a, fpm_error *error) {
    const bool is_grouped = a->attention == FPM_ATTENTION_GROUPED, is_sparse = a->attention == FPM_ATTENTION_SPARSE;
    const bool has_linear = a->n_linear_layers > 0;
    const count_rule rules[] = {
        RULE(n_kv_heads, is_grouped, 1, "grouped attention"),
        RULE(head_dim, is_grouped, 1, "grouped attention"),
        RULE(n_window_layers, is_grouped, 0, "grouped attention"),
        RULE(window_tokens, a->n_window_layers > 0, 1, "window layers"),
        RULE(q_rank, !is_grouped, is_sparse, "latent attention"), // an indexer reads the low-rank query
        RULE(kv_rank, !is_grouped, 1, "latent attention"),
        RULE(nope_dim, !is_grouped, 1, "latent attention"),
        RULE(rope_dim, !is_grouped, 1, "latent attention"),
        RULE(value_dim, !is_grouped, 1, "latent attention"),
        RULE(index_heads, is_sparse, 1, "sparse attention"),
        RULE(index_dim, is_sparse, 1, "sparse attention"),
        RULE(index_topk, is_sparse, 1, "sparse attention"),
        RULE(linear_key_heads, has_linear, 1, "linear layers"),
        RULE(linear_key_dim, has_linear, 1, "linear layers"),
        RULE(linear_value_heads, has_linear, 1, "linear layers"),
        RULE(linear_value_dim, has_linear, 1, "linear layers"),
        RULE(linear_conv_width, has_linear, 1, "linear layers"),
    };
    return check_counts(a, rules, COUNT(rules), error);
}

// `part` is among `whole`.
static fpm_status check_part(const fpm_architecture *a, const char *part_name, int64_t part, const char *whole_name,
                             int64_t whole, fpm_error *error) {
    if (part <= whole) return FPM_OK;
    return fpm_error_set(error, FPM_INVALID_CONFIG, "model %s: %s = %lld exceeds %s = %lld", a->name, part_name,
                         (long long)part, whole_name, (long long)whole);
}

static fpm_status check_multiple(const fpm_architecture *a, const char *many_name, int64_t many, const char *few_name,
                                 int64_t few, fpm_error *error) {
    if (many % few == 0) return FPM_OK;
    return fpm_error_set(error, FPM_INVALID_CONFIG, "model %s: %s = %lld is no multiple of %s = %lld", a->name,
                         many_name, (long long)many, few_name, (long long)few);
}

fpm_status fpm_architecture_check(const fpm_architecture *a, fpm_error *error) {
    if (a->name[0] == '\0' || !memchr(a->name, '\0', sizeof a->name))
        return fpm_error_set(error, FPM_INVALID_CONFIG, "a model needs a name of 1 to %d bytes", FPM_NAME_BYTES - 1);
    if (a->attention >= FPM_ATTENTION_KINDS)
        return fpm_error_set(error, FPM_INVALID_CONFIG, "model %s: attention is none of the kinds", a->name);
    fpm_status status = check_body(a, error);
    if (!status) status = check_attention(a, error);
    if (!status)
        status = check_part(a, "n_linear_layers + n_window_layers", a->n_linear_layers + a->n_window_layers, "n_layers",
                            a->n_layers, error);
    if (!status) status = check_part(a, "n_moe_layers", a->n_moe_layers, "n_layers", a->n_layers, error);
    if (!status) status = check_part(a, "experts_per_token", a->experts_per_token, "n_experts", a->n_experts, error);
    if (!status && a->attention == FPM_ATTENTION_GROUPED)
        status = check_multiple(a, "n_heads", a->n_heads, "n_kv_heads", a->n_kv_heads, error);
    if (!status && a->n_linear_layers > 0)
        status = check_multiple(a, "linear_value_heads", a->linear_value_heads, "linear_key_heads", a->linear_key_heads,
                                error);
    return status;
}
