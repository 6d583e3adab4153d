// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/report/statistics.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>

static double at_percent(const double *sorted, size_t n, double percent) {
    return sorted[(size_t)floor((double)(n - 1) * percent / 100 + 0.5)];
}

sim_statistics sim_statistics_of(double *values, size_t n, const sim_percentiles *percentiles) {
    sim_statistics result = { .n_samples = n };
    if (n == 0) return result;
    gsl_sort(values, 1, n); // sums run over sorted values: the same whatever order requests ended in
    result.mean = gsl_stats_mean(values, 1, n);
    result.standard_deviation = gsl_stats_sd_with_fixed_mean(values, 1, n, result.mean);
    result.min = values[0];
    result.max = values[n - 1];
    result.median = at_percent(values, n, 50);
    for (size_t i = 0; i < percentiles->n; i++) result.percentiles[i] = at_percent(values, n, percentiles->percent[i]);
    return result;
}
