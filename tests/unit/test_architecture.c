// SPDX-License-Identifier: GPL-3.0-or-later
#include <criterion/criterion.h>
#include <stddef.h>
#include <string.h>

#include "tests/support/native_fixture.h"

typedef struct broken_case {
    fpm_architecture (*base)(void);
    size_t offset;
    int64_t value;
    const char *rule; // part of the message; NULL = valid
} broken_case;

#define SET(base, field, value, rule) \
    { base, offsetof(fpm_architecture, field), value, rule }

static fpm_architecture sparse_architecture(void) {
    fpm_architecture a = latent_architecture();
    a.attention = FPM_ATTENTION_SPARSE;
    a.index_heads = 64;
    a.index_dim = 128;
    a.index_topk = 2048;
    return a;
}

Test(architecture, every_rule_is_checked) {
    const broken_case cases[] = {
        SET(dense_architecture, n_layers, 32, NULL),
        SET(moe_architecture, n_moe_layers, 32, NULL),
        SET(latent_architecture, q_rank, 0, NULL),
        SET(sparse_architecture, q_rank, 1536, NULL),
        SET(linear_architecture, n_linear_layers, 32, NULL),
        SET(dense_architecture, n_layers, 0, "n_layers = 0 is out of range (1 to "),
        SET(dense_architecture, hidden, INT64_C(1) << 31, "hidden = 2147483648 is out of range"),
        SET(dense_architecture, vocab, -1, "vocab = -1"),
        SET(dense_architecture, max_context_tokens, 0, NULL),
        SET(dense_architecture, n_heads, 0, "n_heads = 0"),
        SET(dense_architecture, n_kv_heads, 0, "n_kv_heads = 0"),
        SET(dense_architecture, n_kv_heads, 5, "n_heads = 32 is no multiple of n_kv_heads = 5"),
        SET(dense_architecture, head_dim, 0, "head_dim = 0"),
        SET(dense_architecture, intermediate, 0, "intermediate = 0"),
        SET(dense_architecture, kv_rank, 512, "kv_rank = 512 has no effect without latent attention"),
        SET(dense_architecture, index_topk, 1, "index_topk = 1 has no effect without sparse attention"),
        SET(dense_architecture, n_experts, 8, "n_experts = 8 has no effect without MoE layers"),
        SET(dense_architecture, window_tokens, 8, "window_tokens = 8 has no effect without window layers"),
        SET(dense_architecture, n_window_layers, 8, "window_tokens = 0 is out of range"),
        SET(dense_architecture, linear_key_dim, 8, "linear_key_dim = 8 has no effect without linear layers"),
        SET(moe_architecture, intermediate, 8, "intermediate = 8 has no effect without dense layers"),
        SET(moe_architecture, n_moe_layers, 33, "n_moe_layers = 33 exceeds n_layers = 32"),
        SET(moe_architecture, experts_per_token, 65, "experts_per_token = 65 exceeds n_experts = 64"),
        SET(moe_architecture, shared_intermediate, 0, NULL),
        SET(latent_architecture, head_dim, 64, "head_dim = 64 has no effect without grouped attention"),
        SET(latent_architecture, rope_dim, 0, "rope_dim = 0"),
        SET(sparse_architecture, q_rank, 0, "q_rank = 0"),
        SET(sparse_architecture, index_heads, 0, "index_heads = 0"),
        SET(linear_architecture, n_linear_layers, 33, "n_linear_layers + n_window_layers = 33 exceeds n_layers"),
        SET(linear_architecture, linear_value_heads, 24, "linear_value_heads = 24 is no multiple"),
        SET(linear_architecture, linear_conv_width, 0, "linear_conv_width = 0"),
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fpm_architecture a = cases[i].base();
        memcpy((char *)&a + cases[i].offset, &cases[i].value, sizeof cases[i].value);
        fpm_error error = { 0 };
        const fpm_status status = fpm_architecture_check(&a, &error);
        cr_expect_eq(status, cases[i].rule ? FPM_INVALID_CONFIG : FPM_OK, "case %zu: %s", i, error.message);
        if (cases[i].rule) cr_expect(strstr(error.message, cases[i].rule), "case %zu: %s", i, error.message);
    }
}

Test(architecture, a_name_and_a_known_attention_are_needed) {
    fpm_error error = { 0 };
    fpm_architecture a = dense_architecture();
    a.name[0] = '\0';
    cr_expect_eq(fpm_architecture_check(&a, &error), FPM_INVALID_CONFIG);
    cr_expect(strstr(error.message, "needs a name"));
    memset(a.name, 'x', sizeof a.name);
    cr_expect_eq(fpm_architecture_check(&a, NULL), FPM_INVALID_CONFIG);
    a = dense_architecture();
    a.attention = FPM_ATTENTION_KINDS;
    cr_expect_eq(fpm_architecture_check(&a, NULL), FPM_INVALID_CONFIG);
}

// Counted by hand, layer by layer.
Test(architecture, parameters_are_the_sum_of_the_matrices) {
    fpm_architecture a = dense_architecture();
    const double embedding = 32000.0 * 4096, attention = 4096.0 * 4096 * 2 + 4096.0 * 1024 * 2;
    const double norms = 2 * 4096;
    cr_expect_eq(fpm_architecture_parameters(&a), 2 * embedding + 32 * (attention + norms + 3 * 4096.0 * 14336));
    cr_expect_eq(fpm_architecture_active_parameters(&a), fpm_architecture_parameters(&a));
    a.ties_embeddings = true;
    a.has_ungated_ffn = true;
    a.has_output_gate = true;
    cr_expect_eq(fpm_architecture_parameters(&a),
                 embedding + 32 * (attention + 4096.0 * 4096 + norms + 2 * 4096.0 * 14336));

    a = moe_architecture();
    const double rest = 2 * embedding + 32 * (attention + norms + 4096.0 * 64 + 3 * 4096.0 * 2048);
    cr_expect_eq(fpm_architecture_parameters(&a), rest + 32 * 64 * 3 * 4096.0 * 1024);
    cr_expect_eq(fpm_architecture_active_parameters(&a), rest + 32 * 4 * 3 * 4096.0 * 1024);
}

Test(architecture, names_and_sizes_stand_behind_the_enumerations) {
    cr_expect_str_eq(fpm_precision_name(FPM_NVFP4), "nvfp4");
    cr_expect_eq(fpm_precision_bytes(FPM_NVFP4), 9.0 / 16);
    cr_expect_str_eq(fpm_precision_name(FPM_PRECISIONS), "unknown");
    cr_expect_eq(fpm_precision_bytes(FPM_PRECISIONS), 0);
    cr_expect_str_eq(fpm_arithmetic_name(FPM_ARITHMETIC_FP4), "fp4");
    cr_expect_str_eq(fpm_arithmetic_name(FPM_ARITHMETICS), "unknown");
    cr_expect_str_eq(fpm_attention_kind_name(FPM_ATTENTION_SPARSE), "sparse");
    cr_expect_str_eq(fpm_attention_kind_name(FPM_ATTENTION_KINDS), "unknown");
    cr_expect_str_eq(fpm_generation_name(FPM_CDNA3), "cdna3");
    cr_expect_str_eq(fpm_generation_name(FPM_GENERATIONS), "unknown");
    cr_expect_str_eq(fpm_backend_name(FPM_TRTLLM), "trtllm");
    cr_expect_str_eq(fpm_backend_name(FPM_BACKENDS), "unknown");
}
