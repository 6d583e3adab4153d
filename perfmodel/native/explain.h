// SPDX-License-Identifier: GPL-3.0-or-later
//
// The price of one pass, operation by operation: the list that the plan adds up into tables, priced for one batch instead. So what is explained is what is
// charged, but for the straight lines between the plan's knots (plan.h).
#ifndef PERFMODEL_NATIVE_EXPLAIN_H
#define PERFMODEL_NATIVE_EXPLAIN_H

#include "perfmodel/native/graph.h"

// Where the price of an operation comes from.
typedef enum fpm_price_source {
    FPM_FROM_FORMULA, // a typical curve, as nothing is measured on this system, or none at all
    FPM_FROM_FIT,     // a curve fitted to measured kernels of this system
    FPM_FROM_TABLE    // a measured kernel, or what lies between two (operator_tables.h)
} fpm_price_source;
const char *fpm_price_source_name(fpm_price_source source);
// `is_measured`: the curves were fitted to kernels of this system; of those, which a file may leave out, the ones that nobody fitted are formulas.
// Of its price by formula: tables are another matter (fpm_operation_is_from_table).
fpm_price_source fpm_operation_source(const fpm_operation *operation, const fpm_operators *operators, bool is_measured);

typedef struct fpm_explained_operation {
    const fpm_operation *operation; // of the graph
    double amount;                  // what drives it: tokens, rows; attention: requests
    fpm_attention_sums sums;        // attention only, cut by the window
    fpm_price price;                // of all its times, uncalibrated
    double ms;                      // calibrated, as charged
    fpm_price_source source;
} fpm_explained_operation;

typedef struct fpm_explained_term {
    fpm_term term;
    double times;   // in this pass
    double each_us; // from the calibration
    double ms;
} fpm_explained_term;

typedef struct fpm_explanation {
    fpm_batch batch;
    fpm_explained_operation operations[FPM_MAX_OPERATIONS]; // those with something to do, in the order of the pass
    size_t n_operations;
    fpm_explained_term terms[FPM_TERMS]; // what no operation explains, where it is paid
    size_t n_terms;
    double operations_ms, terms_ms;         // sums
    double bound_ms;                        // of the operations: what the hardware cannot beat
    double peak_compute_ms, peak_memory_ms; // of the operations: all FLOPs at their peaks, all bytes at full bandwidth
} fpm_explanation;

// One pass of one rank and what it shares with the others: batch->shared_tokens are the tokens of all ranks (the rank's own where there is one). The
// explanation borrows the graph. An empty batch has no operations and costs nothing.
void fpm_explain(fpm_explanation *explanation, const fpm_graph *graph, const fpm_operators *operators, bool is_measured,
                 const fpm_calibration *calibration, const fpm_batch *batch);

#endif
