// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/calibration.h"

#include <gsl/gsl_linalg.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Points
// ---------------------------------------------------------------------------------------------------------------------

static void add_pass(sim_measured_point *point, const sim_weighted_pass *pass, fpm_term term, double ms) {
    point->ttft_terms[term] += pass->ttft_weight * ms;
    point->tpot_terms[term] += pass->tpot_weight * ms;
}

static void add_constants(sim_measured_point *point, const sim_weighted_pass *pass, const fpm_graph *graph) {
    const double us = 1e-3;
    for (int t = FPM_TERM_PASS; t < FPM_TERMS; t++) {
        const bool is_prefill_term = t == FPM_TERM_PREFILL_PASS || t == FPM_TERM_PREFILL_LAYER;
        if (graph->constants[t] == 0.0 || (is_prefill_term && pass->batch.n_prefills == 0.0)) continue;
        add_pass(point, pass, (fpm_term)t, graph->constants[t] * us);
    }
    add_pass(point, pass, FPM_TERM_REQUEST, pass->batch.rows * us);
    add_pass(point, pass, FPM_TERM_PROMPT, pass->batch.n_prefills * us);
}

void sim_measured_point_weigh(sim_measured_point *point, const sim_pass_weights *weights, const fpm_graph *graph,
                              const fpm_operators *operators) {
    memset(point->ttft_terms, 0, sizeof point->ttft_terms);
    memset(point->tpot_terms, 0, sizeof point->tpot_terms);
    for (size_t i = 0; i < weights->n_passes; i++) {
        const sim_weighted_pass *pass = &weights->passes[i];
        for (size_t o = 0; o < graph->n_operations; o++) {
            const fpm_operation *operation = &graph->operations[o];
            add_pass(point, pass, operation->term, fpm_operation_price(operation, operators, &pass->batch).ms);
        }
        add_constants(point, pass, graph);
    }
}
