// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the families of operators share inside: the parameters of their curves by name, peaks and bandwidths in milliseconds, and the norm that joins
// compute and memory. Callers include operators.h.
#ifndef PERFMODEL_NATIVE_OPERATOR_PARTS_H
#define PERFMODEL_NATIVE_OPERATOR_PARTS_H

#include <math.h>

#include "perfmodel/native/operators.h"

// enumerator, name, min, max, typical, help. A share of a peak ends in _frac. The order is that of fpm_curve.values.
#define GEMM_PARAMETERS(X)                                                                            \
    X(GEMM_FLOOR, "floor_us", 0.5, 100, 4, "launch and latency")                                      \
    X(GEMM_COMPUTE, "compute_frac", 0.02, 1, 0.65, "of the peak FLOP/s that large shapes reach")      \
    X(GEMM_MEMORY, "memory_frac", 0.02, 1, 0.7, "of the memory bandwidth that large shapes reach")    \
    X(GEMM_PAD_M, "pad_rows", 0, 4096, 32, "rows of the input lost to tiles")                         \
    X(GEMM_PAD_N, "pad_columns", 0, 65536, 256, "columns of the weight lost to tiles")                \
    X(GEMM_PAD_K, "pad_depth", 0, 65536, 128, "inner dimension lost to filling the pipeline")         \
    X(GEMM_DEPTH, "depth_ns", 0, 20, 0.5, "of one step along the inner dimension when tiles are few") \
    X(GEMM_SHARPNESS, "sharpness", 1, 12, 2, "of the norm that joins compute and memory")
#define MOE_PARAMETERS(X)                                                                                              \
    X(MOE_FLOOR, "floor_us", 0.5, 500, 25, "launch and latency of all kernels")                                        \
    X(MOE_COMPUTE, "compute_frac", 0.01, 1, 0.4, "of the peak FLOP/s that large shapes reach")                         \
    X(MOE_MEMORY, "memory_frac", 0.01, 1, 0.55, "of the memory bandwidth that large shapes reach")                     \
    X(MOE_PAD_TOKENS, "pad_tokens", 0, 512, 32, "tokens of an expert lost to tiles")                                   \
    X(MOE_PAD_WIDTH, "pad_width", 0, 8192, 128, "columns of an expert lost to tiles")                                  \
    X(MOE_PASSES, "token_passes", 0, 50, 2, "times that every token of the batch is moved, sorted and summed up")      \
    X(MOE_PAIR_PASSES, "pair_passes", 0, 50, 1, "times that every token is moved for each of its experts on the rank") \
    X(MOE_DEPTH, "depth_ns", 0, 50, 1, "of one step along the inner dimensions when tiles are few")                    \
    X(MOE_SHARPNESS, "sharpness", 1, 12, 2, "of the norm that joins compute and memory")
#define ATTENTION_PARAMETERS(X)                                                                             \
    X(ATTENTION_FLOOR, "floor_us", 0.5, 500, 6, "launch and latency")                                       \
    X(ATTENTION_COMPUTE, "compute_frac", 0.005, 1, 0.5, "of the peak FLOP/s that long sequences reach")     \
    X(ATTENTION_MEMORY, "memory_frac", 0.005, 1, 0.7, "of the memory bandwidth that large batches reach")   \
    X(ATTENTION_PAD_HEADS, "pad_heads", 0, 256, 1, "query heads lost when few heads leave cores idle")      \
    X(ATTENTION_PAD_KV_HEADS, "pad_kv_heads", 0, 64, 0.2, "key heads lost when few heads leave cores idle") \
    X(ATTENTION_PAD_QUERIES, "pad_queries", 0, 1024, 16, "new tokens of each request lost to tiles")        \
    X(ATTENTION_PAD_KEYS, "pad_keys", 0, 8192, 64, "keys lost to tiles, of each new token")                 \
    X(ATTENTION_PAD_DIM, "pad_dim", 0, 512, 16, "width of a head lost to tiles")                            \
    X(ATTENTION_WIDE, "wide_slower", 1, 16, 1, "time of heads of 256 over their share, against 128")        \
    X(ATTENTION_CROWDED, "crowded_slower", 1, 16, 1, "time with more than 32 query heads for a key head")   \
    X(ATTENTION_KEY, "key_ps", 0, 1e5, 20, "of each key, however few the heads")                            \
    X(ATTENTION_REQUEST, "request_ns", 0, 100000, 50, "of each request")                                    \
    X(ATTENTION_QUERY_HEAD, "query_head_ns", 0, 10000, 1, "of each query head of each request")             \
    X(ATTENTION_KEY_HEAD, "key_head_ns", 0, 10000, 5, "of each key head of each request")                   \
    X(ATTENTION_APART, "apart", 0, 1, 0.1, "share of compute and memory that does not overlap")
