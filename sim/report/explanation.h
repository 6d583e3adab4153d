// SPDX-License-Identifier: GPL-3.0-or-later
//
// What `forepass estimate --explain` tells: one pass operator by operator, for people and as JSON. Totals are the estimate itself; the operators add up to it
// but for the straight lines between the knots of the plan (perfmodel/native/plan.h).
#ifndef SIM_REPORT_EXPLANATION_H
#define SIM_REPORT_EXPLANATION_H

#include "perfmodel/native/explain.h"
#include "sim/config/error.h"

typedef struct sim_explanation {
    const fpm_deployment *deployment;
    const char *curves;      // file of curves; "": none, formulas alone
    const char *collectives; // whose curves price collectives
    bool has_curves;         // they are of this system; else typical ones
    const char *calibration; // file; "": none
    bool has_overrides;      // some of its terms were given anew
    fpm_pricing pricing;
    fpm_metrics batch; // of every data-parallel rank
    bool is_default_batch;
    fpm_explanation passes[2]; // serial pricing: prompts, then decodes
    size_t n_passes;
    double estimate_ms;
} sim_explanation;

// Fill `passes` from deployment, pricing and batch. `graph` is lent for as long as the explanation lives.
void sim_explanation_walk(sim_explanation *explanation, fpm_graph *graph, const fpm_operators *operators,
                          const fpm_calibration *calibration);

// SIM_IO, SIM_NO_MEMORY.
sim_status sim_explanation_write_table(const sim_explanation *explanation, FILE *out, sim_error *error);
sim_status sim_explanation_write_json(const sim_explanation *explanation, FILE *out, sim_error *error);

// The figures below the operators.
typedef struct sim_explanation_totals {
    double n_gpus; // of the worker
    double operations_ms, terms_ms, bound_ms;
    double by_bound_ms[FPM_BOUND_LAUNCH + 1]; // operators by what bounds them
    double mfu_ratio, mbu_ratio;              // of the peak FLOP/s and of the memory bandwidth of the GPUs at work
    double input_tokens_per_s, output_tokens_per_s; // of the worker, when such passes follow each other
} sim_explanation_totals;
sim_explanation_totals sim_explanation_total(const sim_explanation *explanation);

const char *sim_operation_kind_name(fpm_operation_kind kind);
const char *sim_collective_name(fpm_collective collective);

#endif
