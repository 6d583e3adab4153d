// SPDX-License-Identifier: GPL-3.0-or-later
//
// Weights of largest entropy: not negative, summing to 1, with the origin as centre of mass of the points, and among all such weights the ones nearest to
// the prior (least relative entropy). They exist when the origin lies in the convex hull of the points.
#ifndef PERFMODEL_MAX_ENTROPY_H
#define PERFMODEL_MAX_ENTROPY_H

#include <stdbool.h>
#include <stddef.h>

enum { FPM_ENTROPY_DIMENSIONS = 4, FPM_ENTROPY_POINTS = 128 };

typedef struct fpm_entropy_problem {
    size_t n;                                                  // points, at most FPM_ENTROPY_POINTS
    unsigned n_dimensions;                                     // 1 to FPM_ENTROPY_DIMENSIONS
    double offset[FPM_ENTROPY_POINTS][FPM_ENTROPY_DIMENSIONS]; // finite
    double prior[FPM_ENTROPY_POINTS];                          // > 0, finite
} fpm_entropy_problem;

// False: the origin is outside of the hull (or so near to it that 64 Newton steps do not tell). The centre is met to 1e-9 of the largest offset of each
// dimension.
bool fpm_entropy_weights(const fpm_entropy_problem *problem, double weights[FPM_ENTROPY_POINTS]);

#endif
