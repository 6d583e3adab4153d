// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/learner.h"

#include <stdlib.h>
#include <string.h>

struct sim_learner {
    fpm_model *model;
    const sim_tuning_config *tuning;
    uint64_t n_taken; // shown or waiting
    bool is_frozen;
    // what waits; nothing of it exists with update_every = 1
    fpm_iteration *iterations; // update_every of them; `ranks` are found when they are shown, as the pool may move
    double *base_ms;           // of each
    size_t n_iterations;
    fpm_metrics *ranks; // of all of them
    size_t n_ranks, rank_capacity;
};

static bool init(sim_learner *learner) {
    if (learner->tuning->update_every == 1) return true;
    const size_t n = (size_t)learner->tuning->update_every;
    learner->iterations = calloc(n, sizeof *learner->iterations);
    learner->base_ms = calloc(n, sizeof *learner->base_ms);
    return learner->iterations && learner->base_ms;
}

sim_status sim_learner_new(sim_learner **learner, fpm_model *model, const sim_tuning_config *tuning, sim_error *error) {
    sim_learner *made = calloc(1, sizeof *made);
    if (!made) {
        fpm_model_free(model);
    } else {
        *made = (sim_learner){ .model = model, .tuning = tuning };
        if (init(made)) {
            *learner = made;
            return SIM_OK;
        }
        sim_learner_free(made);
    }
    return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
}

void sim_learner_free(sim_learner *learner) {
    if (!learner) return;
    fpm_model_free(learner->model);
    free(learner->iterations);
    free(learner->base_ms);
    free(learner->ranks);
    free(learner);
}

const fpm_model *sim_learner_model(const sim_learner *learner) { return learner->model; }

static sim_status show(sim_learner *learner, const fpm_iteration *iterations, const double *base_ms, size_t n,
                       sim_error *error) {
    fpm_error reason;
    const fpm_status status = fpm_model_tune_priced(learner->model, iterations, base_ms, n, &reason);
    if (!status) return SIM_OK;
    return sim_error_set(error, status == FPM_NO_MEMORY ? SIM_NO_MEMORY : SIM_INTERNAL, NULL, 0,
                         "learning from a pass: %s", reason.message);
}

static bool reserve(sim_learner *learner, size_t n) {
    const size_t wanted = learner->n_ranks + n;
    if (wanted <= learner->rank_capacity) return true;
    const size_t capacity = wanted > 2 * learner->rank_capacity ? wanted : 2 * learner->rank_capacity;
    fpm_metrics *grown = realloc(learner->ranks, capacity * sizeof *grown);
    if (!grown) return false;
    learner->ranks = grown;
    learner->rank_capacity = capacity;
    return true;
}

static sim_status show_waiting(sim_learner *learner, sim_error *error) {
    const size_t n = learner->n_iterations;
    const fpm_metrics *at = learner->ranks;
    for (size_t i = 0; i < n; i++) {
        learner->iterations[i].ranks = at;
        at += learner->iterations[i].n_ranks;
    }
    learner->n_iterations = learner->n_ranks = 0;
    return show(learner, learner->iterations, learner->base_ms, n, error);
}

static sim_status wait(sim_learner *learner, const fpm_metrics *ranks, size_t n_ranks, double base_ms,
                       sim_error *error) {
    if (!reserve(learner, n_ranks)) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    for (size_t i = 0; i < n_ranks; i++) {
        learner->ranks[learner->n_ranks + i] = ranks[i];
        learner->ranks[learner->n_ranks + i].worker_id = NULL; // may be gone by then, and nobody learns from it
    }
    learner->n_ranks += n_ranks;
    learner->base_ms[learner->n_iterations] = base_ms;
    learner->iterations[learner->n_iterations++].n_ranks = n_ranks;
    return learner->n_iterations == (size_t)learner->tuning->update_every ? show_waiting(learner, error) : SIM_OK;
}

sim_status sim_learner_take(sim_learner *learner, int64_t now_ns, const fpm_metrics *ranks, size_t n_ranks,
                            double base_ms, sim_error *error) {
    const sim_freeze *freeze = &learner->tuning->freeze_after;
    learner->is_frozen |= (freeze->passes > 0 && learner->n_taken >= freeze->passes) ||
                          (freeze->time_ns > 0 && now_ns >= freeze->time_ns);
    if (learner->is_frozen) return SIM_OK;
    learner->n_taken++;
    return learner->iterations ? wait(learner, ranks, n_ranks, base_ms, error)
                               : show(learner, &(const fpm_iteration){ ranks, n_ranks }, &base_ms, 1, error);
}

uint64_t sim_learner_count(const sim_learner *learner) { return learner->n_taken - learner->n_iterations; }

bool sim_learner_is_frozen(const sim_learner *learner) { return learner->is_frozen; }
