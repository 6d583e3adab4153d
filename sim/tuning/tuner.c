// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/tuner.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/tuning/pass_kind.h"
#include "sim/tuning/synthetic_truth.h"

// What was foreseen of a worker's open pass.
typedef struct open_pass {
    fpm_kind kind;
    double base_ms, tuned_ms; // tuned_ms: SIM_NO_ESTIMATE without a model, or one that knew nothing of the kind
    sim_truth_answer truth;
} open_pass;

// A model and the finished passes it has not been shown yet.
typedef struct learner {
    fpm_model *model;
    uint64_t n_learned;        // passes taken, shown or waiting
    size_t n_pending;          // below update_every
    fpm_metrics *pending;      // n_ranks each; NULL when nothing ever waits
    fpm_iteration *iterations; // over them
    bool is_frozen;
} learner;

struct sim_tuner {
    sim_tuner_parts parts;
    sim_truth truth;
    sim_measures *measures;
    sim_drift_guard *guards[SIM_N_KINDS]; // NULL: nothing is tuned
    open_pass *open;                      // by worker
    learner *learners;
    const fpm_model **models; // of the learners
    size_t n_learners;
    uint64_t n_fallback;
};

// --- construction -----------------------------------------------------------------------------------------------------

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

static sim_status from_fpm(fpm_status status, const fpm_error *reason, const char *doing, sim_error *error) {
    if (status == FPM_OK) return SIM_OK;
    const sim_status code = status == FPM_NO_MEMORY ? SIM_NO_MEMORY : SIM_INTERNAL;
    return sim_error_set(error, code, NULL, 0, "%s: %s", doing, reason->message);
}

static sim_status init_learner(learner *l, const sim_tuner_parts *parts, sim_error *error) {
    fpm_error reason = { .code = FPM_OK };
    const fpm_status status = parts->is_regression
                                  ? fpm_model_new_regression(&l->model, parts->options, &reason)
                                  : fpm_model_new_native(&l->model, parts->estimator, parts->options, &reason);
    if (status) return from_fpm(status, &reason, "a tuning model", error);
    const size_t n = (size_t)parts->tuning->update_every;
    if (n == 1) return SIM_OK;
    l->pending = calloc(n * parts->n_ranks, sizeof *l->pending);
    l->iterations = calloc(n, sizeof *l->iterations);
    if (!l->pending || !l->iterations) return no_memory(error);
    for (size_t i = 0; i < n; i++)
        l->iterations[i] = (fpm_iteration){ &l->pending[i * parts->n_ranks], parts->n_ranks };
    return SIM_OK;
}

static sim_status init_learners(sim_tuner *tuner, sim_error *error) {
    const sim_tuning_config *tuning = tuner->parts.tuning;
    if (tuning->mode == SIM_TUNING_OFF) return SIM_OK;
    const size_t n = tuning->scope == SIM_TUNING_WORKER ? tuner->parts.n_workers : 1;
    tuner->learners = calloc(n, sizeof *tuner->learners);
    tuner->models = calloc(n, sizeof *tuner->models);
    if (!tuner->learners || !tuner->models) return no_memory(error);
    tuner->n_learners = n;
    for (size_t i = 0; i < n; i++) {
        const sim_status status = init_learner(&tuner->learners[i], &tuner->parts, error);
        if (status) return status;
        tuner->models[i] = tuner->learners[i].model;
    }
    for (size_t k = 0; k < SIM_N_KINDS; k++) {
        tuner->guards[k] = sim_drift_guard_new(tuning->drift_threshold, (size_t)tuning->drift_window);
        if (!tuner->guards[k]) return no_memory(error);
    }
    return SIM_OK;
}

static sim_status init(sim_tuner *tuner, sim_error *error) {
    const sim_tuner_parts *parts = &tuner->parts;
    tuner->measures = sim_measures_new();
    tuner->open = calloc(parts->n_workers, sizeof *tuner->open);
    if (!tuner->measures || !tuner->open) return no_memory(error);
    const sim_status status = init_learners(tuner, error);
    if (status) return status;
    return sim_synthetic_truth_new(&tuner->truth, parts->truth, parts->root_seed, parts->n_workers, error);
}

