// SPDX-License-Identifier: GPL-3.0-or-later
//
// The calibration: a pass costs the sum of its operators, each times the factor of its term, plus what no kernel explains (launch, scheduler, sampler,
// Python). A price is linear in the terms, so that serving measurements determine them by least squares (experiment/calibration.c).
#ifndef PERFMODEL_NATIVE_TERMS_H
#define PERFMODEL_NATIVE_TERMS_H

// enumerator, name, default, meaning. Factors multiply operator prices; times are microseconds.
#define FPM_TERM_LIST(X)                                                                                              \
    X(FPM_TERM_GEMM_BF16, "gemm_bf16", 1.0, "factor on dense matrix products")                                        \
    X(FPM_TERM_GEMM_FP8, "gemm_fp8", 1.0, "the same, fp8 per tensor")                                                 \
    X(FPM_TERM_GEMM_FP8_BLOCK, "gemm_fp8_block", 1.0, "the same, fp8 with block scales")                              \
    X(FPM_TERM_GEMM_NVFP4, "gemm_nvfp4", 1.0, "the same, nvfp4")                                                      \
    X(FPM_TERM_GEMM_OTHER, "gemm_other", 1.0, "the same, mxfp4, int8 and int4")                                       \
    X(FPM_TERM_MOE_BF16, "moe_bf16", 1.0, "factor on routed experts")                                                 \
    X(FPM_TERM_MOE_FP8, "moe_fp8", 1.0, "the same, fp8 per tensor")                                                   \
    X(FPM_TERM_MOE_FP8_BLOCK, "moe_fp8_block", 1.0, "the same, fp8 with block scales")                                \
    X(FPM_TERM_MOE_NVFP4, "moe_nvfp4", 1.0, "the same, nvfp4")                                                        \
    X(FPM_TERM_MOE_MXFP4, "moe_mxfp4", 1.0, "the same, mxfp4")                                                        \
    X(FPM_TERM_MOE_INT, "moe_int", 1.0, "the same, int8 and int4")                                                    \
    X(FPM_TERM_ATTENTION_PREFILL, "attention_prefill", 1.0, "factor on grouped attention over prompts")               \
    X(FPM_TERM_ATTENTION_DECODE, "attention_decode", 1.0, "factor on grouped attention over the cache")               \
    X(FPM_TERM_LATENT_PREFILL, "latent_prefill", 1.0, "factor on latent attention over prompts, indexer included")    \
    X(FPM_TERM_LATENT_DECODE, "latent_decode", 1.0, "factor on latent attention over the cache, indexer included")    \
    X(FPM_TERM_LINEAR, "linear_attention", 1.0, "factor on gated delta nets")                                         \
    X(FPM_TERM_COLLECTIVE, "collective", 1.0, "factor on what collectives send")                                      \
    X(FPM_TERM_MEMORY, "elementwise", 1.0, "factor on kernels that only move memory")                                 \
    X(FPM_TERM_FLOOR, "kernel_floor", 0.55, "factor on the floors of kernels, which CUDA graphs shorten")             \
    X(FPM_TERM_LATENCY, "collective_latency", 1.0, "factor on the latencies of collectives")                          \
    X(FPM_TERM_PASS, "pass_us", 500.0, "per pass: scheduler, input preparation, sampler, launch")                     \
    X(FPM_TERM_REQUEST, "request_us", 10.0, "per sequence that samples a token: bookkeeping, sampling, detokenising") \
    X(FPM_TERM_LAYER, "layer_us", 10.0, "per layer, beyond its kernels")                                              \
    X(FPM_TERM_MOE_LAYER, "moe_layer_us", 15.0, "the same, more per layer with experts")                              \
    X(FPM_TERM_LATENT_LAYER, "latent_layer_us", 10.0, "the same, more per layer with latent attention")               \
    X(FPM_TERM_SPARSE_LAYER, "sparse_layer_us", 50.0, "the same, more per layer with sparse attention")               \
    X(FPM_TERM_LINEAR_LAYER, "linear_layer_us", 40.0, "the same, more per gated delta net layer")                     \
    X(FPM_TERM_TENSOR_LAYER, "tensor_layer_us", 3.0, "the same, more per layer when tensor > 1")                      \
    X(FPM_TERM_PREFILL_PASS, "prefill_pass_us", 5000.0, "more per pass with prompts, which runs without CUDA graph")  \
    X(FPM_TERM_PREFILL_LAYER, "prefill_layer_us", 25.0, "more per layer of a pass with prompts")                      \
    X(FPM_TERM_PROMPT, "prompt_us", 70.0, "per prompt or chunk in a pass")
typedef enum fpm_term {
#define X(code, name, value, help) code,
    FPM_TERM_LIST(X)
#undef X
        FPM_TERMS
} fpm_term;
const char *fpm_term_name(fpm_term term);
double fpm_term_default(fpm_term term);
const char *fpm_term_help(fpm_term term);

typedef struct fpm_calibration {
    double terms[FPM_TERMS];
} fpm_calibration;
fpm_calibration fpm_calibration_default(void);

#endif
