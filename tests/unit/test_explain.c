// SPDX-License-Identifier: GPL-3.0-or-later
//
// What is explained is what is charged.
#include "perfmodel/native/explain.h"

#include <criterion/criterion.h>
#include <math.h>

#include "tests/support/native_cases.h"

static fpm_explanation explained(const native_case *c, const fpm_metrics *pass) {
    static fpm_explanation e;
    fpm_batch batch = fpm_batch_of(pass);
    batch.shared_tokens = batch.tokens * (double)c->native.layout.data;
    fpm_explain(&e, &c->graph, &c->prices.operators, c->prices.has_curves, &c->calibration, &batch);
    return e;
}

static native_case *deploy(int i) {
    sim_error error = { 0 };
    native_case *c = native_case_new(native_cases[i], &error);
    cr_assert(c, "%d: %s", i, error.message);
    return c;
}

static double largest_count(const native_case *c, const fpm_metrics *pass) {
    return fpm_batch_of(pass).tokens * (double)c->native.layout.data;
}

Test(explain, operators_and_overheads_add_up_to_the_estimate) {
    const fpm_metrics passes[] = {
        native_pass(0, 0, 0, 1, 17),          native_pass(0, 0, 0, 32, 4096),     native_pass(1, 20, 300, 0, 0),
        native_pass(2, 24, 0, 7, 70000),      native_pass(0, 0, 0, 256, 1 << 20), native_pass(4, 8192, 1000, 0, 0),
        native_pass(3, 2311, 512, 97, 99999), native_pass(0, 0, 0, 1003, 777777),
    };
    for (int i = 0; i < NATIVE_CASES; i++) {
        native_case *c = deploy(i);
        for (size_t p = 0; p < sizeof passes / sizeof *passes; p++) {
            const fpm_explanation e = explained(c, &passes[p]);
            const double ms = native_case_ms(c, &passes[p]), sum = e.operations_ms + e.terms_ms;
            // Exact where the plan has a knot for every count, else to its straight lines.
            const double limit = largest_count(c, &passes[p]) <= FPM_PLAN_EXACT ? 1e-12 : 2e-4;
            cr_expect(fabs(sum / ms - 1) <= limit, "%d, pass %zu: %.17g, sum %.17g", i, p, ms, sum);
        }
        native_case_free(c);
    }
}

Test(explain, every_line_has_work_a_time_and_a_bound_below_it) {
    const fpm_metrics pass = native_pass(2, 600, 100, 50, 50000);
    for (int i = 0; i < NATIVE_CASES; i++) {
        native_case *c = deploy(i);
        const fpm_explanation e = explained(c, &pass);
        double operations_ms = 0, terms_ms = 0;
        for (size_t o = 0; o < e.n_operations; o++) {
            const fpm_explained_operation *line = &e.operations[o];
            cr_expect(line->amount > 0 && line->ms > 0 && line->ms >= line->price.bound_ms, "%d: %s", i,
                      line->operation->name);
            cr_expect(line->price.bound_ms <= line->price.peak_compute_ms + line->price.peak_memory_ms ||
                          line->operation->kind == FPM_OPERATION_COLLECTIVE ||
                          line->operation->kind == FPM_OPERATION_SEND,
                      "%d: %s", i, line->operation->name);
            operations_ms += line->ms;
        }
        for (size_t t = 0; t < e.n_terms; t++) {
            cr_expect_float_eq(e.terms[t].ms, e.terms[t].times * e.terms[t].each_us * 1e-3, 1e-12);
            terms_ms += e.terms[t].ms;
        }
        cr_expect_eq(operations_ms, e.operations_ms);
        cr_expect_eq(terms_ms, e.terms_ms);
        native_case_free(c);
    }
}

Test(explain, an_empty_batch_costs_nothing_and_has_no_lines) {
    native_case *c = deploy(0);
    const fpm_metrics idle = fpm_metrics_idle();
    const fpm_explanation e = explained(c, &idle);
    cr_expect_eq(e.n_operations + e.n_terms, 0);
    cr_expect_eq(e.operations_ms + e.terms_ms, 0);
    native_case_free(c);
}

Test(explain, terms_of_prompts_are_paid_by_passes_with_prompts_only) {
    native_case *c = deploy(0);
    const fpm_metrics decode = native_pass(0, 0, 0, 5, 100), mixed = native_pass(3, 90, 0, 5, 100);
    fpm_explanation e = explained(c, &decode);
    for (size_t t = 0; t < e.n_terms; t++)
        cr_expect(e.terms[t].term < FPM_TERM_PREFILL_PASS, "%s", fpm_term_name(e.terms[t].term));
    e = explained(c, &mixed);
    double prompts = 0, rows = 0;
    for (size_t t = 0; t < e.n_terms; t++) {
        if (e.terms[t].term == FPM_TERM_PROMPT) prompts = e.terms[t].times;
        if (e.terms[t].term == FPM_TERM_REQUEST) rows = e.terms[t].times;
    }
    cr_expect_eq(prompts, 3);
    cr_expect_eq(rows, 8);
    native_case_free(c);
}

Test(explain, a_price_is_fitted_where_the_curve_differs_from_the_typical_one) {
    native_case *measured = deploy(2), *typical = deploy(9);
    const fpm_metrics pass = native_pass(0, 0, 0, 8, 8000);
    const fpm_explanation e = explained(measured, &pass);
    int n_fitted = 0;
    for (size_t o = 0; o < e.n_operations; o++) {
        n_fitted += e.operations[o].source == FPM_FROM_FIT;
        if (e.operations[o].operation->kind == FPM_OPERATION_MEMORY) // nobody measures these
            cr_expect_eq(e.operations[o].source, FPM_FROM_FORMULA);
    }
    cr_expect_gt(n_fitted, 5);
    const fpm_explanation none = explained(typical, &pass);
    for (size_t o = 0; o < none.n_operations; o++) cr_expect_eq(none.operations[o].source, FPM_FROM_FORMULA);
    native_case_free(measured);
    native_case_free(typical);
}

Test(explain, a_factor_never_takes_an_operation_below_the_bound) {
    sim_error error = { 0 };
    native_case *c = native_case_new(
        (const char *[]){ NATIVE_CONFIGS, "model.name=llama-3.1-8b", "system.name=h100_sxm", "calibration.gemm_bf16=0",
                          "calibration.kernel_floor=0", "calibration.attention_decode=0", NULL },
        &error);
    cr_assert(c, "%s", error.message);
    const fpm_metrics pass = native_pass(0, 0, 0, 64, 64 * 4096);
    const fpm_explanation e = explained(c, &pass);
    for (size_t o = 0; o < e.n_operations; o++)
        if (e.operations[o].operation->kind != FPM_OPERATION_MEMORY)
            cr_expect_float_eq(e.operations[o].ms, e.operations[o].price.bound_ms, 1e-12);
    cr_expect_geq(native_case_ms(c, &pass), e.bound_ms);
    native_case_free(c);
}
