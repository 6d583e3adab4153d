// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/sweep/standings.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct reading {
    sim_standings *standings;
    const sim_objectives *objectives;
    double (*squares)[SIM_OBJECTIVES]; // of each standing, around its running mean (Welford)
    size_t capacity;
} reading;

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

static const char *text_of(const sim_results_row *row, const char *name) {
    for (size_t i = 0; i < row->n; i++)
        if (strcmp(row->names[i], name) == 0) return row->texts[i];
    return NULL;
}

static sim_standing *grow(reading *in) {
    sim_standings *all = in->standings;
    if (all->n == in->capacity) {
        const size_t capacity = in->capacity ? 2 * in->capacity : 64;
        sim_standing *list = realloc(all->list, capacity * sizeof *list);
        if (list) all->list = list;
        double(*squares)[SIM_OBJECTIVES] = realloc(in->squares, capacity * sizeof *squares);
        if (squares) in->squares = squares;
        if (!list || !squares) return NULL;
        in->capacity = capacity;
    }
    memset(in->squares[all->n], 0, sizeof in->squares[all->n]);
    all->list[all->n] = (sim_standing){ .n_runs = 0 };
    return &all->list[all->n++];
}

static char *copy(const char *text) { return text ? strdup(text) : NULL; }

// Rows come point by point.
static sim_standing *standing_of(reading *in, const sim_results_row *row) {
    sim_standings *all = in->standings;
    const char *hash = text_of(row, "point");
    if (all->n && strcmp(all->list[all->n - 1].hash, hash) == 0) return &all->list[all->n - 1];
    sim_standing *made = grow(in);
    if (!made) return NULL;
    made->hash = copy(hash);
    made->status = copy("done");
    made->keys = calloc(all->n_keys + 1, sizeof *made->keys);
    for (size_t k = 0; made->keys && k < all->n_keys; k++) made->keys[k] = copy(row->texts[k]);
    return made->hash && made->status && made->keys ? made : NULL;
}

static sim_status take_run(void *self, const sim_results_row *row, sim_error *error) {
    reading *in = self;
    sim_standing *standing = standing_of(in, row);
    if (!standing) return no_memory(error);
    const char *status = text_of(row, "status");
    if (strcmp(status, "done") != 0) {
        if (strcmp(standing->status, "done") != 0) return SIM_OK;
        free(standing->status);
        standing->status = copy(status);
        standing->reason = copy(text_of(row, "reason"));
        return standing->status ? SIM_OK : no_memory(error);
    }
    double *squares = in->squares[standing - in->standings->list];
    standing->n_runs++;
    for (size_t i = 0; i < in->objectives->n; i++) {
        const char *text = text_of(row, in->objectives->list[i].name);
        const double value = text ? strtod(text, NULL) : (double)NAN;
        const double before = value - standing->mean[i];
        standing->mean[i] += before / (double)standing->n_runs;
        squares[i] += before * (value - standing->mean[i]);
    }
    return SIM_OK;
}

static void conclude(reading *in, double confidence) {
    for (size_t s = 0; s < in->standings->n; s++) {
        sim_standing *standing = &in->standings->list[s];
        const double n = (double)standing->n_runs;
        for (size_t i = 0; i < in->objectives->n; i++) {
            if (standing->n_runs == 0) standing->mean[i] = (double)NAN;
            standing->half_width[i] =
                n < 2 ? (double)NAN
                      : gsl_cdf_tdist_Pinv(0.5 + confidence / 2, n - 1) * sqrt(in->squares[s][i] / (n - 1) / n);
        }
    }
}

static int compare(const void *a, const void *b, void *context) {
    const sim_standing *x = a, *y = b;
    const sim_objectives *objectives = context;
    const int x_open = strcmp(x->status, "done") != 0, y_open = strcmp(y->status, "done") != 0;
    if (x_open != y_open) return x_open - y_open;
    for (size_t i = 0; i < objectives->n; i++) {
        if (sim_objective_is_better(&objectives->list[i], x->mean[i], y->mean[i])) return -1;
        if (sim_objective_is_better(&objectives->list[i], y->mean[i], x->mean[i])) return 1;
    }
    return strcmp(x->hash, y->hash);
}

sim_status sim_standings_read(sim_standings *standings, sim_results *results, size_t n_keys,
                              const sim_objectives *objectives, double confidence, sim_error *error) {
    *standings = (sim_standings){ .n_keys = n_keys };
    reading in = { .standings = standings, .objectives = objectives };
    const sim_status status =
        sim_results_query(results, "SELECT * FROM ranking ORDER BY point, repeat", take_run, &in, error);
    if (!status) {
        conclude(&in, confidence);
        if (standings->n)
            qsort_r(standings->list, standings->n, sizeof *standings->list, compare, (void *)(uintptr_t)objectives);
    }
    free(in.squares);
    if (status) sim_standings_clear(standings);
    return status;
}

void sim_standings_clear(sim_standings *standings) {
    for (size_t s = 0; s < standings->n; s++) {
        sim_standing *standing = &standings->list[s];
        for (size_t k = 0; standing->keys && k < standings->n_keys; k++) free(standing->keys[k]);
        free(standing->keys);
        free(standing->hash);
        free(standing->status);
        free(standing->reason);
    }
    free(standings->list);
    *standings = (sim_standings){ .n = 0 };
}
