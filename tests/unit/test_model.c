// SPDX-License-Identifier: GPL-3.0-or-later
//
// Asking and learning at the facade: what the vectors cannot say (JSON knows no NaN) or say less plainly.
#include "tests/support/standin_estimator.h"

#include <criterion/criterion.h>
#include <math.h>

static fpm_model *native(const fpm_model_options *o) {
    fpm_estimator *estimator = NULL;
    fpm_model *model = NULL;
    standin_new(&estimator, NULL);
    cr_assert_eq(fpm_model_new_native(&model, estimator, o, NULL), FPM_OK);
    fpm_estimator_free(estimator);
    return model;
}

static fpm_metrics prefill(uint32_t tokens, double wall_time_s) {
    fpm_metrics rank = fpm_metrics_idle();
    rank.scheduled.num_prefill_requests = 1;
    rank.scheduled.sum_prefill_tokens = tokens;
    rank.wall_time_s = wall_time_s;
    return rank;
}

static fpm_status tune(fpm_model *model, const fpm_metrics *ranks, size_t n_ranks) {
    const fpm_iteration iteration = { ranks, n_ranks };
    return fpm_model_tune(model, &iteration, 1, NULL);
}

Test(model, error_no_estimate_and_value_are_told_apart) {
    fpm_model *model = NULL;
    double ms = -1;
    bool has_estimate = true;
    cr_assert_eq(fpm_model_new_regression(&model, NULL, NULL), FPM_OK);
    fpm_metrics rank = prefill(100, 0.01);
    cr_assert_eq(fpm_model_estimate_ms(model, &rank, 1, &ms, &has_estimate, NULL), FPM_OK);
    cr_assert(!has_estimate && ms == -1);
    const fpm_metrics idle = fpm_metrics_idle();
    cr_assert_eq(fpm_model_estimate_ms(model, &idle, 1, &ms, &has_estimate, NULL), FPM_OK);
    cr_assert(has_estimate && ms == 0.0);
    rank.version = 3;
    cr_assert_eq(fpm_model_estimate_ms(model, &rank, 1, &ms, &has_estimate, NULL), FPM_UNSUPPORTED_SCHEMA_VERSION);
    cr_assert_not(has_estimate);
    cr_assert_eq(fpm_model_estimate_ms(model, NULL, 0, &ms, &has_estimate, NULL), FPM_INVALID_METRICS);
    fpm_model_free(model);
}

Test(model, wall_times_that_are_no_times_are_ignored) {
    fpm_model *model = native(NULL);
    const double none[] = { 0.0, -1.0, (double)NAN, (double)INFINITY, -(double)INFINITY };
    for (size_t i = 0; i < 5; i++) {
        const fpm_metrics rank = prefill(100, none[i]);
        cr_assert_eq(tune(model, &rank, 1), FPM_OK);
    }
    const fpm_metrics overflow = prefill(100, 1e306);
    tune(model, &overflow, 1);
    cr_assert_eq(fpm_model_retained(model, FPM_PREFILL), 0);
    const fpm_metrics both[2] = { prefill(100, (double)NAN), prefill(50, 0.002) };
    tune(model, both, 2);
    cr_assert_eq(fpm_model_retained(model, FPM_PREFILL), 1);
    fpm_model_free(model);
}

Test(model, tuning_stops_at_the_first_error_and_keeps_what_came_before) {
    fpm_model *model = NULL;
    fpm_model_options o = fpm_model_options_default();
    o.min_observations = 1;
    fpm_model_new_regression(&model, &o, NULL);
    fpm_metrics bad = prefill(100, 0.0); // would be ignored, if it were valid
    bad.scheduled.sum_decode_kv_tokens = 9;
    const fpm_metrics good[2] = { prefill(100, 0.010), prefill(200, 0.020) };
    const fpm_iteration iterations[] = { { &good[0], 1 }, { &bad, 1 }, { &good[1], 1 } };
    fpm_error error;
    cr_assert_eq(fpm_model_tune(model, iterations, 3, &error), FPM_INVALID_METRICS);
    cr_assert_eq(fpm_model_retained(model, FPM_EMPTY), 1);
    double ms;
    bool has_estimate;
    cr_assert_eq(fpm_model_estimate_ms(model, &good[1], 1, &ms, &has_estimate, NULL), FPM_OK);
    cr_assert(has_estimate); // and the fit is that of the state kept
    cr_assert_float_eq(ms, 10.0, 1e-12);
    cr_assert_eq(fpm_model_tune(model, NULL, 0, NULL), FPM_OK);
    fpm_model_free(model);
}

static fpm_status fail_estimate(const void *state, const fpm_metrics *ranks, size_t n, double *ms, fpm_error *error) {
    (void)state, (void)ranks, (void)n, (void)ms;
    return fpm_error_set(error, FPM_UNSUPPORTED, "no price");
}

