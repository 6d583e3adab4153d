// SPDX-License-Identifier: GPL-3.0-or-later
//
// What one kernel costs: calibrated rooflines. Every operator has a bound (work over peak FLOP/s, bytes over bandwidth) and a price that is
// never below it: the bound's two parts, each over the share of the peak that the kernel reaches and with the shape padded by what a kernel loses on small
// shapes, joined by a norm, plus a floor (launch and latency). Such a price grows with every dimension and is subadditive in the tokens, so that splitting
// work never makes it cheaper.
//
// The free numbers of an operator are a `fpm_curve`, fitted to measured kernels (`forepass accuracy DIR --calibrate`; configs/operators/*.ini), one per
// system, backend, family and number format. Which numbers a family has, and within which limits, is one table (curves.c) behind reading, writing and
// fitting.
#ifndef PERFMODEL_NATIVE_OPERATORS_H
#define PERFMODEL_NATIVE_OPERATORS_H

#include "perfmodel/native/native.h"

// enumerator, name
#define FPM_FAMILY_LIST(X)                               \
    X(FPM_FAMILY_GEMM, "gemm")                           \
    X(FPM_FAMILY_MOE, "moe")                             \
    X(FPM_FAMILY_ATTENTION_PREFILL, "attention_prefill") \
    X(FPM_FAMILY_ATTENTION_DECODE, "attention_decode")   \
    X(FPM_FAMILY_SPECIAL_PREFILL, "special_prefill")     \
    X(FPM_FAMILY_SPECIAL_DECODE, "special_decode")       \
    X(FPM_FAMILY_LATENT_PREFILL, "latent_prefill")       \
    X(FPM_FAMILY_LATENT_DECODE, "latent_decode")         \
    X(FPM_FAMILY_LATENT_BMM, "latent_bmm")               \
    X(FPM_FAMILY_INDEXER_PREFILL, "indexer_prefill")     \
    X(FPM_FAMILY_INDEXER_DECODE, "indexer_decode")       \
    X(FPM_FAMILY_LINEAR_PREFILL, "linear_prefill")       \
    X(FPM_FAMILY_LINEAR_DECODE, "linear_decode")         \
    X(FPM_FAMILY_ALL_REDUCE, "all_reduce")               \
    X(FPM_FAMILY_ALL_GATHER, "all_gather")               \
    X(FPM_FAMILY_REDUCE_SCATTER, "reduce_scatter")       \
    X(FPM_FAMILY_ALL_TO_ALL, "all_to_all")               \
    X(FPM_FAMILY_MEMORY, "memory")
typedef enum fpm_family {
#define X(code, name) code,
    FPM_FAMILY_LIST(X)
#undef X
        FPM_FAMILIES
} fpm_family;
const char *fpm_family_name(fpm_family family);

// Which limit made the price.
typedef enum fpm_bound { FPM_BOUND_COMPUTE, FPM_BOUND_MEMORY, FPM_BOUND_NETWORK, FPM_BOUND_LAUNCH } fpm_bound;
const char *fpm_bound_name(fpm_bound bound);

typedef struct fpm_price {
    double ms;
    double floor_ms; // the part of it that does not depend on the work: launch and latency
    double bound_ms; // what the hardware cannot beat
    double peak_compute_ms,
        peak_memory_ms; // of the bound: what is computed at the peak, what is moved at full bandwidth
    fpm_bound bound;    // the largest part of `ms`
} fpm_price;

// Everything a price needs beside the shape: the system, and the curves of that system for one backend.

// y[m,n] = x[m,k] w[k,n]
fpm_price fpm_gemm_price(const fpm_operators *operators, fpm_precision weights, bool has_16bit_activations, double m,
                         double n, double k);

// Routed experts of one layer on one rank: gate, up and down projections of `tokens` tokens (of all ranks that share the experts), each sent to
// experts_per_token of n_experts. Experts touched: E (1 - (1 - k/E)^tokens); the busiest rank has `imbalance` times the mean load.
typedef struct fpm_moe_shape {
    double hidden, intermediate;
    double n_experts, experts_per_token;
    double tensor, expert; // ranks that cut each expert; ranks that divide the experts
    double imbalance; // >= 1; busiest over mean expert-parallel rank; fpm_moe_imbalance() when nothing better is known
    double skew;      // exponent of the power law that the loads of the experts follow; 0: all alike
    bool is_ungated;
} fpm_moe_shape;
fpm_price fpm_moe_price(const fpm_operators *operators, fpm_precision weights, bool has_16bit_activations,
                        const fpm_moe_shape *shape, double tokens);
// Busiest over mean rank when the loads of the experts follow the shape's power law. 1 for one rank or no skew; grows with both.
double fpm_moe_imbalance(const fpm_moe_shape *shape);

