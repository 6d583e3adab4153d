// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/sweep/gaussian_process.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multimin.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sim_gp {
    size_t n_features, n, capacity;
    double *features; // n x n_features
    double *values;
    double *lengths;     // of the kernel, one per feature
    double noise;        // variance, of a standardised value
    double mean, scale;  // of the values
    gsl_matrix *factor;  // lower triangle of Cholesky's, n x n; NULL before a fit
    gsl_vector *weights; // K^-1 y
    double *solved;      // n numbers for a prediction to work with
};

sim_gp *sim_gp_new(size_t n_features) {
    sim_gp *gp = calloc(1, sizeof *gp);
    if (!gp) return NULL;
    *gp =
        (sim_gp){ .n_features = n_features, .noise = 1e-4, .lengths = malloc((n_features + 1) * sizeof *gp->lengths) };
    for (size_t f = 0; gp->lengths && f < n_features; f++) gp->lengths[f] = 0.5;
    if (gp->lengths) return gp;
    free(gp);
    return NULL;
}

static void forget_fit(sim_gp *gp) {
    gsl_matrix_free(gp->factor);
    gsl_vector_free(gp->weights);
    free(gp->solved);
    gp->factor = NULL;
    gp->weights = NULL;
    gp->solved = NULL;
}

void sim_gp_free(sim_gp *gp) {
    if (!gp) return;
    forget_fit(gp);
    free(gp->features);
    free(gp->values);
    free(gp->lengths);
    free(gp);
}

bool sim_gp_add(sim_gp *gp, const double *features, double value) {
    if (gp->n == gp->capacity) {
        const size_t capacity = gp->capacity ? 2 * gp->capacity : 64;
        double *more = realloc(gp->features, capacity * gp->n_features * sizeof *more);
        if (more) gp->features = more;
        double *values = realloc(gp->values, capacity * sizeof *values);
        if (values) gp->values = values;
        if (!more || !values) return false;
        gp->capacity = capacity;
    }
    memcpy(&gp->features[gp->n * gp->n_features], features, gp->n_features * sizeof *features);
    gp->values[gp->n++] = value;
    return true;
}

void sim_gp_drop_last(sim_gp *gp) { gp->n--; }
size_t sim_gp_n(const sim_gp *gp) { return gp->n; }

// --- kernel ----------------------------------------------------------------------------------------------------------

static double matern(const double *a, const double *b, const double *lengths, size_t n_features) {
    double square = 0;
    for (size_t f = 0; f < n_features; f++) {
        const double d = (a[f] - b[f]) / lengths[f];
        square += d * d;
    }
    const double r = sqrt(5 * square);
    return (1 + r + r * r / 3) * exp(-r);
}

static void standardise(sim_gp *gp) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < gp->n; i++) sum += gp->values[i];
    gp->mean = sum / (double)gp->n;
    for (size_t i = 0; i < gp->n; i++) squares += (gp->values[i] - gp->mean) * (gp->values[i] - gp->mean);
    gp->scale = sqrt(squares / (double)gp->n);
    if (!(gp->scale > 0)) gp->scale = 1; // all values are the same
}

// Factor and weights for these lengths and this noise; false when the matrix is not positive definite to working precision.
static bool factorise(const sim_gp *gp, const double *lengths, double noise, gsl_matrix *factor, gsl_vector *weights) {
    for (size_t i = 0; i < gp->n; i++) {
        for (size_t j = 0; j <= i; j++) {
            const double k =
                matern(&gp->features[i * gp->n_features], &gp->features[j * gp->n_features], lengths, gp->n_features);
            gsl_matrix_set(factor, i, j, i == j ? k + noise : k);
            gsl_matrix_set(factor, j, i, i == j ? k + noise : k);
        }
        gsl_vector_set(weights, i, (gp->values[i] - gp->mean) / gp->scale);
    }
    return gsl_linalg_cholesky_decomp1(factor) == GSL_SUCCESS &&
           gsl_linalg_cholesky_svx(factor, weights) == GSL_SUCCESS;
}

// --- likelihood ------------------------------------------------------------------------------------------------------

typedef struct likelihood {
    const sim_gp *gp;
    gsl_matrix *factor;
    gsl_vector *weights;
    double *lengths;
} likelihood;

static double bounded(double log_value, double low, double high) { return fmin(fmax(exp(log_value), low), high); }
static double length_of(double log_length) { return bounded(log_length, 0.05, 20); }
static double noise_of(double log_noise) { return bounded(log_noise, 1e-6, 0.5); }

