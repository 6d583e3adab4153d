// SPDX-License-Identifier: GPL-3.0-or-later
//
// Small models and a GPU for tests of the native model.
#ifndef TESTS_SUPPORT_NATIVE_FIXTURE_H
#define TESTS_SUPPORT_NATIVE_FIXTURE_H

#include "perfmodel/native/native.h"

static inline fpm_architecture dense_architecture(void) {
    return (fpm_architecture){ .name = "dense",
                               .n_layers = 32,
                               .hidden = 4096,
                               .vocab = 32000,
                               .max_context_tokens = 4096,
                               .n_heads = 32,
                               .n_kv_heads = 8,
                               .head_dim = 128,
                               .intermediate = 14336 };
}

static inline fpm_architecture moe_architecture(void) {
    fpm_architecture a = dense_architecture();
    a.intermediate = 0;
    a.n_moe_layers = 32;
    a.n_experts = 64;
    a.experts_per_token = 4;
    a.expert_intermediate = 1024;
    a.shared_intermediate = 2048;
    return a;
}

static inline fpm_architecture latent_architecture(void) {
    return (fpm_architecture){ .name = "latent",
                               .n_layers = 61,
                               .hidden = 7168,
                               .vocab = 129280,
                               .attention = FPM_ATTENTION_LATENT,
                               .n_heads = 128,
                               .q_rank = 1536,
                               .kv_rank = 512,
                               .nope_dim = 128,
                               .rope_dim = 64,
                               .value_dim = 128,
                               .intermediate = 18432 };
}

static inline fpm_architecture linear_architecture(void) {
    fpm_architecture a = dense_architecture();
    a.n_linear_layers = 24;
    a.linear_key_heads = 16;
    a.linear_key_dim = 128;
    a.linear_value_heads = 32;
    a.linear_value_dim = 128;
    a.linear_conv_width = 4;
    return a;
}

static inline fpm_system hopper_system(void) {
    return (fpm_system){ .name = "gpu",
                         .generation = FPM_HOPPER,
                         .memory_bytes = 80 * 1073741824.0,
                         .memory_bytes_per_s = 3.35e12,
                         .flops_per_s = { 989e12, 1978e12, 0, 1978e12 },
                         .intra_node_bytes_per_s = 450e9,
                         .inter_node_bytes_per_s = 50e9,
                         .gpus_per_node = 8,
                         .reserved_bytes = 1e9,
                         .power_w = 700 };
}

static inline fpm_memory_options vllm_memory_options(void) {
    return (fpm_memory_options){ FPM_VLLM, 0.9, 16, 8192, 256 };
}

static const fpm_layout one_gpu = { 1, 1, 1, 1, 1 };

#endif
