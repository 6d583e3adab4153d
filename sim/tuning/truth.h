// SPDX-License-Identifier: GPL-3.0-or-later
//
// The "hardware" of a run: asked once per pass, when it begins, for the wall time it will take. A source of wall times is a const table of functions plus
// state. Asking may move a source's own bookkeeping, so one thread asks, in an order that depends on the run alone.
#ifndef SIM_TUNING_TRUTH_H
#define SIM_TUNING_TRUTH_H

#include "perfmodel/perfmodel.h"
#include "sim/config/error.h"
#include "sim/tuning/tuning_config.h"

typedef struct sim_truth_query {
    uint32_t worker;
    int64_t now_ns;           // when the pass begins
    const fpm_metrics *ranks; // worker_id and counter_id (the number of the pass) are those of the worker
    size_t n_ranks;
    fpm_kind kind;  // of the pass; not FPM_EMPTY
    double base_ms; // what the estimator says, >= 0
} sim_truth_query;

typedef struct sim_truth_answer {
    double wall_s;       // >= 0, finite
    double noiseless_ms; // without chance; SIM_NO_ESTIMATE: not known
    bool is_outlier;
} sim_truth_answer;

typedef struct sim_truth_ops {
    sim_status (*ask)(void *state, const sim_truth_query *query, sim_truth_answer *answer, sim_error *error);
    void (*free_state)(void *state);
} sim_truth_ops;

typedef struct sim_truth {
    const sim_truth_ops *ops; // NULL: there is none
    void *state;
} sim_truth;

void sim_truth_free(sim_truth *truth);

#endif
