// SPDX-License-Identifier: GPL-3.0-or-later
//
// Methods that choose points by what earlier ones gave, for the first objective. Rounds have fixed sizes and take in all results of the rounds before, so that
// the same points are tried whoever runs them.
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/experiment/sweep/bayes.h"
#include "sim/experiment/sweep/sweep_state.h"
#include "sim/workload/workload.h"

enum { ROUND_POINTS = 4 };

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

// --- scores ----------------------------------------------------------------------------------------------------------

typedef struct scoring {
    const sim_objective *objective;
    double sum;
    size_t n;
} scoring;

static sim_status take_summary(void *self, const sim_results_row *row, sim_error *error) {
    scoring *to = self;
    (void)error;
    cJSON *summary = row->texts[0] ? cJSON_Parse(row->texts[0]) : NULL;
    to->sum += sim_objective_value(to->objective, summary); // NAN of a run without a result
    to->n++;
    cJSON_Delete(summary);
    return SIM_OK;
}

// Mean of the first objective over the repeats, turned so that larger is better; NAN when a run has no result.
static sim_status score_point(sim_sweep *sweep, const char *hash, double *score, sim_error *error) {
    scoring to = { .objective = &sweep->objectives.list[0] };
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT summary FROM run WHERE point = '%s' ORDER BY repeat", hash);
    const sim_status status = sim_results_query(sweep->results, sql, take_summary, &to, error);
    const double mean = to.n ? to.sum / (double)to.n : (double)NAN;
    *score = to.objective->is_smaller_better ? -mean : mean;
    return status;
}

// --- bayes -----------------------------------------------------------------------------------------------------------

