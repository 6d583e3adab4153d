// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/native/plan.h"

#include <assert.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Knots: 0 to 256 one by one, then 32 to an octave
// ---------------------------------------------------------------------------------------------------------------------

static uint64_t knot_count(size_t knot) {
    if (knot <= FPM_PLAN_EXACT) return knot;
    const size_t above = knot - FPM_PLAN_EXACT;
    const uint64_t octave = above / FPM_PLAN_STEPS, step = above % FPM_PLAN_STEPS;
    return ((uint64_t)FPM_PLAN_EXACT << octave) + step * (((uint64_t)FPM_PLAN_EXACT / FPM_PLAN_STEPS) << octave);
}

// One over the counts between two knots of an octave: a power of two, so that a product is what the quotient would be.
static const double inverse_widths[FPM_PLAN_OCTAVES] = {
    0x1p-3,  0x1p-4,  0x1p-5,  0x1p-6,  0x1p-7,  0x1p-8,  0x1p-9,
    0x1p-10, 0x1p-11, 0x1p-12, 0x1p-13, 0x1p-14, 0x1p-15, 0x1p-16
};

static inline double look_up(const double *table, double count) {
    const int64_t whole = (int64_t)count;
    if (whole < FPM_PLAN_EXACT) return table[whole];
    int octave = 63 - __builtin_clzll((uint64_t)whole) - 8; // 2^8 = FPM_PLAN_EXACT
    if (octave >= FPM_PLAN_OCTAVES) octave = FPM_PLAN_OCTAVES - 1;
    const int shift = octave + 3; // 2^3 = counts between knots of the first octave
    int64_t step = (whole >> shift) - FPM_PLAN_STEPS;
    if (step >= FPM_PLAN_STEPS) step = FPM_PLAN_STEPS - 1; // beyond the last knot: along its slope
    const double *knot = &table[FPM_PLAN_EXACT + octave * FPM_PLAN_STEPS + step];
    const double left = (double)((step + FPM_PLAN_STEPS) << shift);
    return knot[0] + (knot[1] - knot[0]) * ((count - left) * inverse_widths[octave]);
}
_Static_assert(FPM_PLAN_EXACT == 1 << 8 && FPM_PLAN_EXACT / FPM_PLAN_STEPS == 1 << 3,
               "look_up counts in powers of two");

// ---------------------------------------------------------------------------------------------------------------------
// Building
// ---------------------------------------------------------------------------------------------------------------------

static void add_to_table(double *table, const fpm_operation *operation, const fpm_operators *operators,
                         const fpm_calibration *calibration) {
    for (size_t knot = 1; knot < FPM_PLAN_KNOTS; knot++) {
        const fpm_price price = fpm_operation_price_at(operation, operators, (double)knot_count(knot));
        table[knot] += fpm_operation_calibrated_ms(operation, &price, calibration);
    }
}

static void add_form(fpm_plan *plan, const fpm_operation *operation, const fpm_calibration *calibration) {
    const bool is_prefill = operation->driver == FPM_DRIVER_PREFILL_ATTENTION;
    size_t *n = is_prefill ? &plan->n_prefill_forms : &plan->n_decode_forms;
    assert(*n < FPM_PLAN_FORMS);
    fpm_plan_form *form = &(is_prefill ? plan->prefill_forms : plan->decode_forms)[(*n)++];
    form->form =
        fpm_attention_form_times(&operation->shape.attention.form, operation->count,
                                 calibration->terms[operation->term], calibration->terms[operation->floor_term]);
    form->window_tokens = operation->shape.attention.window_tokens;
}

static double constant_ms(const fpm_graph *graph, const fpm_calibration *calibration, fpm_term term) {
    return graph->constants[term] * calibration->terms[term] * 1e-3;
}

static void add_constants(fpm_plan *plan, const fpm_graph *graph, const fpm_calibration *calibration) {
    for (int term = FPM_TERM_PASS; term < FPM_TERMS; term++) {
        const double ms = constant_ms(graph, calibration, (fpm_term)term);
        if (term == FPM_TERM_PREFILL_PASS || term == FPM_TERM_PREFILL_LAYER)
            plan->prefill_pass_ms += ms;
        else
            plan->pass_ms += ms;
    }
    plan->prompt_ms = calibration->terms[FPM_TERM_PROMPT] * 1e-3;
    const double request_ms = calibration->terms[FPM_TERM_REQUEST] * 1e-3;
    for (size_t knot = 1; knot < FPM_PLAN_KNOTS; knot++)
        plan->tables[FPM_DRIVER_ROWS][knot] += request_ms * (double)knot_count(knot);
}

void fpm_plan_build(fpm_plan *plan, const fpm_graph *graph, const fpm_operators *operators,
                    const fpm_calibration *calibration, bool has_shared) {
    memset(plan, 0, sizeof *plan);
    plan->has_shared = has_shared;
    for (size_t i = 0; i < graph->n_operations; i++) {
        const fpm_operation *operation = &graph->operations[i];
        if (operation->kind == FPM_OPERATION_ATTENTION) {
            add_form(plan, operation, calibration);
            continue;
        }
        // Where nobody shares the experts, their tokens are the rank's own, and one table is one look-up less.
        const bool is_own = operation->driver == FPM_DRIVER_SHARED_TOKENS && !has_shared;
        add_to_table(plan->tables[is_own ? FPM_DRIVER_TOKENS : operation->driver], operation, operators, calibration);
    }
    add_constants(plan, graph, calibration);
}

// ---------------------------------------------------------------------------------------------------------------------
// Pricing
// ---------------------------------------------------------------------------------------------------------------------

static double forms_ms(const fpm_plan_form *forms, size_t n, const fpm_batch *batch, fpm_driver driver) {
    double ms = 0.0;
    for (size_t i = 0; i < n; i++) {
        const fpm_attention_sums sums = fpm_batch_attention(batch, driver, forms[i].window_tokens);
        const fpm_price price = fpm_attention_price(&forms[i].form, &sums);
        ms += price.ms > price.bound_ms ? price.ms : price.bound_ms;
    }
    return ms;
}

double fpm_plan_rank_ms(const fpm_plan *plan, const fpm_batch *batch) {
    if (batch->tokens <= 0.0) return 0.0;
    double ms = plan->pass_ms + look_up(plan->tables[FPM_DRIVER_TOKENS], batch->tokens) +
                look_up(plan->tables[FPM_DRIVER_ROWS], batch->rows);
    if (batch->n_decodes > 0.0)
        ms += forms_ms(plan->decode_forms, plan->n_decode_forms, batch, FPM_DRIVER_DECODE_ATTENTION);
    if (batch->n_prefills > 0.0)
        ms += plan->prefill_pass_ms + batch->n_prefills * plan->prompt_ms +
              look_up(plan->tables[FPM_DRIVER_PREFILL_TOKENS], batch->prefill_tokens) +
              forms_ms(plan->prefill_forms, plan->n_prefill_forms, batch, FPM_DRIVER_PREFILL_ATTENTION);
    return ms;
}

double fpm_plan_shared_ms(const fpm_plan *plan, double shared_tokens) {
    return look_up(plan->tables[FPM_DRIVER_SHARED_TOKENS], shared_tokens);
}
