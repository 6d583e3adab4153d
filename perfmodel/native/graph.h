// SPDX-License-Identifier: GPL-3.0-or-later
//
// The operators of one forward pass, as a flat list: what a rank computes, how often, and which sum of the batch decides its price.
//
// The list is made once per deployment and read in two ways: the plan adds its operations up into tables (plan.c), `--explain` prices them one by one for
// one batch (explain.c). So what is explained is what is charged.
#ifndef PERFMODEL_NATIVE_GRAPH_H
#define PERFMODEL_NATIVE_GRAPH_H

#include "perfmodel/native/batch.h"
#include "perfmodel/native/operators.h"
#include "perfmodel/native/terms.h"

// What the price of an operation depends on.
typedef enum fpm_driver {
    FPM_DRIVER_TOKENS,
    FPM_DRIVER_PREFILL_TOKENS,
    FPM_DRIVER_SHARED_TOKENS,
    FPM_DRIVER_ROWS,
    FPM_DRIVER_PREFILL_ATTENTION,
    FPM_DRIVER_DECODE_ATTENTION
} fpm_driver;
enum { FPM_TABLE_DRIVERS = FPM_DRIVER_ROWS + 1 }; // those whose price is a function of one count

typedef enum fpm_operation_kind {
    FPM_OPERATION_GEMM,
    FPM_OPERATION_MOE,
    FPM_OPERATION_COLLECTIVE,
    FPM_OPERATION_SEND,
    FPM_OPERATION_MEMORY,
    FPM_OPERATION_ATTENTION
} fpm_operation_kind;

typedef struct fpm_operation {
    const char *name; // static
    fpm_operation_kind kind;
    fpm_driver driver;
    fpm_term term;       // of the calibration: the factor on its work
    fpm_term floor_term; // the factor on its floor
    double count;        // times in one pass
    union {
        struct {
            fpm_precision weights;
            bool has_16bit_activations;
            double n, k;
        } gemm;
        struct {
            fpm_precision weights;
            bool has_16bit_activations;
            fpm_moe_shape shape;
        } moe;
        struct {
            fpm_collective collective;
            double ranks;
            double bytes_per_token;
        } collective;
        double bytes_per_token; // memory, send
        struct {
            fpm_attention_form form;
            double window_tokens; // a query sees at most so many; 0 = all
        } attention;
    } shape;
} fpm_operation;

enum { FPM_MAX_OPERATIONS = 64 };
typedef struct fpm_graph {
    fpm_operation operations[FPM_MAX_OPERATIONS];
    size_t n_operations;
    double constants
        [FPM_TERMS]; // how often a pass pays a term that has no operation (per pass and per layer); prefill_* ones in passes with prompts only
} fpm_graph;

// Keys that the first `length` tokens of a sequence see, each at most `window` of them: the integral of min(x, window).
static inline double fpm_seen_pairs(double length, double window) {
    return length <= window ? 0.5 * length * length : window * (length - 0.5 * window);
}

// The sums that drive an attention operation: those of prompts or decodes, cut by its window.
static inline fpm_attention_sums fpm_batch_attention(const fpm_batch *batch, fpm_driver driver, double window_tokens) {
    fpm_attention_sums sums;
    if (driver == FPM_DRIVER_PREFILL_ATTENTION)
        sums = (fpm_attention_sums){ .pairs = batch->prefill_pairs,
                                     .kv_tokens = batch->prefill_kv_tokens,
                                     .tokens = batch->prefill_tokens,
                                     .requests = batch->n_prefills };
    else
        sums = (fpm_attention_sums){ .pairs = batch->decode_kv_tokens,
                                     .kv_tokens = batch->decode_kv_tokens,
                                     .tokens = batch->n_decodes,
                                     .requests = batch->n_decodes };
    if (window_tokens <= 0.0) return sums;
    // The window is applied to requests of the mean lengths, for which it is exact; so the chunks of a prompt have the pairs of the whole. A prompt reads at most
    // the window before it and itself.
    if (driver == FPM_DRIVER_DECODE_ATTENTION) {
        sums.pairs = sums.kv_tokens = fpm_smaller(sums.kv_tokens, sums.requests * window_tokens);
    } else if (sums.requests > 0.0) {
        const double length = sums.kv_tokens / sums.requests, past = length - sums.tokens / sums.requests;
        const double pairs =
            sums.requests * (fpm_seen_pairs(length, window_tokens) - fpm_seen_pairs(past, window_tokens));
        sums.pairs = fpm_smaller(sums.pairs, pairs);
        sums.kv_tokens = fpm_smaller(sums.kv_tokens, sums.tokens + sums.requests * window_tokens);
    }
    return sums;
}

// The inputs must be checked already (native.h).
void fpm_graph_build(fpm_graph *graph, const fpm_deployment *deployment, const fpm_operators *operators);

// Loads of experts follow a power law of about this exponent (ai-dynamo/aiconfigurator: 1.01 and 1.2).
#define FPM_ROUTING_SKEW 1.0

// Price of all `count` times of an operation for a batch, uncalibrated; {0, 0} when the batch gives it nothing to do.
fpm_price fpm_operation_price(const fpm_operation *operation, const fpm_operators *operators, const fpm_batch *batch);
// The same as a function of the one count that drives it (table drivers only).
fpm_price fpm_operation_price_at(const fpm_operation *operation, const fpm_operators *operators, double count);
// One of its launches, as the formula has it, whatever operators->tables hold (table drivers only; count > 0).
fpm_price fpm_operation_formula(const fpm_operation *operation, const fpm_operators *operators, double count);
// A price with the factors of the calibration, never below the hardware's bound.
double fpm_operation_calibrated_ms(const fpm_operation *operation, const fpm_price *price,
                                   const fpm_calibration *calibration);

#endif
