// SPDX-License-Identifier: GPL-3.0-or-later
//
// Searches for the best point by the first objective: how they score a point, and method bayes, which chooses points by what earlier ones gave. Rounds have fixed
// sizes and take in all results of the rounds before, so that the same points are tried whoever runs them.
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>

#include "sim/experiment/sweep/bayes.h"
#include "sim/experiment/sweep/sweep_state.h"

enum { ROUND_POINTS = 4, MAX_FRUITLESS_ROUNDS = 16 };

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

sim_status sim_sweep_score(sim_sweep *sweep, const char *hash, double *score, sim_error *error) {
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
        status = sim_sweep_score(sweep, sweep->design.points[at[i]].hash.text, &score, error);
        if (!status) status = sim_bayes_tell(bayes, &positions[i * n_dimensions], score, error);
    }
    return status;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

// Fewer samples than asked for are told.
static void warn_of_end(const sim_sweep *sweep, size_t n_tried, bool is_exhausted) {
    char line[160];
    if (!sweep->options->warn || n_tried >= (size_t)sweep->settings.samples) return;
    snprintf(line, sizeof line, "%zu of %lld samples: %s", n_tried, (long long)sweep->settings.samples,
             is_exhausted ? "the domains have no other point that can run"
                          : "no other point that can run turned up among the last that were looked at");
    sweep->options->warn(line);
}

// Round by round, until all samples are tried, or there is nothing left to try, or rounds no longer find a point that can run.
static sim_status run_bayes(sim_sweep *sweep, sim_bayes *bayes, double *positions, sim_error *error) {
    const size_t n_dimensions = sim_space_n_dimensions(sweep->space), n_samples = (size_t)sweep->settings.samples;
    size_t n = smaller(smaller(2 * n_dimensions + 2, n_samples), ROUND_POINTS * 16);
    size_t n_tried = 0, n_proposed = 1, n_fruitless = 0;
    sim_status status = SIM_OK;
    while (!status && n_tried < n_samples && n_proposed > 0 && n_fruitless < MAX_FRUITLESS_ROUNDS) {
        const size_t n_before = n_tried;
        status = sim_bayes_propose(bayes, n, positions, &n_proposed, error);
        if (!status) status = run_round(sweep, bayes, positions, n_proposed, &n_tried, error);
        n_fruitless = n_tried > n_before ? 0 : n_fruitless + 1;
        n = smaller(ROUND_POINTS, n_samples - n_tried);
    }
    if (!status) warn_of_end(sweep, n_tried, n_proposed == 0);
    return status;
}

static sim_status search_bayes(sim_sweep *sweep, sim_error *error) {
    double *positions = malloc(ROUND_POINTS * 16 * sim_space_n_dimensions(sweep->space) * sizeof *positions);
    sim_bayes *bayes = NULL;
    sim_status status = positions ? sim_bayes_new(&bayes, sweep->space, sweep->seed, error) : no_memory(error);
    if (!status) status = run_bayes(sweep, bayes, positions, error);
    sim_bayes_free(bayes);
    free(positions);
    return status;
}

sim_status sim_sweep_search(sim_sweep *sweep, sim_error *error) {
    return sweep->settings.method == SIM_SWEEP_BAYES ? search_bayes(sweep, error) : sim_sweep_halve(sweep, error);
}
