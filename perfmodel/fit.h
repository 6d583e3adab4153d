// SPDX-License-Identifier: GPL-3.0-or-later
//
// The two forms of fit. Both take the observations in the order of insertion and leave `fit` alone when there is none.
#ifndef PERFMODEL_FIT_H
#define PERFMODEL_FIT_H

#include "perfmodel/regression.h"

#define FPM_FIT_SCRATCH 6 // doubles of scratch per sample: three for the observations, three for the fit

typedef struct fpm_observations {
    size_t n;
    unsigned n_axes;    // 1 or 2
    const double *x[2]; // loads; x[1] is 0 with one axis
    const double *ms;   // > 0, may be infinite
    double *scratch;    // 3 * stride doubles
    size_t stride;      // >= n
} fpm_observations;

// Unweighted least squares with slopes >= 0, by trying every set of free slopes (section 6b). False: no fit, because no
// slope is positive with more samples than axes.
bool fpm_fit_linear(const fpm_observations *seen, fpm_fit *fit);

// Weighted two-piece fit over one axis (section 6c). `loads` are the x of the observations, sorted. False: no fit.
bool fpm_fit_hinge(const fpm_observations *seen, const fpm_sorted_list *loads, fpm_fit *fit);

#endif
