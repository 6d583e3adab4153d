// SPDX-License-Identifier: GPL-3.0-or-later
//
// A shipped model on a shipped system, from `section.key=value` lines to graph, calibration and estimator, as `forepass estimate` makes them.
#ifndef TESTS_SUPPORT_NATIVE_DEPLOYMENT_H
#define TESTS_SUPPORT_NATIVE_DEPLOYMENT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/native/explain.h"
#include "perfmodel/native/plan.h"
#include "sim/deployment/pricing.h"

typedef struct native_case {
    sim_deployment deployment;
    sim_native_prices prices; // borrows deployment
    fpm_deployment native;
    fpm_calibration calibration;
    fpm_graph graph;
    fpm_estimator *estimator;
    sim_error error;
} native_case;

static inline sim_status native_case_load(native_case *c, const sim_config *config) {
    sim_pricing_config settings;
    sim_parallel_config parallel;
    sim_engine_config engine;
    sim_config_fill(config, &sim_pricing_keys, &settings);
    sim_config_fill(config, &sim_parallel_keys, &parallel);
    sim_config_fill(config, &sim_engine_keys, &engine);
    sim_status status = sim_deployment_load(&c->deployment, config, &parallel, engine.backend, &c->error);
    if (!status) status = sim_native_prices_load(&c->prices, config, settings.calibration, &c->deployment, &c->error);
    if (status) return status;
    c->native = sim_deployment_native(&c->deployment);
    c->calibration = sim_calibration_terms(&c->prices.calibration, c->native.system.generation, c->native.backend);
    fpm_graph_build(&c->graph, &c->native, &c->prices.operators);
    return sim_pricing_new(&c->estimator, config, &settings, &c->deployment, &c->prices, 0, &c->error);
}

// `sets` ends with NULL. NULL: c->error says why it went wrong, or what does not fit together. Free with native_case_free.
static inline native_case *native_case_new(const char *const *sets, sim_error *error) {
    static const sim_key_table *const tables[] = { &sim_pricing_keys,          &sim_model_keys,
                                                   &sim_system_keys,           &sim_parallel_keys,
                                                   &sim_engine_keys,           &sim_data_keys,
                                                   SIM_CALIBRATION_TABLE_LIST, &sim_calibration_error_keys };
    native_case *c = calloc(1, sizeof *c);
    sim_config *config = NULL;
    if (!c) return NULL;
    sim_status status = sim_config_new(&config, tables, sizeof tables / sizeof *tables, &c->error);
    for (; !status && *sets; sets++) status = sim_config_set(config, *sets, &c->error);
    if (!status) status = native_case_load(c, config);
    sim_config_free(config);
    if (!status) return c;
    *error = c->error;
    free(c);
    return NULL;
}

static inline void native_case_free(native_case *c) {
    if (!c) return;
    fpm_estimator_free(c->estimator);
    free(c);
}

// The same work on every data-parallel rank.
static inline double native_case_ms(const native_case *c, const fpm_metrics *rank) {
    fpm_metrics ranks[64];
    const size_t n_ranks = (size_t)c->native.layout.data;
    double ms = -1;
    if (n_ranks > 64) return ms;
    for (size_t i = 0; i < n_ranks; i++) ranks[i] = *rank;
    return fpm_estimate_ms(c->estimator, ranks, n_ranks, &ms, NULL) ? -1 : ms;
}

static inline fpm_metrics native_pass(uint32_t prompts, uint32_t prefill_tokens, uint32_t prefill_kv_tokens,
                                      uint32_t decodes, uint32_t decode_kv_tokens) {
    fpm_metrics pass = fpm_metrics_idle();
    pass.scheduled.num_prefill_requests = prompts;
    pass.scheduled.sum_prefill_tokens = prefill_tokens;
    pass.scheduled.sum_prefill_kv_tokens = prefill_kv_tokens;
    pass.scheduled.num_decode_requests = decodes;
    pass.scheduled.sum_decode_kv_tokens = decode_kv_tokens;
    return pass;
}

#define NATIVE_CONFIGS "data.dir=" SOURCE_DIR "/configs"

#endif
