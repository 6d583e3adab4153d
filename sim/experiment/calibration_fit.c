// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/calibration_fit.h"

#include <gsl/gsl_linalg.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Parameters: a logarithm per table of the calibration and term; the order is that of sim_calibration_tables.
enum { TABLE_OF_GENERATIONS = 1, TABLE_OF_BACKENDS = TABLE_OF_GENERATIONS + FPM_GENERATIONS };
enum { N_LEVELS = 3, MAX_PARAMETERS = SIM_CALIBRATION_TABLES * FPM_TERMS };

typedef struct problem {
    const sim_measured_points *points;
    const sim_calibration_fit_options *options;
    const fpm_calibration *prior;
    const double *row_weights;                     // of each point; 0 = left out
    int column[SIM_CALIBRATION_TABLES][FPM_TERMS]; // among the parameters; -1: no point depends on it
    double sigma[MAX_PARAMETERS];
    size_t n_parameters;
    gsl_matrix *normal;
    gsl_vector *gradient, *step;
} problem;

// ---------------------------------------------------------------------------------------------------------------------
// The model: logarithms to milliseconds
// ---------------------------------------------------------------------------------------------------------------------

static void tables_of(const sim_measured_point *point, int tables[N_LEVELS]) {
    tables[0] = 0;
    tables[1] = TABLE_OF_GENERATIONS + (int)point->generation;
    tables[2] = TABLE_OF_BACKENDS + (int)point->backend;
}

static void values_at(const problem *p, const double *x, const int tables[N_LEVELS], double values[FPM_TERMS]) {
    for (int t = 0; t < FPM_TERMS; t++) {
        double log_value = 0.0;
        for (int l = 0; l < N_LEVELS; l++)
            if (p->column[tables[l]][t] >= 0) log_value += x[p->column[tables[l]][t]];
        values[t] = p->prior->terms[t] * exp(log_value);
    }
}

static double predicted_ms(const double *terms, const double values[FPM_TERMS]) {
    double ms = 0.0;
    for (int t = 0; t < FPM_TERMS; t++) ms += terms[t] * values[t];
    return ms;
}

// ---------------------------------------------------------------------------------------------------------------------
// Normal equations
// ---------------------------------------------------------------------------------------------------------------------

// One measured mean under the current parameters: weight of the Cauchy loss, derivatives of its logarithm.
static void add_residual(problem *p, const double *terms, const double values[FPM_TERMS], const int tables[N_LEVELS],
                         double measured_ms, double scale, double weight) {
    const double ms = predicted_ms(terms, values), residual = log(ms / measured_ms);
    const double pull =
        weight / (1.0 + residual * residual / (scale * scale)) / (p->options->row_sigma * p->options->row_sigma);
    int columns[N_LEVELS * FPM_TERMS];
    double slopes[N_LEVELS * FPM_TERMS];
    size_t n = 0;
    for (int t = 0; t < FPM_TERMS; t++) {
        if (terms[t] == 0.0) continue;
        for (int l = 0; l < N_LEVELS; l++) {
            columns[n] = p->column[tables[l]][t];
            slopes[n++] = terms[t] * values[t] / ms;
        }
    }
    for (size_t i = 0; i < n; i++) {
        *gsl_vector_ptr(p->gradient, (size_t)columns[i]) -= pull * residual * slopes[i];
        for (size_t j = 0; j < n; j++)
            if (columns[j] <= columns[i])
                *gsl_matrix_ptr(p->normal, (size_t)columns[i], (size_t)columns[j]) += pull * slopes[i] * slopes[j];
    }
}

static void build(problem *p, const double *x, double widening) {
    gsl_matrix_set_zero(p->normal);
    for (size_t i = 0; i < p->n_parameters; i++) {
        const double weight = 1.0 / (p->sigma[i] * p->sigma[i]);
        gsl_matrix_set(p->normal, i, i, weight);
        gsl_vector_set(p->gradient, i, -weight * x[i]);
    }
    for (size_t i = 0; i < p->points->n_points; i++) {
        if (p->row_weights[i] == 0.0) continue;
        const sim_measured_point *point = &p->points->points[i];
        int tables[N_LEVELS];
        double values[FPM_TERMS];
        tables_of(point, tables);
        values_at(p, x, tables, values);
        if (!isnan(point->tpot_ms))
            add_residual(p, point->tpot_terms, values, tables, point->tpot_ms, widening * p->options->tpot_scale,
                         p->row_weights[i]);
        if (!isnan(point->ttft_ms))
            add_residual(p, point->ttft_terms, values, tables, point->ttft_ms, widening * p->options->ttft_scale,
                         p->row_weights[i] * p->options->ttft_weight);
    }
}

// Steps longer than this many log units are cut: far from the minimum the straight line lies.
static const double LONGEST_STEP = 0.5;

