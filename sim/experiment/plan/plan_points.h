// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a plan has tried: points, i.e. assignments over the configuration, each with its replicates and the verdict on them. A point is run once, whoever asks for it, and
// only as often as its verdict needs; all of a plan see the same seeds (common random numbers), so that neighbours differ by what they are, not by their dice.
//
// The verdict of a point is a sequential test. It looks after 4, 8, 16, ... max_repeats replicates, each look at a confidence that makes them right together
// (plan_interval.h), and stops at the first look whose interval lies on one side of the SLA's share. A verdict stays when more replicates come later (another
// scenario may want them).
#ifndef SIM_EXPERIMENT_PLAN_PLAN_POINTS_H
#define SIM_EXPERIMENT_PLAN_PLAN_POINTS_H

#include "sim/experiment/plan/plan_interval.h"
#include "sim/experiment/plan/plan_probe.h"
#include "sim/experiment/plan/plan_settings.h"

typedef enum sim_plan_verdict {
    SIM_PLAN_OPEN, // not run often enough yet
    SIM_PLAN_MEETS,
    SIM_PLAN_MISSES,
    SIM_PLAN_UNDECIDED // max_repeats were not enough
} sim_plan_verdict;
extern const char *const sim_plan_verdict_names[]; // "open", "meets", "misses", "undecided", NULL

typedef struct sim_plan_point {
    char *assignments; // section.key=value words with blanks between them; "" is the configuration itself
    uint64_t gpus;
    double gpu_hour_price; // 0 = none
    sim_plan_fate fate;    // the first one that is not done, once run
    sim_plan_replicate *replicates;
    size_t n_replicates;
    bool is_seedless; // two seeds gave the same run to the bit: there is one run only
    sim_plan_verdict verdicts[SIM_PLAN_SCENARIOS];
} sim_plan_point;

typedef struct sim_plan_points sim_plan_points;

typedef struct sim_plan_run_options {
    uint32_t n_threads;                   // >= 1; the answer is the same with any number
    FILE *progress;                       // where a line goes that tells how far it is; NULL = none
    const volatile sig_atomic_t *stopped; // set by a signal handler; NULL = never
} sim_plan_run_options;

// `config`, `plan` and `options` must outlive the points.
sim_status sim_plan_points_new(sim_plan_points **points, const sim_config *config, const sim_plan_config *plan,
                               const sim_plan_run_options *options, sim_error *error);
void sim_plan_points_free(sim_plan_points *points);
// The relative errors of the model, 0 = none known, as it is at first. Before anything is run.
void sim_plan_points_set_error(sim_plan_points *points, const double error_frac[SIM_PLAN_BOUNDS]);

// The point of these assignments, a new one where nobody has asked for it; it stays where it is. SIM_USAGE, without a place: no such key, no value of it.
sim_status sim_plan_points_find(sim_plan_points *points, const char *assignments, sim_plan_point **point,
                                sim_error *error);

// Run points until each has a verdict in `scenario`.
sim_status sim_plan_points_judge(sim_plan_points *points, sim_plan_point *const *which, size_t n,
                                 sim_plan_scenario scenario, sim_error *error);

// Of a point that was run. The interval is the one of its verdict; where there is one run only, over its stretches.
sim_interval sim_plan_point_attainment(const sim_plan_points *points, const sim_plan_point *point,
                                       sim_plan_scenario scenario);
// The percentile of [sla] of a bounded latency, in ms, likewise; one run: without an interval (low = mean = high).
sim_interval sim_plan_point_percentile(const sim_plan_points *points, const sim_plan_point *point,
                                       sim_plan_bound bound);
// Share of arrived requests, over all replicates.
double sim_plan_point_missed_share(const sim_plan_point *point, sim_plan_bound bound);
double sim_plan_point_unserved_share(const sim_plan_point *point); // rejected or unfinished

// A configuration of its own: these assignments and those of `more` (NULL = none), with the seed of replicate `replicate`. Errors as sim_plan_points_find.
sim_status sim_plan_points_config(const sim_plan_points *points, const char *assignments, const char *more,
                                  size_t replicate, sim_config **config, sim_error *error);

const sim_plan_prober *sim_plan_points_prober(const sim_plan_points *points);
const sim_sla_config *sim_plan_points_sla(const sim_plan_points *points);
const sim_plan_point *sim_plan_points_at(const sim_plan_points *points,
                                         size_t i);            // in the order they were asked for; NULL behind the last
size_t sim_plan_points_n_runs(const sim_plan_points *points);  // simulations so far
size_t sim_plan_points_n_tried(const sim_plan_points *points); // points with a run, or that cannot run
void sim_plan_points_count_run(sim_plan_points *points);       // one more that was run beside them
// What is being looked for, for the progress line.
void sim_plan_points_tell(sim_plan_points *points, const char *text);

#endif
