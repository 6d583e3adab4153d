// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdlib.h>

#include "perfmodel/native/batch.h"
#include "perfmodel/native/plan.h"

typedef struct native_state {
    fpm_plan plan;
    bool is_serial;
} native_state;

// The slowest rank, then what all ranks compute together.
static double fused_ms(const fpm_plan *plan, const fpm_metrics *ranks, size_t n_ranks) {
    double slowest = 0.0, shared_tokens = 0.0;
    for (size_t i = 0; i < n_ranks; i++) {
        const fpm_batch batch = fpm_batch_of(&ranks[i]);
        const double ms = fpm_plan_rank_ms(plan, &batch);
        if (ms > slowest) slowest = ms;
        shared_tokens += batch.tokens;
    }
    return plan->has_shared && shared_tokens > 0.0 ? slowest + fpm_plan_shared_ms(plan, shared_tokens) : slowest;
}

// The prompts of all ranks as one pass, their decodes as another.
static double serial_ms(const fpm_plan *plan, const fpm_metrics *ranks, size_t n_ranks) {
    double slowest[2] = { 0.0, 0.0 }, shared_tokens[2] = { 0.0, 0.0 };
    for (size_t i = 0; i < n_ranks; i++) {
        for (int part = 0; part < 2; part++) {
            fpm_metrics rank = ranks[i];
            if (part == 0) rank.scheduled.num_decode_requests = rank.scheduled.sum_decode_kv_tokens = 0;
            if (part == 1) rank.scheduled.sum_prefill_tokens = 0;
            const fpm_batch batch = fpm_batch_of(&rank);
            const double ms = fpm_plan_rank_ms(plan, &batch);
            if (ms > slowest[part]) slowest[part] = ms;
            shared_tokens[part] += batch.tokens;
        }
    }
    double ms = slowest[0] + slowest[1];
    for (int part = 0; part < 2; part++)
        if (plan->has_shared && shared_tokens[part] > 0.0) ms += fpm_plan_shared_ms(plan, shared_tokens[part]);
    return ms;
}

static fpm_status estimate(const void *state, const fpm_metrics *ranks, size_t n_ranks, double *ms, fpm_error *error) {
    (void)error;
    const native_state *native = state;
    *ms = native->is_serial ? serial_ms(&native->plan, ranks, n_ranks) : fused_ms(&native->plan, ranks, n_ranks);
    return FPM_OK;
}

static const fpm_estimator_ops ops = { .name = "native", .estimate_ms = estimate, .free_state = free };

static fpm_status check(const fpm_deployment *d, const fpm_calibration *calibration, fpm_error *error) {
    fpm_status status = fpm_architecture_check(&d->architecture, error);
    if (!status) status = fpm_system_check(&d->system, error);
    if (!status) status = fpm_layout_check(&d->layout, &d->architecture, error);
    if (!status) status = fpm_quantisation_check(&d->quantisation, &d->architecture, &d->system, error);
    for (int t = 0; !status && t < FPM_TERMS; t++)
        if (!isfinite(calibration->terms[t]) || calibration->terms[t] < 0.0)
            status = fpm_error_set(error, FPM_INVALID_CONFIG, "the calibration's %s must be finite and >= 0",
                                   fpm_term_name((fpm_term)t));
    return status;
}

fpm_status fpm_estimator_new_native(fpm_estimator **estimator, const fpm_deployment *deployment,
                                    const fpm_operators *operators, const fpm_calibration *calibration,
                                    fpm_pricing pricing, fpm_error *error) {
    *estimator = NULL;
    fpm_status status = check(deployment, calibration, error);
    if (status) return status;
    if (pricing != FPM_PRICING_FUSED && pricing != FPM_PRICING_SERIAL)
        return fpm_error_set(error, FPM_INVALID_CONFIG, "pricing must be fused or serial");
    native_state *state = malloc(sizeof *state);
    if (!state) return fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
    fpm_graph graph;
    fpm_graph_build(&graph, deployment, operators);
    fpm_plan_build(&state->plan, &graph, operators, calibration, deployment->layout.data > 1);
    state->is_serial = pricing == FPM_PRICING_SERIAL;
    return fpm_estimator_new(estimator, &ops, state, error);
}
