// SPDX-License-Identifier: GPL-3.0-or-later
//
// Iteratively reweighted non-negative least squares. With at most three slopes every set of free ones is tried (as in
// fit_linear.c), on sums that all sets share. No GSL: this library needs none, and systems of four unknowns do not either.
#include "perfmodel/robust.h"

#include "perfmodel/huber.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define N_ROUNDS 4
#define LEAST_NOISE 0.005 // relative; below, samples would count as outliers of a perfect fit
#define RIDGE 1e-9        // of the trace: decides between features that always move together

typedef struct points {
    size_t n;
    unsigned n_features;
    double *u[FPM_ROBUST_FEATURES]; // standardised
    double *ms, *age, *weight, *residual;
    double center[FPM_ROBUST_FEATURES], deviation[FPM_ROBUST_FEATURES];
} points;

static double most_kv_tokens(const fpm_samples *samples) {
    uint32_t most = 0;
    for (uint32_t slot = fpm_samples_oldest(samples); slot; slot = samples->slots[slot].newer)
        if (samples->slots[slot].load.x[1] > most) most = samples->slots[slot].load.x[1];
    return (double)most;
}

static void gather(points *all, const fpm_robust *robust, const fpm_samples *samples) {
    for (uint32_t slot = fpm_samples_oldest(samples); slot; slot = samples->slots[slot].newer) {
        const fpm_slot *sample = &samples->slots[slot];
        if (!(sample->value <= DBL_MAX)) continue;
        double features[FPM_ROBUST_FEATURES];
        const uint32_t batch = robust->kind == FPM_MIXED ? robust->batch[slot] : 0;
        all->n_features = fpm_robust_features(robust, sample->load, batch, features);
        for (unsigned k = 0; k < FPM_ROBUST_FEATURES; k++) all->u[k][all->n] = features[k];
        all->ms[all->n++] = sample->value;
    }
}

static void standardise(points *all) {
    for (unsigned k = 0; k < all->n_features; k++) {
        double sum = 0.0, squares = 0.0;
        for (size_t i = 0; i < all->n; i++) sum += all->u[k][i];
        all->center[k] = sum / (double)all->n;
        for (size_t i = 0; i < all->n; i++) {
            all->u[k][i] -= all->center[k];
            squares += all->u[k][i] * all->u[k][i];
        }
        // A feature that never changes gets no slope.
        const double deviation = sqrt(squares / (double)all->n);
        all->deviation[k] = deviation > 1e-9 * all->center[k] ? deviation : HUGE_VAL;
        for (size_t i = 0; i < all->n; i++) all->u[k][i] /= all->deviation[k];
    }
}

typedef struct normal_sums {
    double a[4][4], b[4]; // lower triangle
} normal_sums;

static normal_sums sum_up(const points *all) {
    normal_sums s = { .b = { 0 } };
    for (size_t i = 0; i < all->n; i++) {
        double row[4] = { 1.0 };
        for (unsigned k = 0; k < all->n_features; k++) row[1 + k] = all->u[k][i];
        for (unsigned j = 0; j <= all->n_features; j++) {
            const double w = all->weight[i] * row[j];
            for (unsigned k = 0; k <= j; k++) s.a[j][k] += w * row[k];
            s.b[j] += w * all->ms[i];
        }
    }
    double trace = 0.0;
    for (unsigned j = 0; j <= all->n_features; j++) trace += s.a[j][j];
    for (unsigned j = 1; j <= all->n_features; j++) s.a[j][j] += RIDGE * trace;
    return s;
}

// The best slopes >= 0: of every set of free ones that comes out so, the one that takes away most of the squares. No set takes away more than all of them
// together, which is tried first.
static void solve(const points *all, double c[4]) {
    const normal_sums s = sum_up(all);
    double most = -HUGE_VAL;
    for (unsigned mask = 1u << all->n_features; mask-- > 0;) {
        unsigned active[4] = { 0 }, n = 1;
        double a[4][4], b[4], gain = 0.0;
        bool is_allowed = true;
        for (unsigned k = 0; k < all->n_features; k++)
            if (mask >> k & 1) active[n++] = k + 1;
        for (unsigned i = 0; i < n; i++) {
            for (unsigned k = 0; k <= i; k++) a[i][k] = s.a[active[i]][active[k]];
            b[i] = s.b[active[i]];
        }
        if (!fpm_cholesky_solve(a, b, n)) continue;
        for (unsigned i = 0; i < n; i++) {
            gain += b[i] * s.b[active[i]];
            is_allowed &= i == 0 || b[i] >= 0.0;
        }
        if (!is_allowed || !(gain > most)) continue;
        most = gain;
        memset(c, 0, 4 * sizeof *c);
        for (unsigned i = 0; i < n; i++) c[active[i]] = b[i];
        if (n == all->n_features + 1) return;
    }
}

// Relative error of the fit at a sample.
static double residual(const points *all, size_t i, const double c[4]) {
    double ms = c[0];
    for (unsigned k = 0; k < all->n_features; k++) ms += c[1 + k] * all->u[k][i];
    return (ms - all->ms[i]) / all->ms[i];
}

static void fit(points *all, double c[4]) {
    for (size_t i = 0; i < all->n; i++) all->weight[i] = all->age[i] / (all->ms[i] * all->ms[i]);
    solve(all, c);
    for (int round = 1; round < N_ROUNDS; round++) {
        for (size_t i = 0; i < all->n; i++) all->residual[i] = fabs(residual(all, i, c));
        const double noise = fpm_robust_scale(all->residual, all->n, LEAST_NOISE);
        for (size_t i = 0; i < all->n; i++)
            all->weight[i] = all->age[i] * fpm_huber_weight(residual(all, i, c), noise) / (all->ms[i] * all->ms[i]);
        solve(all, c);
    }
}

void fpm_robust_fit(fpm_robust *robust, const fpm_samples *samples, double *scratch) {
    const size_t stride = samples->n;
    points all = { .n = 0 };
    double **const arrays[] = { &all.u[0], &all.u[1], &all.u[2], &all.ms, &all.age, &all.weight, &all.residual };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) *arrays[i] = scratch + i * stride;
    if (robust->kind == FPM_DECODE) robust->most_kv_tokens = most_kv_tokens(samples);
    gather(&all, robust, samples);
    robust->is_ready = all.n > 0;
    if (!robust->is_ready) return;
    standardise(&all);
    fpm_fading_weights(all.age, all.n, (double)all.n);
    double c[4] = { 0 };
    fit(&all, c);
    robust->intercept = c[0];
    for (unsigned k = 0; k < FPM_ROBUST_FEATURES; k++) {
        robust->slope[k] = k < all.n_features ? c[1 + k] / all.deviation[k] : 0.0;
        if (k < all.n_features) robust->intercept -= robust->slope[k] * all.center[k];
    }
    robust->is_ready = isfinite(robust->intercept);
}
