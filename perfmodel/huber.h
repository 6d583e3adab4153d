// SPDX-License-Identifier: GPL-3.0-or-later
//
// What fits that must survive outliers share: a scale from the median of the residuals, Huber's weights, and weights that
// fade with age, so that a model whose samples disagree believes the newer ones.
#ifndef PERFMODEL_HUBER_H
#define PERFMODEL_HUBER_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define FPM_HUBER_BEND 1.345 // residuals beyond so many scales count less: 95 % efficient on normal noise

// Lower median of n >= 1 values, none of them NaN, whose order is lost. O(n).
double fpm_select_median(double *values, size_t n);

// Standard deviation of normal noise with these absolute residuals (order lost), at least `least`.
static inline double fpm_robust_scale(double *residuals, size_t n, double least) {
    return fmax(1.4826 * fpm_select_median(residuals, n), least);
}

static inline double fpm_huber_weight(double residual, double scale) {
    const double size = fabs(residual), bend = FPM_HUBER_BEND * scale;
    return size > bend ? bend / size : 1.0;
}

// weights[i] for samples from the oldest to the newest, whose weight is 1; half of it `half_life` samples earlier.
void fpm_fading_weights(double *weights, size_t n, double half_life);

// Symmetric positive definite equations of n <= 4 unknowns, lower triangle of `a`; solved in place of `b`. False: they
// are not definite.
bool fpm_cholesky_solve(double a[4][4], double b[4], unsigned n);

#endif
