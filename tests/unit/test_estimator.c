// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/perfmodel.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static int n_freed;
static void count_free(void *state) {
    (void)state;
    n_freed++;
}
static fpm_status answer(const void *state, const fpm_metrics *ranks, size_t n_ranks, double *ms, fpm_error *error) {
    (void)ranks, (void)n_ranks, (void)error;
    *ms = *(const double *)state;
    return FPM_OK;
}

Test(estimator, the_last_owner_frees_the_state) {
    const fpm_estimator_ops ops = { "constant", answer, count_free };
    double value = 3.0;
    fpm_estimator *first = NULL;
    cr_assert_eq(fpm_estimator_new(&first, &ops, &value, NULL), FPM_OK);
    fpm_estimator *second = fpm_estimator_share(first);
    cr_assert_str_eq(fpm_estimator_name(second), "constant");
    fpm_estimator_free(first);
    cr_assert_eq(n_freed, 0);
    fpm_estimator_free(second);
    cr_assert_eq(n_freed, 1);
    fpm_estimator_free(NULL);
    cr_assert_null(fpm_estimator_share(NULL));
}

Test(estimator, an_estimate_that_is_no_time_is_an_error) {
    const fpm_estimator_ops ops = { "constant", answer, NULL };
    const double values[] = { (double)NAN, HUGE_VAL, -1.0 };
    const fpm_metrics idle = fpm_metrics_idle();
    for (size_t i = 0; i < 3; i++) {
        double value = values[i], ms;
        fpm_error error;
        fpm_estimator *estimator;
        cr_assert_eq(fpm_estimator_new(&estimator, &ops, &value, NULL), FPM_OK);
        cr_assert_eq(fpm_estimate_ms(estimator, &idle, 1, &ms, &error), FPM_OUT_OF_RANGE);
        cr_assert(strstr(error.message, "constant"));
        fpm_estimator_free(estimator);
    }
}

Test(estimator, ranks_are_validated_first) {
    const fpm_estimator_ops ops = { "constant", answer, NULL };
    double value = 1.0, ms;
    fpm_estimator *estimator;
    fpm_estimator_new(&estimator, &ops, &value, NULL);
    fpm_metrics rank = fpm_metrics_idle();
    cr_assert_eq(fpm_estimate_ms(estimator, &rank, 0, &ms, NULL), FPM_INVALID_METRICS);
    rank.scheduled.sum_decode_kv_tokens = 1;
    cr_assert_eq(fpm_estimate_ms(estimator, &rank, 1, &ms, NULL), FPM_INVALID_METRICS);
    rank.version = 0;
    cr_assert_eq(fpm_estimate_ms(estimator, &rank, 1, &ms, NULL), FPM_UNSUPPORTED_SCHEMA_VERSION);
    cr_assert_eq(fpm_estimate_valid_ms(estimator, &rank, 1, &ms, NULL), FPM_OK);
    fpm_estimator_free(estimator);
}

static fpm_status price_nothing(const void *state, const fpm_metrics *ranks, size_t n_ranks, double *ms,
                                fpm_error *error) {
    (void)state, (void)ranks, (void)n_ranks, (void)error;
    *ms = 0;
    return FPM_OK;
}

Test(estimator, a_name_fits_a_saved_state_and_there_is_a_price) {
    char long_name[80];
    memset(long_name, 'n', sizeof long_name);
    long_name[64] = '\0';
    const fpm_estimator_ops bad[] = { { NULL, price_nothing, NULL },
                                      { "", price_nothing, NULL },
                                      { long_name, price_nothing, NULL },
                                      { "na\xefme", price_nothing, NULL },
                                      { "name", NULL, NULL } };
    fpm_estimator *estimator;
    fpm_error error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect_eq(fpm_estimator_new(&estimator, &bad[i], NULL, &error), FPM_INVALID_CONFIG, "%zu", i);
    long_name[63] = '\0';
    const fpm_estimator_ops good = { long_name, price_nothing, NULL };
    cr_assert_eq(fpm_estimator_new(&estimator, &good, NULL, &error), FPM_OK);
    fpm_estimator_free(estimator);
}
