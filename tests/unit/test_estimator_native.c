// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/native/native.h"

#include <criterion/criterion.h>
#include <math.h>

#include "perfmodel/native/plan.h"
#include "tests/support/failing_malloc.h"
#include "tests/support/native_fixture.h"

static const fpm_layout eight_ranks = { 1, 1, 8, 8, 1 };

typedef struct native {
    fpm_deployment deployment;
    fpm_operators operators;
    fpm_calibration calibration;
} native;

static native *make(fpm_architecture architecture, fpm_layout layout) {
    static native n;
    n.deployment = (fpm_deployment){ architecture, hopper_system(), layout, { .weights = FPM_BF16 }, FPM_VLLM };
    fpm_operators_init(&n.operators, &n.deployment.system);
    n.calibration = fpm_calibration_default();
    return &n;
}

static fpm_status build(fpm_estimator **estimator, const native *n, fpm_pricing pricing, fpm_error *error) {
    return fpm_estimator_new_native(estimator, &n->deployment, &n->operators, &n->calibration, pricing, error);
}

static fpm_estimator *estimator_of(const native *n, fpm_pricing pricing) {
    fpm_estimator *estimator;
    fpm_error error = { 0 };
    cr_assert_eq(build(&estimator, n, pricing, &error), FPM_OK, "%s", error.message);
    return estimator;
}

static double price(const fpm_estimator *estimator, const fpm_metrics *ranks, size_t n) {
    double ms = -1;
    cr_assert_eq(fpm_estimate_ms(estimator, ranks, n, &ms, NULL), FPM_OK);
    return ms;
}

static fpm_metrics pass_of(uint32_t prefill_tokens, uint32_t decodes, uint32_t kv_tokens) {
    fpm_metrics pass = fpm_metrics_idle();
    pass.scheduled.num_prefill_requests = prefill_tokens > 0;
    pass.scheduled.sum_prefill_tokens = prefill_tokens;
    pass.scheduled.num_decode_requests = decodes;
    pass.scheduled.sum_decode_kv_tokens = kv_tokens;
    return pass;
}

Test(estimator_native, serial_pricing_adds_the_two_parts_of_a_mixed_pass) {
    const native *n = make(dense_architecture(), one_gpu);
    fpm_estimator *fused = estimator_of(n, FPM_PRICING_FUSED), *serial = estimator_of(n, FPM_PRICING_SERIAL);
    const fpm_metrics prefill = pass_of(700, 0, 0), decode = pass_of(0, 40, 40000), mixed = pass_of(700, 40, 40000);
    cr_expect_eq(price(serial, &mixed, 1), price(serial, &prefill, 1) + price(serial, &decode, 1));
    cr_expect_eq(price(serial, &prefill, 1), price(fused, &prefill, 1));
    cr_expect_eq(price(serial, &decode, 1), price(fused, &decode, 1));
    cr_expect_lt(price(fused, &mixed, 1), price(serial, &mixed, 1)); // weights are read once
    cr_expect_gt(price(fused, &mixed, 1), price(fused, &prefill, 1));
    fpm_estimator_free(fused);
    fpm_estimator_free(serial);
}

Test(estimator_native, empty_passes_cost_nothing) {
    const native *n = make(moe_architecture(), eight_ranks);
    for (int pricing = FPM_PRICING_FUSED; pricing <= FPM_PRICING_SERIAL; pricing++) {
        fpm_estimator *e = estimator_of(n, (fpm_pricing)pricing);
        fpm_metrics ranks[8];
        for (int i = 0; i < 8; i++) ranks[i] = fpm_metrics_idle();
        cr_expect_eq(price(e, ranks, 8), 0);
        ranks[3].scheduled.num_prefill_requests = 2; // without a fresh token
        cr_expect_eq(price(e, ranks, 8), 0);
        fpm_estimator_free(e);
    }
}

Test(estimator_native, a_pass_lasts_as_long_as_its_slowest_rank) {
    const fpm_layout two_ranks = { 1, 1, 2, 1, 1 };
    const native *n = make(dense_architecture(), two_ranks);
    fpm_estimator *e = estimator_of(n, FPM_PRICING_FUSED);
    const fpm_metrics light = pass_of(0, 5, 500), heavy = pass_of(600, 5, 500), idle = fpm_metrics_idle();
    const double ms = price(e, &heavy, 1);
    cr_expect_gt(ms, price(e, &light, 1));
    cr_expect_eq(price(e, (const fpm_metrics[]){ light, heavy }, 2), ms);
    cr_expect_eq(price(e, (const fpm_metrics[]){ heavy, idle }, 2), ms);
    fpm_estimator_free(e);
}

