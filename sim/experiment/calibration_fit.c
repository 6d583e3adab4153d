// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/calibration_fit.h"

#include <gsl/gsl_linalg.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Terms of one kind share a parameter beside their own, so that a kind's bias is learned from all its terms, and a format that few rows have follows the
// others.
typedef enum group { GROUP_GEMM, GROUP_MOE, GROUP_ATTENTION, GROUP_NETWORK, GROUP_SMALL, GROUP_TIME, N_GROUPS } group;

static group group_of(fpm_term term) {
    if (term <= FPM_TERM_GEMM_OTHER) return GROUP_GEMM;
    if (term <= FPM_TERM_MOE_INT) return GROUP_MOE;
    if (term <= FPM_TERM_LINEAR) return GROUP_ATTENTION;
    if (term == FPM_TERM_COLLECTIVE || term == FPM_TERM_LATENCY) return GROUP_NETWORK;
    return term < FPM_TERM_PASS ? GROUP_SMALL : GROUP_TIME;
}

// Parameters: logarithms, of each table of the calibration (in the order of sim_calibration_tables) one for every term and for every group.
enum { TABLE_OF_GENERATIONS = 1, TABLE_OF_BACKENDS = TABLE_OF_GENERATIONS + FPM_GENERATIONS };
enum { N_LEVELS = 3, N_SLOTS = FPM_TERMS + N_GROUPS, MAX_PARAMETERS = SIM_CALIBRATION_TABLES * N_SLOTS };

