// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef PERFMODEL_LINEAR_SOLVER_H
#define PERFMODEL_LINEAR_SOLVER_H

#include <stdbool.h>

// Symmetric normal equations of up to three unknowns, the intercept first.
typedef struct fpm_normal_equations {
    unsigned n; // 1..3
    double a[3][3];
    double b[3];
} fpm_normal_equations;

// Gauss-Jordan elimination with partial pivoting by absolute value (the last of equals); a pivot below 1e-12 (absolute)
// means singular. A singular system is tried once more with a ridge of 1e-9 * max(1, sum |diagonal|) on every diagonal
// entry but the intercept's. False: singular even so. (notes/fpm-behaviour.md section 6d.) Numbers may come out
// infinite or NaN.
bool fpm_normal_equations_solve(const fpm_normal_equations *equations, double solution[3]);

// The same for several systems of three unknowns, with the same results, some of them side by side.
void fpm_normal_equations_solve_many(const fpm_normal_equations *equations, unsigned n_systems, double solutions[][3],
                                     bool *is_solved);

#endif
