// SPDX-License-Identifier: GPL-3.0-or-later
//
// Figures of two series of requests, their differences, and how sure those are.
//
// A figure is a ratio of two sums over requests (a mean, a share, a throughput) or a percentile. All figures of a comparison are taken from the same
// resamples (block_bootstrap.h), in pairs where the requests are the same, so that what both runs share drops out of the difference.
#ifndef SIM_EXPERIMENT_ESTIMATES_H
#define SIM_EXPERIMENT_ESTIMATES_H

#include "sim/experiment/block_bootstrap.h"
#include "sim/experiment/row_pool.h"

// Running totals over the cells, n_cells + 1 each. The figure is amount / of.
typedef struct sim_ratio {
    double *amount, *of;
} sim_ratio;

// Values in ascending order, each with the cell of its request.
typedef struct sim_ranking {
    double *values;
    uint32_t *cells;
    size_t n;
    const double *counts; // running totals over the cells of how many values are theirs
} sim_ranking;

typedef struct sim_interval {
    double low, high;
} sim_interval;

typedef struct sim_difference {
    double absolute, relative; // B - A; B / A - 1, NAN where A is not above 0
    bool has_interval;         // else the run tells too little
    sim_interval absolute_interval,
        relative_interval; // of 95 %, each by itself; NAN where there is no relative difference
    double p_value;        // of no difference, by itself
    bool is_significant;   // at a false discovery rate of 5 % in its family
    sim_interval family_absolute,
        family_relative; // at a false coverage rate of 5 % among the significant ones of the family
} sim_difference;

typedef struct sim_estimate {
    const sim_ranking *rankings[2]; // of A and B: a percentile of them; NULL: a ratio
    double percent;
    sim_ratio ratios[2];
    bool is_share;   // a share: its difference is one of points, on a plain scale
    uint32_t family; // figures that are judged together
    double values[2];
    double *replicates[2]; // SIM_BOOTSTRAP_REPLICATES each
    double skew; // the upper end of its interval is 1 + skew times as far out; below 0: the lower end 1 - skew times
    double standard_error, degrees_of_freedom; // of log(B / A); of B - A for shares and where one is not above 0
    sim_difference difference;
} sim_estimate;

typedef struct sim_estimate_set {
    sim_estimate *estimates;
    size_t n;
    uint32_t n_families;
    sim_blocks blocks[2]; // of A and B; the same when they are paired
    bool is_paired;
    bool has_blocks;   // false: too few requests for any interval
    bool is_identical; // every request is the same in both: differences are 0, and nothing needs to be drawn
    uint64_t seed;
    const volatile sig_atomic_t *stopped; // taken from the pool
} sim_estimate_set;

// The value at index round((n - 1) percent / 100) of n sorted ones (interface.md "Definitions"): each of them as often as `weights` has its cell (NULL:
// once), n in all. NAN without any.
double sim_ranking_percentile(const sim_ranking *ranking, const uint32_t *weights, double n, double percent);

// Fill values and differences of all estimates. Allocates the replicates. SIM_NO_MEMORY, or a signal.
sim_status sim_estimates_run(sim_estimate_set *set, const sim_row_pool_options *pool, sim_error *error);
void sim_estimates_clear(sim_estimate_set *set); // the replicates and the list, not what ratios and rankings point to

#endif
