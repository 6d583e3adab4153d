// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/tuner.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/tuning/learner.h"
#include "sim/tuning/pass_log.h"
#include "sim/tuning/synthetic_truth.h"

// What was foreseen of a worker's open pass.
typedef struct open_pass {
    fpm_pass load;   // with the estimator's price
    double tuned_ms; // SIM_NO_ESTIMATE without a model, or one that knew nothing of the kind
    sim_truth_answer truth;
} open_pass;

struct sim_tuner {
    sim_tuner_parts parts;
    sim_truth truth; // none with a feed
    sim_pass_log
        feed; // passes that are learned one by one, beside the simulated ones; closed: there are none, or no more
    sim_measures *measures;
    sim_drift_guard *guards[SIM_N_KINDS]; // NULL: nothing is tuned
    open_pass *open;                      // by worker
    sim_learner **learners;               // one; one per worker; or none
    const fpm_model **models;             // of the learners
    size_t n_learners;
    uint64_t n_fallback;
};

// --- construction -----------------------------------------------------------------------------------------------------

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

static fpm_status new_model(fpm_model **model, const sim_tuner_parts *parts, fpm_error *reason) {
    if (parts->saved) return fpm_model_clone(model, parts->saved, reason);
    return parts->is_regression ? fpm_model_new_regression(model, parts->options, reason)
                                : fpm_model_new_native(model, parts->estimator, parts->options, reason);
}

static sim_status new_learner(sim_learner **learner, const sim_tuner_parts *parts, sim_error *error) {
    fpm_model *model;
    fpm_error reason = { .code = FPM_OK };
    const fpm_status status = new_model(&model, parts, &reason);
    if (!status) return sim_learner_new(learner, model, parts->tuning, error);
    return sim_error_set(error, status == FPM_NO_MEMORY ? SIM_NO_MEMORY : SIM_USAGE, NULL, 0, "[perfmodel]: %s",
                         reason.message);
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
        const sim_status status = new_learner(&tuner->learners[i], &tuner->parts, error);
        if (status) return status;
        tuner->models[i] = sim_learner_model(tuner->learners[i]);
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
    if (parts->truth->source == SIM_TRUTH_SYNTHETIC)
        return sim_synthetic_truth_new(&tuner->truth, parts->truth, parts->root_seed, parts->n_workers, error);
    if (parts->truth->feed == SIM_FEED_MATCH)
        return sim_recorded_truth_new(&tuner->truth, parts->truth, parts->n_ranks, error);
    return sim_pass_log_open(&tuner->feed, parts->truth->path, error);
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
    made->parts.saved = NULL; // copied
    *tuner = made;
    return SIM_OK;
}

void sim_tuner_free(sim_tuner *tuner) {
    if (!tuner) return;
    for (size_t i = 0; i < tuner->n_learners; i++) sim_learner_free(tuner->learners[i]);
    for (size_t k = 0; k < SIM_N_KINDS; k++) sim_drift_guard_free(tuner->guards[k]);
    sim_truth_free(&tuner->truth);
    sim_pass_log_close(&tuner->feed);
    sim_measures_free(tuner->measures);
    free(tuner->learners);
    free(tuner->models);
    free(tuner->open);
    free(tuner);
}

// --- a pass begins ----------------------------------------------------------------------------------------------------

static sim_learner *learner_of(const sim_tuner *tuner, uint32_t worker) {
    if (tuner->n_learners == 0) return NULL;
    return tuner->learners[tuner->n_learners > 1 ? worker : 0];
}

// What the estimator and the model say of a pass whose load has been read. `learner` may be NULL.
static inline sim_status foresee(const sim_tuner *tuner, const sim_learner *learner, const fpm_metrics *ranks,
                                 size_t n_ranks, open_pass *pass, sim_error *error) {
    fpm_error reason;
    bool has_estimate = false;
    fpm_status status = fpm_estimate_valid_ms(tuner->parts.estimator, ranks, n_ranks, &pass->load.base_ms, &reason);
    if (!status && learner)
        status = fpm_model_foresee(sim_learner_model(learner), &pass->load, &pass->tuned_ms, &has_estimate, &reason);
    if (!has_estimate) pass->tuned_ms = SIM_NO_ESTIMATE;
    if (!status) return SIM_OK;
    // A pass that the estimator has no price for is no fault of the program: the run cannot go on.
    return sim_error_set(error, status == FPM_UNSUPPORTED ? SIM_DEAD_END : SIM_INTERNAL, NULL, 0,
                         "pricing a pass of worker %s: %s", ranks[0].worker_id, reason.message);
}

// What the pass takes by the truth; without one (a feed) or without work, what it takes by the model.
static sim_status decide_wall_time(sim_tuner *tuner, uint32_t worker, int64_t now_ns, const fpm_metrics *ranks,
                                   open_pass *pass, double model_ms, sim_error *error) {
    if (pass->load.kind == FPM_EMPTY || !tuner->truth.ops) {
        pass->truth = (sim_truth_answer){ .wall_s = model_ms / 1e3, .noiseless_ms = SIM_NO_ESTIMATE };
        return SIM_OK;
    }
    const sim_truth_query query = { worker, now_ns, ranks, tuner->parts.n_ranks, pass->load.kind, pass->load.base_ms };
    return tuner->truth.ops->ask(tuner->truth.state, &query, &pass->truth, error);
}

