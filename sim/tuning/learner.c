// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/learner.h"

#include <stdlib.h>

struct sim_learner {
    fpm_model *model;
    const sim_tuning_config *tuning;
    uint64_t n_taken; // shown or waiting
    bool is_frozen;
    fpm_pass *waiting; // room for update_every of them
    double *observed_ms;
    size_t n_waiting;
};

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

sim_status sim_learner_new(sim_learner **learner, fpm_model *model, const sim_tuning_config *tuning, sim_error *error) {
    const size_t n = (size_t)tuning->update_every;
    sim_learner *made = calloc(1, sizeof *made);
    if (!made) {
        fpm_model_free(model);
        return no_memory(error);
    }
    *made = (sim_learner){ .model = model, .tuning = tuning };
    made->waiting = calloc(n, sizeof *made->waiting);
    made->observed_ms = calloc(n, sizeof *made->observed_ms);
    if (!made->waiting || !made->observed_ms) {
        sim_learner_free(made);
        return no_memory(error);
    }
    *learner = made;
    return SIM_OK;
}

void sim_learner_free(sim_learner *learner) {
    if (!learner) return;
    fpm_model_free(learner->model);
    free(learner->waiting);
    free(learner->observed_ms);
    free(learner);
}

const fpm_model *sim_learner_model(const sim_learner *learner) { return learner->model; }

static sim_status show_waiting(sim_learner *learner, sim_error *error) {
    fpm_error reason;
    const size_t n = learner->n_waiting;
    learner->n_waiting = 0;
    const fpm_status status = fpm_model_learn(learner->model, learner->waiting, learner->observed_ms, n, &reason);
    if (!status) return SIM_OK;
    return sim_error_set(error, status == FPM_NO_MEMORY ? SIM_NO_MEMORY : SIM_INTERNAL, NULL, 0,
                         "learning from a pass: %s", reason.message);
}

sim_status sim_learner_take(sim_learner *learner, int64_t now_ns, const fpm_pass *pass, double observed_ms,
                            sim_error *error) {
    const sim_freeze *freeze = &learner->tuning->freeze_after;
    learner->is_frozen |= (freeze->passes > 0 && learner->n_taken >= freeze->passes) ||
                          (freeze->time_ns > 0 && now_ns >= freeze->time_ns);
    if (learner->is_frozen) return SIM_OK;
    learner->n_taken++;
    learner->waiting[learner->n_waiting] = *pass;
    learner->observed_ms[learner->n_waiting++] = observed_ms;
    return learner->n_waiting == (size_t)learner->tuning->update_every ? show_waiting(learner, error) : SIM_OK;
}

uint64_t sim_learner_count(const sim_learner *learner) { return learner->n_taken - learner->n_waiting; }

bool sim_learner_is_frozen(const sim_learner *learner) { return learner->is_frozen; }
