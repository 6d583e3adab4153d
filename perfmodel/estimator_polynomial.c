// SPDX-License-Identifier: GPL-3.0-or-later
//
// The two polynomials of ai-dynamo's mocker; coefficients as design/interface.md "Pricing of a pass" gives them.
#include "perfmodel/metrics_check.h"

#include <stdlib.h>

typedef struct polynomial_state {
    double capacity_tokens;
    bool is_serial;
} polynomial_state;

static double prefill_ms(double tokens) { return 4.209989e-7 * tokens * tokens + 1.518344e-2 * tokens + 16.50142; }

// u = share of the KV capacity that is active, 0..1
static double decode_ms(double u) {
    const double ms = -25.74 * u * u + 54.01 * u + 5.74;
    return ms > 1.0 ? ms : 1.0;
}

static double rank_ms(const polynomial_state *state, const fpm_scheduled_requests *s) {
    const double share = (double)s->sum_decode_kv_tokens / state->capacity_tokens;
    const double u = share < 1.0 ? share : 1.0;
    switch (fpm_scheduled_kind(s)) {
    case FPM_PREFILL:
        return prefill_ms((double)s->sum_prefill_tokens);
    case FPM_DECODE:
        return decode_ms(u);
    case FPM_MIXED:
        // Fused: the fixed part of a pass, D(0), is paid once.
        return prefill_ms((double)s->sum_prefill_tokens) + decode_ms(u) - (state->is_serial ? 0.0 : decode_ms(0.0));
    case FPM_EMPTY:
        break;
    }
    return 0.0;
}

static fpm_status estimate(const void *state, const fpm_metrics *ranks, size_t n_ranks, double *ms, fpm_error *error) {
    (void)error;
    double slowest = 0.0;
    for (size_t i = 0; i < n_ranks; i++) {
        const double this_ms = rank_ms(state, &ranks[i].scheduled);
        if (this_ms > slowest) slowest = this_ms;
    }
    *ms = slowest;
    return FPM_OK;
}

static const fpm_estimator_ops ops = { .name = "polynomial", .estimate_ms = estimate, .free_state = free };

fpm_status fpm_estimator_new_polynomial(fpm_estimator **estimator, const fpm_polynomial_options *options,
                                        fpm_error *error) {
    *estimator = NULL;
    if (options->capacity_tokens == 0)
        return fpm_error_set(error, FPM_INVALID_CONFIG,
                             "capacity_tokens must be >= 1 (blocks x block size of one rank)");
    if (options->pricing != FPM_PRICING_FUSED && options->pricing != FPM_PRICING_SERIAL)
        return fpm_error_set(error, FPM_INVALID_CONFIG, "pricing must be fused or serial");
    polynomial_state *state = malloc(sizeof *state);
    if (!state) return fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
    *state = (polynomial_state){ (double)options->capacity_tokens, options->pricing == FPM_PRICING_SERIAL };
    return fpm_estimator_new(estimator, &ops, state, error);
}
