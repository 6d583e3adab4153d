// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a reader must know to trust an answer: lines for standard error and the JSON's `warnings`. Without memory a line is lost.
#ifndef SIM_EXPERIMENT_PLAN_PLAN_WARNINGS_H
#define SIM_EXPERIMENT_PLAN_PLAN_WARNINGS_H

#include "sim/experiment/plan/plan_answer.h"

// A key that has no effect here has no answer either. Before the load is varied, which always has one.
void sim_plan_warn_of_idle_axis(sim_plan_answer *answer);
// The SLA is not monotone along the axis; replicates do not decide; too few requests to tell; a certainty that is none.
void sim_plan_warn_of_answer(sim_plan_answer *answer);

#endif
