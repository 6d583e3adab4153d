// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/native/explain.h"

#include <string.h>

#include "perfmodel/native/operator_tables.h"

const char *fpm_price_source_name(fpm_price_source source) {
    switch (source) {
    case FPM_FROM_FORMULA:
        return "formula";
    case FPM_FROM_FIT:
        return "fit";
    case FPM_FROM_TABLE:
        return "table";
    }
    return "";
}

// ---------------------------------------------------------------------------------------------------------------------
// Sources
// ---------------------------------------------------------------------------------------------------------------------

// The curve that prices an operation. False: none does.
static bool find_curve(const fpm_operation *o, fpm_family *family, int *format) {
    *format = FPM_BF16;
    switch (o->kind) {
    case FPM_OPERATION_GEMM:
        *family = FPM_FAMILY_GEMM;
        *format = fpm_format(o->shape.gemm.weights, o->shape.gemm.has_16bit_activations);
        return true;
    case FPM_OPERATION_MOE:
        *family = FPM_FAMILY_MOE;
        *format = fpm_format(o->shape.moe.weights, o->shape.moe.has_16bit_activations);
        return true;
    case FPM_OPERATION_ATTENTION:
        *family = o->shape.attention.form.family;
        *format = o->shape.attention.form.format;
        return true;
    case FPM_OPERATION_COLLECTIVE:
        *family = fpm_collective_family(o->shape.collective.collective);
        return true;
    case FPM_OPERATION_MEMORY:
        *family = FPM_FAMILY_MEMORY;
        return true;
    case FPM_OPERATION_SEND:
        break;
    }
    return false;
}

fpm_price_source fpm_operation_source(const fpm_operation *operation, const fpm_operators *operators,
                                      bool is_measured) {
    fpm_family family;
    int format;
    if (!is_measured || !find_curve(operation, &family, &format)) return FPM_FROM_FORMULA;
    const fpm_curve typical = fpm_curve_typical(family, format);
    const bool is_typical = memcmp(&operators->curves[family][format], &typical, sizeof typical) == 0;
    return is_typical ? FPM_FROM_FORMULA : FPM_FROM_FIT;
}

// ---------------------------------------------------------------------------------------------------------------------
// One pass
// ---------------------------------------------------------------------------------------------------------------------

static double amount_of(const fpm_operation *operation, const fpm_batch *batch) {
    switch (operation->driver) {
    case FPM_DRIVER_TOKENS:
        return batch->tokens;
    case FPM_DRIVER_PREFILL_TOKENS:
        return batch->prefill_tokens;
    case FPM_DRIVER_SHARED_TOKENS:
        return batch->shared_tokens;
    case FPM_DRIVER_ROWS:
        return batch->rows;
    case FPM_DRIVER_PREFILL_ATTENTION:
        return batch->n_prefills;
    case FPM_DRIVER_DECODE_ATTENTION:
        return batch->n_decodes;
    }
    return 0.0;
}

static void add_operation(fpm_explanation *e, const fpm_operation *operation, const fpm_operators *operators,
                          bool is_measured, const fpm_calibration *calibration) {
    const double amount = amount_of(operation, &e->batch);
    if (amount <= 0.0) return;
    fpm_explained_operation *line = &e->operations[e->n_operations++];
    *line = (fpm_explained_operation){ .operation = operation,
                                       .amount = amount,
                                       .price = fpm_operation_price(operation, operators, &e->batch),
                                       .source = fpm_operation_source(operation, operators, is_measured) };
    if (fpm_operation_is_from_table(operation, operators, amount)) line->source = FPM_FROM_TABLE;
    if (operation->kind == FPM_OPERATION_ATTENTION)
        line->sums = fpm_batch_attention(&e->batch, operation->driver, operation->shape.attention.window_tokens);
    line->ms = fpm_operation_calibrated_ms(operation, &line->price, calibration);
    e->operations_ms += line->ms;
    e->bound_ms += line->price.bound_ms;
    e->peak_compute_ms += line->price.peak_compute_ms;
    e->peak_memory_ms += line->price.peak_memory_ms;
}

static double times_paid(fpm_term term, const fpm_graph *graph, const fpm_batch *batch) {
    if (term == FPM_TERM_REQUEST) return batch->rows;
    if (term == FPM_TERM_PROMPT) return batch->n_prefills;
    const bool is_of_prompts = term == FPM_TERM_PREFILL_PASS || term == FPM_TERM_PREFILL_LAYER;
    return is_of_prompts && batch->n_prefills <= 0.0 ? 0.0 : graph->constants[term];
}

void fpm_explain(fpm_explanation *e, const fpm_graph *graph, const fpm_operators *operators, bool is_measured,
                 const fpm_calibration *calibration, const fpm_batch *batch) {
    memset(e, 0, sizeof *e);
    e->batch = *batch;
    if (batch->tokens <= 0.0) return;
    for (size_t i = 0; i < graph->n_operations; i++)
        add_operation(e, &graph->operations[i], operators, is_measured, calibration);
    for (int t = FPM_TERM_PASS; t < FPM_TERMS; t++) {
        const double times = times_paid((fpm_term)t, graph, batch), each_us = calibration->terms[t];
        if (times <= 0.0 || each_us <= 0.0) continue;
        e->terms[e->n_terms++] = (fpm_explained_term){ (fpm_term)t, times, each_us, times * each_us * 1e-3 };
        e->terms_ms += times * each_us * 1e-3;
    }
}
