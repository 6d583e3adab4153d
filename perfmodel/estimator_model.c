// SPDX-License-Identifier: GPL-3.0-or-later
//
// A model that learns no more, as an estimator among others.
#include "perfmodel/metrics_check.h"

#include <stdlib.h>

typedef struct learned_prices {
    fpm_model *model;
    fpm_estimator *fallback; // NULL: there is none
} learned_prices;

static fpm_status estimate(const void *state, const fpm_metrics *ranks, size_t n_ranks, double *ms, fpm_error *error) {
    const learned_prices *prices = state;
    bool has_estimate;
    const fpm_status status = fpm_model_estimate_ms(prices->model, ranks, n_ranks, ms, &has_estimate, error);
    if (status || has_estimate) return status;
    if (prices->fallback) return fpm_estimate_valid_ms(prices->fallback, ranks, n_ranks, ms, error);
    return fpm_error_set(error, FPM_UNSUPPORTED,
                         "the model has not learned enough passes of this kind, and there is no other price for it");
}

static void free_prices(void *state) {
    learned_prices *prices = state;
    fpm_model_free(prices->model);
    fpm_estimator_free(prices->fallback);
    free(prices);
}

static const fpm_estimator_ops ops = { .name = "model", .estimate_ms = estimate, .free_state = free_prices };

fpm_status fpm_estimator_new_model(fpm_estimator **estimator, fpm_model *model, fpm_estimator *fallback,
                                   fpm_error *error) {
    *estimator = NULL;
    learned_prices *prices = malloc(sizeof *prices);
    if (!prices) {
        fpm_model_free(model);
        return fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
    }
    *prices = (learned_prices){ model, fpm_estimator_share(fallback) };
    return fpm_estimator_new(estimator, &ops, prices, error);
}
