// SPDX-License-Identifier: GPL-3.0-or-later
//
// The native stand-in of notes/fpm-behaviour.md section 0, for vectors, benchmark and property tests. Not a product
// price.
#ifndef TESTS_STANDIN_ESTIMATOR_H
#define TESTS_STANDIN_ESTIMATOR_H

#include "perfmodel/perfmodel.h"

static inline double standin_rank_ms(const fpm_metrics *rank) {
    const fpm_scheduled_requests *s = &rank->scheduled;
    if (s->sum_prefill_tokens == 0 && s->num_decode_requests == 0 && s->sum_decode_kv_tokens == 0) return 0.0;
    return 0.5 + 0.01 * (double)s->sum_prefill_tokens + 2e-6 * (double)s->sum_prefill_kv_tokens +
           0.02 * (double)s->num_decode_requests + 1e-5 * (double)s->sum_decode_kv_tokens;
}

static inline fpm_status standin_estimate_ms(const void *state, const fpm_metrics *ranks, size_t n_ranks, double *ms,
                                             fpm_error *error) {
    (void)state, (void)error;
    double slowest = 0.0;
    for (size_t i = 0; i < n_ranks; i++) {
        const double rank_ms = standin_rank_ms(&ranks[i]);
        slowest = rank_ms > slowest ? rank_ms : slowest;
    }
    *ms = slowest;
    return FPM_OK;
}

static inline fpm_status standin_new(fpm_estimator **estimator, fpm_error *error) {
    static const fpm_estimator_ops ops = { .name = "stand-in", .estimate_ms = standin_estimate_ms };
    return fpm_estimator_new(estimator, &ops, NULL, error);
}

#endif
