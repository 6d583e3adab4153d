// SPDX-License-Identifier: GPL-3.0-or-later
//
// The two forms of fit. Both leave `fit` alone when there is none.
#ifndef PERFMODEL_FIT_H
#define PERFMODEL_FIT_H

#include "perfmodel/regression.h"

// In the order of insertion, in which all sums run.
typedef struct fpm_observations {
    size_t n;
    unsigned n_axes;    // 1 or 2
    const double *x[2]; // loads; x[1] is 0 with one axis
    const double *ms;   // > 0, may be infinite
} fpm_observations;

// Unweighted least squares with slopes >= 0, by trying every set of free slopes (section 6b). False: no fit, because no
// slope is positive with more samples than axes.
bool fpm_fit_linear(const fpm_observations *seen, fpm_fit *fit);

// Weighted two-piece fit over one axis (section 6c). `spread` is memory of its own from one fit to the next, zero at
// first. False: no fit. O(n).
bool fpm_fit_hinge(const fpm_load_order *order, fpm_log_knots *spread, fpm_fit *fit);

#endif