Test(estimator_native, ranks_share_the_experts_and_all_of_their_tokens_count) {
    const native *n = make(moe_architecture(), eight_ranks);
    fpm_graph graph;
    fpm_plan *plan = malloc(sizeof *plan);
    fpm_graph_build(&graph, &n->deployment, &n->operators);
    fpm_plan_build(plan, &graph, &n->operators, &n->calibration, true);
    fpm_estimator *fused = estimator_of(n, FPM_PRICING_FUSED), *serial = estimator_of(n, FPM_PRICING_SERIAL);
    fpm_metrics ranks[8];
    double slowest = 0, slowest_prefill = 0, slowest_decode = 0;
    for (uint32_t i = 0; i < 8; i++) {
        ranks[i] = pass_of(100 * i, 10 + i, 1000);
        const fpm_metrics prefill = pass_of(100 * i, 0, 0), decode = pass_of(0, 10 + i, 1000);
        const fpm_batch whole = fpm_batch_of(&ranks[i]), parts[] = { fpm_batch_of(&prefill), fpm_batch_of(&decode) };
        slowest = fmax(slowest, fpm_plan_rank_ms(plan, &whole));
        slowest_prefill = fmax(slowest_prefill, fpm_plan_rank_ms(plan, &parts[0]));
        slowest_decode = fmax(slowest_decode, fpm_plan_rank_ms(plan, &parts[1]));
    }
    const double decodes = 8 * 10 + 28, prompts = 100 * 28;
    cr_expect_eq(price(fused, ranks, 8), slowest + fpm_plan_shared_ms(plan, decodes + prompts));
    cr_expect_float_eq(
        price(serial, ranks, 8),
        slowest_prefill + slowest_decode + fpm_plan_shared_ms(plan, decodes) + fpm_plan_shared_ms(plan, prompts), 1e-9);
    fpm_estimator_free(fused);
    fpm_estimator_free(serial);
    free(plan);
}

Test(estimator_native, a_busy_neighbour_slows_a_pass_down_only_where_experts_are_shared) {
    const native *n = make(moe_architecture(), eight_ranks);
    fpm_estimator *e = estimator_of(n, FPM_PRICING_FUSED);
    const fpm_metrics mine = pass_of(0, 30, 30000), other = pass_of(0, 29, 100), idle = fpm_metrics_idle();
    cr_expect_gt(price(e, (const fpm_metrics[]){ mine, other }, 2), price(e, (const fpm_metrics[]){ mine, idle }, 2));
    fpm_estimator_free(e);
}

Test(estimator_native, refuses_calibrations_that_are_no_prices) {
    static const double wrong[] = { -1, (double)NAN, (double)INFINITY };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        for (int t = 0; t < FPM_TERMS; t++) {
            native *n = make(dense_architecture(), one_gpu);
            n->calibration.terms[t] = wrong[i];
            fpm_estimator *e;
            fpm_error error = { 0 };
            cr_expect_eq(build(&e, n, FPM_PRICING_FUSED, &error), FPM_INVALID_CONFIG);
            cr_expect_null(e);
            cr_expect(strstr(error.message, fpm_term_name((fpm_term)t)), "%s", error.message);
        }
    }
}

Test(estimator_native, refuses_parts_that_do_not_fit) {
    fpm_estimator *e;
    fpm_error error = { 0 };
    native *n = make(dense_architecture(), one_gpu);
    cr_expect_eq(build(&e, n, (fpm_pricing)7, &error), FPM_INVALID_CONFIG);
    n->deployment.layout.tensor = 3;
    cr_expect_eq(build(&e, n, FPM_PRICING_FUSED, &error), FPM_UNSUPPORTED);
    n = make(dense_architecture(), one_gpu);
    n->deployment.architecture.hidden = 0;
    cr_expect_eq(build(&e, n, FPM_PRICING_FUSED, &error), FPM_INVALID_CONFIG);
    n = make(dense_architecture(), one_gpu);
    n->deployment.system.memory_bytes_per_s = 0;
    cr_expect_eq(build(&e, n, FPM_PRICING_FUSED, &error), FPM_INVALID_CONFIG);
    n = make(dense_architecture(), one_gpu);
    n->deployment.quantisation.weights = FPM_NVFP4; // not on this GPU
    cr_expect_eq(build(&e, n, FPM_PRICING_FUSED, &error), FPM_UNSUPPORTED);
    cr_expect_null(e);
}

Test(estimator_native, a_failing_allocation_leaves_nothing_behind) {
    const native *n = make(dense_architecture(), one_gpu);
    bool is_done = false;
    for (long k = 0; !is_done; k++) {
        cr_assert_lt(k, 10);
        fpm_estimator *e;
        fpm_error error = { 0 };
        const long n_before = n_live;
        n_left = k;
        has_failed = false;
        const fpm_status status = build(&e, n, FPM_PRICING_FUSED, &error);
        n_left = -1;
        is_done = !has_failed;
        cr_expect_eq(status, has_failed ? FPM_NO_MEMORY : FPM_OK);
        fpm_estimator_free(e);
        cr_expect_eq(n_live, n_before, "allocation %ld", k);
    }
}
