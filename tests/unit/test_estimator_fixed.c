// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/perfmodel.h"

#include <criterion/criterion.h>
#include <math.h>

static fpm_metrics batch(uint32_t fresh, uint32_t decodes) {
    fpm_metrics rank = fpm_metrics_idle();
    rank.scheduled.num_prefill_requests = fresh > 0;
    rank.scheduled.sum_prefill_tokens = fresh;
    rank.scheduled.num_decode_requests = decodes;
    rank.scheduled.sum_decode_kv_tokens = 100 * decodes;
    return rank;
}

Test(estimator_fixed, a_pass_costs_what_its_kind_costs) {
    const struct {
        fpm_fixed_options options;
        double mixed_ms;
    } cases[] = {
        { { 20.0, 10.0, -1.0, FPM_PRICING_FUSED }, 20.0 },
        { { 20.0, 10.0, -1.0, FPM_PRICING_SERIAL }, 30.0 },
        { { 20.0, 10.0, 22.5, FPM_PRICING_SERIAL }, 22.5 },
        { { 20.0, 10.0, 0.0, FPM_PRICING_FUSED }, 0.0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fpm_estimator *estimator;
        cr_assert_eq(fpm_estimator_new_fixed(&estimator, &cases[i].options, NULL), FPM_OK);
        const fpm_metrics ranks[] = { batch(0, 0), batch(7, 0), batch(0, 3), batch(7, 3) };
        const double expected[] = { 0.0, 20.0, 10.0, cases[i].mixed_ms };
        for (size_t k = 0; k < 4; k++) {
            double ms = -1;
            cr_assert_eq(fpm_estimate_ms(estimator, &ranks[k], 1, &ms, NULL), FPM_OK);
            cr_assert_eq(ms, expected[k]);
        }
        double ms;
        fpm_estimate_ms(estimator, ranks, 3, &ms, NULL);
        cr_assert_eq(ms, 20.0); // the slowest rank
        fpm_estimator_free(estimator);
    }
}

Test(estimator_fixed, refuses_prices_that_are_none) {
    const fpm_fixed_options bad[] = {
        { -1, 1, -1, FPM_PRICING_FUSED },         { (double)NAN, 1, -1, FPM_PRICING_FUSED },
        { 1, -1, -1, FPM_PRICING_FUSED },         { 1, HUGE_VAL, 1, FPM_PRICING_FUSED },
        { 1, 1, (double)NAN, FPM_PRICING_FUSED }, { 1, 1, 1, (fpm_pricing)7 },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fpm_estimator *estimator;
        cr_assert_eq(fpm_estimator_new_fixed(&estimator, &bad[i], NULL), FPM_INVALID_CONFIG, "case %zu", i);
        cr_assert_null(estimator);
    }
}
