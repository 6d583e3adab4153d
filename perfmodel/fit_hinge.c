// SPDX-License-Identifier: GPL-3.0-or-later
//
// ms ~ a + l x + r max(0, x - k) for up to twelve candidate knots k, weighted by 1 / max(ms, 25).
//
// Twelve fits after every observation would be the cost of tuning, so one sweep from the largest load down gives the sums
// of all of them: when the knot moves down by d, every h = x - k above it grows by d, and the sums over h follow from
// those over 1, x and ms. All terms are positive, so nothing cancels and the sums are as exact as those over each knot's
// samples one by one. Sums, equations and errors of the knots stand side by side, which compilers turn into vector code.
#include "perfmodel/fit.h"

#include "perfmodel/linear_solver.h"

#include <float.h>
#include <math.h>

#define N_QUANTILE_KNOTS 4
#define MAX_KNOTS (N_QUANTILE_KNOTS + FPM_LOG_KNOTS)
#define TOLERATED_SLOPE 1e-6 // a slope may come out this much below 0, and is then 0

// --- knots -----------------------------------------------------------------------------------------------------------

typedef struct knot_list {
    double at[MAX_KNOTS];
    unsigned n;
} knot_list;

static void add_knot(knot_list *knots, double at, double min, double max) {
    if (!(at > min && at < max)) return;
    if (knots->n > 0) {
        const double last = knots->at[knots->n - 1];
        if (fabs(at - last) <= 1e-9 * fmax(fmax(fabs(at), fabs(last)), 1.0)) return;
    }
    knots->at[knots->n++] = at;
}

// Ten logarithms and exponentials, which are the same until the least or the largest load changes.
static void spread_knots(fpm_log_knots *spread, double min, double max) {
    if (spread->min == min && spread->max == max) return;
    const double log_min = log(min), log_range = log(max) - log_min;
    spread->min = min;
    spread->max = max;
    for (size_t t = 0; t < FPM_LOG_KNOTS; t++)
        spread->at[t] = exp(log_min + (double)(t + 1) / (FPM_LOG_KNOTS + 1) * log_range);
}

// Quintiles of the distinct loads (three or more), and places evenly spread over their logarithm, in ascending order.
static void choose_knots(const fpm_load_order *order, fpm_log_knots *spread, knot_list *chosen) {
    const double min = order->samples[0].x, max = order->samples[order->n - 1].x;
    const uint64_t last = order->n_distinct - 1;
    double quantile[N_QUANTILE_KNOTS];
    for (size_t j = 0; j < N_QUANTILE_KNOTS; j++)
        quantile[j] = fpm_load_order_distinct(order, (uint32_t)((j + 1) * last / (N_QUANTILE_KNOTS + 1)));
    spread_knots(spread, min, max);
    size_t j = 0, t = 0;
    chosen->n = 0;
    while (j < N_QUANTILE_KNOTS || t < FPM_LOG_KNOTS) {
        const bool is_quantile = t == FPM_LOG_KNOTS || (j < N_QUANTILE_KNOTS && quantile[j] <= spread->at[t]);
        add_knot(chosen, is_quantile ? quantile[j++] : spread->at[t++], min, max);
    }
}

// --- sums ------------------------------------------------------------------------------------------------------------

// Sums of w^2 times 1, x, x^2, ms, x ms, ms^2 over some samples.
typedef struct plain_sums {
    double s, sx, sxx, st, sxt, stt;
} plain_sums;

// Per knot: sums of w^2 times h, x h, h^2, h ms, with h = max(0, x - knot).
typedef struct hinge_sums {
    double h[MAX_KNOTS], xh[MAX_KNOTS], hh[MAX_KNOTS], ht[MAX_KNOTS];
} hinge_sums;

static inline void add_sample(plain_sums *sums, const fpm_weighted_sample *sample) {
    const double v = sample->weight_sq, x = sample->x, ms = sample->ms, vx = v * x, vt = v * ms;
    sums->s += v;
    sums->sx += vx;
    sums->sxx += vx * x;
    sums->st += vt;
    sums->sxt += vx * ms;
    sums->stt += vt * ms;
}

static plain_sums sweep(const fpm_load_order *order, const knot_list *knots, hinge_sums *sums) {
    plain_sums above = { 0 }; // of the samples above the knot
    double h = 0, xh = 0, hh = 0, ht = 0;
    const fpm_weighted_sample *end = order->samples + order->n; // of the samples below
    for (unsigned k = knots->n; k-- > 0;) {
        const double knot = knots->at[k], step = k + 1 < knots->n ? knots->at[k + 1] - knot : 0.0;
        hh += step * (2.0 * h + step * above.s);
        h += step * above.s;
        xh += step * above.sx;
        ht += step * above.st;
        for (; end[-1].x > knot; end--) { // the least load is below every knot
            const fpm_weighted_sample *sample = &end[-1];
            const double over = sample->x - knot, vh = sample->weight_sq * over;
            h += vh;
            xh += vh * sample->x;
            hh += vh * over;
            ht += vh * sample->ms;
            add_sample(&above, sample);
        }
        sums->h[k] = h;
        sums->xh[k] = xh;
        sums->hh[k] = hh;
        sums->ht[k] = ht;
    }
    while (end > order->samples) add_sample(&above, --end);
    return above;
}

// --- fits ------------------------------------------------------------------------------------------------------------

typedef struct hinges {
    double intercept[MAX_KNOTS], slope[MAX_KNOTS], bend[MAX_KNOTS];
    bool is_usable[MAX_KNOTS];
} hinges;

