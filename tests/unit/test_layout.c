// SPDX-License-Identifier: GPL-3.0-or-later
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tests/support/native_fixture.h"

static fpm_architecture wide_kv(void) { // 28 heads, 4 KV heads
    fpm_architecture a = dense_architecture();
    a.n_heads = 28;
    a.n_kv_heads = 4;
    return a;
}

static fpm_architecture odd_kv(void) { // 24 heads, 6 KV heads
    fpm_architecture a = dense_architecture();
    a.n_heads = 24;
    a.n_kv_heads = 6;
    return a;
}

Test(layout, the_broken_rule_and_the_nearest_valid_choice_are_named) {
    const struct {
        fpm_architecture (*model)(void);
        fpm_layout layout; // tensor, pipeline, data, expert, moe_tensor
        const char *rule;  // NULL = valid
    } cases[] = {
        { dense_architecture, { 8, 1, 1, 1, 1 }, NULL },
        { dense_architecture, { 16, 1, 1, 1, 1 }, NULL }, // KV heads are replicated
        { dense_architecture, { 2, 5, 3, 1, 1 }, NULL },  // stages of 7 and 6 layers
        { dense_architecture, { 0, 1, 1, 1, 1 }, "tensor = 0 is out of range" },
        { dense_architecture, { 1, 1, 70000, 1, 1 }, "data = 70000 is out of range" },
        { dense_architecture,
          { 3, 1, 1, 1, 1 },
          "tensor = 3 does not divide the 32 attention heads of dense (the nearest "
          "that does is tensor = 2)" },
        { dense_architecture, { 64, 1, 1, 1, 1 }, "nearest that does is tensor = 32" },
        { dense_architecture, { 1, 33, 1, 1, 1 }, "pipeline = 33 exceeds the 32 layers" },
        { dense_architecture, { 2, 1, 1, 2, 1 }, "expert = 2 has no effect: dense has no experts" },
        { dense_architecture, { 2, 1, 1, 1, 2 }, "moe_tensor = 2 has no effect" },
        { wide_kv,
          { 7, 1, 1, 1, 1 },
          "neither divides the 4 KV heads of dense nor is a multiple of them (the nearest that "
          "does is tensor = 4)" },
        { odd_kv, { 4, 1, 1, 1, 1 }, "neither divides the 6 KV heads" },
        { odd_kv, { 12, 1, 1, 1, 1 }, "tensor = 12 does not divide the 14336 intermediate" },
        { latent_architecture, { 64, 1, 1, 1, 1 }, NULL },
        { linear_architecture, { 16, 1, 1, 1, 1 }, NULL },
        { linear_architecture, { 32, 1, 1, 1, 1 }, "does not divide the 16 linear_key_heads" },
        { moe_architecture, { 4, 1, 2, 8, 1 }, NULL },
        { moe_architecture, { 4, 1, 2, 2, 4 }, NULL },
        { moe_architecture,
          { 4, 1, 2, 4, 4 },
          "tensor x data = 4 x 2 differs from moe_tensor x expert = 4 x 4 (with expert = 4, moe_tensor = 2)" },
        { moe_architecture, { 8, 1, 1, 3, 2 }, "(with expert = 2, moe_tensor = 4)" },
        { moe_architecture,
          { 1, 1, 3, 3, 1 },
          "expert = 3 does not divide the 64 experts of dense (the nearest that does is "
          "expert = 2)" },
        { moe_architecture, { 1, 1, 3, 1, 3 }, "moe_tensor = 3 does not divide the expert_intermediate = 1024" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const fpm_architecture a = cases[i].model();
        fpm_error error = { 0 };
        const fpm_status status = fpm_layout_check(&cases[i].layout, &a, &error);
        cr_expect_eq(status, cases[i].rule ? FPM_UNSUPPORTED : FPM_OK, "case %zu: %s", i, error.message);
        if (cases[i].rule) cr_expect(strstr(error.message, cases[i].rule), "case %zu: %s", i, error.message);
    }
}

Test(layout, a_format_needs_an_arithmetic_of_the_gpu) {
    fpm_system ampere = hopper_system(), hopper = hopper_system(), blackwell = hopper_system();
    ampere.generation = FPM_AMPERE;
    ampere.flops_per_s[FPM_ARITHMETIC_FP8] = 0;
    blackwell.generation = FPM_BLACKWELL;
    blackwell.flops_per_s[FPM_ARITHMETIC_FP4] = 9e15;
    const struct {
        const fpm_system *system;
        fpm_quantisation formats;
        const char *rule;
    } cases[] = {
        { &ampere, { FPM_BF16, FPM_BF16, FPM_BF16, false }, NULL },
        { &ampere, { FPM_BF16, FPM_BF16, FPM_FP8, false }, NULL }, // the cache is only stored so
        { &ampere, { FPM_INT8, FPM_INT4, FPM_BF16, false }, NULL },
        { &ampere, { FPM_BF16, FPM_MXFP4, FPM_BF16, true }, NULL },
        { &ampere, { FPM_FP8, FPM_FP8, FPM_BF16, true }, NULL }, // weights only
        { &ampere,
          { FPM_FP8, FPM_FP8, FPM_BF16, false },
          "weights = fp8 needs fp8 arithmetic, which gpu (ampere) does not have (it has bf16, int8;" },
        { &ampere, { FPM_BF16, FPM_FP8_BLOCK, FPM_BF16, false }, "moe_weights = fp8_block needs fp8" },
        { &hopper, { FPM_FP8_BLOCK, FPM_MXFP4, FPM_FP8, false }, NULL },
        { &hopper, { FPM_NVFP4, FPM_NVFP4, FPM_FP8, false }, "weights = nvfp4 needs fp4" },
        { &blackwell, { FPM_NVFP4, FPM_NVFP4, FPM_FP8, false }, NULL },
        { &hopper, { FPM_BF16, FPM_BF16, FPM_INT8, false }, "kv_cache = int8 is not possible (bf16 or fp8)" },
        { &hopper, { FPM_PRECISIONS, FPM_BF16, FPM_BF16, false }, "weights is none of the formats" },
    };
    const fpm_architecture a = moe_architecture();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fpm_error error = { 0 };
        const fpm_status status = fpm_quantisation_check(&cases[i].formats, &a, cases[i].system, &error);
        cr_expect_eq(status, cases[i].rule ? FPM_UNSUPPORTED : FPM_OK, "case %zu: %s", i, error.message);
        if (cases[i].rule) cr_expect(strstr(error.message, cases[i].rule), "case %zu: %s", i, error.message);
    }
    const fpm_architecture dense = dense_architecture(); // has no experts to be quantised
    const fpm_quantisation experts_only = { FPM_BF16, FPM_NVFP4, FPM_BF16, false };
    cr_expect_eq(fpm_quantisation_check(&experts_only, &dense, &hopper, NULL), FPM_OK);
}

