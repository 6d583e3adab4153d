// SPDX-License-Identifier: GPL-3.0-or-later
//
// ms ~ a + l x + r max(0, x - k) for up to twelve candidate knots k, weighted by 1 / max(ms, 25).
//
// Twelve fits over all samples after every observation are the cost of tuning, so the sums of four knots run side by
// side in one loop over the samples, which compilers turn into vector code. Each sum still runs in insertion order.
#include "perfmodel/fit.h"

#include "perfmodel/linear_solver.h"

#include <math.h>

#define N_QUANTILE_KNOTS 4
#define N_LOG_KNOTS 8
#define MAX_KNOTS 12
#define LANES 4
#define FLOOR_MS 25.0        // passes shorter than this weigh as if they took it
#define TOLERATED_SLOPE 1e-6 // a slope may come out this much below 0, and is then 0

// --- knots -----------------------------------------------------------------------------------------------------------

typedef struct knot_list {
    double at[MAX_KNOTS];
    unsigned n;
} knot_list;

// Distinct values of the sorted loads; returns how many.
static size_t distinct(const fpm_sorted_list *loads, double *values) {
    size_t n = 0;
    for (uint32_t i = 0; i < loads->n; i++) {
        values[n] = loads->values[i];
        n += i + 1 == loads->n || loads->values[i + 1] != loads->values[i];
    }
    return n;
}

static void add_knot(knot_list *knots, double at, double min, double max) {
    if (!(at > min && at < max)) return;
    if (knots->n > 0) {
        const double last = knots->at[knots->n - 1];
        if (fabs(at - last) <= 1e-9 * fmax(fmax(fabs(at), fabs(last)), 1.0)) return;
    }
    knots->at[knots->n++] = at;
}

// Quintiles of the distinct loads, and places evenly spread over their logarithm, in ascending order. values: n >= 3.
static knot_list choose_knots(const double *values, size_t n) {
    const double min = values[0], max = values[n - 1];
    const double log_min = log(min), log_range = log(max) - log_min;
    double quantile[N_QUANTILE_KNOTS], spread[N_LOG_KNOTS];
    for (size_t j = 0; j < N_QUANTILE_KNOTS; j++) quantile[j] = values[(j + 1) * (n - 1) / (N_QUANTILE_KNOTS + 1)];
    for (size_t t = 0; t < N_LOG_KNOTS; t++) spread[t] = exp(log_min + (double)(t + 1) / (N_LOG_KNOTS + 1) * log_range);
    knot_list chosen = { .n = 0 };
    size_t j = 0, t = 0;
    while (j < N_QUANTILE_KNOTS || t < N_LOG_KNOTS) {
        const bool is_quantile = t == N_LOG_KNOTS || (j < N_QUANTILE_KNOTS && quantile[j] <= spread[t]);
        add_knot(&chosen, is_quantile ? quantile[j++] : spread[t++], min, max);
    }
    return chosen;
}

// --- sums ------------------------------------------------------------------------------------------------------------

typedef struct weighted {
    size_t n;
    const double *x, *ms;
    double *weight;             // w
    double *weight_sq;          // w^2
    double s, sx, sxx, st, sxt; // sums of w^2 times 1, x, x^2, ms, x ms
} weighted;

static weighted weigh(const fpm_observations *seen) {
    weighted all = { .n = seen->n,
                     .x = seen->x[0],
                     .ms = seen->ms,
                     .weight = seen->scratch + seen->stride,
                     .weight_sq = seen->scratch + 2 * seen->stride };
    for (size_t i = 0; i < all.n; i++) {
        const double w = 1.0 / (all.ms[i] > FLOOR_MS ? all.ms[i] : FLOOR_MS);
        const double v = w * w;
        all.weight[i] = w;
        all.weight_sq[i] = v;
        all.s += v;
        all.sx += v * all.x[i];
        all.sxx += v * all.x[i] * all.x[i];
        all.st += v * all.ms[i];
        all.sxt += v * all.x[i] * all.ms[i];
    }
    return all;
}

// Sums of w^2 times h, x h, h^2, h ms, with h = max(0, x - knot), for four knots.
typedef struct hinge_sums {
    double h[LANES], xh[LANES], hh[LANES], ht[LANES];
} hinge_sums;