sim_status sim_tuner_new(sim_tuner **tuner, const sim_tuner_parts *parts, sim_error *error) {
    sim_tuner *made = calloc(1, sizeof *made);
    if (!made) return no_memory(error);
    made->parts = *parts;
    const sim_status status = init(made, error);
    if (status) {
        sim_tuner_free(made);
        return status;
    }
    *tuner = made;
    return SIM_OK;
}

void sim_tuner_free(sim_tuner *tuner) {
    if (!tuner) return;
    for (size_t i = 0; i < tuner->n_learners; i++) {
        fpm_model_free(tuner->learners[i].model);
        free(tuner->learners[i].pending);
        free(tuner->learners[i].iterations);
    }
    for (size_t k = 0; k < SIM_N_KINDS; k++) sim_drift_guard_free(tuner->guards[k]);
    sim_truth_free(&tuner->truth);
    sim_measures_free(tuner->measures);
    free(tuner->learners);
    free(tuner->models);
    free(tuner->open);
    free(tuner);
}

// --- a pass begins ----------------------------------------------------------------------------------------------------

static learner *learner_of(sim_tuner *tuner, uint32_t worker) {
    if (tuner->n_learners == 0) return NULL;
    return &tuner->learners[tuner->n_learners > 1 ? worker : 0];
}

// What the estimator and the model say of a pass. `l` may be NULL.
static sim_status foresee(const sim_tuner *tuner, const learner *l, const fpm_metrics *ranks, size_t n_ranks,
                          double *base_ms, double *tuned_ms, sim_error *error) {
    fpm_error reason;
    fpm_status status = fpm_estimate_valid_ms(tuner->parts.estimator, ranks, n_ranks, base_ms, &reason);
    bool has_estimate = false;
    if (!status && l) status = fpm_model_estimate_ms(l->model, ranks, n_ranks, tuned_ms, &has_estimate, &reason);
    if (!has_estimate) *tuned_ms = SIM_NO_ESTIMATE;
    if (!status) return SIM_OK;
    return sim_error_set(error, SIM_INTERNAL, NULL, 0, "pricing a pass of worker %s: %s", ranks[0].worker_id,
                         reason.message);
}

static sim_status observe(sim_tuner *tuner, uint32_t worker, int64_t now_ns, const fpm_metrics *ranks, open_pass *pass,
                          sim_error *error) {
    const sim_truth_query query = { worker, now_ns, ranks, tuner->parts.n_ranks, pass->kind, pass->base_ms };
    return tuner->truth.ops->ask(tuner->truth.state, &query, &pass->truth, error);
}

sim_status sim_tuner_begin_pass(sim_tuner *tuner, uint32_t worker, int64_t now_ns, fpm_metrics *ranks, double *clock_ms,
                                sim_error *error) {
    const uint32_t n_ranks = tuner->parts.n_ranks;
    open_pass *pass = &tuner->open[worker];
    const learner *l = learner_of(tuner, worker);
    pass->kind = sim_pass_kind(ranks, n_ranks);
    sim_status status = foresee(tuner, l, ranks, n_ranks, &pass->base_ms, &pass->tuned_ms, error);
    if (status) return status;
    pass->truth = (sim_truth_answer){ .wall_s = pass->base_ms / 1e3, .noiseless_ms = pass->base_ms };
    if (pass->kind != FPM_EMPTY) status = observe(tuner, worker, now_ns, ranks, pass, error);
    if (status) return status;
    tuner->n_fallback += l && pass->tuned_ms < 0;
    const double model_ms = pass->tuned_ms < 0 ? pass->base_ms : pass->tuned_ms;
    // From the seconds of the log, so that a run which takes its times from that log has the same to the last bit.
    *clock_ms = tuner->parts.tuning->clock == SIM_CLOCK_TRUTH ? pass->truth.wall_s * 1e3 : model_ms;
    for (uint32_t i = 0; i < n_ranks; i++) ranks[i].wall_time_s = pass->truth.wall_s;
    return SIM_OK;
}

