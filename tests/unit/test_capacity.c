// SPDX-License-Identifier: GPL-3.0-or-later
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tests/support/native_fixture.h"

static const fpm_quantisation bf16 = { FPM_BF16, FPM_BF16, FPM_BF16, false };

static fpm_memory_budget plan(const fpm_architecture *a, const fpm_layout *layout, const fpm_quantisation *q,
                              const fpm_memory_options *options) {
    const fpm_system system = hopper_system();
    fpm_memory_budget budget = { 0 };
    fpm_error error = { 0 };
    cr_assert_eq(fpm_memory_plan(&budget, a, &system, layout, q, options, &error), FPM_OK, "%s", error.message);
    return budget;
}

// notes/blackbox-cases.md case 8
Test(capacity, kv_bytes_of_a_token_follow_from_the_shape) {
    fpm_architecture a = dense_architecture();
    const fpm_layout four = { 4, 1, 1, 1, 1 }, sixteen = { 16, 1, 1, 1, 1 }, stages = { 1, 5, 1, 1, 1 };
    const fpm_quantisation fp8_cache = { FPM_BF16, FPM_BF16, FPM_FP8, false };
    cr_expect_eq(fpm_kv_bytes_per_token(&a, &one_gpu, &bf16), 131072);
    cr_expect_eq(fpm_kv_bytes_per_token(&a, &one_gpu, &fp8_cache), 65536);
    cr_expect_eq(fpm_kv_bytes_per_token(&a, &four, &bf16), 32768);
    cr_expect_eq(fpm_kv_bytes_per_token(&a, &sixteen, &bf16), 131072 / 8, "one KV head is left");
    cr_expect_eq(fpm_kv_bytes_per_token(&a, &stages, &bf16), 131072 / 32 * 7, "the longest of 7, 7, 6, 6, 6 layers");
    a.n_kv_heads = 32;
    cr_expect_eq(fpm_kv_bytes_per_token(&a, &one_gpu, &bf16), 524288);
    a.n_kv_heads = 8;
    a.head_dim = 256;
    cr_expect_eq(fpm_kv_bytes_per_token(&a, &one_gpu, &bf16), 262144);
    a = latent_architecture();
    cr_expect_eq(fpm_kv_bytes_per_token(&a, &one_gpu, &bf16), (512 + 64) * 2 * 61);
    cr_expect_eq(fpm_kv_bytes_per_token(&a, &four, &bf16), (512 + 64) * 2 * 61, "latents are not divided");
    a.attention = FPM_ATTENTION_SPARSE;
    a.index_dim = 128;
    cr_expect_eq(fpm_kv_bytes_per_token(&a, &four, &bf16), ((512 + 64) * 2 + 132) * 61);
    a = linear_architecture();
    cr_expect_eq(fpm_kv_bytes_per_token(&a, &one_gpu, &bf16), 131072 / 4, "8 of 32 layers");
}

Test(capacity, weights_are_cut_by_the_layout_and_sized_by_their_format) {
    fpm_architecture a = dense_architecture();
    const double all = fpm_architecture_parameters(&a), embeddings = 2 * 32000.0 * 4096, norms = 32 * 2 * 4096.0;
    const fpm_layout four = { 4, 1, 1, 1, 1 }, sixteen = { 16, 1, 1, 1, 1 };
    const fpm_quantisation fp8 = { FPM_FP8, FPM_FP8, FPM_BF16, false };
    cr_expect_float_eq(fpm_weights_bytes(&a, &one_gpu, &bf16), 2 * all, 1);
    cr_expect_float_eq(fpm_weights_bytes(&a, &one_gpu, &fp8), all + embeddings + norms, 1, "16-bit parts stay");
    cr_expect_float_eq(fpm_weights_bytes(&a, &four, &bf16), 2 * ((all - norms) / 4 + norms), 1);
    const double kv = 32 * 4096.0 * 1024 * 2;
    cr_expect_float_eq(fpm_weights_bytes(&a, &sixteen, &bf16), 2 * ((all - norms - kv) / 16 + norms + kv / 8), 1,
                       "two GPUs hold the same KV head");

    a = moe_architecture();
    const fpm_layout experts = { 4, 1, 2, 8, 1 }, cut = { 4, 1, 2, 2, 4 };
    cr_expect_float_eq(fpm_weights_bytes(&a, &experts, &bf16), fpm_weights_bytes(&a, &cut, &bf16), 1);
    const fpm_quantisation mixed = { FPM_BF16, FPM_MXFP4, FPM_BF16, false };
    const double routed = 32 * 64 * 3 * 4096.0 * 1024;
    cr_expect_float_eq(fpm_weights_bytes(&a, &experts, &bf16) - fpm_weights_bytes(&a, &experts, &mixed),
                       routed / 8 * (2 - 0.53125), 1);
}

