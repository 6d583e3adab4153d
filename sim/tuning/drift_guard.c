// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/drift_guard.h"

#include <math.h>
#include <stdlib.h>

struct sim_drift_guard {
    double threshold;
    size_t window, n, next; // errors held, place of the next one
    size_t n_below, n_above;
    sim_drift drift;
    double errors[];
};

sim_drift_guard *sim_drift_guard_new(double threshold, size_t window) {
    sim_drift_guard *guard = calloc(1, sizeof *guard + window * sizeof guard->errors[0]);
    if (!guard) return NULL;
    guard->threshold = threshold;
    guard->window = window;
    return guard;
}

void sim_drift_guard_free(sim_drift_guard *guard) { free(guard); }

static void forget_oldest(sim_drift_guard *guard) {
    const double error = guard->errors[guard->next];
    guard->n_below -= error <= -guard->threshold;
    guard->n_above -= error >= guard->threshold;
    guard->n--;
}

void sim_drift_guard_add(sim_drift_guard *guard, double error, int64_t time_ns) {
    if (guard->n == guard->window) forget_oldest(guard);
    guard->errors[guard->next] = error;
    guard->next = guard->next + 1 == guard->window ? 0 : guard->next + 1;
    guard->n++;
    guard->n_below += error <= -guard->threshold;
    guard->n_above += error >= guard->threshold;

    sim_drift *drift = &guard->drift;
    const size_t half = guard->window / 2;
    const bool is_bad = guard->n == guard->window && (guard->n_below > half || guard->n_above > half);
    if (is_bad && !drift->is_on && drift->n_alarms++ == 0) drift->first_ns = time_ns;
    if (is_bad) drift->last_ns = time_ns;
    drift->n_passes += is_bad;
    drift->is_on = is_bad;
}

sim_drift sim_drift_guard_state(const sim_drift_guard *guard) {
    sim_drift drift = guard->drift;
    drift.newest.n = guard->n;
    for (size_t i = 0; i < guard->n; i++) {
        drift.newest.mape += fabs(guard->errors[i]) / (double)guard->n;
        drift.newest.bias += guard->errors[i] / (double)guard->n;
    }
    return drift;
}
