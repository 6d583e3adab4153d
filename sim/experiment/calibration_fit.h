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
    // Widths of the priors, log units: of a term's own parameter, and of what its group shares.
    double factor_sigma, factor_group_sigma, time_sigma, time_group_sigma;
    double generation_sigma, generation_group_sigma, backend_sigma, backend_group_sigma;
    double cell_power; // a row weighs (rows of its cell / mean)^-cell_power
} sim_calibration_fit_options;
sim_calibration_fit_options sim_calibration_fit_defaults(void);

typedef struct sim_calibration_error {
    double tpot_mape_pct, ttft_mape_pct, tpot_median_ape_pct, ttft_median_ape_pct; // NAN: none was measured
} sim_calibration_error;

typedef struct sim_calibration_fit {
    sim_calibration calibration;
    sim_calibration_error before, training, left_out; // left_out: every cell predicted by a fit to the other cells
    size_t n_parameters;                              // that some row depends on
    double
        effective_parameters; // of them, as far as the rows and not the priors determine them (sum of 1 - posterior / prior variance)
    size_t n_points;
    uint32_t n_cells;
} sim_calibration_fit;

// What is believed before any row: defaults, and what the kernels themselves cannot say.
sim_calibration sim_calibration_prior(void);

// `prior` is where the fit starts and what it is shrunk towards; its admission_passes are kept. The same result at any number of
// threads. SIM_BAD_DATA: fewer than two cells.
sim_status sim_calibration_fit_points(sim_calibration_fit *fit, const sim_measured_points *points,
                                      const sim_calibration *prior, const sim_calibration_fit_options *options,
                                      const sim_row_pool_options *pool, sim_error *error);

// The calibration as an INI file that `include` takes in, where it came from and what it reaches in comments at its head. False on a write error.
bool sim_calibration_fit_write(const sim_calibration_fit *fit, const char *source, FILE *out);

#endif