// False when the normal equations are singular, which the priors rule out.
static double take_step(problem *p, double *x, double widening) {
    build(p, x, widening);
    gsl_linalg_cholesky_decomp1(p->normal);
    gsl_linalg_cholesky_solve(p->normal, p->gradient, p->step);
    double longest = 0.0;
    for (size_t i = 0; i < p->n_parameters; i++) longest = fmax(longest, fabs(gsl_vector_get(p->step, i)));
    const double cut = longest > LONGEST_STEP ? LONGEST_STEP / longest : 1.0;
    for (size_t i = 0; i < p->n_parameters; i++) x[i] += cut * gsl_vector_get(p->step, i);
    return longest;
}

static void minimise(problem *p, double *x, double first_widening, int n_steps) {
    double widening = first_widening;
    for (int i = 0; i < n_steps; i++) {
        const double longest = take_step(p, x, widening);
        if (widening == 1.0 && longest < 1e-3) break;
        widening = fmax(1.0, 0.8 * widening);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Errors
// ---------------------------------------------------------------------------------------------------------------------

typedef struct apes {
    double *tpot, *ttft;
    size_t n_tpot, n_ttft;
} apes;

static void note_errors(apes *a, const problem *p, const double *x, const sim_measured_point *point) {
    int tables[N_LEVELS];
    double values[FPM_TERMS];
    tables_of(point, tables);
    values_at(p, x, tables, values);
    if (!isnan(point->tpot_ms))
        a->tpot[a->n_tpot++] = 100.0 * fabs(predicted_ms(point->tpot_terms, values) / point->tpot_ms - 1.0);
    if (!isnan(point->ttft_ms))
        a->ttft[a->n_ttft++] = 100.0 * fabs(predicted_ms(point->ttft_terms, values) / point->ttft_ms - 1.0);
}

static sim_calibration_error summarise(apes *a) {
    gsl_sort(a->tpot, 1, a->n_tpot);
    gsl_sort(a->ttft, 1, a->n_ttft);
    const sim_calibration_error error = {
        .tpot_mape_pct = gsl_stats_mean(a->tpot, 1, a->n_tpot),
        .ttft_mape_pct = gsl_stats_mean(a->ttft, 1, a->n_ttft),
        .tpot_median_ape_pct = gsl_stats_median_from_sorted_data(a->tpot, 1, a->n_tpot),
        .ttft_median_ape_pct = gsl_stats_median_from_sorted_data(a->ttft, 1, a->n_ttft),
    };
    a->n_tpot = a->n_ttft = 0;
    return error;
}

static void errors_at(apes *a, const problem *p, const double *x, sim_calibration_error *error) {
    for (size_t i = 0; i < p->points->n_points; i++) note_errors(a, p, x, &p->points->points[i]);
    *error = summarise(a);
}

// ---------------------------------------------------------------------------------------------------------------------
// The fit
// ---------------------------------------------------------------------------------------------------------------------

sim_calibration_fit_options sim_calibration_fit_defaults(void) {
    return (sim_calibration_fit_options){
        .tpot_scale = 0.15,
        .ttft_scale = 0.45,
        .ttft_weight = 0.4,
        .row_sigma = 0.3,
        .factor_sigma = 0.3,
        .time_sigma = 1.0,
        .generation_sigma = 0.12,
        .backend_sigma = 0.12,
        .cell_power = 0.5,
    };
}

static void number_parameters(problem *p) {
    bool is_used[SIM_CALIBRATION_TABLES][FPM_TERMS] = { { false } };
    for (size_t i = 0; i < p->points->n_points; i++) {
        const sim_measured_point *point = &p->points->points[i];
        int tables[N_LEVELS];
        tables_of(point, tables);
        for (int t = 0; t < FPM_TERMS; t++)
            for (int l = 0; l < N_LEVELS; l++)
                if (point->ttft_terms[t] != 0.0 || point->tpot_terms[t] != 0.0) is_used[tables[l]][t] = true;
    }
    for (int table = 0; table < SIM_CALIBRATION_TABLES; table++) {
        for (int t = 0; t < FPM_TERMS; t++) {
            p->column[table][t] = is_used[table][t] ? (int)p->n_parameters : -1;
            if (!is_used[table][t]) continue;
            const sim_calibration_fit_options *o = p->options;
            p->sigma[p->n_parameters++] = table >= TABLE_OF_BACKENDS      ? o->backend_sigma
                                          : table >= TABLE_OF_GENERATIONS ? o->generation_sigma
                                          : t < FPM_TERM_PASS             ? o->factor_sigma
                                                                          : o->time_sigma;
        }
    }
}

// Weights of rows; `left_out` is a cell, or UINT32_MAX.
static void weigh_rows(const sim_measured_points *points, double cell_power, uint32_t left_out, double *weights) {
    const double mean = (double)points->n_points / points->n_cells;
    for (size_t i = 0; i < points->n_points; i++) {
        size_t n = 0;
        for (size_t j = 0; j < points->n_points; j++) n += points->points[j].cell == points->points[i].cell;
        weights[i] = points->points[i].cell == left_out ? 0.0 : pow((double)n / mean, -cell_power);
    }
}

static void fit_all(problem *p, double *x) {
    memset(x, 0, p->n_parameters * sizeof *x);
    minimise(p, x, 8.0, 60);
}