Test(capacity, stages_of_a_pipeline_hold_their_layers_and_one_end_of_the_model) {
    fpm_architecture a = dense_architecture();
    const fpm_layout two = { 1, 2, 1, 1, 1 };
    cr_expect_float_eq(fpm_weights_bytes(&a, &two, &bf16), fpm_architecture_parameters(&a), 1);
    a.ties_embeddings = true;
    cr_expect_float_eq(fpm_weights_bytes(&a, &two, &bf16), fpm_architecture_parameters(&a) + 32000.0 * 4096, 1,
                       "both ends need the shared matrix");
}

Test(capacity, the_parts_of_a_budget_add_up) {
    fpm_architecture a = dense_architecture();
    fpm_memory_options options = vllm_memory_options();
    for (int backend = 0; backend < (int)FPM_BACKENDS; backend++) {
        options.backend = (fpm_backend)backend;
        const fpm_memory_budget b = plan(&a, &one_gpu, &bf16, &options);
        cr_expect_float_eq(b.usable_bytes,
                           b.weights_bytes + b.activations_bytes + b.graphs_bytes + b.collectives_bytes +
                               b.reserved_bytes + b.kv_bytes,
                           1);
        cr_expect_eq(b.kv_tokens, b.kv_blocks * 16);
        cr_expect_leq((double)b.kv_tokens * b.kv_bytes_per_token, b.kv_bytes);
        cr_expect_gt((double)(b.kv_tokens + 16) * b.kv_bytes_per_token, b.kv_bytes);
        cr_expect_eq(b.collectives_bytes, 0);
        cr_expect_eq(b.activations_bytes > 0, backend != (int)FPM_SGLANG, "they live outside of its share");
    }
    options.backend = FPM_TRTLLM; // a share of what is free
    const fpm_memory_budget b = plan(&a, &one_gpu, &bf16, &options);
    cr_expect_float_eq(
        b.kv_bytes, 0.9 * (hopper_system().memory_bytes - b.weights_bytes - b.activations_bytes - b.reserved_bytes), 1);
}

Test(capacity, window_layers_are_held_for_as_many_requests_as_may_run) {
    fpm_architecture a = dense_architecture();
    a.n_window_layers = 16;
    a.window_tokens = 128;
    const fpm_memory_options options = vllm_memory_options();
    const fpm_memory_budget b = plan(&a, &one_gpu, &bf16, &options);
    const double held = 256 * (128 + 16) * 65536.0;
    cr_expect_eq(b.kv_bytes_per_token, 131072);
    cr_expect_eq((double)b.kv_blocks, floor((b.kv_bytes - held) / 65536 / 16));
    a.window_tokens = 4096; // windows as long as everything: the cache without such a manager
    const fpm_memory_budget full = plan(&a, &one_gpu, &bf16, &options);
    cr_expect_eq((double)full.kv_blocks, floor(full.kv_bytes / 131072 / 16));
    a.n_window_layers = 32; // no full layer to count tokens by
    a.window_tokens = 128;
    cr_expect_eq(plan(&a, &one_gpu, &bf16, &options).kv_blocks, full.kv_blocks);
}

