// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the parts of the model (asking and learning, life, saved state) share.
#ifndef PERFMODEL_MODEL_INTERNAL_H
#define PERFMODEL_MODEL_INTERNAL_H

#include "perfmodel/correction.h"
#include "perfmodel/regression.h"

#define FPM_N_KINDS 3 // index of a kind: kind - FPM_PREFILL
#define FPM_WARNING_BYTES 640
#define FPM_STATE_FORMAT "forepass-perfmodel-state"

struct fpm_model {
    fpm_estimator *estimator; // NULL: regression
    union {
        fpm_correction corrections[FPM_N_KINDS]; // with an estimator
        fpm_regression regressions[FPM_N_KINDS]; // without
    };
    fpm_model_options options;
    bool has_warning;
    char last_warning[FPM_WARNING_BYTES]; // ASCII
};

// A model of valid options with nothing learned; shares the estimator, if any. NULL: no memory.
fpm_model *fpm_model_allocate(fpm_estimator *estimator, const fpm_model_options *options);

static inline const fpm_samples *fpm_model_samples(const fpm_model *model, unsigned kind_index) {
    return model->estimator ? &model->corrections[kind_index].samples : &model->regressions[kind_index].samples;
}

// Bring the fits up to what was learned.
static inline void fpm_model_refit(fpm_model *model) {
    if (model->estimator && model->options.correction == FPM_CORRECTION_GRID) return;
    for (unsigned k = 0; k < FPM_N_KINDS; k++) {
        if (model->estimator)
            fpm_correction_refit(&model->corrections[k]);
        else
            fpm_regression_refit(&model->regressions[k]);
    }
}

#endif
