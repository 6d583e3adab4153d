// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/fit.h"

#include "perfmodel/linear_solver.h"

#include <math.h>

// Sums over the observations of products of (1, x0, x1) with each other and with the time.
typedef struct sums {
    double a[3][3];
    double b[3];
} sums;

static sums sum_up(const fpm_observations *seen) {
    const double *x0 = seen->x[0], *x1 = seen->x[1], *ms = seen->ms;
    double s0 = 0, s1 = 0, s00 = 0, s01 = 0, s11 = 0, t = 0, t0 = 0, t1 = 0;
    for (size_t i = 0; i < seen->n; i++) {
        s0 += x0[i];
        s1 += x1[i];
        s00 += x0[i] * x0[i];
        s01 += x0[i] * x1[i];
        s11 += x1[i] * x1[i];
        t += ms[i];
        t0 += x0[i] * ms[i];
        t1 += x1[i] * ms[i];
    }
    return (sums){ { { (double)seen->n, s0, s1 }, { s0, s00, s01 }, { s1, s01, s11 } }, { t, t0, t1 } };
}

// Fit with the slopes of `mask` free and the others 0. False: no usable solution.
static bool fit_active(const sums *all, unsigned n_axes, unsigned mask, fpm_fit *fit) {
    unsigned active[3] = { 0 };
    fpm_normal_equations equations = { .n = 1 };
    for (unsigned axis = 0; axis < n_axes; axis++)
        if (mask >> axis & 1) active[equations.n++] = axis + 1;
    for (unsigned i = 0; i < equations.n; i++) {
        for (unsigned k = 0; k < equations.n; k++) equations.a[i][k] = all->a[active[i]][active[k]];
        equations.b[i] = all->b[active[i]];
    }
    double solution[3];
    if (!fpm_normal_equations_solve(&equations, solution)) return false;
    *fit = (fpm_fit){ .is_ready = true, .intercept = solution[0] };
    for (unsigned i = 1; i < equations.n; i++) fit->slope[active[i] - 1] = solution[i];
    return isfinite(fit->intercept) && isfinite(fit->slope[0]) && isfinite(fit->slope[1]) && fit->slope[0] >= 0.0 &&
           fit->slope[1] >= 0.0;
}

static double squared_error(const fpm_observations *seen, const fpm_fit *fit) {
    const double *x0 = seen->x[0], *x1 = seen->x[1], *ms = seen->ms;
    const double intercept = fit->intercept, slope0 = fit->slope[0], slope1 = fit->slope[1];
    double sum = 0.0;
    for (size_t i = 0; i < seen->n; i++) {
        const double error = intercept + slope0 * x0[i] + slope1 * x1[i] - ms[i];
        sum += error * error;
    }
    return sum;
}

bool fpm_fit_linear(const fpm_observations *seen, fpm_fit *fit) {
    const sums all = sum_up(seen);
    fpm_fit best = { 0 };
    double least = HUGE_VAL;
    for (unsigned mask = 0; mask < 1u << seen->n_axes; mask++) {
        fpm_fit candidate;
        if (!fit_active(&all, seen->n_axes, mask, &candidate)) continue;
        const double error = squared_error(seen, &candidate);
        if (error < least) { // not so for an infinite or undefined one
            least = error;
            best = candidate;
        }
    }
    const bool has_load_signal = best.slope[0] > 0.0 || best.slope[1] > 0.0;
    if (!best.is_ready || (seen->n > seen->n_axes && !has_load_signal)) return false;
    *fit = best;
    return true;
}
