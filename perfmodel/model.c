// SPDX-License-Identifier: GPL-3.0-or-later
//
// Asking and learning. The inner loop of an estimate goes over the ranks once: it checks them and finds the one that
// speaks for the load, without branches on the data.
#include "perfmodel/model_internal.h"

#include "perfmodel/estimator_internal.h"
#include "perfmodel/metrics_check.h"

#include <float.h>
#include <math.h>
#include <string.h>

// What is read of an iteration: the load of one rank, never a mixture. An fpm_pass that stays in registers.
typedef struct iteration_load {
    bool is_unsound; // some rank breaks a rule of fpm_metrics_validate
    fpm_kind kind;   // FPM_EMPTY: no rank has work
    fpm_load load;
    uint32_t batch; // decoding requests
} iteration_load;

// Two counts as one load, in a register: put together in memory, reading both at once would wait until they have left
// for the cache.
static inline fpm_load pack_load(uint32_t x0, uint32_t x1) {
    fpm_load load;
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t both = x0 | (uint64_t)x1 << 32;
    memcpy(&load, &both, sizeof load);
#else
    load = (fpm_load){ { x0, x1 } };
#endif
    return load;
}

static inline iteration_load find_load(const fpm_metrics *ranks, size_t n_ranks) {
    iteration_load found = { .is_unsound = n_ranks == 0, .kind = FPM_EMPTY };
    uint64_t most = 1; // a rank with work has a sum of 1 at least
    const fpm_scheduled_requests *speaker = NULL;
    for (size_t i = 0; i < n_ranks; i++) {
        const fpm_scheduled_requests *s = &ranks[i].scheduled;
        const uint64_t first = s->sum_prefill_tokens ? s->sum_prefill_tokens : s->num_decode_requests;
        const uint64_t sum = first + s->sum_decode_kv_tokens; // prefill alone has no decode KV
        found.is_unsound |= fpm_metrics_is_unsound(&ranks[i]);
        speaker = sum >= most ? s : speaker; // the later of equals
        most = sum >= most ? sum : most;
    }
    if (!speaker) return found;
    found.kind = fpm_scheduled_kind(speaker);
    const uint32_t first = speaker->sum_prefill_tokens ? speaker->sum_prefill_tokens : speaker->num_decode_requests;
    found.load = pack_load(first, speaker->sum_decode_kv_tokens);
    found.batch = speaker->num_decode_requests;
    return found;
}

// One rank is the common case: the compiler drops the loop then.
static inline iteration_load find_load_quickly(const fpm_metrics *ranks, size_t n_ranks) {
    return n_ranks == 1 ? find_load(ranks, 1) : find_load(ranks, n_ranks);
}

static inline iteration_load load_of(const fpm_pass *pass) {
    iteration_load at = { .kind = pass->kind, .batch = pass->batch };
    memcpy(at.load.x, pass->x, sizeof at.load.x);
    return at;
}

fpm_status fpm_pass_read(fpm_pass *pass, const fpm_metrics *ranks, size_t n_ranks, fpm_error *error) {
    const iteration_load at = find_load_quickly(ranks, n_ranks);
    if (at.is_unsound) return fpm_metrics_validate(ranks, n_ranks, error);
    pass->kind = at.kind;
    memcpy(pass->x, at.load.x, sizeof pass->x);
    pass->batch = at.batch;
    return FPM_OK;
}

static fpm_status refuse_result(double ms, fpm_error *error) {
    return fpm_error_set(error, FPM_OUT_OF_RANGE, "the model gave %g ms for a pass", ms);
}

static inline fpm_status foresee(const fpm_model *model, const iteration_load *at, double base_ms, double *ms,
                                 bool *has_estimate, fpm_error *error) {
    double result = 0.0;
    *has_estimate = false;
    if (at->kind == FPM_EMPTY) {
        // nothing to do takes no time, whatever the estimator thinks
    } else if (model->estimator) {
        result = base_ms * fpm_correction_factor(&model->corrections[at->kind - FPM_PREFILL], at->load);
    } else {
        const fpm_regression *regression = &model->regressions[at->kind - FPM_PREFILL];
        if (!fpm_regression_is_ready(regression)) return FPM_OK;
        result = fpm_regression_ms(regression, at->load, at->batch);
    }
    if (!(result <= DBL_MAX)) return refuse_result(result, error);
    *ms = result;
    *has_estimate = true;
    return FPM_OK;
}

fpm_status fpm_model_foresee(const fpm_model *model, const fpm_pass *pass, double *ms, bool *has_estimate,
                             fpm_error *error) {
    const iteration_load at = load_of(pass);
    return foresee(model, &at, pass->base_ms, ms, has_estimate, error);
}

