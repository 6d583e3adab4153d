// SPDX-License-Identifier: GPL-3.0-or-later
//
// regression = robust: time over load by relative errors with Huber's weights,
//   prefill  ms = a + b T + c T^2              T prompt tokens
//   decode   ms = a + b R + c K + d bow(K)     R requests, K context tokens; bow(K) = K (2 - K / M), M from K = M on,
//                                              where M is the largest K of the samples
//   mixed    ms = a + b T + c K + d R
// all slopes >= 0. Against the reference: it weighs relative errors at every load (the reference only above 25 ms, and
// absolute ones in decode and mixed passes), outliers count less, newer samples more, the batch counts in mixed passes,
// features are standardised so that no scale makes a system singular, a constant is an answer too, and decode times may
// flatten with the context, where a straight line through samples of all loads is off by a quarter on what the model sees
// most. The price: a prefill curve is a parabola and cannot bend downwards, a decode curve not upwards.
#ifndef PERFMODEL_ROBUST_H
#define PERFMODEL_ROBUST_H

#include "perfmodel/samples.h"

#define FPM_ROBUST_FEATURES 3
#define FPM_ROBUST_SCRATCH 7 // doubles a sample

typedef struct fpm_robust {
    fpm_kind kind;
    bool is_ready;
    double intercept, slope[FPM_ROBUST_FEATURES];
    double most_kv_tokens; // decode: M
    uint32_t *batch;       // mixed: decoding requests of the sample in each slot
    uint32_t batch_capacity;
} fpm_robust;

// Rises to its top at `most` and stays there.
static inline double fpm_robust_bow(double kv_tokens, double most) {
    return kv_tokens < most ? kv_tokens * (2.0 - kv_tokens / most) : most;
}

static inline unsigned fpm_robust_features(const fpm_robust *robust, fpm_load load, uint32_t batch,
                                           double features[FPM_ROBUST_FEATURES]) {
    const double x = (double)load.x[0], y = (double)load.x[1];
    features[0] = x;
    features[1] = robust->kind == FPM_PREFILL ? x * x : y;
    features[2] = robust->kind == FPM_MIXED    ? (double)batch
                  : robust->kind == FPM_DECODE ? fpm_robust_bow(y, robust->most_kv_tokens)
                                               : 0.0;
    return robust->kind == FPM_PREFILL ? 2 : 3;
}

// Needs is_ready.
static inline double fpm_robust_ms(const fpm_robust *robust, fpm_load load, uint32_t batch) {
    double f[FPM_ROBUST_FEATURES];
    fpm_robust_features(robust, load, batch, f);
    const double ms = robust->intercept + robust->slope[0] * f[0] + robust->slope[1] * f[1] + robust->slope[2] * f[2];
    return ms < 1e-6 ? 1e-6 : ms;
}

// From the retained times (infinite ones are passed over), by `scratch` of FPM_ROBUST_SCRATCH doubles for each. Not ready
// after a fit: no finite sample. O(samples).
void fpm_robust_fit(fpm_robust *robust, const fpm_samples *samples, double *scratch);

#endif
