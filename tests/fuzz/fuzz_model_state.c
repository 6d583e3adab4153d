// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any bytes as a saved model: refused, or a model that answers, learns and is written again as a state that gives the
// same.
#include "tests/support/standin_estimator.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void check(bool holds) {
    if (!holds) abort();
}

static char *write_text(const fpm_model *model, size_t *n_bytes) {
    char *text = NULL;
    FILE *out = open_memstream(&text, n_bytes);
    check(out && fpm_model_write(model, out, NULL) == FPM_OK);
    fclose(out);
    return text;
}

static fpm_metrics pass(uint32_t i) {
    fpm_metrics rank = fpm_metrics_idle();
    if (i % 3 != 1) rank.scheduled.num_prefill_requests = 1, rank.scheduled.sum_prefill_tokens = 1 + 977 * i % 9000;
    if (i % 3 != 0)
        rank.scheduled.num_decode_requests = 1 + 31 * i % 600, rank.scheduled.sum_decode_kv_tokens = 7919 * i;
    rank.wall_time_s = 0.001 * (1 + i % 17);
    return rank;
}

static void use(fpm_model *model) {
    for (uint32_t i = 0; i < 40; i++) {
        const fpm_metrics rank = pass(i);
        const fpm_iteration iteration = { &rank, 1 };
        double ms;
        bool has_estimate;
        const fpm_status status = fpm_model_estimate_ms(model, &rank, 1, &ms, &has_estimate, NULL);
        check(status == FPM_OK || status == FPM_OUT_OF_RANGE); // samples may be as wild as 1e308
        if (has_estimate) check(ms >= 0);
        check(fpm_model_tune(model, &iteration, 1, NULL) == FPM_OK);
        check(fpm_model_retained(model, FPM_PREFILL) <= fpm_model_get_options(model)->max_observations);
    }
    fpm_factors factors;
    fpm_model_factors(model, FPM_EMPTY, &factors);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
    fpm_estimator *estimator = NULL;
    fpm_model *model = NULL, *again = NULL;
    fpm_error error;
    if (standin_new(&estimator, NULL)) return 0;
    if (fpm_model_read(&model, (const char *)data, n_bytes, estimator, &error) == FPM_OK) {
        size_t n_first, n_second;
        char *first = write_text(model, &n_first);
        check(fpm_model_read(&again, first, n_first, estimator, &error) == FPM_OK);
        use(model);
        use(again);
        free(first);
        first = write_text(model, &n_first);
        char *second = write_text(again, &n_second);
        check(n_first == n_second && memcmp(first, second, n_first) == 0);
        free(first);
        free(second);
    } else {
        check(error.code != FPM_OK && error.message[0] != '\0');
    }
    fpm_model_free(again);
    fpm_model_free(model);
    fpm_estimator_free(estimator);
    return 0;
}