static hinge_sums sum_hinges(const weighted *all, const double knot[LANES]) {
    hinge_sums sums = { { 0 }, { 0 }, { 0 }, { 0 } };
    for (size_t i = 0; i < all->n; i++) {
        const double x = all->x[i], ms = all->ms[i], v = all->weight_sq[i];
        for (unsigned lane = 0; lane < LANES; lane++) {
            const double over = x - knot[lane];
            const double h = over > 0.0 ? over : 0.0;
            const double vh = v * h;
            sums.h[lane] += vh;
            sums.xh[lane] += vh * x;
            sums.hh[lane] += vh * h;
            sums.ht[lane] += vh * ms;
        }
    }
    return sums;
}

// --- fits ------------------------------------------------------------------------------------------------------------

typedef struct hinges {
    double intercept[LANES], slope[LANES], bend[LANES], knot[LANES];
    bool is_usable[LANES];
} hinges;

static void fit_lane(const weighted *all, const hinge_sums *sums, unsigned lane, hinges *fits) {
    const double h = sums->h[lane], xh = sums->xh[lane];
    const fpm_normal_equations equations = {
        .n = 3,
        .a = { { all->s, all->sx, h }, { all->sx, all->sxx, xh }, { h, xh, sums->hh[lane] } },
        .b = { all->st, all->sxt, sums->ht[lane] },
    };
    double solution[3];
    if (!fpm_normal_equations_solve(&equations, solution)) return;
    const double left = solution[1], right = solution[1] + solution[2];
    if (!isfinite(solution[0]) || !isfinite(left) || !isfinite(right)) return;
    if (left < -TOLERATED_SLOPE || right < -TOLERATED_SLOPE) return;
    fits->is_usable[lane] = true;
    fits->intercept[lane] = solution[0];
    fits->slope[lane] = left > 0.0 ? left : 0.0;
    fits->bend[lane] = (right > 0.0 ? right : 0.0) - fits->slope[lane];
}

// Root mean square of the relative errors.
static void score(const weighted *all, const hinges *fits, double scores[LANES]) {
    double sum[LANES] = { 0 };
    for (size_t i = 0; i < all->n; i++) {
        const double x = all->x[i], ms = all->ms[i], w = all->weight[i];
        for (unsigned lane = 0; lane < LANES; lane++) {
            const double over = x - fits->knot[lane];
            const double h = over > 0.0 ? over : 0.0;
            const double error = w * (fits->intercept[lane] + fits->slope[lane] * x + fits->bend[lane] * h - ms);
            sum[lane] += error * error;
        }
    }
    for (unsigned lane = 0; lane < LANES; lane++) scores[lane] = sqrt(sum[lane] / (double)all->n);
}

bool fpm_fit_hinge(const fpm_observations *seen, const fpm_sorted_list *loads, fpm_fit *fit) {
    double *values = seen->scratch;
    const size_t n_values = distinct(loads, values);
    if (n_values < 3) return false;
    const knot_list chosen = choose_knots(values, n_values);
    const weighted all = weigh(seen);
    double least = HUGE_VAL;
    for (unsigned first = 0; first < chosen.n; first += LANES) {
        hinges fits = { 0 };
        double scores[LANES];
        const unsigned n_lanes = chosen.n - first < LANES ? chosen.n - first : LANES;
        for (unsigned lane = 0; lane < LANES; lane++)
            fits.knot[lane] = chosen.at[first + (lane < n_lanes ? lane : n_lanes - 1)];
        const hinge_sums sums = sum_hinges(&all, fits.knot);
        for (unsigned lane = 0; lane < n_lanes; lane++) fit_lane(&all, &sums, lane, &fits);
        score(&all, &fits, scores);
        for (unsigned lane = 0; lane < n_lanes; lane++) {
            if (!fits.is_usable[lane] || !(scores[lane] < least)) continue;
            least = scores[lane];
            *fit = (fpm_fit){ .is_ready = true,
                              .intercept = fits.intercept[lane],
                              .slope = { fits.slope[lane], 0.0 },
                              .knot = fits.knot[lane],
                              .bend = fits.bend[lane] };
        }
    }
    return fit->is_ready;
}
