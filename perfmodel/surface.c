// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/surface.h"

#include "perfmodel/huber.h"

#include <float.h>
#include <math.h>

#define N_ROUNDS 3         // of weights
#define LEAST_NOISE 0.01   // relative; below, samples would count as outliers of a perfect fit
#define CONSTANT_PRIOR 0.5 // standard deviation of the log factor before anything is known
#define SLOPE_PRIOR 0.25   // and of its change along one standard deviation of a load

typedef struct points {
    size_t n;
    unsigned n_axes;
    double *v[2]; // standardised
    double *y;    // log ratio
    double *age;  // weight by age
    double *weight, *residual;
    double center[2], deviation[2];
} points;

static void gather(points *all, fpm_surface *surface, const fpm_samples *samples) {
    for (unsigned axis = 0; axis < 2; axis++) {
        surface->low[axis] = HUGE_VAL;
        surface->high[axis] = -HUGE_VAL;
    }
    for (uint32_t slot = fpm_samples_oldest(samples); slot; slot = samples->slots[slot].newer) {
        const fpm_slot *sample = &samples->slots[slot];
        if (!(sample->value > 0.0 && sample->value <= DBL_MAX)) continue;
        for (unsigned axis = 0; axis < 2; axis++) {
            const double z = axis < all->n_axes ? log1p((double)sample->load.x[axis]) : 0.0;
            all->v[axis][all->n] = z;
            surface->low[axis] = fmin(surface->low[axis], z);
            surface->high[axis] = fmax(surface->high[axis], z);
        }
        all->y[all->n++] = log(sample->value);
    }
}

static void standardise(points *all) {
    for (unsigned axis = 0; axis < 2; axis++) {
        double sum = 0.0, squares = 0.0;
        for (size_t i = 0; i < all->n; i++) sum += all->v[axis][i];
        all->center[axis] = sum / (double)all->n;
        for (size_t i = 0; i < all->n; i++) {
            all->v[axis][i] -= all->center[axis];
            squares += all->v[axis][i] * all->v[axis][i];
        }
        // An axis on which all loads are equal says nothing; the prior keeps its slope at 0.
        all->deviation[axis] = fmax(sqrt(squares / (double)all->n), 1e-6);
        for (size_t i = 0; i < all->n; i++) all->v[axis][i] /= all->deviation[axis];
    }
}

// c from the weights, with the prior of this noise. The system is definite whatever the samples.
static void solve(const points *all, double noise, double c[3]) {
    const double slope_prior = noise * noise / (SLOPE_PRIOR * SLOPE_PRIOR);
    double a[4][4] = { { noise * noise / (CONSTANT_PRIOR * CONSTANT_PRIOR) },
                       { 0, slope_prior },
                       { 0, 0, slope_prior } };
    double b[4] = { 0 };
    for (size_t i = 0; i < all->n; i++) {
        const double w = all->weight[i], y = all->y[i], v0 = all->v[0][i], v1 = all->v[1][i];
        a[0][0] += w;
        a[1][0] += w * v0;
        a[1][1] += w * v0 * v0;
        a[2][0] += w * v1;
        a[2][1] += w * v0 * v1;
        a[2][2] += w * v1 * v1;
        b[0] += w * y;
        b[1] += w * v0 * y;
        b[2] += w * v1 * y;
    }
    if (!fpm_cholesky_solve(a, b, 3)) return;
    for (unsigned i = 0; i < 3; i++) c[i] = b[i];
}

static double residual(const points *all, size_t i, const double c[3]) {
    return all->y[i] - (c[0] + c[1] * all->v[0][i] + c[2] * all->v[1][i]);
}

void fpm_surface_fit(fpm_surface *surface, const fpm_samples *samples, double *scratch) {
    const size_t stride = samples->n;
    points all = { .n_axes = samples->grid.n_axes, .v = { scratch, scratch + stride } };
    all.y = scratch + 2 * stride;
    all.age = scratch + 3 * stride;
    all.weight = scratch + 4 * stride;
    all.residual = scratch + 5 * stride;
    gather(&all, surface, samples);
    surface->is_ready = all.n > 0;
    if (!surface->is_ready) return;
    standardise(&all);
    fpm_fading_weights(all.age, all.n, (double)all.n / 2.0);
    for (size_t i = 0; i < all.n; i++) all.residual[i] = all.y[i];
    double c[3] = { fpm_select_median(all.residual, all.n), 0.0, 0.0 };
    for (int round = 0; round < N_ROUNDS; round++) {
        for (size_t i = 0; i < all.n; i++) all.residual[i] = fabs(residual(&all, i, c));
        const double noise = fpm_robust_scale(all.residual, all.n, LEAST_NOISE);
        for (size_t i = 0; i < all.n; i++) all.weight[i] = all.age[i] * fpm_huber_weight(residual(&all, i, c), noise);
        solve(&all, noise, c);
    }
    surface->constant = c[0];
    for (unsigned axis = 0; axis < 2; axis++) {
        surface->slope[axis] = c[1 + axis] / all.deviation[axis];
        surface->constant -= surface->slope[axis] * all.center[axis];
    }
}

double fpm_surface_factor(const fpm_surface *surface, fpm_load load) {
    if (!surface->is_ready) return 1.0;
    double sum = surface->constant;
    for (unsigned axis = 0; axis < 2; axis++) {
        // Without a second axis its range is 0 to 0.
        const double z = log1p((double)load.x[axis]);
        sum += surface->slope[axis] * fmin(fmax(z, surface->low[axis]), surface->high[axis]);
    }
    return fmin(fmax(exp(sum), surface->least), surface->most);
}
