// SPDX-License-Identifier: GPL-3.0-or-later
//
// Fitting the calibration of the native model to measured serving latencies.
//
// A term's value is prior x common x generation x backend; the logarithms of the last three are parameters, each shrunk towards 0: a generation or a backend
// is only believed to be apart as far as the rows insist. Residuals are logarithms of predicted over measured, under a Cauchy loss whose scale is narrowed
// step by step, minimised by Gauss-Newton steps (GSL). A row weighs the less the more rows its cell has, so that a cell measured a hundred
// times does not decide alone.
#ifndef SIM_EXPERIMENT_CALIBRATION_FIT_H
#define SIM_EXPERIMENT_CALIBRATION_FIT_H

#include "sim/deployment/calibration.h"
#include "sim/experiment/calibration_points.h"

typedef struct sim_calibration_fit_options {
    double tpot_scale, ttft_scale; // of the Cauchy loss, log units
    double ttft_weight;            // of a TTFT against a TPOT
    double row_sigma;              // log error expected of a row: what the shrinkage is weighed against
    double factor_sigma, time_sigma, generation_sigma, backend_sigma; // widths of the priors, log units
    double cell_power; // a row weighs (rows of its cell / mean)^-cell_power
} sim_calibration_fit_options;
sim_calibration_fit_options sim_calibration_fit_defaults(void);

typedef struct sim_calibration_error {
    double tpot_mape_pct, ttft_mape_pct, tpot_median_ape_pct, ttft_median_ape_pct;
} sim_calibration_error;

typedef struct sim_calibration_fit {
    sim_calibration calibration;
    sim_calibration_error before, training, left_out; // left_out: every cell predicted by a fit to the other cells
    size_t n_parameters;                              // that some row depends on
} sim_calibration_fit;

// `calibration` at entry: the priors of the common terms (its factors are not used), and admission_passes, which are kept. SIM_BAD_DATA: fewer than two cells.
sim_status sim_calibration_fit_points(sim_calibration_fit *fit, const sim_measured_points *points,
                                      const sim_calibration *prior, const sim_calibration_fit_options *options,
                                      sim_error *error);

#endif
