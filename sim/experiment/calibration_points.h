// SPDX-License-Identifier: GPL-3.0-or-later
//
// Measured rows digested for the fit of the calibration: mean TTFT and mean TPOT of a closed loop are linear in the terms of the calibration
// (pass_weights.h), so every row becomes two short vectors, and no simulation runs inside of the fit.
#ifndef SIM_EXPERIMENT_CALIBRATION_POINTS_H
#define SIM_EXPERIMENT_CALIBRATION_POINTS_H

#include "perfmodel/native/graph.h"
#include "sim/experiment/measured.h"
#include "sim/experiment/pass_weights.h"
#include "sim/experiment/row_pool.h"

typedef struct sim_measured_point {
    size_t row;
    uint32_t cell; // rows of one model, GPU, engine and number format, numbered in the order of their first rows
    fpm_generation generation;
    fpm_backend backend;
    double ttft_ms, tpot_ms;                             // measured; NAN: not
    double ttft_terms[FPM_TERMS], tpot_terms[FPM_TERMS]; // ms per unit of each term
} sim_measured_point;

typedef struct sim_measured_points {
    sim_measured_point *points; // in the order of rows, without those that cannot run
    size_t n_points;
    uint32_t n_cells;
} sim_measured_points;

// Fill the two vectors.
void sim_measured_point_weigh(sim_measured_point *point, const sim_pass_weights *weights, const fpm_graph *graph,
                              const fpm_operators *operators);

// Digest every row. Rows that cannot run (sim_accuracy_run says why) or that measured neither TTFT nor TPOT are left out. SIM_USAGE: the estimator of
// the rows is not native; SIM_INTERRUPTED, SIM_TERMINATED.
sim_status sim_measured_points_find(sim_measured_points *points, const sim_measured *measured, const sim_config *base,
                                    const sim_row_pool_options *options, sim_error *error);
void sim_measured_points_clear(sim_measured_points *points);

#endif