// --- a pass ends ------------------------------------------------------------------------------------------------------

static sim_status show(learner *l, const fpm_iteration *iterations, size_t n, sim_error *error) {
    fpm_error reason;
    const fpm_status status = fpm_model_tune(l->model, iterations, n, &reason);
    return from_fpm(status, &reason, "learning from a pass", error);
}

static sim_status learn(sim_tuner *tuner, learner *l, int64_t now_ns, const fpm_metrics *ranks, size_t n_ranks,
                        sim_error *error) {
    const sim_tuning_config *tuning = tuner->parts.tuning;
    const sim_freeze *freeze = &tuning->freeze_after;
    l->is_frozen |=
        (freeze->passes > 0 && l->n_learned >= freeze->passes) || (freeze->time_ns > 0 && now_ns >= freeze->time_ns);
    if (l->is_frozen) return SIM_OK;
    l->n_learned++;
    if (!l->pending) return show(l, &(const fpm_iteration){ ranks, n_ranks }, 1, error);
    for (size_t i = 0; i < n_ranks; i++) l->pending[l->n_pending * n_ranks + i] = ranks[i];
    if (++l->n_pending < (size_t)tuning->update_every) return SIM_OK;
    l->n_pending = 0;
    return show(l, l->iterations, (size_t)tuning->update_every, error);
}

// The errors of a pass, before anything is learned from it.
static void measure(sim_tuner *tuner, const open_pass *pass, double observed_ms, int64_t now_ns) {
    const sim_observation observation = {
        .kind = pass->kind,
        .time_ns = now_ns,
        .observed_ms = observed_ms,
        .base_ms = pass->base_ms,
        .tuned_ms = pass->tuned_ms,
        .noiseless_ms = pass->truth.noiseless_ms,
        .is_outlier = pass->truth.is_outlier,
    };
    sim_measures_add(tuner->measures, &observation);
    if (pass->tuned_ms >= 0)
        sim_drift_guard_add(tuner->guards[pass->kind - FPM_PREFILL], pass->tuned_ms, observed_ms, now_ns);
}

sim_status sim_tuner_end_pass(sim_tuner *tuner, uint32_t worker, int64_t now_ns, const fpm_metrics *ranks,
                              sim_error *error) {
    const open_pass *pass = &tuner->open[worker];
    const double observed_ms = pass->truth.wall_s * 1e3;
    if (pass->kind == FPM_EMPTY || !(observed_ms > 0)) return SIM_OK; // nothing to be learned from
    measure(tuner, pass, observed_ms, now_ns);
    learner *l = learner_of(tuner, worker);
    return l ? learn(tuner, l, now_ns, ranks, tuner->parts.n_ranks, error) : SIM_OK;
}

// --- what came of it --------------------------------------------------------------------------------------------------

const sim_tuner_parts *sim_tuner_get_parts(const sim_tuner *tuner) { return &tuner->parts; }

const sim_measures *sim_tuner_measures(const sim_tuner *tuner) { return tuner->measures; }

const fpm_model *const *sim_tuner_models(const sim_tuner *tuner, size_t *n_models) {
    *n_models = tuner->n_learners;
    return tuner->models;
}

sim_tuner_counts sim_tuner_count(const sim_tuner *tuner) {
    sim_tuner_counts counts = { .n_fallback = tuner->n_fallback };
    for (size_t i = 0; i < tuner->n_learners; i++) {
        counts.n_learned += tuner->learners[i].n_learned - tuner->learners[i].n_pending;
        counts.is_frozen |= tuner->learners[i].is_frozen;
    }
    return counts;
}

sim_drift sim_tuner_drift(const sim_tuner *tuner, fpm_kind kind) {
    const sim_drift_guard *guard = tuner->guards[kind - FPM_PREFILL];
    return guard ? sim_drift_guard_state(guard) : (sim_drift){ .n_alarms = 0 };
}
