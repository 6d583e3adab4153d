// SPDX-License-Identifier: GPL-3.0-or-later
//
// Making, copying and freeing models, and what they tell about themselves.
#include "perfmodel/model_internal.h"

#include <stdlib.h>
#include <string.h>

fpm_model *fpm_model_allocate(fpm_estimator *estimator, const fpm_model_options *options) {
    fpm_model *model = calloc(1, sizeof *model);
    if (!model) return NULL;
    model->estimator = fpm_estimator_share(estimator);
    model->options = *options;
    for (unsigned k = 0; k < FPM_N_KINDS; k++) {
        const fpm_kind kind = (fpm_kind)(FPM_PREFILL + k);
        if (estimator)
            fpm_correction_init(&model->corrections[k], kind, options);
        else
            fpm_regression_init(&model->regressions[k], kind, options);
    }
    return model;
}

static fpm_status new_model(fpm_model **model, fpm_estimator *estimator, const fpm_model_options *options,
                            fpm_error *error) {
    const fpm_model_options defaults = fpm_model_options_default();
    *model = NULL;
    if (!options) options = &defaults;
    const fpm_status status = fpm_model_options_validate(options, error);
    if (status) return status;
    *model = fpm_model_allocate(estimator, options);
    return *model ? FPM_OK : fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
}

fpm_status fpm_model_new_native(fpm_model **model, fpm_estimator *estimator, const fpm_model_options *options,
                                fpm_error *error) {
    *model = NULL;
    if (!estimator) return fpm_error_set(error, FPM_INVALID_CONFIG, "a native model needs an estimator");
    return new_model(model, estimator, options, error);
}

fpm_status fpm_model_new_regression(fpm_model **model, const fpm_model_options *options, fpm_error *error) {
    return new_model(model, NULL, options, error);
}

static void keep_warning(fpm_model *model, const fpm_error *reason) {
    model->has_warning = true;
    int n = 0;
    if (reason->file[0] && reason->line > 0)
        n = snprintf(model->last_warning, FPM_WARNING_BYTES, "%s:%lld: ", reason->file, (long long)reason->line);
    else if (reason->file[0])
        n = snprintf(model->last_warning, FPM_WARNING_BYTES, "%s: ", reason->file);
    snprintf(model->last_warning + n, FPM_WARNING_BYTES - (size_t)n, "%s", reason->message);
    for (char *at = model->last_warning; *at; at++)
        if (*at < 0x20 || *at > 0x7e) *at = '?'; // messages may be cut inside a character; saved states are UTF-8
}

static bool is_failure_to_construct(fpm_status status) {
    return status == FPM_UNSUPPORTED || status == FPM_IO || status == FPM_SYNTAX || status == FPM_OUT_OF_RANGE;
}

fpm_status fpm_model_best_available(fpm_model **model, fpm_estimator_maker make, void *context,
                                    const fpm_model_options *options, fpm_error *error) {
    *model = NULL;
    fpm_status status = options ? fpm_model_options_validate(options, error) : FPM_OK;
    if (status) return status;
    fpm_estimator *estimator = NULL;
    fpm_error reason = { 0 };
    status = make(context, &estimator, &reason);
    if (status == FPM_OK) {
        status = fpm_model_new_native(model, estimator, options, error);
        fpm_estimator_free(estimator);
        return status;
    }
    if (!is_failure_to_construct(status)) {
        if (error) *error = reason;
        return status;
    }
    status = fpm_model_new_regression(model, options, error);
    if (!status) keep_warning(*model, &reason);
    return status;
}

fpm_status fpm_model_clone(fpm_model **copy, const fpm_model *model, fpm_error *error) {
    *copy = malloc(sizeof **copy);
    if (!*copy) return fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
    **copy = *model;
    bool is_done = true;
    unsigned n_done = 0;
    for (; n_done < FPM_N_KINDS && is_done; n_done += is_done) {
        if (model->estimator)
            is_done = fpm_correction_copy(&(*copy)->corrections[n_done], &model->corrections[n_done]);
        else
            is_done = fpm_regression_copy(&(*copy)->regressions[n_done], &model->regressions[n_done]);
    }
    if (is_done) {
        fpm_estimator_share(model->estimator);
        return FPM_OK;
    }
    while (n_done-- > 0) {
        if (model->estimator)
            fpm_correction_free(&(*copy)->corrections[n_done]);
        else
            fpm_regression_free(&(*copy)->regressions[n_done]);
    }
    free(*copy);
    *copy = NULL;
    return fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
}

void fpm_model_free(fpm_model *model) {
    if (!model) return;
    for (unsigned k = 0; k < FPM_N_KINDS; k++) {
        if (model->estimator)
            fpm_correction_free(&model->corrections[k]);
        else
            fpm_regression_free(&model->regressions[k]);
    }
    fpm_estimator_free(model->estimator);
    free(model);
}

// --- what a model tells ----------------------------------------------------------------------------------------------

const char *fpm_source_name(fpm_source source) {
    switch (source) {
#define X(code, name) \
    case code:        \
        return name;
        FPM_SOURCE_LIST(X)
#undef X
    }
    return "unknown";
}

const char *fpm_readiness_name(fpm_readiness readiness) {
    switch (readiness) {
#define X(code, name) \
    case code:        \
        return name;
        FPM_READINESS_LIST(X)
#undef X
    }
    return "unknown";
}

uint64_t fpm_model_retained(const fpm_model *model, fpm_kind kind) {
    uint64_t n = 0;
    for (unsigned k = 0; k < FPM_N_KINDS; k++)
        if (kind == FPM_EMPTY || (unsigned)kind == k + FPM_PREFILL) n += fpm_model_samples(model, k)->n;
    return n;
}

static fpm_readiness regression_readiness(const fpm_model *model) {
    for (unsigned k = 0; k < FPM_N_KINDS; k++)
        if (fpm_regression_is_ready(&model->regressions[k])) return FPM_READY;
    return model->has_warning ? FPM_UNSUPPORTED_CONFIG : FPM_INSUFFICIENT_DATA;
}

fpm_diagnostics fpm_model_diagnostics(const fpm_model *model) {
    fpm_diagnostics all = {
        .source = FPM_SOURCE_REGRESSION,
        .readiness = FPM_READY,
        .retained_observations = fpm_model_retained(model, FPM_EMPTY),
        .last_warning = model->has_warning ? model->last_warning : NULL,
    };
    if (!model->estimator) {
        all.readiness = regression_readiness(model);
        return all;
    }
    for (unsigned k = 0; k < FPM_N_KINDS; k++)
        all.correction_ready_buckets += fpm_correction_ready_buckets(&model->corrections[k]);
    all.source = all.correction_ready_buckets > 0 ? FPM_SOURCE_NATIVE_CORRECTED : FPM_SOURCE_NATIVE;
    return all;
}

bool fpm_model_factors(const fpm_model *model, fpm_kind kind, fpm_factors *factors) {
    *factors = (fpm_factors){ 0 };
    if (!model->estimator) return false;
    for (unsigned k = 0; k < FPM_N_KINDS; k++)
        if (kind == FPM_EMPTY || (unsigned)kind == k + FPM_PREFILL)
            fpm_correction_collect(&model->corrections[k], factors);
    if (factors->n_buckets == 0) return false;
    factors->avg /= (double)factors->n_buckets;
    return true;
}

const fpm_model_options *fpm_model_get_options(const fpm_model *model) { return &model->options; }
