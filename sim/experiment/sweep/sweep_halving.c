// SPDX-License-Identifier: GPL-3.0-or-later
//
// Method halving: all points of the design with the first of their requests, then the better ones with more, in rungs up to the last, which has the whole workload.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/experiment/sweep/sweep_state.h"
#include "sim/workload/workload.h"

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

sim_status sim_sweep_add_share_key(sim_space *space, const sim_config *config, size_t *share_key, sim_error *error) {
    sim_workload_config workload;
    sim_config_fill(config, &sim_workload_keys, &workload);
    const char *key = workload.source == SIM_SOURCE_TRACE ? "workload.limit" : "workload.requests";
    *share_key = sim_space_n_keys(space);
    for (size_t k = 0; k < *share_key; k++)
        if (strncmp(sim_space_key(space, k), "workload.", strlen("workload.")) == 0)
            return sim_config_contradiction(config, error, "sweep", "method",
                                            "method = halving shortens the workload itself and cannot vary %s",
                                            sim_space_key(space, k));
    return sim_space_add_key(space, key, NULL, 0, error);
}

// --- rungs -----------------------------------------------------------------------------------------------------------

typedef struct rung {
    size_t n_points;
    double share;      // of the requests
    size_t n_requests; // which that is
    bool is_last;
} rung;

// `share` of 1 or more, or of a single point: all requests.
static rung rung_of(size_t n_points, double share, size_t n_all) {
    const double n_requests = ceil(share * (double)n_all * (1 - 1e-12)); // 0.1 x 3 of 200 are 60
    const bool is_last = n_points == 1 || n_requests >= (double)n_all;
    return (rung){ n_points, share, is_last ? n_all : (size_t)n_requests, is_last };
}

static rung next_rung(const sim_sweep_config *settings, const rung *before, size_t n_all) {
    const double keep = (double)settings->keep_one_of;
    return rung_of((size_t)ceil((double)before->n_points / keep), before->share * keep, n_all);
}

static size_t n_feasible(const sim_design *design) {
    size_t n = 0;
    for (size_t i = 0; i < design->n_points; i++) n += !design->points[i].reason;
    return n;
}

sim_status sim_sweep_foresee_halving(const sim_sweep *sweep, size_t *n_runs, double *n_whole, sim_error *error) {
    size_t n_all;
    *n_runs = 0;
    *n_whole = 0;
    const sim_status status = sim_trial_count_requests(sweep->trials, sweep->config, &n_all, error);
    if (status || n_feasible(&sweep->design) == 0) return status;
    rung at = rung_of(n_feasible(&sweep->design), sweep->settings.first_share, n_all);
    for (;; at = next_rung(&sweep->settings, &at, n_all)) {
        const size_t n_here = at.n_points * (size_t)sweep->settings.repeat;
        *n_runs += n_here;
        *n_whole += (double)n_here * (double)at.n_requests / fmax((double)n_all, 1);
        if (at.is_last) return SIM_OK;
    }
}

// --- the search ------------------------------------------------------------------------------------------------------

typedef struct entrant {
    size_t position; // in the design, by which equal scores are ordered
    double score;
} entrant;

static int by_score(const void *a, const void *b) {
    const entrant *x = a, *y = b;
    if (isnan(x->score) != isnan(y->score)) return isnan(x->score) - isnan(y->score);
    if (x->score != y->score && !isnan(x->score)) return x->score > y->score ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

// A point with the first `n_requests` of its requests.
static sim_status cut_point(const sim_sweep *sweep, const sim_point *whole, size_t n_requests, sim_point *point,
                            sim_error *error) {
    char text[32];
    const size_t n_keys = sim_space_n_keys(sweep->space);
    const char **settings = calloc(n_keys + 1, sizeof *settings);
    if (!settings) return no_memory(error);
    snprintf(text, sizeof text, "%zu", n_requests);
    for (size_t k = 0; k < n_keys; k++) settings[k] = sim_point_setting(whole, k);
    settings[sweep->share_key] = text;
    const sim_status status = sim_space_row(sweep->space, settings, "(sweep)", 0, point, error);
    free(settings);
    return status;
}

// These points, whole or cut, and what came of them.
static sim_status run_points(sim_sweep *sweep, const sim_point *const *points, entrant *entrants, size_t n,
                             sim_error *error) {
    sim_status status = SIM_OK;
    sim_sweep_clear_jobs(sweep);
    for (size_t i = 0; i < n && !status; i++) status = sim_sweep_add_jobs(sweep, points[i], error);
    if (!status) status = sim_sweep_run_jobs(sweep, error);
    for (size_t i = 0; i < n && !status; i++)
        status = sim_sweep_score(sweep, points[i]->hash.text, &entrants[i].score, error);
    return status;
}

static sim_status run_rung(sim_sweep *sweep, const rung *at, entrant *entrants, sim_error *error) {
    const size_t n = at->n_points;
    sim_point *cut = calloc(n, sizeof *cut);
    const sim_point **points = calloc(n, sizeof *points);
    sim_status status = cut && points ? SIM_OK : no_memory(error);
    for (size_t i = 0; i < n && !status; i++) {
        const sim_point *whole = &sweep->design.points[entrants[i].position];
        points[i] = at->is_last ? whole : &cut[i];
        if (!at->is_last) status = cut_point(sweep, whole, at->n_requests, &cut[i], error);
    }
    if (!status) status = run_points(sweep, points, entrants, n, error);
    for (size_t i = 0; i < n && cut; i++) sim_point_clear(&cut[i], sim_space_n_keys(sweep->space));
    free(cut);
    free(points);
    return status;
}

// Those that do not go on are in the ranking with the reason.
static sim_status drop(sim_sweep *sweep, const entrant *entrants, size_t n, size_t n_requests, size_t n_all,
                       sim_error *error) {
    char reason[120];
    snprintf(reason, sizeof reason, "out of the search after the first %zu of %zu requests", n_requests, n_all);
    sim_status status = sim_results_transaction(sweep->results, true, error);
    for (size_t i = 0; i < n && !status; i++) status = sim_sweep_give_up(sweep, entrants[i].position, reason, error);
    return status ? status : sim_results_transaction(sweep->results, false, error);
}

static sim_status climb(sim_sweep *sweep, entrant *entrants, size_t n, size_t n_all, sim_error *error) {
    rung at = rung_of(n, sweep->settings.first_share, n_all);
    for (;;) {
        sim_status status = run_rung(sweep, &at, entrants, error);
        if (status || at.is_last) return status;
        const rung next = next_rung(&sweep->settings, &at, n_all);
        qsort(entrants, at.n_points, sizeof *entrants, by_score);
        status = drop(sweep, &entrants[next.n_points], at.n_points - next.n_points, at.n_requests, n_all, error);
        if (status) return status;
        at = next;
    }
}

sim_status sim_sweep_halve(sim_sweep *sweep, sim_error *error) {
    const sim_design *design = &sweep->design;
    size_t n = 0, n_all;
    sim_status status = sim_trial_count_requests(sweep->trials, sweep->config, &n_all, error);
    if (status || n_feasible(design) == 0) return status;
    entrant *entrants = calloc(n_feasible(design), sizeof *entrants);
    if (!entrants) return no_memory(error);
    for (size_t i = 0; i < design->n_points; i++)
        if (!design->points[i].reason) entrants[n++] = (entrant){ i, (double)NAN };
    status = climb(sweep, entrants, n, n_all, error);
    free(entrants);
    return status;
}
