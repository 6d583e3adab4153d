// SPDX-License-Identifier: GPL-3.0-or-later
//
// Regression of pass time over load for one kind (notes/fpm-behaviour.md section 6): a line with slopes >= 0, or for
// prefill with 6 samples or more a two-piece hinge weighted by relative error, refitted from all retained samples.
//
// The small systems are solved by code of our own and not by GSL, because when a system counts as singular (an absolute
// pivot bound, then a ridge) is part of the specified behaviour and decides whether a fit exists.
#ifndef PERFMODEL_REGRESSION_H
#define PERFMODEL_REGRESSION_H

#include "perfmodel/load_order.h"
#include "perfmodel/robust.h"

// ms = intercept + slope . x + bend * max(0, x0 - knot), all zero where a form has no such term.
typedef struct fpm_fit {
    bool is_ready;
    double intercept;
    double slope[2];
    double knot, bend;
} fpm_fit;

// Knots spread over the logarithm of the loads between min and max.
#define FPM_LOG_KNOTS 8
typedef struct fpm_log_knots {
    double min, max, at[FPM_LOG_KNOTS];
} fpm_log_knots;

typedef struct fpm_regression {
    fpm_fit fit;
    bool is_robust; // robust.h fits, not these
    fpm_robust robust;
    fpm_samples samples;  // value: observed ms, > 0, may be infinite
    fpm_load_order order; // prefill: the samples in order of load, for the hinge
    fpm_log_knots spread;
    double *scratch; // room for the fit, so that fitting cannot fail
    uint32_t scratch_samples;
    uint64_t min_observations;
    bool is_stale; // samples have changed since the fit
} fpm_regression;

void fpm_regression_init(fpm_regression *regression, fpm_kind kind, const fpm_model_options *options);
void fpm_regression_free(fpm_regression *regression);
bool fpm_regression_copy(fpm_regression *copy, const fpm_regression *regression); // false: no memory, nothing to free

// Keep an observation; `batch` is the number of decoding requests. False: no memory, nothing changed.
bool fpm_regression_learn(fpm_regression *regression, fpm_load load, uint32_t batch, double observed_ms);
// Refit if anything was learned since. O(samples).
void fpm_regression_refit(fpm_regression *regression);

static inline double fpm_fit_ms(const fpm_fit *fit, fpm_load load) {
    const double x = (double)load.x[0];
    const double over = x > fit->knot ? x - fit->knot : 0.0;
    const double ms = fit->intercept + fit->slope[0] * x + fit->slope[1] * (double)load.x[1] + fit->bend * over;
    return ms < 1e-6 ? 1e-6 : ms;
}

static inline bool fpm_regression_is_ready(const fpm_regression *regression) {
    return regression->is_robust ? regression->robust.is_ready : regression->fit.is_ready;
}

// Needs is_ready.
static inline double fpm_regression_ms(const fpm_regression *regression, fpm_load load, uint32_t batch) {
    return regression->is_robust ? fpm_robust_ms(&regression->robust, load, batch) : fpm_fit_ms(&regression->fit, load);
}

#endif
