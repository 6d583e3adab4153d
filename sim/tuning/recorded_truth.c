// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/recorded_truth.h"

#include <math.h>
#include <stdlib.h>

#include "sim/tuning/exact_match.h"
#include "sim/tuning/measures.h"
#include "sim/tuning/nearest_passes.h"

typedef struct recorded {
    const sim_truth_config *config;
    sim_recorded_log log;
    sim_exact_match *exact;
    sim_nearest_passes *nearest[SIM_N_KINDS];
    uint32_t *features; // of the pass asked for
    sim_recorded_counts counts;
} recorded;

// --- asking -----------------------------------------------------------------------------------------------------------

static double interpolate(const recorded *r, const sim_neighbour *found, size_t n) {
    if (found[0].distance <= 0) return r->log.passes[found[0].pass].wall_s;
    double sum = 0, weights = 0;
    for (size_t i = 0; i < n; i++) {
        const double nearness = found[0].distance / found[i].distance, weight = nearness * nearness;
        sum += weight * log(r->log.passes[found[i].pass].wall_s);
        weights += weight;
    }
    return exp(sum / weights);
}

static sim_status refuse(const recorded *r, const sim_truth_query *query, bool has_kind, sim_error *error) {
    const char *kind = fpm_kind_name(query->kind);
    if (!has_kind)
        return sim_error_set(
            error, SIM_BAD_DATA, r->config->path, 0,
            "no %s pass is recorded, but one is simulated (a log of more load, or truth.out_of_range = "
            "estimator)",
            kind);
    return sim_error_set(error, SIM_BAD_DATA, r->config->path, 0,
                         "%s pass %llu of worker %u is out of the range of what is recorded (truth.out_of_range = "
                         "nearest or estimator)",
                         kind, (unsigned long long)query->ranks[0].counter_id, query->worker);
}

// No recorded pass is the same.
static sim_status answer_nearby(recorded *r, const sim_truth_query *query, sim_truth_answer *answer, sim_error *error) {
    const sim_nearest_passes *nearest = r->nearest[query->kind - FPM_PREFILL];
    double place[SIM_RANK_FEATURES];
    sim_neighbour found[SIM_NEIGHBOURS];
    sim_pass_place(r->features, query->n_ranks, place);
    const size_t n = sim_nearest_passes_find(nearest, place, found);
    const bool is_in_range = sim_nearest_passes_contain(nearest, place);
    if (is_in_range) {
        r->counts.n_interpolated++;
        answer->wall_s = interpolate(r, found, n);
    } else if (r->config->out_of_range == SIM_RANGE_ESTIMATOR) {
        r->counts.n_estimated++;
        answer->wall_s = query->base_ms / 1e3;
    } else if (r->config->out_of_range == SIM_RANGE_NEAREST && n > 0) {
        r->counts.n_nearest++;
        answer->wall_s = r->log.passes[found[0].pass].wall_s;
    } else {
        return refuse(r, query, n > 0, error);
    }
    return SIM_OK;
}

static sim_status ask(void *state, const sim_truth_query *query, sim_truth_answer *answer, sim_error *error) {
    recorded *r = state;
    size_t pass;
    *answer = (sim_truth_answer){ .noiseless_ms = SIM_NO_ESTIMATE };
    for (size_t i = 0; i < query->n_ranks; i++)
        sim_rank_features(&query->ranks[i], &r->features[i * SIM_RANK_FEATURES]);
    if (!sim_exact_match_take(r->exact, r->features, (uint32_t)query->n_ranks, query->worker, &pass))
        return answer_nearby(r, query, answer, error);
    r->counts.n_exact++;
    answer->wall_s = r->log.passes[pass].wall_s;
    return SIM_OK;
}

// --- life -------------------------------------------------------------------------------------------------------------

static void free_recorded(void *state) {
    recorded *r = state;
    for (size_t k = 0; k < SIM_N_KINDS; k++) sim_nearest_passes_free(r->nearest[k]);
    sim_exact_match_free(r->exact);
    sim_recorded_log_clear(&r->log);
    free(r->features);
    free(r);
}

static const sim_truth_ops ops = { ask, free_recorded };

static bool index_log(recorded *r, uint32_t n_ranks) {
    r->features = malloc(n_ranks * SIM_RANK_FEATURES * sizeof *r->features);
    r->exact = sim_exact_match_new(&r->log);
    bool has_all = r->features && r->exact;
    for (unsigned k = 0; k < SIM_N_KINDS && has_all; k++) {
        r->nearest[k] = sim_nearest_passes_new(&r->log, (fpm_kind)(FPM_PREFILL + k));
        has_all = r->nearest[k] != NULL;
    }
    return has_all;
}

sim_status sim_recorded_truth_new(sim_truth *truth, const sim_truth_config *config, uint32_t n_ranks,
                                  sim_error *error) {
    recorded *r = calloc(1, sizeof *r);
    if (!r) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    r->config = config;
    sim_status status = sim_recorded_log_load(&r->log, config->path, error);
    if (!status && !index_log(r, n_ranks)) status = sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    if (status) {
        free_recorded(r);
        return status;
    }
    r->counts.n_recorded = r->log.n_passes;
    r->counts.n_unmeasured = r->log.n_unmeasured;
    r->counts.n_disagreeing = r->log.n_disagreeing;
    *truth = (sim_truth){ &ops, r };
    return SIM_OK;
}

sim_recorded_counts sim_recorded_truth_counts(const sim_truth *truth) {
    return ((const recorded *)truth->state)->counts;
}
