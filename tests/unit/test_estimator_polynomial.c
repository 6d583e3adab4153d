// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/perfmodel.h"

#include <criterion/criterion.h>
#include <math.h>

static double price(fpm_pricing pricing, uint64_t capacity, uint32_t fresh, uint32_t decodes, uint32_t kv) {
    const fpm_polynomial_options options = { capacity, pricing };
    fpm_estimator *estimator;
    cr_assert_eq(fpm_estimator_new_polynomial(&estimator, &options, NULL), FPM_OK);
    fpm_metrics rank = fpm_metrics_idle();
    rank.scheduled.num_prefill_requests = fresh > 0;
    rank.scheduled.sum_prefill_tokens = fresh;
    rank.scheduled.num_decode_requests = decodes;
    rank.scheduled.sum_decode_kv_tokens = kv;
    double ms = -1;
    cr_assert_eq(fpm_estimate_ms(estimator, &rank, 1, &ms, NULL), FPM_OK);
    fpm_estimator_free(estimator);
    return ms;
}

Test(estimator_polynomial, prices_by_hand) {
    const double p1000 = 16.50142 + 15.18344 + 0.4209989; // P(1000)
    const struct {
        fpm_pricing pricing;
        uint32_t fresh, decodes, kv;
        double ms;
    } cases[] = {
        { FPM_PRICING_FUSED, 0, 0, 0, 0.0 },
        { FPM_PRICING_FUSED, 1000, 0, 0, p1000 },
        { FPM_PRICING_FUSED, 0, 4, 0, 5.74 },
        { FPM_PRICING_FUSED, 0, 4, 500, -25.74 * 0.25 + 54.01 * 0.5 + 5.74 },
        { FPM_PRICING_FUSED, 0, 4, 1000, 34.01 },
        { FPM_PRICING_FUSED, 0, 4, 4000000000u, 34.01 }, // more than the capacity: u stays 1
        { FPM_PRICING_FUSED, 1000, 4, 1000, p1000 + 34.01 - 5.74 },
        { FPM_PRICING_SERIAL, 1000, 4, 1000, p1000 + 34.01 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double ms = price(cases[i].pricing, 1000, cases[i].fresh, cases[i].decodes, cases[i].kv);
        cr_assert_float_eq(ms, cases[i].ms, 1e-12 * (1 + cases[i].ms), "case %zu: %.17g", i, ms);
    }
}

Test(estimator_polynomial, the_slowest_rank_counts_and_no_capacity_is_refused) {
    fpm_estimator *estimator;
    fpm_error error;
    cr_assert_eq(fpm_estimator_new_polynomial(&estimator, &(fpm_polynomial_options){ 0, FPM_PRICING_FUSED }, &error),
                 FPM_INVALID_CONFIG);
    cr_assert(strstr(error.message, "capacity_tokens"));
    cr_assert_eq(fpm_estimator_new_polynomial(&estimator, &(fpm_polynomial_options){ 1000, FPM_PRICING_SERIAL }, NULL),
                 FPM_OK);
    fpm_metrics ranks[2] = { fpm_metrics_idle(), fpm_metrics_idle() };
    ranks[1].scheduled.num_decode_requests = 1;
    double ms;
    fpm_estimate_ms(estimator, ranks, 2, &ms, NULL);
    cr_assert_eq(ms, 5.74);
    fpm_estimator_free(estimator);
}