// Collectives within one worker; `bytes` is the message of one rank (all-reduce: the tensor that is summed; all-gather, reduce-scatter,
// all-to-all: the whole tensor that is gathered or scattered). ranks = 1 costs 0.
typedef enum fpm_collective {
    FPM_ALL_REDUCE,
    FPM_ALL_GATHER,
    FPM_REDUCE_SCATTER,
    FPM_ALL_TO_ALL,
    FPM_COLLECTIVES
} fpm_collective;
fpm_family fpm_collective_family(fpm_collective collective); // whose curve prices it
fpm_price fpm_collective_price(const fpm_operators *operators, fpm_collective collective, double ranks, double bytes);
// From one pipeline stage to the next.
fpm_price fpm_send_price(const fpm_operators *operators, double bytes);

// Kernels that only move memory: norms, activations, embedding, sampling.
fpm_price fpm_memory_price(const fpm_operators *operators, double bytes);

// Attention of one layer over the requests of a batch, as linear forms of batch sums, so that a pass can be priced without walking its requests:
//   ms = floor + max(compute, memory) + apart min(compute, memory) + serial
//   compute = pair_ms x pairs + token_ms x tokens + request_ms x requests        (likewise memory, with kv tokens instead of pairs)
//   serial = ms + token_ms x tokens + request_ms x requests                      (kernels before and after; ms: weights of their own, read once)
// Prefill: pairs = sum new x (past + new / 2), kv = sum (past + new), tokens = sum new. Decode: pairs = kv = sum of contexts, tokens = requests.
// All sums grow with every request, so the price does.
typedef struct fpm_attention_form {
    double floor_ms;
    double compute_pair_ms, compute_kv_ms, compute_token_ms, compute_request_ms;
    double memory_kv_ms, memory_token_ms, memory_request_ms;
    double apart; // share of the smaller of compute and memory that does not overlap
    double serial_ms, serial_token_ms, serial_request_ms;
    // the bound: ms + max(pair x pairs, kv x kv tokens + token x tokens + request x requests)
    double bound_ms, bound_pair_ms, bound_kv_ms, bound_token_ms, bound_request_ms;
    fpm_family family; // the curve behind it
    int format;
} fpm_attention_form;
typedef struct fpm_attention_sums {
    double pairs, kv_tokens, tokens, requests;
} fpm_attention_sums;
// Here, so that the pass, which wants nothing but `ms` and `bound_ms`, computes nothing else.
static inline fpm_price fpm_attention_price(const fpm_attention_form *form, const fpm_attention_sums *sums) {
    const double compute_ms = form->compute_pair_ms * sums->pairs + form->compute_kv_ms * sums->kv_tokens +
                              form->compute_token_ms * sums->tokens + form->compute_request_ms * sums->requests;
    const double memory_ms = form->memory_kv_ms * sums->kv_tokens + form->memory_token_ms * sums->tokens +
                             form->memory_request_ms * sums->requests;
    const double serial_ms =
        form->serial_ms + form->serial_token_ms * sums->tokens + form->serial_request_ms * sums->requests;
    const double pair_bound_ms = form->bound_pair_ms * sums->pairs;
    const double byte_bound_ms = form->bound_kv_ms * sums->kv_tokens + form->bound_token_ms * sums->tokens +
                                 form->bound_request_ms * sums->requests;
    const double larger_ms = compute_ms > memory_ms ? compute_ms : memory_ms;
    const double smaller_ms = compute_ms > memory_ms ? memory_ms : compute_ms;
    fpm_bound bound = compute_ms > memory_ms ? FPM_BOUND_COMPUTE : FPM_BOUND_MEMORY;
    if (serial_ms > larger_ms) bound = FPM_BOUND_MEMORY;
    if (form->floor_ms > larger_ms + serial_ms) bound = FPM_BOUND_LAUNCH;
    return (fpm_price){ .ms = form->floor_ms + larger_ms + form->apart * smaller_ms + serial_ms,
                        .floor_ms = form->floor_ms,
                        .bound_ms = form->bound_ms + (pair_bound_ms > byte_bound_ms ? pair_bound_ms : byte_bound_ms),
                        .peak_compute_ms = pair_bound_ms,
                        .peak_memory_ms = form->bound_ms + byte_bound_ms,
                        .bound = bound };
}
// The form of so many layers with calibrated work and floor; the bound is the hardware's and stays.
fpm_attention_form fpm_attention_form_times(const fpm_attention_form *form, double times, double work_factor,
                                            double floor_factor);