// Minus the logarithm of the marginal likelihood, and a weak prior that keeps lengths and noise near what is usual where the values say nothing.
static double surprise(const gsl_vector *logs, void *context) {
    const likelihood *in = context;
    const sim_gp *gp = in->gp;
    double prior = 0, fit = 0, volume = 0;
    for (size_t f = 0; f < gp->n_features; f++) {
        const double log_length = gsl_vector_get(logs, f);
        in->lengths[f] = length_of(log_length);
        prior += 0.5 * pow(log_length - log(0.7), 2);
    }
    const double log_noise = gsl_vector_get(logs, gp->n_features);
    prior += 0.05 * pow(log_noise - log(1e-3), 2);
    if (!factorise(gp, in->lengths, noise_of(log_noise), in->factor, in->weights)) return 1e30;
    for (size_t i = 0; i < gp->n; i++) {
        fit += (gp->values[i] - gp->mean) / gp->scale * gsl_vector_get(in->weights, i);
        volume += log(gsl_matrix_get(in->factor, i, i));
    }
    return 0.5 * fit + volume + prior;
}

// Nelder and Mead's simplex from the lengths in force.
static bool minimise(likelihood *in, gsl_vector *logs, gsl_vector *steps) {
    enum { MAX_STEPS = 150 };
    gsl_multimin_fminimizer *minimizer = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, logs->size);
    gsl_multimin_function function = { surprise, logs->size, in };
    bool is_well = minimizer && gsl_multimin_fminimizer_set(minimizer, &function, logs, steps) == GSL_SUCCESS;
    for (int i = 0; is_well && i < MAX_STEPS; i++) {
        if (gsl_multimin_fminimizer_iterate(minimizer) != GSL_SUCCESS) break;
        if (gsl_multimin_test_size(gsl_multimin_fminimizer_size(minimizer), 0.02) == GSL_SUCCESS) break;
    }
    if (is_well) gsl_vector_memcpy(logs, gsl_multimin_fminimizer_x(minimizer));
    gsl_multimin_fminimizer_free(minimizer);
    return is_well;
}

static bool learn(sim_gp *gp, gsl_matrix *factor, gsl_vector *weights) {
    const size_t n = gp->n_features + 1;
    likelihood in = { gp, factor, weights, malloc(n * sizeof *in.lengths) };
    gsl_vector *logs = gsl_vector_alloc(n), *steps = gsl_vector_alloc(n);
    bool is_well = in.lengths && logs && steps;
    if (is_well) {
        for (size_t f = 0; f < gp->n_features; f++) gsl_vector_set(logs, f, log(gp->lengths[f]));
        gsl_vector_set(logs, gp->n_features, log(gp->noise));
        gsl_vector_set_all(steps, 0.7);
        is_well = minimise(&in, logs, steps);
    }
    for (size_t f = 0; is_well && f < gp->n_features; f++) gp->lengths[f] = length_of(gsl_vector_get(logs, f));
    if (is_well) gp->noise = noise_of(gsl_vector_get(logs, gp->n_features));
    gsl_vector_free(logs);
    gsl_vector_free(steps);
    free(in.lengths);
    return is_well;
}

bool sim_gp_fit(sim_gp *gp, bool learns) {
    forget_fit(gp);
    standardise(gp);
    gp->factor = gsl_matrix_alloc(gp->n, gp->n);
    gp->weights = gsl_vector_alloc(gp->n);
    gp->solved = malloc(gp->n * sizeof *gp->solved);
    if (!gp->factor || !gp->weights || !gp->solved) return false;
    if (learns && gp->n > 2 && !learn(gp, gp->factor, gp->weights)) return false;
    for (double noise = gp->noise; noise < 10; noise *= 10) // points on top of each other need some
        if (factorise(gp, gp->lengths, noise, gp->factor, gp->weights)) return true;
    return false;
}

void sim_gp_predict(const sim_gp *gp, const double *features, double *mean, double *deviation) {
    double sum = 0, explained = 0;
    double *solved = gp->solved;
    for (size_t i = 0; i < gp->n; i++) {
        const double k = matern(features, &gp->features[i * gp->n_features], gp->lengths, gp->n_features);
        sum += k * gsl_vector_get(gp->weights, i);
        double rest = k; // forward substitution
        for (size_t j = 0; j < i; j++) rest -= gsl_matrix_get(gp->factor, i, j) * solved[j];
        solved[i] = rest / gsl_matrix_get(gp->factor, i, i);
        explained += solved[i] * solved[i];
    }
    *mean = gp->mean + gp->scale * sum;
    *deviation = gp->scale * sqrt(fmax(0, 1 - explained));
}

double sim_expected_improvement(double mean, double deviation, double best) {
    if (!(deviation > 0)) return fmax(0, mean - best);
    const double z = (mean - best) / deviation;
    return (mean - best) * gsl_cdf_ugaussian_P(z) + deviation * gsl_ran_ugaussian_pdf(z);
}
