// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/plan/plan_interval.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

enum { FIRST_LOOK = 4 };

sim_interval sim_interval_student(const double *values, size_t n, double alpha) {
    if (n == 0) return (sim_interval){ 0, 0, 0 };
    const double mean = gsl_stats_mean(values, 1, n);
    if (n == 1) return (sim_interval){ mean, -HUGE_VAL, HUGE_VAL };
    const double deviation = gsl_stats_sd_m(values, 1, n, mean);
    const double half = gsl_cdf_tdist_Pinv(1 - alpha / 2, (double)n - 1) * deviation / sqrt((double)n);
    return (sim_interval){ mean, mean - half, mean + half };
}

sim_interval sim_interval_share(uint64_t n_good, uint64_t n, double alpha) {
    if (n == 0) return (sim_interval){ 0, 0, 1 };
    const double share = (double)n_good / (double)n, z = gsl_cdf_ugaussian_Qinv(alpha / 2), zz = z * z / (double)n;
    const double centre = (share + zz / 2) / (1 + zz);
    const double half = z / (1 + zz) * sqrt(share * (1 - share) / (double)n + zz / (4 * (double)n));
    return (sim_interval){ share, n_good == 0 ? 0 : centre - half, n_good == n ? 1 : centre + half };
}

sim_interval sim_interval_attainment(const double *shares, size_t n, uint64_t n_good, uint64_t n_requests,
                                     double alpha) {
    const sim_interval student = sim_interval_student(shares, n, alpha);
    const sim_interval pooled = sim_interval_share(n_good, n_requests, alpha);
    return (sim_interval){
        .mean = student.mean,
        .low = fmax(0, fmin(student.low, pooled.low)),
        .high = fmin(1, fmax(student.high, pooled.high)),
    };
}

size_t sim_looks_next(size_t n, size_t n_max) {
    size_t look = FIRST_LOOK;
    while (look <= n) look *= 2;
    return look < n_max ? look : n_max;
}

size_t sim_looks_count(size_t n_max) {
    size_t n_looks = 0;
    for (size_t n = 0; n < n_max; n = sim_looks_next(n, n_max)) n_looks++;
    return n_looks;
}
