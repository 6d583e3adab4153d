// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/estimator_internal.h"

#include "perfmodel/metrics_check.h"

#include <stdlib.h>
#include <string.h>

static void free_state(const fpm_estimator_ops *ops, void *state) {
    if (ops->free_state) ops->free_state(state);
}

// A name goes into saved states and messages.
static bool is_name(const char *name) {
    const size_t n = name ? strnlen(name, FPM_ESTIMATOR_NAME_BYTES) : 0;
    if (n == 0 || n == FPM_ESTIMATOR_NAME_BYTES) return false;
    for (const char *c = name; *c; c++)
        if (*c < 0x20 || *c > 0x7e) return false;
    return true;
}

fpm_status fpm_estimator_new(fpm_estimator **estimator, const fpm_estimator_ops *ops, void *state, fpm_error *error) {
    if (!is_name(ops->name) || !ops->estimate_ms) {
        free_state(ops, state);
        return fpm_error_set(error, FPM_INVALID_CONFIG,
                             "an estimator needs a name of 1 to %d printable ASCII characters and an estimate_ms",
                             FPM_ESTIMATOR_NAME_BYTES - 1);
    }
    fpm_estimator *made = malloc(sizeof *made);
    if (!made) {
        free_state(ops, state);
        return fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
    }
    made->ops = ops;
    made->state = state;
    atomic_init(&made->n_owners, 1);
    *estimator = made;
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

fpm_status fpm_estimator_refuse(const fpm_estimator *estimator, double ms, fpm_error *error) {
    return fpm_error_set(error, FPM_OUT_OF_RANGE, "the %s estimator gave %g ms for a pass", estimator->ops->name, ms);
}

fpm_status fpm_estimate_valid_ms(const fpm_estimator *estimator, const fpm_metrics *ranks, size_t n_ranks, double *ms,
                                 fpm_error *error) {
    return fpm_estimator_ask(estimator, ranks, n_ranks, ms, error);
}

fpm_status fpm_estimate_ms(const fpm_estimator *estimator, const fpm_metrics *ranks, size_t n_ranks, double *ms,
                           fpm_error *error) {
    if (fpm_metrics_any_unsound(ranks, n_ranks)) return fpm_metrics_validate(ranks, n_ranks, error);
    return fpm_estimator_ask(estimator, ranks, n_ranks, ms, error);
}
