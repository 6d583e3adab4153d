// SPDX-License-Identifier: GPL-3.0-or-later
//
// How many runs a sweep will make and what they will take, from a few that are made for that and forgotten.
#include <stdlib.h>

#include "sim/experiment/sweep/sweep_state.h"

enum { MAX_PROBES = 5, MAX_DRAWN = 16 };

// Mean CPU time of a whole run of these points, which may run.
static sim_status probe(sim_sweep *sweep, const sim_point *const *points, size_t n, double *mean_s, sim_error *error) {
    *mean_s = 0;
    for (size_t i = 0; i < n; i++) {
        const sim_job job = { points[i], 0 };
        sim_job_outcome outcome;
        const sim_status status = sim_job_run(sweep->space, sweep->trials, &job, NULL, &outcome, error);
        if (status) return status;
        *mean_s += outcome.cpu_s / (double)n;
        free(outcome.summary);
    }
    return SIM_OK;
}

// Some of `n` spread over them: the how-manieth the i-th of them is.
static size_t spread(size_t i, size_t n_of_them, size_t n) { return (2 * i + 1) * n / (2 * n_of_them); }

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static sim_status foresee_jobs(sim_sweep *sweep, sim_sweep_forecast *to, sim_error *error) {
    const sim_point *points[MAX_PROBES];
    to->n_runs = sweep->n_jobs;
    to->n_probed = smaller(sweep->n_jobs, MAX_PROBES);
    for (size_t i = 0; i < to->n_probed; i++) points[i] = sweep->jobs[spread(i, to->n_probed, sweep->n_jobs)].point;
    const sim_status status = probe(sweep, points, to->n_probed, &to->cpu_s, error);
    to->cpu_s *= (double)to->n_runs;
    return status;
}

static sim_status foresee_halving(sim_sweep *sweep, sim_sweep_forecast *to, sim_error *error) {
    const sim_design *design = &sweep->design;
    const sim_point *points[MAX_PROBES];
    double n_whole;
    size_t n_feasible = 0, at = 0;
    sim_status status = sim_sweep_foresee_halving(sweep, &to->n_runs, &n_whole, error);
    for (size_t i = 0; i < design->n_points; i++) n_feasible += !design->points[i].reason;
    to->n_probed = smaller(n_feasible, MAX_PROBES);
    for (size_t i = 0, taken = 0; i < design->n_points && taken < to->n_probed; i++) {
        if (design->points[i].reason) continue;
        if (at++ == spread(taken, to->n_probed, n_feasible)) points[taken++] = &design->points[i];
    }
    if (!status) status = probe(sweep, points, to->n_probed, &to->cpu_s, error);
    to->cpu_s *= n_whole;
    return status;
}

// Nothing is laid out: the first of some drawn points that may run stands for all.
static sim_status foresee_bayes(sim_sweep *sweep, sim_sweep_forecast *to, sim_error *error) {
    const size_t n_dimensions = sim_space_n_dimensions(sweep->space), n_keys = sim_space_n_keys(sweep->space);
    double *drawn = sim_design_draw(SIM_SWEEP_LHS, MAX_DRAWN, n_dimensions, sweep->seed);
    sim_status status = drawn ? SIM_OK : sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    to->is_at_most = true;
    to->n_runs = (size_t)(sweep->settings.samples * sweep->settings.repeat);
    for (size_t i = 0; i < MAX_DRAWN && !status && to->n_probed == 0; i++) {
        sim_point point;
        status = sim_space_point(sweep->space, &drawn[i * n_dimensions], &point, error);
        if (status) break;
        const sim_point *points[] = { &point };
        to->n_probed = !point.reason;
        status = probe(sweep, points, to->n_probed, &to->cpu_s, error);
        sim_point_clear(&point, n_keys);
    }
    free(drawn);
    to->cpu_s *= (double)to->n_runs;
    return status;
}

sim_status sim_sweep_foresee(sim_sweep *sweep, sim_sweep_forecast *forecast, sim_error *error) {
    *forecast = (sim_sweep_forecast){ .n_runs = 0 };
    if (!sim_sweep_is_search(&sweep->settings)) return foresee_jobs(sweep, forecast, error);
    const bool is_bayes = sweep->settings.method == SIM_SWEEP_BAYES;
    return is_bayes ? foresee_bayes(sweep, forecast, error) : foresee_halving(sweep, forecast, error);
}
