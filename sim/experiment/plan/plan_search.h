// SPDX-License-Identifier: GPL-3.0-or-later
//
// The boundary of an SLA along one axis: the hardest place that meets it.
//
// Bisection, which costs the logarithm of the range, and is right where easier places meet the SLA whenever harder ones do. Clusters need not be like that (a prefix cache
// split over more replicas hits less often; a layout with another batch has other kernels), so the places beside the answer and in the middle of the widest gaps that
// bisection has left are tried as well. A place on the wrong side is told, and what lies between it and the answer is then tried place by place.
#ifndef SIM_EXPERIMENT_PLAN_PLAN_SEARCH_H
#define SIM_EXPERIMENT_PLAN_PLAN_SEARCH_H

#include "sim/experiment/plan/plan_axis.h"
#include "sim/experiment/plan/plan_points.h"

#define SIM_PLAN_NOWHERE (-1)

typedef struct sim_plan_line {
    sim_plan_points *points;
    const char *outer;         // assignments that hold along the line, "" = none
    const sim_plan_axis *axis; // NULL: there is one place, `outer` itself
    int64_t n_places;          // only the first so many places are looked at, >= 1
    sim_plan_scenario scenario;
} sim_plan_line;

typedef struct sim_plan_found {
    int64_t answer;   // hardest place found to meet the SLA; SIM_PLAN_NOWHERE = none
    int64_t open;     // hardest place not found to miss it: from here to before the answer the replicates do not decide
    int64_t easiest;  // easiest place that can run; SIM_PLAN_NOWHERE = none can
    bool is_monotone; // no place tried contradicts it
    int64_t
        safe; // from here on every place tried meets it: the answer, or one beyond the contested places; SIM_PLAN_NOWHERE = nothing beyond was tried
    size_t n_scanned; // contested places tried
} sim_plan_found;

// Point of a place, as it is.
sim_status sim_plan_line_point(const sim_plan_line *line, int64_t place, sim_plan_point **point, sim_error *error);
// Points of several places, judged. Those of places that do not exist are NULL.
sim_status sim_plan_line_judge(const sim_plan_line *line, const int64_t *places, size_t n, sim_plan_point **points,
                               sim_error *error);

// Bisect; is_monotone is taken for granted.
sim_status sim_plan_bisect(const sim_plan_line *line, sim_plan_found *found, sim_error *error);
// Bisect, try the `n_near` places on either side of the answer and the widest gaps, scan where they contradict.
sim_status sim_plan_search(const sim_plan_line *line, int64_t n_near, sim_plan_found *found, sim_error *error);

#endif