Test(capacity, the_state_of_linear_layers_is_kept_for_as_many_requests_as_may_run) {
    fpm_architecture a = linear_architecture();
    fpm_memory_options options = vllm_memory_options();
    const fpm_memory_budget b = plan(&a, &one_gpu, &bf16, &options);
    cr_expect_eq(b.state_bytes_per_request, 24 * (32 * 128 * 128 * 4.0 + 3 * (2 * 16 * 128 + 32 * 128) * 2.0));
    cr_expect_eq((double)b.kv_blocks, floor((b.kv_bytes - 256 * b.state_bytes_per_request) / 32768 / 16));
    options.max_num_seqs = 4096;
    const fpm_system system = hopper_system();
    fpm_memory_budget none;
    fpm_error error = { 0 };
    cr_expect_eq(fpm_memory_plan(&none, &a, &system, &one_gpu, &bf16, &options, &error), FPM_UNSUPPORTED);
    cr_expect(strstr(error.message, "state of 4096 requests"), "%s", error.message);
}

Test(capacity, a_model_that_does_not_fit_is_refused_with_the_arithmetic) {
    fpm_architecture a = dense_architecture();
    a.n_layers = 320;
    const fpm_system system = hopper_system();
    const fpm_memory_options options = vllm_memory_options();
    fpm_memory_budget budget = { .kv_blocks = -1 };
    fpm_error error = { 0 };
    cr_expect_eq(fpm_memory_plan(&budget, &a, &system, &one_gpu, &bf16, &options, &error), FPM_UNSUPPORTED);
    cr_expect(strstr(error.message, "weights 130.5 GiB + activations "), "%s", error.message);
    cr_expect(strstr(error.message, "> 72.0 GiB usable of the 80 GiB of gpu at tensor = 1 (try tensor >= 2)"), "%s",
              error.message);
    cr_expect_eq(budget.kv_blocks, -1, "left alone");
    const fpm_layout two = { 2, 1, 1, 1, 1 };
    cr_expect_eq(fpm_memory_plan(&budget, &a, &system, &two, &bf16, &options, &error), FPM_OK);
    a.hidden = 1 << 20;
    cr_expect_eq(fpm_memory_plan(&budget, &a, &system, &one_gpu, &bf16, &options, &error), FPM_UNSUPPORTED);
    cr_expect(strstr(error.message, "(fewer bits, or larger GPUs)"), "%s", error.message);
    a = moe_architecture();
    a.n_experts = 1024;
    cr_expect_eq(fpm_memory_plan(&budget, &a, &system, &one_gpu, &bf16, &options, &error), FPM_UNSUPPORTED);
    cr_expect(strstr(error.message, "try tensor >= 16"), "%s", error.message);
    const fpm_layout by_experts = { 1, 1, 2, 2, 1 };
    cr_expect_eq(fpm_memory_plan(&budget, &a, &system, &by_experts, &bf16, &options, &error), FPM_UNSUPPORTED);
    cr_expect(strstr(error.message, "try tensor >= 8"), "%s", error.message);
}

Test(capacity, options_have_ranges) {
    const fpm_architecture a = dense_architecture();
    const fpm_system system = hopper_system();
    fpm_memory_budget budget;
    fpm_memory_options options = vllm_memory_options();
    options.memory_fraction = 1.1;
    cr_expect_eq(fpm_memory_plan(&budget, &a, &system, &one_gpu, &bf16, &options, NULL), FPM_INVALID_CONFIG);
    options.memory_fraction = (double)NAN;
    cr_expect_eq(fpm_memory_plan(&budget, &a, &system, &one_gpu, &bf16, &options, NULL), FPM_INVALID_CONFIG);
    options = vllm_memory_options();
    options.block_size_tokens = 0;
    cr_expect_eq(fpm_memory_plan(&budget, &a, &system, &one_gpu, &bf16, &options, NULL), FPM_INVALID_CONFIG);
}
