// SPDX-License-Identifier: GPL-3.0-or-later
//
// Does what a model remembers still agree with what it sees? Of the newest passes of a kind (drift_window) it counts those whose estimate is off by
// drift_threshold or more, by side. While more than half of a full window lie on one side, which is the same as a median error beyond the threshold, the model
// is said to drift: its hardware changed and it has not forgotten the old one yet, or a factor bound or a freeze keeps it from following. A median, because
// outliers must not alarm and noise of both signs must cancel.
#ifndef SIM_TUNING_DRIFT_GUARD_H
#define SIM_TUNING_DRIFT_GUARD_H

#include "sim/config/error.h"
#include "sim/tuning/measures.h"

typedef struct sim_drift {
    uint64_t n_alarms;     // times a window went bad
    uint64_t n_passes;     // passes in a bad window
    bool is_on;            // the last window is bad
    int64_t first_ns;      // when the first one went bad
    int64_t last_ns;       // the last pass in a bad one
    sim_error_mean newest; // of the last window
} sim_drift;

typedef struct sim_drift_guard sim_drift_guard;

// `window` >= 1 passes. NULL: no memory.
sim_drift_guard *sim_drift_guard_new(double threshold, size_t window);
void sim_drift_guard_free(sim_drift_guard *guard);
// `error`: (estimate - observed) / observed of the next pass, at time_ns. O(1).
void sim_drift_guard_add(sim_drift_guard *guard, double error, int64_t time_ns);
sim_drift sim_drift_guard_state(const sim_drift_guard *guard); // O(window)

#endif
