// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/perfmodel.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static fpm_scheduled_requests work(uint32_t fresh, uint32_t past, uint32_t decodes, uint32_t context) {
    return (fpm_scheduled_requests){ .num_prefill_requests = fresh + past > 0,
                                     .sum_prefill_tokens = fresh,
                                     .sum_prefill_kv_tokens = past,
                                     .num_decode_requests = decodes,
                                     .sum_decode_kv_tokens = context };
}

static fpm_metrics rank(uint32_t fresh, uint32_t past, uint32_t decodes, uint32_t context) {
    fpm_metrics metrics = fpm_metrics_idle();
    metrics.scheduled = work(fresh, past, decodes, context);
    return metrics;
}

static const struct {
    uint32_t fresh, past, decodes, context;
    double ms;
} measured[] = {
    { 100, 0, 0, 0, 10 },    { 1000, 0, 0, 0, 40 },    { 100, 400, 0, 0, 12 }, { 1000, 400, 0, 0, 44 },
    { 0, 0, 1, 100, 5 },     { 0, 0, 1, 1000, 6 },     { 0, 0, 8, 800, 7 },    { 0, 0, 8, 8000, 14 },
    { 0, 0, 8, 8000, 13 },   { 0, 0, 8, 8000, 90 }, // a hiccup
    { 100, 0, 8, 8000, 21 }, { 1000, 0, 8, 8000, 51 },
};
enum { N = sizeof measured / sizeof *measured };

static fpm_estimator *table_of(fpm_pricing pricing) {
    fpm_measured_pass passes[N];
    for (size_t i = 0; i < N; i++) {
        passes[i].scheduled = work(measured[i].fresh, measured[i].past, measured[i].decodes, measured[i].context);
        passes[i].ms = measured[i].ms;
    }
    const fpm_table_options options = { passes, N, "t.csv", pricing };
    fpm_estimator *estimator;
    cr_assert_eq(fpm_estimator_new_table(&estimator, &options, NULL), FPM_OK);
    return estimator;
}

Test(estimator_table, measured_passes_have_their_time_and_others_what_lies_between) {
    const struct {
        fpm_pricing pricing;
        fpm_metrics rank;
        double ms;
    } cases[] = {
        { FPM_PRICING_FUSED, rank(0, 0, 0, 0), 0 },
        { FPM_PRICING_FUSED, rank(100, 400, 0, 0), 12 },
        { FPM_PRICING_FUSED, rank(550, 0, 0, 0), 25 },
        { FPM_PRICING_FUSED, rank(550, 200, 0, 0), (10 + 40 + 12 + 44) / 4.0 },
        { FPM_PRICING_FUSED, rank(0, 0, 8, 8000), 14 }, // the median
        { FPM_PRICING_FUSED, rank(0, 0, 1, 550), 5.5 },
        { FPM_PRICING_FUSED, rank(550, 0, 8, 8000), 36 },
        { FPM_PRICING_SERIAL, rank(550, 0, 8, 8000), 25 + 14 },
        { FPM_PRICING_SERIAL, rank(100, 0, 1, 100), 10 + 5 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fpm_estimator *estimator = table_of(cases[i].pricing);
        double ms = -1;
        fpm_error error = { .code = FPM_OK };
        cr_assert_eq(fpm_estimate_ms(estimator, &cases[i].rank, 1, &ms, &error), FPM_OK, "%zu: %s", i, error.message);
        cr_expect_float_eq(ms, cases[i].ms, 1e-6, "%zu: %g", i, ms);
        fpm_estimator_free(estimator);
    }
}

Test(estimator_table, the_slowest_rank_decides) {
    fpm_estimator *estimator = table_of(FPM_PRICING_FUSED);
    const fpm_metrics ranks[] = { rank(0, 0, 1, 100), rank(1000, 0, 0, 0), rank(0, 0, 0, 0) };
    double ms;
    cr_assert_eq(fpm_estimate_ms(estimator, ranks, 3, &ms, NULL), FPM_OK);
    cr_expect_eq(ms, 40);
    cr_expect_str_eq(fpm_estimator_name(estimator), "table");
    fpm_estimator_free(estimator);
}

Test(estimator_table, what_was_not_measured_around_is_refused_with_its_range) {
    const struct {
        fpm_metrics rank;
        const char *message;
    } cases[] = {
        { rank(99, 0, 0, 0), "t.csv has no prefill pass as far as prefill_tokens 99, prefill_kv_tokens 0; it holds 100 "
                             "to 1000, 0 to 400 (it does not extrapolate)" },
        { rank(1001, 0, 0, 0), "as far as prefill_tokens 1001" },
        { rank(100, 401, 0, 0), "prefill_kv_tokens 401" },
        // contexts of 50 tokens: within the box, but below all that was measured
        { rank(0, 0, 4, 200), "no decode pass around decode_requests 4, decode_kv_tokens 200" },
        { rank(100, 0, 7, 8000), "no mixed pass as far as prefill_tokens 100, prefill_kv_tokens 0, decode_requests 7" },
    };
    fpm_estimator *estimator = table_of(FPM_PRICING_FUSED);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double ms = -1;
        fpm_error error = { .code = FPM_OK };
        cr_expect_eq(fpm_estimate_ms(estimator, &cases[i].rank, 1, &ms, &error), FPM_UNSUPPORTED);
        cr_expect_eq(ms, -1);
        cr_expect(strstr(error.message, cases[i].message), "%s", error.message);
    }
    fpm_estimator_free(estimator);
}

