// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/standin_estimator.h"

#include <criterion/criterion.h>

static int n_made;

static fpm_status make(void *context, fpm_estimator **estimator, fpm_error *error) {
    const fpm_status *status = context;
    n_made++;
    if (*status == FPM_OK) return standin_new(estimator, error);
    fpm_error_set(error, *status, "no data for \xc3\xa9 H900");
    snprintf(error->file, sizeof error->file, "systems/h900.ini");
    error->line = 7;
    return *status;
}

Test(model_life, best_available_falls_back_only_when_construction_fails) {
    const struct {
        fpm_status status;
        bool is_error;
        fpm_source source;
    } cases[] = {
        { FPM_OK, false, FPM_SOURCE_NATIVE },
        { FPM_UNSUPPORTED, false, FPM_SOURCE_REGRESSION },
        { FPM_IO, false, FPM_SOURCE_REGRESSION },
        { FPM_SYNTAX, false, FPM_SOURCE_REGRESSION },
        { FPM_OUT_OF_RANGE, false, FPM_SOURCE_REGRESSION },
        { FPM_INVALID_CONFIG, true, FPM_SOURCE_NATIVE },
        { FPM_NO_MEMORY, true, FPM_SOURCE_NATIVE },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fpm_model *model;
        fpm_error error = { 0 };
        fpm_status status = cases[i].status;
        const fpm_status outcome = fpm_model_best_available(&model, make, &status, NULL, &error);
        cr_assert_eq(outcome, cases[i].is_error ? status : FPM_OK, "case %zu", i);
        cr_assert_eq(model == NULL, cases[i].is_error);
        if (!model) {
            cr_assert_eq(error.code, status);
            continue;
        }
        const fpm_diagnostics d = fpm_model_diagnostics(model);
        cr_assert_eq(d.source, cases[i].source);
        cr_assert_eq(d.readiness, status ? FPM_UNSUPPORTED_CONFIG : FPM_READY);
        if (status)
            cr_assert_str_eq(d.last_warning, "systems/h900.ini:7: no data for ?? H900");
        else
            cr_assert_null(d.last_warning);
        fpm_model_free(model);
    }
}

Test(model_life, invalid_options_never_fall_back) {
    fpm_model_options o = fpm_model_options_default();
    fpm_status unsupported = FPM_UNSUPPORTED;
    fpm_model *model;
    o.bucket_count = 7;
    cr_assert_eq(fpm_model_best_available(&model, make, &unsupported, &o, NULL), FPM_INVALID_CONFIG);
    cr_assert_eq(n_made, 0);
    cr_assert_null(model);
    cr_assert_eq(fpm_model_new_regression(&model, &o, NULL), FPM_INVALID_CONFIG);
    cr_assert_eq(fpm_model_new_native(&model, NULL, NULL, NULL), FPM_INVALID_CONFIG);
}

Test(model_life, a_warned_regression_becomes_ready_and_keeps_its_warning) {
    fpm_status unsupported = FPM_UNSUPPORTED;
    fpm_model_options o = fpm_model_options_default();
    fpm_model *model, *copy;
    o.min_observations = 1;
    fpm_model_best_available(&model, make, &unsupported, &o, NULL);
    fpm_metrics rank = fpm_metrics_idle();
    rank.scheduled.num_decode_requests = 4;
    rank.wall_time_s = 0.01;
    const fpm_iteration iteration = { &rank, 1 };
    fpm_model_tune(model, &iteration, 1, NULL);
    cr_assert_eq(fpm_model_diagnostics(model).readiness, FPM_READY);
    cr_assert_eq(fpm_model_clone(&copy, model, NULL), FPM_OK);
    fpm_model_free(model);
    cr_assert(strstr(fpm_model_diagnostics(copy).last_warning, "H900"));
    cr_assert_eq(fpm_model_get_options(copy)->min_observations, 1);
    fpm_model_free(copy);
    fpm_model_free(NULL);
}

Test(model_life, names_are_those_of_the_reference) {
    cr_assert_str_eq(fpm_source_name(FPM_SOURCE_NATIVE), "aic");
    cr_assert_str_eq(fpm_source_name(FPM_SOURCE_NATIVE_CORRECTED), "aic_with_correction");
    cr_assert_str_eq(fpm_source_name(FPM_SOURCE_REGRESSION), "fallback_regression");
    cr_assert_str_eq(fpm_readiness_name(FPM_READY), "ready");
    cr_assert_str_eq(fpm_readiness_name(FPM_INSUFFICIENT_DATA), "insufficient_data");
    cr_assert_str_eq(fpm_readiness_name(FPM_UNSUPPORTED_CONFIG), "unsupported_config");
}
