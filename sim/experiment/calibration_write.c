// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>

#include "sim/experiment/calibration_fit.h"

static bool write_error(const char *what, const sim_calibration_error *error, FILE *out) {
    bool is_well = fprintf(out, ";   %-38s", what) >= 0;
    if (!isnan(error->tpot_mape_pct))
        is_well = fprintf(out, " TPOT %5.1f %% (median %.1f)", error->tpot_mape_pct, error->tpot_median_ape_pct) >= 0 &&
                  is_well;
    if (!isnan(error->ttft_mape_pct))
        is_well = fprintf(out, " TTFT %5.1f %% (median %.1f)", error->ttft_mape_pct, error->ttft_median_ape_pct) >= 0 &&
                  is_well;
    return fputc('\n', out) >= 0 && is_well;
}

bool sim_calibration_fit_write(const sim_calibration_fit *fit, const char *source, FILE *out) {
    bool is_well = fprintf(out,
                           "; Calibration of the native forward-pass model, written by\n"
                           ";   forepass accuracy %s --calibrate\n"
                           "; from %zu measured serving runs of %u cells (model, GPU, engine, number format); %zu "
                           "parameters,\n; shrunk to an effective %.0f.\n"
                           "; Mean absolute percentage errors:\n",
                           source, fit->n_points, fit->n_cells, fit->n_parameters, fit->effective_parameters) >= 0;
    is_well = write_error("before", &fit->before, out) && is_well;
    is_well = write_error("as fitted", &fit->training, out) && is_well;
    is_well = write_error("each cell by a fit to the others", &fit->left_out, out) && is_well;
    sim_calibration stated = fit->calibration;
    stated.error.ttft_mape_pct = isnan(fit->left_out.ttft_mape_pct) ? 0 : fit->left_out.ttft_mape_pct;
    stated.error.tpot_mape_pct = isnan(fit->left_out.tpot_mape_pct) ? 0 : fit->left_out.tpot_mape_pct;
    return sim_calibration_write(&stated, out) && is_well;
}
