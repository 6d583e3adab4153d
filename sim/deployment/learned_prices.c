// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/deployment/learned_prices.h"

static sim_status refuse(const sim_config *config, const char *path, const fpm_error *source, sim_error *error) {
    if (source->code == FPM_NO_MEMORY) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    if (source->code == FPM_IO) return sim_error_set(error, SIM_IO, path, 0, "perfmodel.state: %s", source->message);
    if (source->code == FPM_INVALID_CONFIG)
        return sim_config_contradiction(config, error, "perfmodel", "state", "%s: %s", path, source->message);
    sim_error_set(error, SIM_BAD_DATA, path, source->line, "%s", source->message);
    error->column = source->column;
    return SIM_BAD_DATA;
}

sim_status sim_learned_model_load(fpm_model **model, const sim_config *config, const char *path, fpm_estimator *base,
                                  bool is_regression, sim_error *error) {
    fpm_error source = { .code = FPM_OK };
    if (fpm_model_load(model, path, base, &source)) return refuse(config, path, &source, error);
    if ((fpm_model_diagnostics(*model).source == FPM_SOURCE_REGRESSION) == is_regression) return SIM_OK;
    fpm_model_free(*model);
    *model = NULL;
    return sim_config_contradiction(config, error, "perfmodel", "state",
                                    is_regression
                                        ? "%s: the saved model corrects an estimator (choose that one, not "
                                          "estimator = regression)"
                                        : "%s: the saved model is a regression (choose estimator = regression)",
                                    path);
}

sim_status sim_learned_prices_load(fpm_estimator **estimator, const sim_config *config, const char *path,
                                   fpm_estimator *base, bool is_regression, sim_error *error) {
    fpm_model *model;
    const sim_status status = sim_learned_model_load(&model, config, path, base, is_regression, error);
    if (status) return status;
    fpm_error source = { .code = FPM_OK };
    if (fpm_estimator_new_model(estimator, model, is_regression ? base : NULL, &source))
        return refuse(config, path, &source, error);
    return SIM_OK;
}
