// SPDX-License-Identifier: GPL-3.0-or-later
//
// A plan from question to answer: the choice, and what a user needs to believe it.
#ifndef SIM_EXPERIMENT_PLAN_PLAN_ANSWER_H
#define SIM_EXPERIMENT_PLAN_PLAN_ANSWER_H

#include "sim/experiment/plan/plan_cause.h"
#include "sim/experiment/plan/plan_choice.h"
#include "sim/workload/growable.h"

// One row of the margin curve.
typedef struct sim_plan_row {
    const sim_plan_point *point;
    double value; // of the last key; NAN: layouts alone
    bool is_answer;
} sim_plan_row;

typedef struct sim_plan_headroom {
    bool is_known;
    sim_plan_axis axis; // of the load
    double value;       // highest load that the answer takes, as `load.*` is counted (timestamps: requests/s)
    double factor;      // of the load asked for
    bool is_at_least;   // the search ended there
} sim_plan_headroom;

typedef struct sim_plan_model_error {
    double pct[SIM_PLAN_BOUNDS]; // 0 = none known; E2E: the larger one of the other two
    const char *source;          // "calibration", "plan"; "" = nothing is known of it
} sim_plan_model_error;

// Its parts point to each other: it stays where it was made.
typedef struct sim_plan_answer {
    sim_plan_config plan;
    sim_plan_space space;
    sim_plan_points *points;
    sim_plan_choice choices[SIM_PLAN_SCENARIOS]; // SLOWER and FASTER only where a model error is known
    sim_plan_model_error model_error;
    bool
        is_stopped; // by a signal: rows are all points with a verdict, as they were tried; of the rest only a choice already made is known
    sim_plan_row *rows; // around the answer, in order of value or cost; without an answer, at the end of the range
    size_t n_rows;
    const sim_plan_point
        *beyond; // the next cheaper point, or the next higher load, which misses the SLA; NULL: there is none
    double beyond_value;
    sim_plan_cause cause; // why `beyond` misses it
    sim_plan_headroom headroom;
    sim_text_list warnings; // lines without an end
} sim_plan_answer;

// `config` and `options` must outlive the answer. SIM_OK also when nothing meets the SLA (choices[SIM_PLAN_AS_MODELLED].point is NULL). SIM_USAGE: no [sla], a question
// that contradicts itself, nothing in the space that can run; what ends a run. SIM_INTERRUPTED, SIM_TERMINATED: with is_stopped the answer is there as far as it goes, and is to be cleared.
sim_status sim_plan_execute(const sim_config *config, const sim_plan_run_options *options, sim_plan_answer *answer,
                            sim_error *error);
void sim_plan_answer_clear(sim_plan_answer *answer);

// Low and high end of where the answer may lie: equal where the replicates decide.
void sim_plan_answer_interval(const sim_plan_answer *answer, double *low, double *high);
// One line that says what is missed at the end of the range.
void sim_plan_answer_refusal(const sim_plan_answer *answer, char *text, size_t size);
// What a point misses, "p99 TTFT 2310 ms of 2000 ms", or why it cannot run.
void sim_plan_answer_missed(const sim_plan_answer *answer, const sim_plan_point *point, char *text, size_t size);

#endif
