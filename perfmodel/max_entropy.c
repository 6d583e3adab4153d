// SPDX-License-Identifier: GPL-3.0-or-later
//
// The dual is smooth, convex and small: minimise F(l) = log sum prior exp(l . offset) over l, by Newton steps that are halved until F falls. Where the origin
// is in the hull, F is never below the smallest log prior (it is minus a relative entropy), so that a smaller F proves that it is outside.
#include "perfmodel/max_entropy.h"

#include <float.h>
#include <math.h>

enum { D = FPM_ENTROPY_DIMENSIONS, MOST_STEPS = 64, MOST_HALVINGS = 40 };
static const double TOLERANCE = 1e-9; // of the centre, in units of the largest offset
static const double RIDGE = 1e-13; // on the diagonal, which is at most 1: directions in which the points do not spread

typedef struct state {
    const fpm_entropy_problem *problem;
    double offset[FPM_ENTROPY_POINTS][D]; // over the largest of its dimension
    double log_prior[FPM_ENTROPY_POINTS];
    double *weights;
    double l[D];
    double f, gradient[D], hessian[D][D];
} state;

// F and the weights at l.
static double evaluate(const state *s, const double *l) {
    const fpm_entropy_problem *p = s->problem;
    double largest = -HUGE_VAL, sum = 0;
    for (size_t i = 0; i < p->n; i++) {
        double exponent = s->log_prior[i];
        for (unsigned d = 0; d < p->n_dimensions; d++) exponent += l[d] * s->offset[i][d];
        s->weights[i] = exponent;
        if (exponent > largest) largest = exponent;
    }
    for (size_t i = 0; i < p->n; i++) sum += s->weights[i] = exp(s->weights[i] - largest);
    for (size_t i = 0; i < p->n; i++) s->weights[i] /= sum;
    return largest + log(sum);
}

static void derive(state *s) {
    const fpm_entropy_problem *p = s->problem;
    const unsigned n = p->n_dimensions;
    for (unsigned d = 0; d < n; d++) {
        s->gradient[d] = 0;
        for (unsigned e = 0; e <= d; e++) s->hessian[d][e] = 0;
    }
    for (size_t i = 0; i < p->n; i++)
        for (unsigned d = 0; d < n; d++) s->gradient[d] += s->weights[i] * s->offset[i][d];
    for (size_t i = 0; i < p->n; i++)
        for (unsigned d = 0; d < n; d++) {
            const double part = s->weights[i] * (s->offset[i][d] - s->gradient[d]);
            for (unsigned e = 0; e <= d; e++) s->hessian[d][e] += part * (s->offset[i][e] - s->gradient[e]);
        }
    for (unsigned d = 0; d < n; d++) s->hessian[d][d] += RIDGE;
}

// Cholesky: hessian x step = -gradient. The ridge keeps it positive; what rounding makes of a pivot is held up by it too.
static void newton_step(state *s, double *step) {
    const unsigned n = s->problem->n_dimensions;
    double(*h)[D] = s->hessian;
    for (unsigned d = 0; d < n; d++) {
        for (unsigned e = 0; e <= d; e++) {
            double sum = h[d][e];
            for (unsigned k = 0; k < e; k++) sum -= h[d][k] * h[e][k];
            h[d][e] = d == e ? sqrt(fmax(sum, RIDGE)) : sum / h[e][e];
        }
    }
    for (unsigned d = 0; d < n; d++) {
        step[d] = -s->gradient[d];
        for (unsigned k = 0; k < d; k++) step[d] -= h[d][k] * step[k];
        step[d] /= h[d][d];
    }
    for (unsigned d = n; d-- > 0;) {
        for (unsigned k = d + 1; k < n; k++) step[d] -= h[k][d] * step[k];
        step[d] /= h[d][d];
    }
}

// Along the step as far as F falls. False: no further.
static bool advance(state *s, const double *step) {
    const double rounding = 4 * DBL_EPSILON * (1 + fabs(s->f)); // at the end the gradient falls, but F no more visibly
    double slope = 0, length = 1, l[D] = { 0 };
    for (unsigned d = 0; d < s->problem->n_dimensions; d++) slope += s->gradient[d] * step[d];
    for (int halving = 0; halving < MOST_HALVINGS; halving++, length /= 2) {
        for (unsigned d = 0; d < s->problem->n_dimensions; d++) l[d] = s->l[d] + length * step[d];
        const double f = evaluate(s, l);
        if (!(f <= s->f + 1e-4 * length * slope + rounding)) continue;
        for (unsigned d = 0; d < s->problem->n_dimensions; d++) s->l[d] = l[d];
        s->f = f;
        return true;
    }
    return false;
}

static bool is_centred(const state *s) {
    for (unsigned d = 0; d < s->problem->n_dimensions; d++)
        if (!(fabs(s->gradient[d]) <= TOLERANCE)) return false;
    return true;
}

// Is the origin within the points in each dimension? Where the points do not spread, the offsets are 0 and stay so.
static bool begin(state *s) {
    const fpm_entropy_problem *p = s->problem;
    for (unsigned d = 0; d < p->n_dimensions; d++) {
        double least = HUGE_VAL, most = -HUGE_VAL;
        for (size_t i = 0; i < p->n; i++) {
            least = fmin(least, p->offset[i][d]);
            most = fmax(most, p->offset[i][d]);
        }
        if (!(least <= 0 && most >= 0)) return false;
        const double scale = fmax(-least, most);
        for (size_t i = 0; i < p->n; i++) s->offset[i][d] = scale > 0 ? p->offset[i][d] / scale : 0;
    }
    return p->n > 0;
}

bool fpm_entropy_weights(const fpm_entropy_problem *problem, double weights[FPM_ENTROPY_POINTS]) {
    state s;
    s.problem = problem;
    s.weights = weights;
    for (unsigned d = 0; d < D; d++) s.l[d] = 0;
    if (!begin(&s)) return false;
    double floor = HUGE_VAL;
    for (size_t i = 0; i < problem->n; i++) {
        s.log_prior[i] = log(problem->prior[i]);
        floor = fmin(floor, s.log_prior[i]);
    }
    s.f = evaluate(&s, s.l);
    for (int i = 0; i < MOST_STEPS; i++) {
        derive(&s);
        if (is_centred(&s)) return true;
        if (s.f < floor - 1e-6) return false;
        double step[D] = { 0 };
        newton_step(&s, step);
        if (!advance(&s, step)) break;
    }
    // Where no step lowers F any more, rounding has the last word, and the weights are those of the last trial.
    s.f = evaluate(&s, s.l);
    derive(&s);
    return is_centred(&s);
}
