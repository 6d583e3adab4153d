// SPDX-License-Identifier: GPL-3.0-or-later
//
// What `forepass tune` prints: the log that was fed, and how well each learner foresaw it; one learner in full, several side by side.
#ifndef SIM_REPORT_LEARNING_REPORT_H
#define SIM_REPORT_LEARNING_REPORT_H

#include <stdio.h>

#include "sim/tuning/log_feed.h"

typedef struct sim_learning_report {
    const sim_log_feed *feed;
    const sim_log_counts *counts;
    bool is_comparison; // else there is one learner
} sim_learning_report;

// One learner: `tuning.kinds` as in the summary of a replay, `held_out.kinds` likewise where something was held out. Several: `variants[]` of these, with their
// name. SIM_IO, SIM_NO_MEMORY.
sim_status sim_learning_report_write_json(const sim_learning_report *report, FILE *out, sim_error *error);
sim_status sim_learning_report_write_table(const sim_learning_report *report, FILE *out, sim_error *error);

#endif
