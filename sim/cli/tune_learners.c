// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/cli/tune_learners.h"

#include <string.h>

// How a learner differs from the options of [perfmodel].
typedef struct variant {
    const char *name;
    bool is_regression;
    fpm_correction_form correction;
    fpm_regression_form regression;
} variant;

static sim_status new_model(fpm_model **model, const sim_estimate_subject *subject, const variant *of,
                            sim_error *error) {
    fpm_model_options options = subject->options;
    options.correction = of->correction;
    options.regression = of->regression;
    fpm_error source = { .code = FPM_OK };
    const fpm_status status = of->is_regression ? fpm_model_new_regression(model, &options, &source)
                                                : fpm_model_new_native(model, subject->base, &options, &source);
    return status ? sim_cli_from_fpm(&source, "", 0, error) : SIM_OK;
}

static sim_status load(fpm_model **model, const sim_cli *cli, const sim_estimate_subject *subject, sim_error *error) {
    if (subject->has_options)
        return sim_error_set(error, SIM_USAGE, NULL, 0,
                             "tune: --load goes on with the options of the saved model (leave out --set perfmodel.*, "
                             "but what the estimator needs)");
    fpm_error source = { .code = FPM_OK };
    const fpm_status status = fpm_model_load(model, cli->load, subject->base, &source);
    if (status == FPM_INVALID_CONFIG) return sim_error_set(error, SIM_USAGE, cli->load, 0, "%s", source.message);
    if (status) return sim_cli_from_fpm(&source, cli->load, 0, error);
    const bool is_regression = fpm_model_diagnostics(*model).source == FPM_SOURCE_REGRESSION;
    if (is_regression == subject->is_regression) return SIM_OK;
    return sim_error_set(error, SIM_USAGE, cli->load, 0,
                         is_regression ? "the saved model is a regression (say --estimator regression)"
                                       : "the saved model corrects an estimator (name it: it is no regression)");
}

static sim_status new_measures(sim_log_learner *learner, bool has_held_out, sim_error *error) {
    learner->learned = sim_measures_new();
    if (has_held_out) learner->held_out = sim_measures_new();
    if (learner->learned && (learner->held_out || !has_held_out)) return SIM_OK;
    return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
}

static sim_status add(sim_tune_learners *learners, const sim_cli *cli, const variant *of, sim_error *error) {
    sim_log_learner *learner = &learners->all[learners->n++];
    learner->name = of->name;
    const sim_status status = cli->load ? load(&learner->model, cli, learners->subject, error)
                                        : new_model(&learner->model, learners->subject, of, error);
    return status ? status : new_measures(learner, cli->holdout != NULL, error);
}

static sim_status add_all(sim_tune_learners *learners, const sim_cli *cli, sim_error *error) {
    static const variant variants[SIM_MOST_LEARNERS] = {
        { "grid", false, FPM_CORRECTION_GRID, FPM_REGRESSION_REFERENCE },
        { "smooth", false, FPM_CORRECTION_SMOOTH, FPM_REGRESSION_REFERENCE },
        { "regression", true, FPM_CORRECTION_GRID, FPM_REGRESSION_REFERENCE },
        { "robust", true, FPM_CORRECTION_GRID, FPM_REGRESSION_ROBUST },
    };
    sim_status status = SIM_OK;
    for (size_t i = 0; i < SIM_MOST_LEARNERS && !status; i++)
        if (variants[i].is_regression || learners->subject->base) status = add(learners, cli, &variants[i], error);
    return status;
}

sim_status sim_tune_learners_new(sim_tune_learners *learners, const sim_cli *cli, sim_error *error) {
    *learners = (sim_tune_learners){ .n = 0 };
    if (cli->is_comparison && (cli->load || cli->save))
        return sim_error_set(error, SIM_USAGE, NULL, 0,
                             "tune: --compare tries several models, of which none is loaded or saved (leave out --%s)",
                             cli->load ? "load" : "save");
    const sim_status status = sim_learning_subject_new(&learners->subject, cli, error);
    if (status) return status;
    if (cli->is_comparison) return add_all(learners, cli, error);
    const sim_estimate_subject *subject = learners->subject;
    const variant own = { "model", subject->is_regression, subject->options.correction, subject->options.regression };
    return add(learners, cli, &own, error);
}

void sim_tune_learners_free(sim_tune_learners *learners) {
    for (size_t i = 0; i < learners->n; i++) {
        fpm_model_free(learners->all[i].model);
        sim_measures_free(learners->all[i].learned);
        sim_measures_free(learners->all[i].held_out);
    }
    sim_estimate_subject_free(learners->subject);
}
