// SPDX-License-Identifier: GPL-3.0-or-later
//
// regression = robust: time over load by relative errors with Huber's weights,
//   prefill  ms = a + b T + c T^2              T prompt tokens
//   decode   ms = a + b R + c K                R requests, K context tokens
//   mixed    ms = a + b T + c K + d R
// all slopes >= 0. Against the reference: it weighs relative errors at every load (the reference only above 25 ms, and
// absolute ones in decode and mixed passes), outliers count less, newer samples more, the batch counts in mixed passes,
// features are standardised so that no scale makes a system singular, and a constant is an answer too. The price: a
// prefill curve is a parabola and cannot bend downwards.
#ifndef PERFMODEL_ROBUST_H
#define PERFMODEL_ROBUST_H

#include "perfmodel/samples.h"

#define FPM_ROBUST_FEATURES 3
#define FPM_ROBUST_SCRATCH 7 // doubles a sample

typedef struct fpm_robust {
    fpm_kind kind;
    bool is_ready;
    double intercept, slope[FPM_ROBUST_FEATURES];
    uint32_t *batch; // mixed: decoding requests of the sample in each slot
    uint32_t batch_capacity;
} fpm_robust;

static inline unsigned fpm_robust_features(fpm_kind kind, fpm_load load, uint32_t batch,
                                           double features[FPM_ROBUST_FEATURES]) {
    const double x = (double)load.x[0];
    features[0] = x;
    features[1] = kind == FPM_PREFILL ? x * x : (double)load.x[1];
    features[2] = kind == FPM_MIXED ? (double)batch : 0.0;
    return kind == FPM_MIXED ? 3 : 2;
}

// Needs is_ready.
static inline double fpm_robust_ms(const fpm_robust *robust, fpm_load load, uint32_t batch) {
    double f[FPM_ROBUST_FEATURES];
    fpm_robust_features(robust->kind, load, batch, f);
    const double ms = robust->intercept + robust->slope[0] * f[0] + robust->slope[1] * f[1] + robust->slope[2] * f[2];
    return ms < 1e-6 ? 1e-6 : ms;
}

// From the retained times (infinite ones are passed over), by `scratch` of FPM_ROBUST_SCRATCH doubles for each. Not ready
// after a fit: no finite sample. O(samples).
void fpm_robust_fit(fpm_robust *robust, const fpm_samples *samples, double *scratch);

#endif
