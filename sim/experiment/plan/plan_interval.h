// SPDX-License-Identifier: GPL-3.0-or-later
//
// Confidence intervals of a share of good requests.
//
// Requests of one run depend on each other (a queue that is long for one is long for the next), so that an interval from their number alone is too narrow. What is
// independent are runs with other seeds, or, nearly, long stretches of one run (batch means); Student's t over those is the usual way (Law, Simulation
// Modeling and Analysis, 5th ed., 9.4 and 9.5).
#ifndef SIM_EXPERIMENT_PLAN_PLAN_INTERVAL_H
#define SIM_EXPERIMENT_PLAN_PLAN_INTERVAL_H

#include <stddef.h>
#include <stdint.h>

typedef struct sim_interval {
    double mean, low, high;
} sim_interval;

// Student's t interval of the expectation of `n` independent values: mean -+ t(n-1; 1 - alpha/2) s / sqrt(n). alpha: chance to miss it, 0 < alpha < 1. One value:
// the whole line. None: all zero.
sim_interval sim_interval_student(const double *values, size_t n, double alpha);

// Wilson's score interval of a probability after n_good of n independent trials (JASA 22, 1927). Not Clopper and Pearson's: GSL's inverse of the beta distribution does
// not converge for the large counts that are usual here.
sim_interval sim_interval_share(uint64_t n_good, uint64_t n, double alpha);

// Of a share by replicates: Student's, but no narrower than Wilson's of all requests together, which keeps replicates that happen to agree (all of
// them without a miss) from claiming a certainty that their number of requests cannot give. Within [0, 1]. It is as good as replicates are near to normal: misses
// so rare that most replicates have none need longer runs, not more of them.
sim_interval sim_interval_attainment(const double *shares, size_t n, uint64_t n_good, uint64_t n_requests,
                                     double alpha);

// How often a sequential test looks at its data: after 4, 8, 16, ... and `n_max` values. Each look takes alpha / number of looks, so that the chance to be wrong at
// any of them is at most alpha (Bonferroni).
size_t sim_looks_count(size_t n_max);
// Values wanted at the first look after `n` (n < n_max).
size_t sim_looks_next(size_t n, size_t n_max);

#endif
