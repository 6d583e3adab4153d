// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/sweep/rivals.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/report/outlook.h"

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

sim_status sim_rivals_check(const sim_objectives *objectives, const sim_config *config, sim_error *error) {
    for (size_t i = 0; i < objectives->n; i++) {
        const sim_objective *objective = &objectives->list[i];
        if (sim_outlook_covers(objective->figure, objective->is_smaller_better)) continue;
        return sim_config_contradiction(
            config, error, "sweep", "objective",
            "objective: nothing is known of %s %s before a run ends, so early_stop = dominated cannot judge it (it can "
            "judge latencies, times and costs that shall be small, and rates and attainment that shall be large)",
            objective->is_smaller_better ? "min" : "max", objective->figure);
    }
    return SIM_OK;
}

void sim_rivals_init(sim_rivals *rivals, const sim_objectives *objectives) {
    *rivals = (sim_rivals){ .objectives = *objectives };
}

void sim_rivals_clear(sim_rivals *rivals) {
    free(rivals->list);
    rivals->list = NULL;
    rivals->n = rivals->capacity = 0;
}

// Is `a` at least as good as `b` in every objective, and better in one?
static bool beats(const sim_objectives *objectives, const double *a, const double *b) {
    bool is_better = false;
    for (size_t i = 0; i < objectives->n; i++) {
        if (sim_objective_is_better(&objectives->list[i], b[i], a[i])) return false;
        is_better |= sim_objective_is_better(&objectives->list[i], a[i], b[i]);
    }
    return is_better;
}

static sim_status insert(sim_rivals *rivals, const sim_rival *rival, sim_error *error) {
    size_t n_kept = 0;
    for (size_t i = 0; i < rivals->n; i++)
        if (beats(&rivals->objectives, rivals->list[i].values, rival->values)) return SIM_OK;
    for (size_t i = 0; i < rivals->n; i++)
        if (!beats(&rivals->objectives, rival->values, rivals->list[i].values))
            rivals->list[n_kept++] = rivals->list[i];
    rivals->n = n_kept;
    if (rivals->n == rivals->capacity) {
        const size_t capacity = rivals->capacity ? 2 * rivals->capacity : 16;
        sim_rival *list = realloc(rivals->list, capacity * sizeof *list);
        if (!list) return no_memory(error);
        rivals->list = list;
        rivals->capacity = capacity;
    }
    rivals->list[rivals->n++] = *rival;
    return SIM_OK;
}

// --- from the database ------------------------------------------------------------------------------------------------

typedef struct reading {
    sim_rivals *rivals;
    sim_rival rival; // the point whose runs are being read
    uint32_t n_runs; // of them that are done
    uint32_t n_repeats;
} reading;

static sim_status conclude(reading *in, sim_error *error) {
    bool is_known = in->n_runs == in->n_repeats;
    for (size_t i = 0; i < in->rivals->objectives.n && is_known; i++) is_known = !isnan(in->rival.values[i]);
    return is_known ? insert(in->rivals, &in->rival, error) : SIM_OK;
}

static sim_status take_run(void *self, const sim_results_row *row, sim_error *error) {
    reading *in = self;
    const sim_objectives *objectives = &in->rivals->objectives;
    sim_status status = SIM_OK;
    if (strcmp(in->rival.point, row->texts[0]) != 0) {
        status = conclude(in, error);
        in->n_runs = 0;
        snprintf(in->rival.point, sizeof in->rival.point, "%s", row->texts[0]);
    }
    cJSON *summary = cJSON_Parse(row->texts[1]);
    for (size_t i = 0; i < objectives->n; i++) {
        const double value = sim_objective_value(&objectives->list[i], summary);
        const bool is_worst =
            in->n_runs == 0 || !sim_objective_is_better(&objectives->list[i], value, in->rival.values[i]);
        if (is_worst) in->rival.values[i] = value; // no number is the worst of all
    }
    cJSON_Delete(summary);
    in->n_runs++;
    return status;
}

sim_status sim_rivals_add_round(sim_rivals *rivals, sim_results *results, size_t first, size_t end, uint32_t n_repeats,
                                sim_error *error) {
    reading in = { .rivals = rivals, .n_repeats = n_repeats };
    char sql[400];
    snprintf(sql, sizeof sql,
             "SELECT run.point, run.summary FROM design JOIN run ON run.point = design.point WHERE design.position >= "
             "%zu AND design.position < %zu AND run.repeat < %u AND run.status = 'done' "
             "ORDER BY design.position, run.repeat",
             first, end, n_repeats);
    const sim_status status = sim_results_query(results, sql, take_run, &in, error);
    return status ? status : conclude(&in, error);
}

// --- to another rank --------------------------------------------------------------------------------------------------

char *sim_rivals_pack(const sim_rivals *rivals, size_t *n_bytes) {
    *n_bytes = sizeof *rivals + rivals->n * sizeof *rivals->list;
    char *bytes = malloc(*n_bytes);
    if (!bytes) return NULL;
    memcpy(bytes, rivals, sizeof *rivals);
    if (rivals->n) memcpy(bytes + sizeof *rivals, rivals->list, rivals->n * sizeof *rivals->list);
    return bytes;
}

void sim_rivals_unpack(sim_rivals *rivals, char *bytes) {
    memcpy(rivals, bytes, sizeof *rivals);
    rivals->list = (sim_rival *)(void *)(bytes + sizeof *rivals);
}

// --- a run among them -------------------------------------------------------------------------------------------------

// By the first objective in which the rival is better.
static void give_reason(sim_rivals_watch *watch, const sim_rival *rival, const double *best) {
    const sim_objective *list = watch->rivals->objectives.list;
    size_t i = 0;
    while (!sim_objective_is_better(&list[i], rival->values[i], best[i])) i++;
    snprintf(watch->reason, sizeof watch->reason, "dominated: %s is %.6g at best, %.6g at point %s", list[i].name,
             best[i], rival->values[i], rival->point);
}

static bool is_worthwhile(void *self, const sim_run_facts *facts, double *scratch) {
    sim_rivals_watch *watch = self;
    const sim_rivals *rivals = watch->rivals;
    const sim_objectives *objectives = &rivals->objectives;
    double best[SIM_OBJECTIVES];
    for (size_t i = 0; i < objectives->n && rivals->n; i++) {
        const double value = sim_outlook_best(facts, objectives->list[i].figure, scratch);
        best[i] = sim_objective_per(&objectives->list[i], value, (double)facts->num_gpus,
                                    facts->cluster_config->gpu_hour_price);
    }
    for (size_t r = 0; r < rivals->n; r++) {
        if (!beats(objectives, rivals->list[r].values, best)) continue;
        give_reason(watch, &rivals->list[r], best);
        return false;
    }
    return true;
}

void sim_rivals_watch_init(sim_rivals_watch *watch, const sim_rivals *rivals) {
    *watch = (sim_rivals_watch){ .rivals = rivals, .watch = { is_worthwhile, watch } };
}
