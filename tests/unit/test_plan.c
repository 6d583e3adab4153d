// SPDX-License-Identifier: GPL-3.0-or-later
//
// Tables against the operators they are made of.
#include "perfmodel/native/plan.h"

#include <criterion/criterion.h>
#include <math.h>

#include "tests/support/native_cases.h"

typedef struct planned {
    native_case *c;
    fpm_plan *plan;
} planned;

static planned plan_of(int i, bool has_shared) {
    sim_error error = { 0 };
    planned p = { native_case_new(native_cases[i], &error), malloc(sizeof(fpm_plan)) };
    cr_assert(p.c && p.plan, "%d: %s", i, error.message);
    fpm_plan_build(p.plan, &p.c->graph, &p.c->prices.operators, &p.c->calibration, has_shared);
    return p;
}

static void drop(planned *p) {
    native_case_free(p->c);
    free(p->plan);
}

// Operator by operator; `shared` are the tokens that reach the experts.
static double walked_ms(const planned *p, fpm_batch batch, double shared) {
    static fpm_explanation e;
    batch.shared_tokens = shared;
    fpm_explain(&e, &p->c->graph, &p->c->prices.operators, p->c->prices.has_curves, &p->c->calibration, &batch);
    return e.operations_ms + e.terms_ms;
}

static double relative_error(const planned *p, const fpm_metrics *pass) {
    const fpm_batch batch = fpm_batch_of(pass);
    return fabs(fpm_plan_rank_ms(p->plan, &batch) / walked_ms(p, batch, batch.tokens) - 1);
}

Test(plan, is_the_walk_of_the_operators_at_every_count_up_to_256) {
    for (int i = 0; i < NATIVE_CASES; i++) {
        planned p = plan_of(i, false);
        for (uint32_t n = 1; n <= FPM_PLAN_EXACT; n++) {
            const fpm_metrics decode = native_pass(0, 0, 0, n, 777 * n), prefill = native_pass(1, n, 50, 0, 0);
            cr_assert_leq(relative_error(&p, &decode), 1e-12, "%d: %u decodes", i, n);
            cr_assert_leq(relative_error(&p, &prefill), 1e-12, "%d: %u prompt tokens", i, n);
        }
        drop(&p);
    }
}

Test(plan, is_the_walk_of_the_operators_at_every_knot_and_within_a_5000th_between_them) {
    for (int i = 0; i < NATIVE_CASES; i++) {
        planned p = plan_of(i, false);
        double worst = 0;
        for (uint32_t left = FPM_PLAN_EXACT; left < 1u << 22;) {
            const uint32_t octave = 1u << (31 - __builtin_clz(left)), step = octave / FPM_PLAN_STEPS;
            const fpm_metrics at = native_pass(1, left, 0, 0, 0), between = native_pass(1, left + step / 2, 0, 0, 0);
            cr_assert_leq(relative_error(&p, &at), 1e-12, "%d: %u", i, left);
            worst = fmax(worst, relative_error(&p, &between));
            left += step;
        }
        // A factor that takes an operation down to its bound between two knots makes a corner, which lines cut.
        cr_expect_leq(worst, i == NATIVE_BOUND_CASE ? 1e-3 : 2e-4, "%d: %g", i, worst);
        drop(&p);
    }
}

Test(plan, goes_on_along_its_last_slope_beyond_the_last_knot) {
    planned p = plan_of(0, true);
    const double last = fpm_plan_shared_ms(p.plan, 1 << 22), more = fpm_plan_shared_ms(p.plan, (1 << 22) + (1 << 20));
    cr_expect_eq(last, 0); // a dense model shares nothing
    cr_expect_eq(more, 0);
    drop(&p);
    p = plan_of(5, true);
    const double knots[] = { fpm_plan_shared_ms(p.plan, (double)(1 << 22) * 63 / 64),
                             fpm_plan_shared_ms(p.plan, 1 << 22) };
    const double slope_ms = (knots[1] - knots[0]) / ((double)(1 << 22) / 64);
    for (int octaves = 1; octaves <= 40; octaves++) {
        const double beyond = ldexp(1, 22 + octaves), ms = fpm_plan_shared_ms(p.plan, beyond);
        cr_expect_float_eq(ms / (knots[1] + slope_ms * (beyond - (1 << 22))), 1, 1e-9, "2^%d: %g", 22 + octaves, ms);
    }
    drop(&p);
}

Test(plan, what_ranks_share_stands_alone_or_with_the_tokens_of_the_rank) {
    planned own = plan_of(4, false), shared = plan_of(4, true);
    for (uint32_t n = 1; n < 4000; n += 37) {
        const fpm_metrics pass = native_pass(0, 0, 0, n, 100 * n);
        const fpm_batch batch = fpm_batch_of(&pass);
        const double ms = fpm_plan_rank_ms(own.plan, &batch);
        cr_expect_float_eq((fpm_plan_rank_ms(shared.plan, &batch) + fpm_plan_shared_ms(shared.plan, n)) / ms, 1, 1e-12);
        cr_expect_gt(fpm_plan_shared_ms(shared.plan, n), 0);
    }
    drop(&own);
    drop(&shared);
}

Test(plan, an_empty_batch_costs_nothing) {
    planned p = plan_of(5, true);
    const fpm_metrics idle = fpm_metrics_idle();
    const fpm_batch batch = fpm_batch_of(&idle);
    cr_expect_eq(fpm_plan_rank_ms(p.plan, &batch), 0);
    cr_expect_eq(fpm_plan_shared_ms(p.plan, 0), 0);
    drop(&p);
}

Test(plan, a_prompt_that_does_not_end_samples_nothing) {
    planned p = plan_of(0, false);
    fpm_metrics pass = native_pass(1, 512, 0, 0, 0);
    const fpm_batch ends = fpm_batch_of(&pass);
    pass.moments = (fpm_moments){ .is_present = true, .sum_prefill_attention = 512.0 * 256, .max_context_tokens = 512 };
    const fpm_batch goes_on = fpm_batch_of(&pass);
    const double head_ms = fpm_plan_rank_ms(p.plan, &ends) - fpm_plan_rank_ms(p.plan, &goes_on);
    cr_expect_float_eq(head_ms, p.plan->tables[FPM_DRIVER_ROWS][1], 1e-12);
    drop(&p);
}