// By the model's estimator; a regression has none, and reads no price.
static inline fpm_status price(const fpm_model *model, const fpm_metrics *ranks, size_t n_ranks, double *base_ms,
                               fpm_error *error) {
    *base_ms = 0.0;
    return model->estimator ? fpm_estimator_ask(model->estimator, ranks, n_ranks, base_ms, error) : FPM_OK;
}

fpm_status fpm_model_estimate_ms(const fpm_model *model, const fpm_metrics *ranks, size_t n_ranks, double *ms,
                                 bool *has_estimate, fpm_error *error) {
    const iteration_load at = find_load_quickly(ranks, n_ranks);
    double base_ms = 0.0;
    *has_estimate = false;
    if (at.is_unsound) return fpm_metrics_validate(ranks, n_ranks, error);
    const fpm_status status = at.kind == FPM_EMPTY ? FPM_OK : price(model, ranks, n_ranks, &base_ms, error);
    return status ? status : foresee(model, &at, base_ms, ms, has_estimate, error);
}

// --- learning --------------------------------------------------------------------------------------------------------

// Largest measured time of the ranks, 0 when none was measured.
static inline double wall_s(const fpm_metrics *ranks, size_t n_ranks) {
    double longest_s = 0.0;
    for (size_t i = 0; i < n_ranks; i++) {
        const double s = ranks[i].wall_time_s <= DBL_MAX ? ranks[i].wall_time_s : 0.0;
        longest_s = s > longest_s ? s : longest_s;
    }
    return longest_s;
}

// In ms, possibly infinite by overflow.
static inline double observed_ms(const fpm_metrics *ranks, size_t n_ranks) { return wall_s(ranks, n_ranks) * 1000.0; }

double fpm_iteration_wall_s(const fpm_metrics *ranks, size_t n_ranks) { return wall_s(ranks, n_ranks); }
double fpm_iteration_observed_ms(const fpm_metrics *ranks, size_t n_ranks) { return observed_ms(ranks, n_ranks); }

static inline double within_bounds(const fpm_model_options *options, double ratio) {
    if (!options->is_faster_unbounded && ratio < options->min_faster_correction_factor)
        ratio = options->min_faster_correction_factor;
    if (!options->is_slower_unbounded && ratio > options->max_slower_correction_factor)
        ratio = options->max_slower_correction_factor;
    return ratio;
}

// `observed` is above 0.
static inline fpm_status learn(fpm_model *model, const iteration_load *at, double base_ms, double observed,
                               fpm_error *error) {
    bool is_learned;
    if (model->estimator) {
        if (!(base_ms > 0.0) || !(observed <= DBL_MAX)) return FPM_OK;
        is_learned = fpm_correction_learn(&model->corrections[at->kind - FPM_PREFILL], at->load,
                                          within_bounds(&model->options, observed / base_ms));
    } else {
        is_learned = fpm_regression_learn(&model->regressions[at->kind - FPM_PREFILL], at->load, at->batch, observed);
    }
    return is_learned ? FPM_OK : fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
}

static inline fpm_status learn_iteration(fpm_model *model, const fpm_iteration *iteration, fpm_error *error) {
    const iteration_load at = find_load_quickly(iteration->ranks, iteration->n_ranks);
    if (at.is_unsound) return fpm_metrics_validate(iteration->ranks, iteration->n_ranks, error);
    if (at.kind == FPM_EMPTY) return FPM_OK;
    const double observed = observed_ms(iteration->ranks, iteration->n_ranks);
    if (!(observed > 0.0)) return FPM_OK;
    double base_ms;
    const fpm_status status = price(model, iteration->ranks, iteration->n_ranks, &base_ms, error);
    return status ? status : learn(model, &at, base_ms, observed, error);
}

// A fit depends on the retained samples alone, so one at the end equals one after every observation.
fpm_status fpm_model_tune(fpm_model *model, const fpm_iteration *iterations, size_t n_iterations, fpm_error *error) {
    fpm_status status = FPM_OK;
    for (size_t i = 0; i < n_iterations && !status; i++) status = learn_iteration(model, &iterations[i], error);
    fpm_model_refit(model);
    return status;
}

fpm_status fpm_model_learn(fpm_model *model, const fpm_pass *passes, const double *observed_ms, size_t n_passes,
                           fpm_error *error) {
    fpm_status status = FPM_OK;
    for (size_t i = 0; i < n_passes && !status; i++) {
        const iteration_load at = load_of(&passes[i]);
        if (at.kind != FPM_EMPTY && observed_ms[i] > 0.0)
            status = learn(model, &at, passes[i].base_ms, observed_ms[i], error);
    }
    fpm_model_refit(model);
    return status;
}
