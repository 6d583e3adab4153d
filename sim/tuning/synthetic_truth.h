// SPDX-License-Identifier: GPL-3.0-or-later
//
// Wall times drawn around the estimates:
//   wall = base x bias(kind) x step(now) x (1 + drift_per_hour x hours) x spread(worker)     the noiseless time
//          x noise(worker, pass) x outlier(worker, pass), rounded to the quantum
// `noise` and `spread` are log-normal of mean 1: exp(s z - s^2/2) with s^2 = ln(1 + cv^2), z a keyed normal draw; an outlier multiplies
// by outlier_factor with outlier_probability. Draws are keyed by seed, worker and number of the pass, so neither tuning nor what other workers do moves them.
// With a quantum, the wall time is rounded half up to whole quanta, at least one: a time of 0 would be no observation. Now = when the pass begins.
#ifndef SIM_TUNING_SYNTHETIC_TRUTH_H
#define SIM_TUNING_SYNTHETIC_TRUTH_H

#include "sim/tuning/truth.h"

// `config` is copied; its seed, if not given, is `root_seed`. SIM_NO_MEMORY. Asking fails with SIM_USAGE once drift has eaten up the wall times.
sim_status sim_synthetic_truth_new(sim_truth *truth, const sim_truth_config *config, uint64_t root_seed,
                                   uint32_t n_workers, sim_error *error);

#endif
