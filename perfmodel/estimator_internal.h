// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef PERFMODEL_ESTIMATOR_INTERNAL_H
#define PERFMODEL_ESTIMATOR_INTERNAL_H

#include "perfmodel/perfmodel.h"

#include <float.h>
#include <stdatomic.h>

struct fpm_estimator {
    const fpm_estimator_ops *ops;
    void *state;
    atomic_size_t n_owners;
};

fpm_status fpm_estimator_refuse(const fpm_estimator *estimator, double ms, fpm_error *error);

// fpm_estimate_valid_ms for the library's own inner loops.
static inline fpm_status fpm_estimator_ask(const fpm_estimator *estimator, const fpm_metrics *ranks, size_t n_ranks,
                                           double *ms, fpm_error *error) {
    const fpm_status status = estimator->ops->estimate_ms(estimator->state, ranks, n_ranks, ms, error);
    if (status) return status;
    if (!(*ms >= 0.0 && *ms <= DBL_MAX)) return fpm_estimator_refuse(estimator, *ms, error);
    return FPM_OK;
}

#endif