#define BMM_PARAMETERS(X)                                                        \
    X(BMM_FLOOR, "floor_us", 0.5, 100, 6, "launch and latency of both products") \
    X(BMM_COMPUTE, "compute_frac", 0.005, 1, 0.4, "of the peak FLOP/s")          \
    X(BMM_MEMORY, "memory_frac", 0.005, 1, 0.6, "of the memory bandwidth")
#define LINEAR_PARAMETERS(X)                                                                                \
    X(LINEAR_CONV_FLOOR, "convolution_floor_us", 0.5, 200, 4, "launch and latency of the convolution")      \
    X(LINEAR_CONV_MEMORY, "convolution_memory_frac", 0.005, 1, 0.4, "of the memory bandwidth, convolution") \
    X(LINEAR_CONV_REQUEST, "convolution_request_ns", 0, 100000, 20, "of each request, convolution")         \
    X(LINEAR_FLOOR, "floor_us", 0.5, 2000, 30, "launch and latency of all kernels")                         \
    X(LINEAR_COMPUTE, "compute_frac", 0.001, 1, 0.1, "of the peak FLOP/s")                                  \
    X(LINEAR_MEMORY, "memory_frac", 0.005, 1, 0.4, "of the memory bandwidth")                               \
    X(LINEAR_PAD_HEADS, "pad_heads", 0, 256, 1, "value heads lost when few heads leave cores idle")         \
    X(LINEAR_STEP, "step_ps", 0, 1e6, 1000, "of each token, however few the heads")                         \
    X(LINEAR_REQUEST, "request_ns", 0, 100000, 50, "of each request")
#define COLLECTIVE_PARAMETERS(X)                                                                           \
    X(COLLECTIVE_LATENCY_2, "latency_2_us", 0.5, 500, 6, "of a small message between 2 ranks")             \
    X(COLLECTIVE_LATENCY_4, "more_latency_4_us", 0, 500, 2, "more than that between 4 ranks")              \
    X(COLLECTIVE_LATENCY_8, "more_latency_8_us", 0, 500, 3, "more than that between 8 ranks")              \
    X(COLLECTIVE_SHARE_2, "network_frac", 0.001, 1, 0.4, "of the link that large messages reach, 2 ranks") \
    X(COLLECTIVE_SLOWER_4, "slower_4", 1, 50, 1, "time of a byte-step, 4 ranks over 2")                    \
    X(COLLECTIVE_SLOWER_8, "slower_8", 1, 50, 1, "time of a byte-step, 8 ranks over 4")                    \
    X(COLLECTIVE_PROTOCOL, "protocol_us", 0, 500, 2, "more latency of the protocol for large messages")    \
    X(COLLECTIVE_PROTOCOL_BYTES, "protocol_bytes", 1, 1e8, 65536, "message that pays half of it")          \
    X(COLLECTIVE_SHARPNESS, "sharpness", 1, 12, 1.5, "of the norm that joins latency and bandwidth")
#define MEMORY_PARAMETERS(X)                                         \
    X(MEMORY_FLOOR, "floor_us", 0.1, 100, 2.5, "launch and latency") \
    X(MEMORY_SHARE, "memory_frac", 0.01, 1, 0.8, "of the memory bandwidth")

#define X(code, name, min, max, typical, help) code,
enum { GEMM_PARAMETERS(X) N_GEMM_PARAMETERS };
enum { MOE_PARAMETERS(X) N_MOE_PARAMETERS };
enum { ATTENTION_PARAMETERS(X) N_ATTENTION_PARAMETERS };
enum { BMM_PARAMETERS(X) N_BMM_PARAMETERS };
enum { LINEAR_PARAMETERS(X) N_LINEAR_PARAMETERS };
enum { COLLECTIVE_PARAMETERS(X) N_COLLECTIVE_PARAMETERS };
enum { MEMORY_PARAMETERS(X) N_MEMORY_PARAMETERS };
#undef X

// The values of one curve.
const double *fpm_curve_of(const fpm_operators *operators, fpm_family family, int format);

// Bytes of one weight, of one activation, and what multiplies them, in a format. A system without the arithmetic multiplies in bf16.
double fpm_format_weight_bytes(int format);
double fpm_format_activation_bytes(int format);
// Milliseconds of one floating-point operation at the peak, and of one byte at full bandwidth.
double fpm_flop_ms(const fpm_operators *operators, int format);
double fpm_byte_ms(const fpm_operators *operators);

// (a^p + b^p)^(1/p), a and b not negative: never below the larger, never above their sum.
double fpm_norm(double a, double b, double p);

// The floor is the launch, so what names a price is the largest of three.
fpm_price fpm_priced(double floor_ms, double compute_ms, double memory_ms, double p, double peak_compute_ms,
                     double peak_memory_ms);

// What attention of one layer computes and moves, of one rank, by pair, token in the cache and token of the batch.
typedef struct fpm_attention_work {
    double heads, kv_heads, width; // width: of one head
    double pair_flops, kv_bytes, token_bytes;
} fpm_attention_work;
fpm_attention_form fpm_attention_form_of(const fpm_operators *operators, fpm_family family, int format,
                                         const fpm_attention_work *work);

#endif
