// SPDX-License-Identifier: GPL-3.0-or-later
//
// What decides how long the passes of a run take when there is a truth: each pass is priced by the estimator, foreseen by the model, and given its wall time
// by the truth, in this order, when it begins; when it ends, the model is shown the wall time. The estimate is therefore never of a pass the model has seen.
// Learning happens at the end of passes in the order in which the caller ends them, which is that of (time, worker); so a run with a tuner goes event by event
// (architecture.md, principle 2, case c). One thread.
#ifndef SIM_TUNING_TUNER_H
#define SIM_TUNING_TUNER_H

#include "sim/tuning/drift_guard.h"
#include "sim/tuning/recorded_truth.h"
#include "sim/tuning/truth.h"

typedef struct sim_tuner_parts {
    const sim_tuning_config *tuning;
    const sim_truth_config *truth; // with a source
    const fpm_model_options *options;
    const fpm_model *saved; // what every model begins with, in place of `options`; corrects the estimator, or is a
                            // regression; copied. NULL: they begin with nothing
    fpm_estimator
        *estimator; // the untuned prices; of a regression, of the passes it does not know yet. Stays the caller's
    bool is_regression;
    uint64_t root_seed;
    uint32_t n_workers;
    uint32_t n_ranks; // of each
} sim_tuner_parts;

typedef struct sim_tuner sim_tuner;

// What the parts point to, but `saved`, must outlive the tuner. SIM_NO_MEMORY, SIM_IO and SIM_BAD_DATA (a recorded truth that cannot be read), SIM_USAGE.
sim_status sim_tuner_new(sim_tuner **tuner, const sim_tuner_parts *parts, sim_error *error);
void sim_tuner_free(sim_tuner *tuner);

// A pass of an idle worker begins: its ranks (n_ranks of them, valid) get their wall time, *clock_ms is how long it takes in the run. Allocates nothing.
sim_status sim_tuner_begin_pass(sim_tuner *tuner, uint32_t worker, int64_t now_ns, fpm_metrics *ranks, double *clock_ms,
                                sim_error *error);
// It ends.
sim_status sim_tuner_end_pass(sim_tuner *tuner, uint32_t worker, int64_t now_ns, sim_error *error);

// --- what came of it ---
typedef struct sim_tuner_counts {
    uint64_t n_learned;  // passes the models were shown
    uint64_t n_fallback; // passes of a regression that took the estimator's price
    bool is_frozen;      // some model learns no more
} sim_tuner_counts;

const sim_tuner_parts *sim_tuner_get_parts(const sim_tuner *tuner);
const sim_measures *sim_tuner_measures(const sim_tuner *tuner);
// One model (scope = pool), one per worker, or none (mode = off).
const fpm_model *const *sim_tuner_models(const sim_tuner *tuner, size_t *n_models);
sim_tuner_counts sim_tuner_count(const sim_tuner *tuner);
// How a recorded truth answered, or how much of it was read. All 0 without one.
sim_recorded_counts sim_tuner_recorded(const sim_tuner *tuner);
sim_drift sim_tuner_drift(const sim_tuner *tuner, fpm_kind kind);

#endif