sim_status sim_tuner_begin_pass(sim_tuner *tuner, uint32_t worker, int64_t now_ns, fpm_metrics *ranks, double *clock_ms,
                                sim_error *error) {
    const uint32_t n_ranks = tuner->parts.n_ranks;
    open_pass *pass = &tuner->open[worker];
    const sim_learner *learner = learner_of(tuner, worker);
    fpm_pass_read(&pass->load, ranks, n_ranks, NULL); // valid, as the caller says
    sim_status status = foresee(tuner, learner, ranks, n_ranks, pass, error);
    if (status) return status;
    tuner->n_fallback += learner && pass->tuned_ms < 0;
    const double model_ms = pass->tuned_ms < 0 ? pass->load.base_ms : pass->tuned_ms;
    status = decide_wall_time(tuner, worker, now_ns, ranks, pass, model_ms, error);
    // From the seconds of the log, so that a run which takes its times from that log has the same to the last bit.
    *clock_ms = tuner->parts.tuning->clock == SIM_CLOCK_TRUTH ? pass->truth.wall_s * 1e3 : model_ms;
    for (uint32_t i = 0; i < n_ranks; i++) ranks[i].wall_time_s = pass->truth.wall_s;
    return status;
}

// --- a pass ends ------------------------------------------------------------------------------------------------------

// The errors of a pass, before anything is learned from it.
static void measure(sim_tuner *tuner, const open_pass *pass, double observed_ms, int64_t now_ns) {
    const sim_observation observation = {
        .kind = pass->load.kind,
        .time_ns = now_ns,
        .observed_ms = observed_ms,
        .base_ms = pass->load.base_ms,
        .tuned_ms = pass->tuned_ms,
        .noiseless_ms = pass->truth.noiseless_ms,
        .is_outlier = pass->truth.is_outlier,
    };
    sim_measures_add(tuner->measures, &observation);
    if (pass->tuned_ms >= 0)
        sim_drift_guard_add(tuner->guards[pass->load.kind - FPM_PREFILL], (pass->tuned_ms - observed_ms) / observed_ms,
                            now_ns);
}

// The next recorded pass is foreseen, measured against its wall time, learned.
static sim_status learn_recorded(sim_tuner *tuner, int64_t now_ns, sim_error *error) {
    sim_logged_pass logged;
    sim_status status = sim_pass_log_next(&tuner->feed, &logged, error);
    if (status) return status;
    if (logged.n_ranks == 0) {
        const sim_pass_log *feed = &tuner->feed;
        sim_pass_log_close(&tuner->feed);
        if (feed->n_iterations > feed->n_idle + feed->n_without_time) return SIM_OK;
        return sim_error_set(error, SIM_BAD_DATA, feed->path, 0,
                             "no pass of the log has both work and a wall time (wall_time in seconds, above 0)");
    }
    open_pass pass = { .load = logged.load, .truth = { .noiseless_ms = SIM_NO_ESTIMATE } };
    status = foresee(tuner, tuner->learners[0], logged.ranks, logged.n_ranks, &pass, error);
    if (status) return status;
    measure(tuner, &pass, logged.observed_ms, now_ns);
    return sim_learner_take(tuner->learners[0], now_ns, &pass.load, logged.observed_ms, error);
}

sim_status sim_tuner_end_pass(sim_tuner *tuner, uint32_t worker, int64_t now_ns, sim_error *error) {
    const open_pass *pass = &tuner->open[worker];
    const double observed_ms = pass->truth.wall_s * 1e3;
    if (!tuner->truth.ops) return tuner->feed.reader ? learn_recorded(tuner, now_ns, error) : SIM_OK;
    if (pass->load.kind == FPM_EMPTY || !(observed_ms > 0)) return SIM_OK; // nothing to be learned from
    measure(tuner, pass, observed_ms, now_ns);
    sim_learner *learner = learner_of(tuner, worker);
    return learner ? sim_learner_take(learner, now_ns, &pass->load, observed_ms, error) : SIM_OK;
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
        counts.n_learned += sim_learner_count(tuner->learners[i]);
        counts.is_frozen |= sim_learner_is_frozen(tuner->learners[i]);
    }
    return counts;
}

sim_recorded_counts sim_tuner_recorded(const sim_tuner *tuner) {
    if (tuner->parts.truth->source != SIM_TRUTH_RECORDED) return (sim_recorded_counts){ .n_recorded = 0 };
    if (tuner->truth.ops) return sim_recorded_truth_counts(&tuner->truth);
    const uint64_t n_unmeasured = tuner->feed.n_idle + tuner->feed.n_without_time;
    return (sim_recorded_counts){ .n_recorded = tuner->feed.n_iterations - n_unmeasured,
                                  .n_unmeasured = n_unmeasured,
                                  .n_disagreeing = tuner->feed.n_disagreeing };
}

sim_drift sim_tuner_drift(const sim_tuner *tuner, fpm_kind kind) {
    const sim_drift_guard *guard = tuner->guards[kind - FPM_PREFILL];
    return guard ? sim_drift_guard_state(guard) : (sim_drift){ .n_alarms = 0 };
}
