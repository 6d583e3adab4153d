// SPDX-License-Identifier: GPL-3.0-or-later
//
// Mean, deviation and percentiles of a metric (interface.md "Definitions"). A percentile of n sorted values is the one at index
// round((n-1) p / 100), no interpolation; the standard deviation is the population's. Empty samples give zeros.
#ifndef SIM_REPORT_STATISTICS_H
#define SIM_REPORT_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

#define SIM_MAX_PERCENTILES 16

typedef struct sim_percentiles {
    double percent[SIM_MAX_PERCENTILES]; // ascending, each in (0, 100)
    size_t n;
} sim_percentiles;

typedef struct sim_statistics {
    uint64_t n_samples;
    double mean, min, max, median, standard_deviation;
    double percentiles[SIM_MAX_PERCENTILES]; // of sim_percentiles.percent
} sim_statistics;

// Sorts `values`. O(n log n).
sim_statistics sim_statistics_of(double *values, size_t n, const sim_percentiles *percentiles);

#endif