static fpm_status huge_estimate(const void *state, const fpm_metrics *ranks, size_t n, double *ms, fpm_error *error) {
    (void)state, (void)n, (void)error;
    *ms = 3e305 * (double)ranks[0].scheduled.sum_prefill_tokens;
    return FPM_OK;
}

Test(model, a_failing_query_is_an_error_and_not_a_fallback) {
    const fpm_estimator_ops ops = { "failing", fail_estimate, NULL };
    fpm_estimator *estimator;
    fpm_model *model;
    fpm_estimator_new(&estimator, &ops, NULL, NULL);
    fpm_model_new_native(&model, estimator, NULL, NULL);
    fpm_estimator_free(estimator);
    const fpm_metrics rank = prefill(100, 0.010), idle = fpm_metrics_idle();
    double ms;
    bool has_estimate;
    fpm_error error;
    cr_assert_eq(fpm_model_estimate_ms(model, &rank, 1, &ms, &has_estimate, &error), FPM_UNSUPPORTED);
    cr_assert_str_eq(error.message, "no price");
    cr_assert_eq(tune(model, &rank, 1), FPM_UNSUPPORTED);
    cr_assert_eq(fpm_model_estimate_ms(model, &idle, 1, &ms, &has_estimate, &error), FPM_OK);
    cr_assert(has_estimate && ms == 0.0);
    cr_assert_eq(fpm_model_diagnostics(model).source, FPM_SOURCE_NATIVE);
    fpm_model_free(model);
}

Test(model, a_result_that_is_not_finite_is_an_error) {
    const fpm_estimator_ops ops = { "huge", huge_estimate, NULL };
    fpm_model_options o = fpm_model_options_default();
    o.min_observations = 1;
    fpm_estimator *estimator;
    fpm_model *model;
    fpm_estimator_new(&estimator, &ops, NULL, NULL);
    fpm_model_new_native(&model, estimator, &o, NULL);
    fpm_estimator_free(estimator);
    const fpm_metrics slow = prefill(1, 6e302), small = prefill(200, 0), big = prefill(500, 0); // a factor of 2
    double ms;
    bool has_estimate;
    cr_assert_eq(tune(model, &slow, 1), FPM_OK);
    cr_assert_eq(fpm_model_estimate_ms(model, &small, 1, &ms, &has_estimate, NULL), FPM_OK);
    cr_assert_float_eq(ms, 1.2e308, 1e297);
    cr_assert_eq(fpm_model_estimate_ms(model, &big, 1, &ms, &has_estimate, NULL), FPM_OUT_OF_RANGE);
    cr_assert_not(has_estimate);
    fpm_model_free(model);
}

Test(model, unbounded_factors_are_kept_as_they_are) {
    fpm_model_options o = fpm_model_options_default();
    o.min_observations = 1;
    o.is_faster_unbounded = o.is_slower_unbounded = true;
    fpm_model *free_model = native(&o), *bound_model = native(NULL);
    const fpm_metrics rank = prefill(100, 1.0); // 1000 ms observed, 1.5 ms estimated
    fpm_factors factors;
    tune(free_model, &rank, 1);
    for (int i = 0; i < 5; i++) tune(bound_model, &rank, 1);
    cr_assert(fpm_model_factors(free_model, FPM_PREFILL, &factors));
    cr_assert_float_eq(factors.max, 1000 / 1.5, 1e-9);
    cr_assert(fpm_model_factors(bound_model, FPM_EMPTY, &factors));
    cr_assert_eq(factors.max, 2.0);
    cr_assert_not(fpm_model_factors(bound_model, FPM_DECODE, &factors));
    fpm_model_free(free_model);
    fpm_model_free(bound_model);
}

Test(model, later_rank_wins_a_tie_and_ranks_are_not_merged) {
    fpm_model_options o = fpm_model_options_default();
    o.min_observations = 1;
    fpm_model *model;
    fpm_model_new_regression(&model, &o, NULL);
    fpm_metrics decode = fpm_metrics_idle();
    decode.scheduled.num_decode_requests = 10;
    decode.scheduled.sum_decode_kv_tokens = 90;
    decode.wall_time_s = 0.005;
    const fpm_metrics a[2] = { prefill(100, 0.001), decode }, b[2] = { decode, prefill(100, 0.001) };
    tune(model, a, 2);
    cr_assert(fpm_model_retained(model, FPM_DECODE) == 1 && fpm_model_retained(model, FPM_PREFILL) == 0);
    tune(model, b, 2);
    cr_assert(fpm_model_retained(model, FPM_DECODE) == 1 && fpm_model_retained(model, FPM_PREFILL) == 1);
    double ms;
    bool has_estimate;
    fpm_model_estimate_ms(model, b, 2, &ms, &has_estimate, NULL);
    cr_assert_float_eq(ms, 5.0, 1e-12); // the wall time is that of all ranks
    fpm_model_free(model);
}
