// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/operator_fit.h"

#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    N_ROUNDS = 6,       // of weights
    N_STEPS = 25,       // of Levenberg-Marquardt between them
    MIN_SAMPLES = 12,   // fewer: no curve of its own
    MAX_SAMPLES = 1000, // of one fit; more add time, not knowledge
};
static const double least_deviation = 0.02; // below it a deviation counts as a square, not as an absolute value
static const double pull = 0.05; // towards where a fit starts, per parameter, as of so many samples' deviations

// One curve and the samples that it must price.
typedef struct problem {
    const sim_operator_sample **samples;
    const fpm_system *systems; // of the samples
    size_t n;
    fpm_operators *operators;
    double *curve;
    const fpm_parameter *parameters;
    size_t n_parameters;
    double start[FPM_CURVE_VALUES]; // on the unbounded scale
    double pull;
} problem;

// ---------------------------------------------------------------------------------------------------------------------
// Limits: value = least x (most / least)^(logistic z)
// ---------------------------------------------------------------------------------------------------------------------

// Parameters that may be 0 have no logarithm there: they begin a millionth of the way up.
static double least(const fpm_parameter *of) { return of->min > 0 ? of->min : of->max * 1e-6; }

static double value_of(const fpm_parameter *of, double z) {
    const double value = least(of) * pow(of->max / least(of), 1 / (1 + exp(-z)));
    return fmin(fmax(value, of->min), of->max);
}

static double scale_of(const fpm_parameter *of, double value) {
    const double part = log(fmax(value, least(of)) / least(of)) / log(of->max / least(of));
    const double inside = fmin(fmax(part, 0.005), 0.995);
    return log(inside / (1 - inside));
}

static void set_curve(const problem *on, const gsl_vector *z) {
    for (size_t i = 0; i < on->n_parameters; i++) on->curve[i] = value_of(&on->parameters[i], gsl_vector_get(z, i));
}

// A kernel cannot be faster than the hardware: samples that are were measured in a cache.
static double deviation(const problem *on, size_t i) {
    on->operators->system = &on->systems[on->samples[i]->system];
    const fpm_price price = sim_sample_price(on->samples[i], on->operators);
    return log(price.ms / fmax(on->samples[i]->ms, price.bound_ms));
}

static int residuals(const gsl_vector *z, void *data, gsl_vector *out) {
    const problem *on = data;
    set_curve(on, z);
    for (size_t i = 0; i < on->n; i++) {
        const double difference = deviation(on, i);
        if (!isfinite(difference)) return GSL_EDOM;
        gsl_vector_set(out, i, difference);
    }
    for (size_t i = 0; i < on->n_parameters; i++)
        gsl_vector_set(out, on->n + i, on->pull * (gsl_vector_get(z, i) - on->start[i]));
    return GSL_SUCCESS;
}

static double total(const problem *on) {
    double sum = 0;
    for (size_t i = 0; i < on->n; i++) sum += fabs(deviation(on, i));
    return sum;
}

// Weights under which squares count as absolute values.
static void renew_weights(const problem *on, gsl_vector *weights) {
    for (size_t i = 0; i < on->n; i++) gsl_vector_set(weights, i, 1 / fmax(fabs(deviation(on, i)), least_deviation));
    for (size_t i = 0; i < on->n_parameters; i++) gsl_vector_set(weights, on->n + i, 1 / least_deviation);
}

static void minimise(const problem *on, gsl_multifit_nlinear_workspace *work, gsl_vector *z, gsl_vector *weights) {
    gsl_multifit_nlinear_fdf function = {
        .f = residuals, .n = on->n + on->n_parameters, .p = on->n_parameters, .params = (void *)(uintptr_t)on
    };
    for (int round = 0; round < N_ROUNDS; round++) {
        set_curve(on, z);
        renew_weights(on, weights);
        int info;
        if (gsl_multifit_nlinear_winit(z, weights, &function, work) != GSL_SUCCESS) break;
        gsl_multifit_nlinear_driver(N_STEPS, 1e-5, 1e-7, 0, NULL, NULL, &info, work);
        gsl_vector_memcpy(z, gsl_multifit_nlinear_position(work));
    }
    set_curve(on, z);
}

// Where fits begin: the curve as it is, and variants of it, since the sum has more than one valley.
enum { N_STARTS = 4 };
static const double start_factors[N_STARTS][2] = {
    { 1, 1 }, { 0.3, 1 }, { 0.7, 0.1 }, { 0.7, 6 }
}; // of shares; of pads

static double start_value(const fpm_parameter *of, double value, int start) {
    const size_t n = strlen(of->name);
    const bool is_share = n > 5 && strcmp(of->name + n - 5, "_frac") == 0;
    if (is_share) return value * start_factors[start][0];
    return of->min > 0 ? value : value * start_factors[start][1];
}

static void solve_from(problem *on, int start, const double *first, gsl_multifit_nlinear_workspace *work, gsl_vector *z,
                       gsl_vector *weights) {
    for (size_t i = 0; i < on->n_parameters; i++) {
        on->start[i] = scale_of(&on->parameters[i], start_value(&on->parameters[i], first[i], start));
        gsl_vector_set(z, i, on->start[i]);
    }
    minimise(on, work, z, weights);
}

