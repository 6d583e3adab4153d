// SPDX-License-Identifier: GPL-3.0-or-later
//
// Fitting the calibration of the native model to measured serving latencies.
//
// The measured means are linear in the terms (pass_weights.h), so no simulation runs inside of the fit: every row becomes two short vectors, and the rest is
// least squares. A term's value is common x generation x backend, each a parameter of its own with its logarithm shrunk towards a prior: what a generation or
// backend has in common is only believed apart as far as the rows insist. Residuals are logarithms of predicted over measured, under a robust loss; rows of a cell
// (model x GPU x engine x precision) share a weight, so that a cell measured a hundred times does not decide alone.
#ifndef SIM_EXPERIMENT_CALIBRATION_H
#define SIM_EXPERIMENT_CALIBRATION_H

#include "perfmodel/native/graph.h"
#include "sim/deployment/calibration.h"
#include "sim/experiment/pass_weights.h"

// One measured row, digested.
typedef struct sim_measured_point {
    uint32_t cell; // rows of one cell are left out together
    fpm_generation generation;
    fpm_backend backend;
    double ttft_ms, tpot_ms;                             // measured; NAN: not
    double ttft_terms[FPM_TERMS], tpot_terms[FPM_TERMS]; // ms per unit of each term
} sim_measured_point;

// Fill the two vectors.
void sim_measured_point_weigh(sim_measured_point *point, const sim_pass_weights *weights, const fpm_graph *graph,
                              const fpm_operators *operators);

typedef struct sim_calibration_error {
    double tpot_mape_pct, ttft_mape_pct, tpot_median_ape_pct, ttft_median_ape_pct;
} sim_calibration_error;

typedef struct sim_calibration_fit {
    sim_calibration calibration;
    sim_calibration_error training, left_out; // left_out: every cell predicted by a fit to the others
    size_t n_parameters;
} sim_calibration_fit;

// SIM_BAD_DATA: fewer than two cells.
sim_status sim_calibration_fit_points(sim_calibration_fit *fit, const sim_measured_point *points, size_t n_points,
                                      sim_error *error);

#endif
