// SPDX-License-Identifier: GPL-3.0-or-later
//
// The best of a plan's space: along one axis its boundary, of several layouts or mixes the cheapest that meets the SLA.
//
// Nothing is known beforehand of which layout serves better, so the cheapest is found by trying them from the cheapest on; where each has an axis of its own
// (replicas of a layout), a layout is looked at only as far as it would be cheaper than the best so far, by bisection.
#ifndef SIM_EXPERIMENT_PLAN_PLAN_CHOICE_H
#define SIM_EXPERIMENT_PLAN_PLAN_CHOICE_H

#include "sim/experiment/plan/plan_search.h"
#include "sim/experiment/plan/plan_space.h"

enum { SIM_PLAN_NEAR = 3 }; // places on either side of the answer that are always tried

typedef struct sim_plan_choice {
    size_t outer;          // of sim_plan_space.outers; without an answer, the last one tried
    sim_plan_found found;  // along it
    sim_plan_point *point; // NULL = nothing meets the SLA
    bool has_undecided;    // something cheaper is undecided
} sim_plan_choice;

// `is_checked`: also whether it is monotone. SIM_USAGE: some layouts have a price and some have none.
sim_status sim_plan_choose(const sim_plan_space *space, sim_plan_points *points, sim_plan_scenario scenario,
                           bool is_checked, sim_plan_choice *choice, sim_error *error);

// The line of an outer assignment, whole.
sim_plan_line sim_plan_line_of(const sim_plan_space *space, sim_plan_points *points, size_t outer,
                               sim_plan_scenario scenario);
// What a point costs where layouts are compared: GPUs, or money per hour where that is asked and there are prices.
double sim_plan_cost(const sim_plan_space *space, const sim_plan_point *point);

#endif
