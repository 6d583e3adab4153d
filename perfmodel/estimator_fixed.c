// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/metrics_check.h"

#include <math.h>
#include <stdlib.h>

// The four prices by kind, so that a query is a table look-up.
typedef struct fixed_prices {
    double ms[4]; // index: fpm_kind
} fixed_prices;

static fpm_status estimate(const void *state, const fpm_metrics *ranks, size_t n_ranks, double *ms, fpm_error *error) {
    (void)error;
    const fixed_prices *prices = state;
    double slowest = 0.0;
    for (size_t i = 0; i < n_ranks; i++) {
        const double rank_ms = prices->ms[fpm_scheduled_kind(&ranks[i].scheduled)];
        if (rank_ms > slowest) slowest = rank_ms;
    }
    *ms = slowest;
    return FPM_OK;
}

static const fpm_estimator_ops ops = { .name = "fixed", .estimate_ms = estimate, .free_state = free };

static bool is_price(double ms) { return isfinite(ms) && ms >= 0.0; }

fpm_status fpm_estimator_new_fixed(fpm_estimator **estimator, const fpm_fixed_options *options, fpm_error *error) {
    *estimator = NULL;
    const double prefill = options->prefill_ms, decode = options->decode_ms;
    if (!is_price(prefill)) return fpm_error_set(error, FPM_INVALID_CONFIG, "prefill_ms must be finite and >= 0");
    if (!is_price(decode)) return fpm_error_set(error, FPM_INVALID_CONFIG, "decode_ms must be finite and >= 0");
    if (!isfinite(options->mixed_ms))
        return fpm_error_set(error, FPM_INVALID_CONFIG, "mixed_ms must be finite (negative: not given)");
    if (options->pricing != FPM_PRICING_FUSED && options->pricing != FPM_PRICING_SERIAL)
        return fpm_error_set(error, FPM_INVALID_CONFIG, "pricing must be fused or serial");
    fixed_prices *prices = malloc(sizeof *prices);
    if (!prices) return fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
    double mixed = options->mixed_ms;
    if (mixed < 0.0) mixed = options->pricing == FPM_PRICING_SERIAL ? prefill + decode : fmax(prefill, decode);
    prices->ms[FPM_EMPTY] = 0.0;
    prices->ms[FPM_PREFILL] = prefill;
    prices->ms[FPM_DECODE] = decode;
    prices->ms[FPM_MIXED] = mixed;
    return fpm_estimator_new(estimator, &ops, prices, error);
}