// Heads of one rank. A window is the caller's affair: it cuts the sums.
typedef struct fpm_attention_shape {
    double n_heads, n_kv_heads, head_dim;
    fpm_precision kv_cache;
    bool has_16bit_scores; // of an 8-bit cache: multiplied in bf16 all the same, as vLLM always does
    bool has_window;
} fpm_attention_shape;
// Whose curve prices it: engines have kernels of their own for windows and for heads of another width than 64, 128 or 256.
fpm_family fpm_attention_family(const fpm_attention_shape *shape, bool is_prefill);
fpm_attention_form fpm_attention_prefill_form(const fpm_operators *operators, const fpm_attention_shape *shape);
fpm_attention_form fpm_attention_decode_form(const fpm_operators *operators, const fpm_attention_shape *shape);

// MLA, the attention kernel alone (projections are GEMMs): prefill with expanded heads (nope + rope wide keys, value_dim wide values), decode in the latent
// space (kv_rank + rope_dim), the batched matrix products before and after it included.
typedef struct fpm_latent_shape {
    double n_heads; // of one rank
    double kv_rank, nope_dim, rope_dim, value_dim;
    fpm_precision kv_cache;
} fpm_latent_shape;
fpm_attention_form fpm_latent_prefill_form(const fpm_operators *operators, const fpm_latent_shape *shape);
fpm_attention_form fpm_latent_decode_form(const fpm_operators *operators, const fpm_latent_shape *shape);
// The two parts of the decode form, which adds them up: the attention kernel, and the products into and out of the latent space.
fpm_attention_form fpm_latent_kernel_form(const fpm_operators *operators, const fpm_latent_shape *shape);
fpm_attention_form fpm_latent_product_form(const fpm_operators *operators, const fpm_latent_shape *shape);

// The indexer of sparse attention: scores every past token with index_heads heads of index_dim. The attention proper is latent, over at most topk tokens a query.
typedef struct fpm_indexer_shape {
    double heads, dim, topk;
} fpm_indexer_shape;
fpm_attention_form fpm_indexer_prefill_form(const fpm_operators *operators, const fpm_indexer_shape *shape);
fpm_attention_form fpm_indexer_decode_form(const fpm_operators *operators, const fpm_indexer_shape *shape);

// Gated delta net of one layer on one rank, convolution included: pairs and kv tokens do not count, tokens and requests do.
typedef struct fpm_linear_shape {
    double key_heads, key_dim, value_heads, value_dim, conv_width;
} fpm_linear_shape;
fpm_attention_form fpm_linear_prefill_form(const fpm_operators *operators, const fpm_linear_shape *shape);
fpm_attention_form fpm_linear_decode_form(const fpm_operators *operators, const fpm_linear_shape *shape);
// The part of either that the convolution takes.
fpm_attention_form fpm_linear_convolution_form(const fpm_operators *operators, fpm_family family,
                                               const fpm_linear_shape *shape);

// ---------------------------------------------------------------------------------------------------------------------
// Curves
// ---------------------------------------------------------------------------------------------------------------------

// Number formats as kernels know them: a precision, and whether the activations stay 16 bits wide. Attention: the precision of the KV cache, and
// whether scores are computed in 16 bits all the same.
enum { FPM_FORMATS = 2 * FPM_PRECISIONS };
int fpm_format(fpm_precision precision, bool has_16bit_activations);
// "fp8", "mxfp4_a16", ...; NULL for what does not exist.
const char *fpm_format_name(int format);
// Is there a curve of this family in this format? Families that know no number format have one, that of bf16.
bool fpm_family_has_format(fpm_family family, int format);

// The free numbers of one family in one format; what they mean is said by the family's table of parameters.
enum { FPM_CURVE_VALUES = 16 };
typedef struct fpm_curve {
    double values[FPM_CURVE_VALUES];
} fpm_curve;

typedef struct fpm_parameter {
    const char *name; // with its unit
    double min, max;  // inclusive; within them every property that operators.h promises holds
    double typical;   // of a GPU of which nothing is measured
    const char *help;
} fpm_parameter;
// The parameters of a family, in the order of fpm_curve.values.
const fpm_parameter *fpm_family_parameters(fpm_family family, size_t *n_parameters);

typedef struct fpm_operator_tables fpm_operator_tables; // operator_tables.h

struct fpm_operators {
    const fpm_system *system; // borrowed
    fpm_backend backend;      // whose curves these are
    const fpm_operator_tables
        *tables; // borrowed; measured kernels, which replace the formulas of operations; NULL: none
    fpm_curve curves[FPM_FAMILIES][FPM_FORMATS];
};
// A curve of which nothing is measured.
fpm_curve fpm_curve_typical(fpm_family family, int format);
// Curves for a system of which nothing is measured: what measured GPUs have in common. The backend is vLLM until the caller says otherwise;
// no tables.
void fpm_operators_init(fpm_operators *operators, const fpm_system *system);

#endif