static sim_status solve(problem *on, int n_starts, sim_error *error) {
    const size_t p = on->n_parameters;
    gsl_multifit_nlinear_parameters settings = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_workspace *work =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &settings, on->n + p, p);
    gsl_vector *z = gsl_vector_alloc(p), *weights = gsl_vector_alloc(on->n + p);
    sim_status status = SIM_OK;
    if (!work || !z || !weights) {
        status = sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    } else {
        double first[FPM_CURVE_VALUES], best[FPM_CURVE_VALUES];
        memcpy(first, on->curve, p * sizeof *first);
        memcpy(best, first, p * sizeof *best);
        double least_total = total(on);
        for (int start = 0; start < n_starts; start++) {
            solve_from(on, start, first, work, z, weights);
            const double found = total(on);
            if (!(found < least_total)) continue;
            least_total = found;
            memcpy(best, on->curve, p * sizeof *best);
        }
        memcpy(on->curve, best, p * sizeof *best);
    }
    if (work) gsl_multifit_nlinear_free(work);
    if (z) gsl_vector_free(z);
    if (weights) gsl_vector_free(weights);
    return status;
}

// ---------------------------------------------------------------------------------------------------------------------
// Which samples make which curve
// ---------------------------------------------------------------------------------------------------------------------

enum { ALL_SYSTEMS = SIM_MAX_SYSTEMS };

static bool is_of(const sim_operator_sample *sample, size_t system, fpm_family family, int format, int backend) {
    return !sample->is_host_bound && (system == ALL_SYSTEMS || sample->system == system) &&
           sim_sample_family(sample) == family && sample->format == format &&
           (backend == SIM_ALL_BACKENDS || sample->backend == backend);
}

static size_t gather(const sim_sample_set *set, size_t system, fpm_family family, int format, int backend,
                     const sim_operator_sample **samples) {
    size_t n = 0;
    for (size_t i = 0; i < set->n; i++)
        if (is_of(&set->samples[i], system, family, format, backend)) samples[n++] = &set->samples[i];
    return n;
}

static size_t thin_out(const sim_operator_sample **samples, size_t n) {
    if (n <= MAX_SAMPLES) return n;
    for (size_t i = 0; i < MAX_SAMPLES; i++) samples[i] = samples[i * n / MAX_SAMPLES];
    return MAX_SAMPLES;
}

static sim_status fit_curve(sim_operator_curves *curves, const sim_sample_set *set, int backend, fpm_family family,
                            int format, const sim_operator_sample **samples, size_t n, sim_error *error) {
    const int n_starts = backend == SIM_ALL_BACKENDS ? N_STARTS : 2;
    n = thin_out(samples, n);
    problem on = { .samples = samples,
                   .systems = set->systems,
                   .n = n,
                   .operators = &curves->operators[backend],
                   .curve = curves->operators[backend].curves[family][format].values,
                   .pull = pull };
    on.parameters = fpm_family_parameters(family, &on.n_parameters);
    curves->is_given[backend][family][format] = true;
    return solve(&on, n_starts, error);
}

// Where nothing special was measured, the usual kernel serves.
static fpm_family usual_family(fpm_family family) {
    if (family == FPM_FAMILY_SPECIAL_PREFILL) return FPM_FAMILY_ATTENTION_PREFILL;
    return family == FPM_FAMILY_SPECIAL_DECODE ? FPM_FAMILY_ATTENTION_DECODE : family;
}

static void begin_as_usual(sim_operator_curves *curves, fpm_family family, int format) {
    const fpm_family usual = usual_family(family);
    if (usual == family) return;
    for (int set = 0; set < SIM_CURVE_SETS; set++) {
        curves->operators[set].curves[family][format] = curves->operators[set].curves[usual][format];
        curves->is_given[set][family][format] = curves->is_given[set][usual][format];
    }
}

static sim_status fit_family(sim_operator_curves *curves, const sim_sample_set *set, size_t system, fpm_family family,
                             int format, const sim_operator_sample **samples, sim_error *error) {
    size_t n = gather(set, system, family, format, SIM_ALL_BACKENDS, samples);
    begin_as_usual(curves, family, format);
    if (n < MIN_SAMPLES) return SIM_OK;
    const size_t n_all = n;
    sim_status status = fit_curve(curves, set, SIM_ALL_BACKENDS, family, format, samples, n, error);
    const fpm_curve *common = &curves->operators[SIM_ALL_BACKENDS].curves[family][format];
    for (int backend = 0; backend < FPM_BACKENDS && status == SIM_OK; backend++) {
        curves->operators[backend].curves[family][format] = *common;
        if (system == ALL_SYSTEMS) continue; // engines differ by what they do on one GPU
        n = gather(set, system, family, format, backend, samples);
        if (n < MIN_SAMPLES || n == n_all) continue;
        status = fit_curve(curves, set, backend, family, format, samples, n, error);
    }
    return status;
}

static sim_status fit(sim_operator_curves *curves, const sim_sample_set *set, size_t system, sim_error *error) {
    const sim_operator_sample **samples = malloc((set->n + 1) * sizeof *samples);
    if (!samples) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    sim_status status = SIM_OK;
    // The indexer's samples are modules, whose other kernels must have their curves first: hence the order of the list of families.
    for (int family = 0; family < FPM_FAMILIES && status == SIM_OK; family++)
        for (int format = 0; format < FPM_FORMATS && status == SIM_OK; format++)
            if (fpm_family_has_format((fpm_family)family, format))
                status = fit_family(curves, set, system, (fpm_family)family, format, samples, error);
    free(samples);
    return status;
}

sim_status sim_operator_fit(sim_operator_curves *curves, const sim_sample_set *set, size_t system, sim_error *error) {
    return fit(curves, set, system, error);
}

sim_status sim_operator_fit_typical(sim_operator_curves *curves, const sim_sample_set *set, sim_error *error) {
    const fpm_system *system = curves->operators[0].system;
    const sim_status status = fit(curves, set, ALL_SYSTEMS, error);
    for (int i = 0; i < SIM_CURVE_SETS; i++) curves->operators[i].system = system;
    return status;
}
