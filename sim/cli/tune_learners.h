// SPDX-License-Identifier: GPL-3.0-or-later
//
// The models that `tune` feeds: the one of [perfmodel], one loaded, or all variants beside each other.
#ifndef SIM_CLI_TUNE_LEARNERS_H
#define SIM_CLI_TUNE_LEARNERS_H

#include "sim/cli/estimate_model.h"
#include "sim/tuning/log_feed.h"

enum { SIM_MOST_LEARNERS = 4 };

typedef struct sim_tune_learners {
    sim_estimate_subject *subject;
    sim_log_learner all[SIM_MOST_LEARNERS];
    size_t n;
} sim_tune_learners;

// SIM_USAGE: options that contradict each other or are out of range; SIM_IO, SIM_BAD_DATA: a state to load that is missing or none. Goes with
// sim_tune_learners_free, also after an error.
sim_status sim_tune_learners_new(sim_tune_learners *learners, const sim_cli *cli, sim_error *error);
void sim_tune_learners_free(sim_tune_learners *learners);

#endif
