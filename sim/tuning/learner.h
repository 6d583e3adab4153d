// SPDX-License-Identifier: GPL-3.0-or-later
//
// One model that learns from finished passes, some at a time (tuning.update_every), until it is frozen (tuning.freeze_after). What waits for the rest of its
// batch is not learned yet; the state after a batch is that of one pass after the other.
#ifndef SIM_TUNING_LEARNER_H
#define SIM_TUNING_LEARNER_H

#include "perfmodel/perfmodel.h"
#include "sim/config/error.h"
#include "sim/tuning/tuning_config.h"

typedef struct sim_learner sim_learner;

// Takes the model, also when it fails. `tuning` must outlive the learner. SIM_NO_MEMORY.
sim_status sim_learner_new(sim_learner **learner, fpm_model *model, const sim_tuning_config *tuning, sim_error *error);
void sim_learner_free(sim_learner *learner);

const fpm_model *sim_learner_model(const sim_learner *learner);
// A pass with work that ended at now_ns and took observed_ms > 0. SIM_NO_MEMORY. O(populated cells), or one fit, every update_every passes.
sim_status sim_learner_take(sim_learner *learner, int64_t now_ns, const fpm_pass *pass, double observed_ms,
                            sim_error *error);
uint64_t sim_learner_count(const sim_learner *learner); // passes the model was shown
bool sim_learner_is_frozen(const sim_learner *learner);

#endif