Test(layout, a_system_has_figures_that_can_be) {
    const struct {
        size_t offset;
        double value;
        const char *rule;
    } cases[] = {
        { offsetof(fpm_system, memory_bytes), 0, "memory_bytes = 0 is out of range (above 0)" },
        { offsetof(fpm_system, memory_bytes_per_s), (double)NAN, "memory_bytes_per_s" },
        { offsetof(fpm_system, flops_per_s), 0, "bf16 flops_per_s" },
        { offsetof(fpm_system, intra_node_bytes_per_s), (double)INFINITY, "intra_node_bytes_per_s" },
        { offsetof(fpm_system, reserved_bytes), 1e12, "reserved_bytes = 1e+12 is not less than the memory" },
        { offsetof(fpm_system, power_w), -1, "power_w = -1 is out of range (0 or more)" },
    };
    fpm_system s = hopper_system();
    cr_expect_eq(fpm_system_check(&s, NULL), FPM_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        s = hopper_system();
        memcpy((char *)&s + cases[i].offset, &cases[i].value, sizeof cases[i].value);
        fpm_error error = { 0 };
        cr_expect_eq(fpm_system_check(&s, &error), FPM_INVALID_CONFIG, "case %zu", i);
        cr_expect(strstr(error.message, cases[i].rule), "case %zu: %s", i, error.message);
    }
    s = hopper_system();
    s.gpus_per_node = 0;
    cr_expect_eq(fpm_system_check(&s, NULL), FPM_INVALID_CONFIG);
    s.gpus_per_node = 8;
    s.gpus_per_rack = 4;
    cr_expect_eq(fpm_system_check(&s, NULL), FPM_INVALID_CONFIG);
    s = hopper_system();
    s.generation = FPM_GENERATIONS;
    cr_expect_eq(fpm_system_check(&s, NULL), FPM_INVALID_CONFIG);
    s = hopper_system();
    s.name[0] = '\0';
    cr_expect_eq(fpm_system_check(&s, NULL), FPM_INVALID_CONFIG);
}