// One round: the points into the design, their runs, what came of them.
static sim_status run_round(sim_sweep *sweep, sim_bayes *bayes, const double *positions, size_t n, size_t *n_tried,
                            sim_error *error) {
    size_t at[ROUND_POINTS * 16];
    const size_t n_dimensions = sim_space_n_dimensions(sweep->space);
    sim_status status = SIM_OK;
    for (size_t i = 0; i < n && !status; i++) {
        sim_point point;
        const size_t n_before = sweep->design.n_points;
        status = sim_space_point(sweep->space, &positions[i * n_dimensions], &point, error);
        if (!status) status = sim_sweep_add_point(sweep, &point, &at[i], error);
        if (!status) *n_tried += sweep->design.n_points > n_before && !sweep->design.points[at[i]].reason;
    }
    sim_sweep_clear_jobs(sweep);
    for (size_t i = 0; i < n && !status; i++) {
        bool is_first = true; // of those in this round that mean the same
        for (size_t k = 0; k < i; k++) is_first &= at[k] != at[i];
        if (is_first) status = sim_sweep_add_jobs(sweep, &sweep->design.points[at[i]], error);
    }
    if (!status) status = sim_sweep_run_jobs(sweep, error);
    for (size_t i = 0; i < n && !status; i++) {
        double score;
        status = score_point(sweep, sweep->design.points[at[i]].hash.text, &score, error);
        if (!status) status = sim_bayes_tell(bayes, &positions[i * n_dimensions], score, error);
    }
    return status;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static sim_status search_bayes(sim_sweep *sweep, sim_error *error) {
    const size_t n_dimensions = sim_space_n_dimensions(sweep->space), n_samples = (size_t)sweep->settings.samples;
    const size_t n_first = smaller(smaller(2 * n_dimensions + 2, n_samples), ROUND_POINTS * 16);
    double *positions = malloc(ROUND_POINTS * 16 * n_dimensions * sizeof *positions);
    sim_bayes *bayes = NULL;
    size_t n_tried = 0, n_proposed = 1;
    sim_status status = positions ? sim_bayes_new(&bayes, sweep->space, sweep->seed, error) : no_memory(error);
    for (bool is_first = true; !status && n_tried < n_samples && n_proposed > 0; is_first = false) {
        const size_t n = is_first ? n_first : smaller(ROUND_POINTS, n_samples - n_tried);
        status = sim_bayes_propose(bayes, n, positions, &n_proposed, error);
        if (!status) status = run_round(sweep, bayes, positions, n_proposed, &n_tried, error);
    }
    sim_bayes_free(bayes);
    free(positions);
    return status;
}

// --- halving ---------------------------------------------------------------------------------------------------------

typedef struct entrant {
    const double *position; // in the block of all positions
    double score;
    size_t number; // by which equal scores are ordered
} entrant;

static int by_score(const void *a, const void *b) {
    const entrant *x = a, *y = b;
    if (isnan(x->score) != isnan(y->score)) return isnan(x->score) - isnan(y->score);
    if (x->score != y->score && !isnan(x->score)) return x->score > y->score ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

typedef struct halving {
    sim_sweep *sweep;
    size_t share_key;  // of the space: the key that cuts the workload
    size_t n_requests; // of the whole workload
} halving;

// A point with the first `n_requests` of its requests.
static sim_status cut_point(const halving *in, const double *position, size_t n_requests, sim_point *point,
                            sim_error *error) {
    sim_space *space = in->sweep->space;
    sim_point whole;
    sim_status status = sim_space_point(space, position, &whole, error);
    if (status || whole.reason || n_requests >= in->n_requests) {
        *point = whole;
        return status;
    }
    char text[32];
    const size_t n_keys = sim_space_n_keys(space);
    const char **settings = calloc(n_keys + 1, sizeof *settings);
    snprintf(text, sizeof text, "%zu", n_requests);
    for (size_t k = 0; settings && k < n_keys; k++) settings[k] = sim_point_setting(&whole, k);
    if (settings) settings[in->share_key] = text;
    status = settings ? sim_space_row(space, settings, "(sweep)", 0, point, error) : no_memory(error);
    free(settings);
    sim_point_clear(&whole, n_keys);
    return status;
}

// Every entrant with so many requests; only the whole workload is part of the ranking.
static sim_status run_rung(const halving *in, entrant *entrants, size_t n, size_t n_requests, sim_error *error) {
    sim_sweep *sweep = in->sweep;
    const bool is_last = n_requests >= in->n_requests;
    sim_point *points = calloc(n, sizeof *points);
    size_t *at = calloc(n, sizeof *at), n_made = 0;
    sim_status status = points && at ? SIM_OK : no_memory(error);
    for (; n_made < n && !status; n_made += !status)
        status = cut_point(in, entrants[n_made].position, n_requests, &points[n_made], error);
    for (size_t i = 0; i < n_made && !status && is_last; i++)
        status = sim_sweep_add_point(sweep, &points[i], &at[i], error);
    sim_sweep_clear_jobs(sweep);
    for (size_t i = 0; i < n_made && !status; i++)
        status = sim_sweep_add_jobs(sweep, is_last ? &sweep->design.points[at[i]] : &points[i], error);
    if (!status) status = sim_sweep_run_jobs(sweep, error);
    for (size_t i = 0; i < n_made && !status; i++) {
        const sim_point *point = is_last ? &sweep->design.points[at[i]] : &points[i];
        entrants[i].score = (double)NAN;
        if (!point->reason) status = score_point(sweep, point->hash.text, &entrants[i].score, error);
    }
    for (size_t i = 0; i < n_made && !is_last; i++) sim_point_clear(&points[i], sim_space_n_keys(sweep->space));
    free(points);
    free(at);
    return status;
}

// Rounds of more and more requests for fewer and fewer points.
static sim_status run_rungs(const halving *in, entrant *entrants, size_t n, sim_error *error) {
    const sim_sweep_config *settings = &in->sweep->settings;
    const double keep = (double)settings->keep_one_of;
    sim_status status = SIM_OK;
    for (double share = settings->first_share; !status; share *= keep) {
        const bool is_last = share >= 1 || n == 1;
        const size_t n_requests = is_last ? in->n_requests : (size_t)ceil(share * (double)in->n_requests);
        status = run_rung(in, entrants, n, n_requests, error);
        if (is_last || n_requests >= in->n_requests) break;
        qsort(entrants, n, sizeof *entrants, by_score);
        n = (size_t)ceil((double)n / keep);
    }
    return status;
}

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

// Drawn points, those that mean the same once. *n: how many.
static sim_status draw_entrants(sim_sweep *sweep, const double *positions, entrant *entrants, size_t *n,
                                sim_error *error) {
    const size_t n_drawn = *n, n_dimensions = sim_space_n_dimensions(sweep->space);
    sim_fingerprint *hashes = calloc(n_drawn, sizeof *hashes);
    sim_status status = hashes ? SIM_OK : no_memory(error);
    *n = 0;
    for (size_t i = 0; i < n_drawn && !status; i++) {
        sim_point point;
        const double *position = &positions[i * n_dimensions];
        status = sim_space_point(sweep->space, position, &point, error);
        if (status) break;
        bool is_new = true;
        for (size_t k = 0; k < *n; k++) is_new &= strcmp(hashes[k].text, point.hash.text) != 0;
        if (is_new) {
            hashes[*n] = point.hash;
            entrants[*n] = (entrant){ position, (double)NAN, *n };
            ++*n;
        }
        sim_point_clear(&point, sim_space_n_keys(sweep->space));
    }
    free(hashes);
    return status;
}

static sim_status search_halving(sim_sweep *sweep, sim_error *error) {
    const size_t n_dimensions = sim_space_n_dimensions(sweep->space);
    size_t n = (size_t)sweep->settings.samples;
    halving in = { .sweep = sweep };
    sim_status status = sim_sweep_add_share_key(sweep->space, sweep->config, &in.share_key, error);
    if (!status) status = sim_trial_count_requests(sweep->trials, sweep->config, &in.n_requests, error);
    if (status) return status;
    double *positions = sim_design_draw(SIM_SWEEP_LHS, n, n_dimensions, sweep->seed);
    entrant *entrants = calloc(n, sizeof *entrants);
    if (!positions || !entrants) status = no_memory(error);
    if (!status) status = draw_entrants(sweep, positions, entrants, &n, error);
    if (!status) status = run_rungs(&in, entrants, n, error);
    free(positions);
    free(entrants);
    return status;
}

sim_status sim_sweep_search(sim_sweep *sweep, sim_error *error) {
    return sweep->settings.method == SIM_SWEEP_BAYES ? search_bayes(sweep, error) : search_halving(sweep, error);
}
