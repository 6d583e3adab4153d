// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/metrics_check.h"

#include <float.h>
#include <stdatomic.h>
#include <stdlib.h>

struct fpm_estimator {
    const fpm_estimator_ops *ops;
    void *state;
    atomic_size_t n_owners;
};

static void free_state(const fpm_estimator_ops *ops, void *state) {
    if (ops->free_state) ops->free_state(state);
}

fpm_status fpm_estimator_new(fpm_estimator **estimator, const fpm_estimator_ops *ops, void *state, fpm_error *error) {
    *estimator = malloc(sizeof **estimator);
    if (!*estimator) {
        free_state(ops, state);
        return fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
    }
    (*estimator)->ops = ops;
    (*estimator)->state = state;
    atomic_init(&(*estimator)->n_owners, 1);
    return FPM_OK;
}

fpm_estimator *fpm_estimator_share(fpm_estimator *estimator) {
    if (estimator) atomic_fetch_add_explicit(&estimator->n_owners, 1, memory_order_relaxed);
    return estimator;
}

void fpm_estimator_free(fpm_estimator *estimator) {
    // Release: what other owners did is seen by the one who frees.
    if (!estimator || atomic_fetch_sub_explicit(&estimator->n_owners, 1, memory_order_acq_rel) != 1) return;
    free_state(estimator->ops, estimator->state);
    free(estimator);
}

const char *fpm_estimator_name(const fpm_estimator *estimator) { return estimator->ops->name; }

static fpm_status refuse_estimate(const fpm_estimator *estimator, double ms, fpm_error *error) {
    return fpm_error_set(error, FPM_OUT_OF_RANGE, "the %s estimator gave %g ms for a pass", estimator->ops->name, ms);
}

fpm_status fpm_estimate_valid_ms(const fpm_estimator *estimator, const fpm_metrics *ranks, size_t n_ranks, double *ms,
                                 fpm_error *error) {
    const fpm_status status = estimator->ops->estimate_ms(estimator->state, ranks, n_ranks, ms, error);
    if (status) return status;
    if (!(*ms >= 0.0 && *ms <= DBL_MAX)) return refuse_estimate(estimator, *ms, error);
    return FPM_OK;
}

fpm_status fpm_estimate_ms(const fpm_estimator *estimator, const fpm_metrics *ranks, size_t n_ranks, double *ms,
                           fpm_error *error) {
    if (fpm_metrics_any_unsound(ranks, n_ranks)) return fpm_metrics_validate(ranks, n_ranks, error);
    return fpm_estimate_valid_ms(estimator, ranks, n_ranks, ms, error);
}
