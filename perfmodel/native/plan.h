// SPDX-License-Identifier: GPL-3.0-or-later
//
// A deployment compiled: the graph's operations, calibrated and added up into one table per count that drives them, and attention as closed forms over
// batch sums. A price is a few look-ups; what it leaves out of the operator walk is the walk.
//
// Tables hold every count up to 256 and 32 knots an octave above, joined by straight lines: exact where decode batches live, within 0.02 % elsewhere
// (0.1 % where factors of the calibration far below 1 take an operation down to its bound between two knots). Beyond the last knot (2^22) the last slope goes on.
#ifndef PERFMODEL_NATIVE_PLAN_H
#define PERFMODEL_NATIVE_PLAN_H

#include "perfmodel/native/graph.h"

enum { FPM_PLAN_EXACT = 256, FPM_PLAN_STEPS = 32, FPM_PLAN_OCTAVES = 14 };
enum { FPM_PLAN_KNOTS = FPM_PLAN_EXACT + FPM_PLAN_STEPS * FPM_PLAN_OCTAVES + 1 };
enum { FPM_PLAN_FORMS = 4 }; // attention operations of one kind

// All layers of one attention operation: the form times count and factor.
typedef struct fpm_plan_form {
    fpm_attention_form form;
    double window_tokens;
} fpm_plan_form;

typedef struct fpm_plan {
    double tables[FPM_TABLE_DRIVERS][FPM_PLAN_KNOTS]; // ms at count 0, 1, ...
    fpm_plan_form prefill_forms[FPM_PLAN_FORMS], decode_forms[FPM_PLAN_FORMS];
    size_t n_prefill_forms, n_decode_forms;
    double pass_ms;         // of every pass
    double prefill_pass_ms; // more with prompts
    double prompt_ms;       // more per prompt
    bool has_shared;        // experts are shared by several ranks, so the shared table stands alone
} fpm_plan;

void fpm_plan_build(fpm_plan *plan, const fpm_graph *graph, const fpm_operators *operators,
                    const fpm_calibration *calibration, bool has_shared);

// Time of the pass of one rank, without what its table of shared tokens says when has_shared. An empty batch costs 0.
double fpm_plan_rank_ms(const fpm_plan *plan, const fpm_batch *batch);
// What all ranks compute together, for the tokens of all of them.
double fpm_plan_shared_ms(const fpm_plan *plan, double shared_tokens);

#endif