static void fit_all(const plain_sums *all, const hinge_sums *sums, unsigned n_knots, hinges *fits) {
    fpm_normal_equations equations[MAX_KNOTS];
    double solutions[MAX_KNOTS][3];
    bool is_solved[MAX_KNOTS];
    for (unsigned k = 0; k < n_knots; k++) {
        const double h = sums->h[k], xh = sums->xh[k];
        equations[k] = (fpm_normal_equations){
            .n = 3,
            .a = { { all->s, all->sx, h }, { all->sx, all->sxx, xh }, { h, xh, sums->hh[k] } },
            .b = { all->st, all->sxt, sums->ht[k] },
        };
    }
    fpm_normal_equations_solve_many(equations, n_knots, solutions, is_solved);
    for (unsigned k = 0; k < n_knots; k++) {
        const double intercept = solutions[k][0], left = solutions[k][1], right = left + solutions[k][2];
        fits->is_usable[k] = is_solved[k] && isfinite(intercept) && isfinite(left) && isfinite(right) &&
                             left >= -TOLERATED_SLOPE && right >= -TOLERATED_SLOPE;
        fits->intercept[k] = intercept;
        fits->slope[k] = left > 0.0 ? left : 0.0;
        fits->bend[k] = (right > 0.0 ? right : 0.0) - fits->slope[k];
    }
}

// --- the best one ----------------------------------------------------------------------------------------------------

// Root mean square of the relative errors, sample by sample: what decides.
static double score(const fpm_load_order *order, const hinges *fits, unsigned k, double knot) {
    const double intercept = fits->intercept[k], slope = fits->slope[k], bend = fits->bend[k];
    double sum = 0.0;
    for (uint32_t i = 0; i < order->n; i++) {
        const fpm_weighted_sample *sample = &order->samples[i];
        const double over = sample->x - knot, h = over > 0.0 ? over : 0.0;
        const double error = sample->weight * (intercept + slope * sample->x + bend * h - sample->ms);
        sum += error * error;
    }
    return sqrt(sum / (double)order->n);
}

// Between which bounds the sum of squared errors lies, from the sums alone: each of its terms is known to some units in
// the last place of the terms' magnitude. Not finite where they overflow.
typedef struct error_bounds {
    double low[MAX_KNOTS], high[MAX_KNOTS];
} error_bounds;

static void bound_errors(const plain_sums *all, const hinge_sums *sums, const hinges *fits, uint32_t n_samples,
                         unsigned n_knots, error_bounds *bounds) {
    // Each sum has fewer than n + 4 * knots roundings, a term or the error of a sample some ten more; and twice that.
    const double roundings = 4.0 * ((double)n_samples + 4 * MAX_KNOTS + 16) * DBL_EPSILON;
    for (unsigned k = 0; k < n_knots; k++) {
        const double a = fits->intercept[k], l = fits->slope[k], r = fits->bend[k];
        const double t0 = 2.0 * a * all->st, t1 = 2.0 * l * all->sxt, t2 = 2.0 * r * sums->ht[k];
        const double c0 = 2.0 * a * l * all->sx, c1 = 2.0 * a * r * sums->h[k], c2 = 2.0 * l * r * sums->xh[k];
        const double squares = all->stt + a * a * all->s + l * l * all->sxx + r * r * sums->hh[k];
        const double sum = squares - t0 - t1 - t2 + c0 + c1 + c2;
        const double size = squares + fabs(t0) + fabs(t1) + fabs(t2) + fabs(c0) + fabs(c1) + fabs(c2);
        bounds->low[k] = sum - roundings * size;
        bounds->high[k] = sum + roundings * size;
    }
}

// The first of those with the least score. Nearly always one of them is so much better that the bounds tell; where they
// do not, as in fits without error, the samples are asked. MAX_KNOTS: none is usable.
static unsigned choose_fit(const fpm_load_order *order, const plain_sums *all, const hinge_sums *sums,
                           const knot_list *knots, const hinges *fits) {
    error_bounds bounds;
    bound_errors(all, sums, fits, order->n, knots->n, &bounds);
    double least_high = HUGE_VAL;
    for (unsigned k = 0; k < knots->n; k++)
        if (fits->is_usable[k] && bounds.high[k] < least_high) least_high = bounds.high[k];
    unsigned n_left = 0, best = MAX_KNOTS;
    bool is_left[MAX_KNOTS];
    for (unsigned k = 0; k < knots->n; k++) {
        is_left[k] = fits->is_usable[k] && !(bounds.low[k] > least_high); // so when it is not a number
        n_left += is_left[k];
        if (is_left[k]) best = k;
    }
    if (n_left == 1 && isfinite(bounds.high[best])) return best;
    double least = HUGE_VAL;
    best = MAX_KNOTS;
    for (unsigned k = 0; k < knots->n; k++) {
        if (!is_left[k]) continue;
        const double this_score = score(order, fits, k, knots->at[k]);
        if (!(this_score < least)) continue;
        least = this_score;
        best = k;
    }
    return best;
}

bool fpm_fit_hinge(const fpm_load_order *order, fpm_log_knots *spread, fpm_fit *fit) {
    if (order->n_distinct < 3) return false;
    knot_list knots;
    hinge_sums sums;
    hinges fits;
    choose_knots(order, spread, &knots);
    if (knots.n == 0) return false;
    const plain_sums all = sweep(order, &knots, &sums);
    fit_all(&all, &sums, knots.n, &fits);
    const unsigned k = choose_fit(order, &all, &sums, &knots, &fits);
    if (k == MAX_KNOTS) return false;
    *fit = (fpm_fit){ .is_ready = true,
                      .intercept = fits.intercept[k],
                      .slope = { fits.slope[k], 0.0 },
                      .knot = knots.at[k],
                      .bend = fits.bend[k] };
    return true;
}