Test(estimator_table, a_kind_without_measurements_says_so) {
    const fpm_measured_pass pass = { work(10, 0, 0, 0), 1 };
    const fpm_table_options options = { &pass, 1, NULL, FPM_PRICING_FUSED };
    fpm_estimator *estimator;
    fpm_error error = { .code = FPM_OK };
    double ms;
    cr_assert_eq(fpm_estimator_new_table(&estimator, &options, NULL), FPM_OK);
    const fpm_metrics decode = rank(0, 0, 1, 10), prefill = rank(10, 0, 0, 0);
    cr_expect_eq(fpm_estimate_ms(estimator, &decode, 1, &ms, &error), FPM_UNSUPPORTED);
    cr_expect(strstr(error.message, "the table has no decode pass") && strstr(error.message, "it holds no such pass"),
              "%s", error.message);
    cr_expect(fpm_estimate_ms(estimator, &prefill, 1, &ms, NULL) == FPM_OK && ms == 1);
    fpm_estimator_free(estimator);
}

Test(estimator_table, unsound_measurements_are_refused) {
    const struct {
        fpm_measured_pass pass;
        const char *message;
    } cases[] = {
        { { work(0, 0, 0, 0), 1 }, "a pass without work" },
        { { work(0, 5, 1, 1), 1 }, "prefill_kv_tokens without prefill_tokens" },
        { { work(1, 0, 0, 5), 1 }, "decode_kv_tokens without decode_requests" },
        { { work(1, 0, 0, 0), 0 }, "must be above 0" },
        { { work(1, 0, 0, 0), HUGE_VAL }, "must be above 0" },
        { { work(1, 0, 0, 0), (double)NAN }, "must be above 0" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const fpm_table_options options = { &cases[i].pass, 1, NULL, FPM_PRICING_FUSED };
        fpm_estimator *estimator;
        fpm_error error = { .code = FPM_OK };
        cr_expect_eq(fpm_estimator_new_table(&estimator, &options, &error), FPM_OUT_OF_RANGE);
        cr_expect_null(estimator);
        cr_expect(strstr(error.message, cases[i].message), "%s", error.message);
    }
    fpm_table_options options = { NULL, 0, NULL, FPM_PRICING_FUSED };
    fpm_estimator *estimator;
    cr_expect_eq(fpm_estimator_new_table(&estimator, &options, NULL), FPM_INVALID_CONFIG);
}

Test(estimator_table, an_iteration_of_a_log_counts_for_its_largest_rank) {
    fpm_metrics ranks[] = { rank(0, 0, 0, 0), rank(10, 5, 2, 30), rank(3, 0, 1, 7) };
    fpm_measured_pass pass;
    cr_expect_not(fpm_measured_pass_of(ranks, 3, &pass)); // not measured
    for (int i = 0; i < 3; i++) ranks[i].wall_time_s = 0.004;
    cr_assert(fpm_measured_pass_of(ranks, 3, &pass));
    cr_expect_eq(pass.ms, 4);
    cr_expect_eq(pass.scheduled.sum_prefill_tokens, 10);
    cr_expect_eq(pass.scheduled.sum_decode_kv_tokens, 30);
    cr_expect_not(fpm_measured_pass_of(ranks, 1, &pass)); // idle
}