typedef struct problem {
    const sim_measured_points *points;
    const sim_calibration_fit_options *options;
    const sim_calibration *prior;
    const double *row_weights;                   // of each point; 0 = left out
    int column[SIM_CALIBRATION_TABLES][N_SLOTS]; // among the parameters; -1: no point depends on it
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

// Logarithm of what a table says of a term: its own parameter and its group's.
static double log_factor(const problem *p, const double *x, int table, fpm_term t) {
    const int own = p->column[table][t], shared = p->column[table][FPM_TERMS + group_of(t)];
    return (own >= 0 ? x[own] : 0.0) + (shared >= 0 ? x[shared] : 0.0);
}

static void values_at(const problem *p, const double *x, const int tables[N_LEVELS], double values[FPM_TERMS]) {
    const double *generation = p->prior->generations[tables[1] - TABLE_OF_GENERATIONS].terms;
    const double *backend = p->prior->backends[tables[2] - TABLE_OF_BACKENDS].terms;
    for (int t = 0; t < FPM_TERMS; t++) {
        double log_value = 0.0;
        for (int l = 0; l < N_LEVELS; l++) log_value += log_factor(p, x, tables[l], (fpm_term)t);
        values[t] = p->prior->common.terms[t] * generation[t] * backend[t] * exp(log_value);
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

// Derivatives of the logarithm of a mean by the parameters of its tables, those that are not 0.
typedef struct slopes {
    int columns[N_LEVELS * N_SLOTS];
    double values[N_LEVELS * N_SLOTS];
    size_t n;
} slopes;

static void find_slopes(slopes *s, const problem *p, const double *terms, const double values[FPM_TERMS], double ms,
                        const int tables[N_LEVELS]) {
    double slots[N_SLOTS] = { 0.0 };
    for (int t = 0; t < FPM_TERMS; t++) {
        slots[t] = terms[t] * values[t] / ms;
        slots[FPM_TERMS + group_of((fpm_term)t)] += slots[t];
    }
    s->n = 0;
    for (int l = 0; l < N_LEVELS; l++) {
        for (int slot = 0; slot < N_SLOTS; slot++) {
            if (slots[slot] == 0.0) continue;
            s->columns[s->n] = p->column[tables[l]][slot];
            s->values[s->n++] = slots[slot];
        }
    }
}

// One measured mean under the current parameters.
static void add_residual(problem *p, const double *terms, const double values[FPM_TERMS], const int tables[N_LEVELS],
                         double measured_ms, double scale, double weight) {
    const double ms = predicted_ms(terms, values), residual = log(ms / measured_ms);
    const double sigma = p->options->row_sigma;
    const double pull = weight / (1.0 + residual * residual / (scale * scale)) / (sigma * sigma); // Cauchy
    slopes s;
    find_slopes(&s, p, terms, values, ms, tables);
    for (size_t i = 0; i < s.n; i++) {
        const double pulled = pull * s.values[i];
        *gsl_vector_ptr(p->gradient, (size_t)s.columns[i]) -= pulled * residual;
        double *row = gsl_matrix_ptr(p->normal, (size_t)s.columns[i], 0);
        for (size_t j = 0; j <= i; j++) row[s.columns[j]] += pulled * s.values[j];
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

// The longest component of the step that was wanted. The priors keep the normal equations regular.
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

typedef struct error_list {
    double *tpot, *ttft; // by point; NAN: not measured
} error_list;

static double ape_pct(const double *terms, const double values[FPM_TERMS], double measured_ms) {
    return 100.0 * fabs(predicted_ms(terms, values) / measured_ms - 1.0); // NAN where measured_ms is
}

static void note_errors(error_list *a, const problem *p, const double *x, size_t i) {
    const sim_measured_point *point = &p->points->points[i];
    int tables[N_LEVELS];
    double values[FPM_TERMS];
    tables_of(point, tables);
    values_at(p, x, tables, values);
    a->tpot[i] = ape_pct(point->tpot_terms, values, point->tpot_ms);
    a->ttft[i] = ape_pct(point->ttft_terms, values, point->ttft_ms);
}

// Mean and median of those that are numbers; sorts.
static void mean_and_median(double *values, size_t n, double *mean, double *median) {
    size_t n_numbers = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i])) values[n_numbers++] = values[i];
    gsl_sort(values, 1, n_numbers);
    *mean = n_numbers ? gsl_stats_mean(values, 1, n_numbers) : (double)NAN;
    *median = n_numbers ? gsl_stats_median_from_sorted_data(values, 1, n_numbers) : (double)NAN;
}

static sim_calibration_error summarise(error_list *a, size_t n) {
    sim_calibration_error error;
    mean_and_median(a->tpot, n, &error.tpot_mape_pct, &error.tpot_median_ape_pct);
    mean_and_median(a->ttft, n, &error.ttft_mape_pct, &error.ttft_median_ape_pct);
    return error;
}

static void errors_at(error_list *a, const problem *p, const double *x, sim_calibration_error *error) {
    for (size_t i = 0; i < p->points->n_points; i++) note_errors(a, p, x, i);
    *error = summarise(a, p->points->n_points);
}

// ---------------------------------------------------------------------------------------------------------------------
// Priors and weights
// ---------------------------------------------------------------------------------------------------------------------

sim_calibration_fit_options sim_calibration_fit_defaults(void) {
    return (sim_calibration_fit_options){
        .tpot_scale = 0.2,
        .ttft_scale = 0.15,
        .ttft_weight = 0.25,
        .row_sigma = 0.3,
        .factor_sigma = 0.3,
        .time_sigma = 0.4,
        .factor_group_sigma = 0.15,
        .time_group_sigma = 0.7,
        .generation_sigma = 0.04,
        .generation_group_sigma = 0.08,
        .backend_sigma = 0.05,
        .backend_group_sigma = 0.1,
        .cell_power = 0.6,
    };
}

sim_calibration sim_calibration_prior(void) {
    sim_calibration prior = sim_calibration_default();
    // Of fp8 experts two kernels were measured that differ sevenfold: what the collector timed under vLLM reaches an eighth of the memory bandwidth, TensorRT-LLM's most
    // of it. Engines in service do not keep the slow one (notes/accuracy-findings.md gives 0.45 to 0.65 of the bandwidth for experts), so half its time is the better guess.
    prior.backends[FPM_VLLM].terms[FPM_TERM_MOE_FP8] = 0.45;
    prior.backends[FPM_SGLANG].terms[FPM_TERM_MOE_FP8] = 0.45;
    return prior;
}

static void mark_used(bool used[N_SLOTS], const sim_measured_point *point) {
    for (int t = 0; t < FPM_TERMS; t++)
        if (point->ttft_terms[t] != 0.0 || point->tpot_terms[t] != 0.0)
            used[t] = used[FPM_TERMS + group_of((fpm_term)t)] = true;
}

static double sigma_of(const sim_calibration_fit_options *o, int table, int slot) {
    const bool is_group = slot >= FPM_TERMS;
    if (table >= TABLE_OF_BACKENDS) return is_group ? o->backend_group_sigma : o->backend_sigma;
    if (table >= TABLE_OF_GENERATIONS) return is_group ? o->generation_group_sigma : o->generation_sigma;
    const bool is_time = is_group ? slot - FPM_TERMS == GROUP_TIME : group_of((fpm_term)slot) == GROUP_TIME;
    if (is_time) return is_group ? o->time_group_sigma : o->time_sigma;
    return is_group ? o->factor_group_sigma : o->factor_sigma;
}

// Numbers go by table and slot, so that the columns of a point's slopes ascend.
static void number_parameters(problem *p) {
    bool is_used[SIM_CALIBRATION_TABLES][N_SLOTS] = { { false } };
    for (size_t i = 0; i < p->points->n_points; i++) {
        int tables[N_LEVELS];
        tables_of(&p->points->points[i], tables);
        for (int l = 0; l < N_LEVELS; l++) mark_used(is_used[tables[l]], &p->points->points[i]);
    }
    for (int table = 0; table < SIM_CALIBRATION_TABLES; table++) {
        for (int slot = 0; slot < N_SLOTS; slot++) {
            p->column[table][slot] = is_used[table][slot] ? (int)p->n_parameters : -1;
            if (is_used[table][slot]) p->sigma[p->n_parameters++] = sigma_of(p->options, table, slot);
        }
    }
}

// Weights of rows; those of the cell `left_out` have none (n_cells: nothing is left out).
static void weigh_rows(const sim_measured_points *points, const uint32_t *rows_of_cell, double cell_power,
                       uint32_t left_out, double *weights) {
    const double mean = (double)points->n_points / points->n_cells;
    for (size_t i = 0; i < points->n_points; i++) {
        const uint32_t cell = points->points[i].cell;
        weights[i] = cell == left_out ? 0.0 : pow(rows_of_cell[cell] / mean, -cell_power);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// One fit: to all cells but one
// ---------------------------------------------------------------------------------------------------------------------

typedef struct job {
    problem shared; // without weights and matrices
    uint32_t *rows_of_cell;
    double *x;       // of the fit to everything, where the others start
    error_list apes; // of the left-out cells, by point; NAN where nothing was measured
    sim_calibration_fit *fit;
} job;

static const double FIRST_WIDENING = 8.0, NEXT_WIDENING = 2.0;
enum { FIRST_STEPS = 80, NEXT_STEPS = 12 };

static void free_matrices(problem *p) {
    free((double *)p->row_weights);
    if (p->normal) gsl_matrix_free(p->normal);
    if (p->gradient) gsl_vector_free(p->gradient);
    if (p->step) gsl_vector_free(p->step);
}

static bool make_matrices(problem *p, const uint32_t *rows_of_cell, uint32_t left_out) {
    double *weights = malloc(p->points->n_points * sizeof *weights);
    if (weights) weigh_rows(p->points, rows_of_cell, p->options->cell_power, left_out, weights);
    p->row_weights = weights;
    p->normal = gsl_matrix_alloc(p->n_parameters, p->n_parameters);
    p->gradient = gsl_vector_alloc(p->n_parameters);
    p->step = gsl_vector_alloc(p->n_parameters);
    return weights && p->normal && p->gradient && p->step;
}

// How many parameters the rows determine: the posterior variance of one that they say nothing about is its prior's.
static double effective_parameters(problem *p, const double *x) {
    build(p, x, 1.0);
    gsl_linalg_cholesky_decomp1(p->normal);
    gsl_linalg_cholesky_invert(p->normal);
    double n = 0.0;
    for (size_t i = 0; i < p->n_parameters; i++)
        n += 1.0 - gsl_matrix_get(p->normal, i, i) / (p->sigma[i] * p->sigma[i]);
    return n;
}

// Cell n_cells is none: the fit to everything.
static sim_status fit_without(job *j, uint32_t cell, double *x, sim_error *error) {
    problem p = j->shared;
    sim_status status = SIM_OK;
    if (!make_matrices(&p, j->rows_of_cell, cell)) {
        status = sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    } else if (cell == p.points->n_cells) {
        minimise(&p, x, FIRST_WIDENING, FIRST_STEPS);
        j->fit->effective_parameters = effective_parameters(&p, x);
    } else {
        minimise(&p, x, NEXT_WIDENING, NEXT_STEPS);
    }
    free_matrices(&p);
    return status;
}

static sim_status leave_out(void *self, size_t cell, sim_error *error) {
    job *j = self;
    double x[MAX_PARAMETERS];
    memcpy(x, j->x, sizeof x);
    const sim_status status = fit_without(j, (uint32_t)cell, x, error);
    for (size_t i = 0; !status && i < j->shared.points->n_points; i++)
        if (j->shared.points->points[i].cell == cell) note_errors(&j->apes, &j->shared, x, i);
    return status;
}

// ---------------------------------------------------------------------------------------------------------------------
// All of it
// ---------------------------------------------------------------------------------------------------------------------

// Groups are folded into the terms; what no row depends on follows its group, and stays at its prior without one.
static void conclude(const job *j, const sim_calibration *prior) {
    sim_calibration *c = &j->fit->calibration;
    *c = *prior;
    for (int t = 0; t < FPM_TERMS; t++) {
        const problem *p = &j->shared;
        c->common.terms[t] *= exp(log_factor(p, j->x, 0, (fpm_term)t));
        for (int g = 0; g < FPM_GENERATIONS; g++)
            c->generations[g].terms[t] *= exp(log_factor(p, j->x, TABLE_OF_GENERATIONS + g, (fpm_term)t));
        for (int b = 0; b < FPM_BACKENDS; b++)
            c->backends[b].terms[t] *= exp(log_factor(p, j->x, TABLE_OF_BACKENDS + b, (fpm_term)t));
    }
}

static sim_status fit_all(job *j, const sim_row_pool_options *pool, const sim_calibration *prior, sim_error *error) {
    errors_at(&j->apes, &j->shared, j->x, &j->fit->before);
    sim_status status = fit_without(j, j->shared.points->n_cells, j->x, error);
    if (status) return status;
    errors_at(&j->apes, &j->shared, j->x, &j->fit->training);
    status = sim_row_pool_run(j->shared.points->n_cells, leave_out, j, pool, error);
    if (status) return status;
    j->fit->left_out = summarise(&j->apes, j->shared.points->n_points);
    conclude(j, prior);
    return SIM_OK;
}

static void free_job(job *j) {
    free(j->rows_of_cell);
    free(j->x);
    free(j->apes.tpot);
    free(j->apes.ttft);
}

sim_status sim_calibration_fit_points(sim_calibration_fit *fit, const sim_measured_points *points,
                                      const sim_calibration *prior, const sim_calibration_fit_options *options,
                                      const sim_row_pool_options *pool, sim_error *error) {
    if (points->n_cells < 2)
        return sim_error_set(error, SIM_BAD_DATA, NULL, 0,
                             "a calibration needs rows of at least two cells (model, GPU, engine, number format) that "
                             "can run; there is%s",
                             points->n_cells ? " one" : " none");
    job j = { .shared = { .points = points, .options = options, .prior = prior },
              .rows_of_cell = calloc(points->n_cells, sizeof *j.rows_of_cell),
              .x = calloc(MAX_PARAMETERS, sizeof *j.x),
              .apes = { malloc(points->n_points * sizeof(double)), malloc(points->n_points * sizeof(double)) },
              .fit = fit };
    sim_status status = SIM_OK;
    if (!j.rows_of_cell || !j.x || !j.apes.tpot || !j.apes.ttft) {
        status = sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    } else {
        for (size_t i = 0; i < points->n_points; i++) j.rows_of_cell[points->points[i].cell]++;
        number_parameters(&j.shared);
        fit->n_parameters = j.shared.n_parameters;
        fit->n_points = points->n_points;
        fit->n_cells = points->n_cells;
        status = fit_all(&j, pool, prior, error);
    }
    free_job(&j);
    return status;
}
