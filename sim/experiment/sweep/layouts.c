// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/sweep/layouts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/experiment/settings.h"

const char *const sim_layout_keys[SIM_LAYOUT_KEYS] = { "parallel.tensor", "parallel.pipeline", "parallel.data",
                                                       "parallel.expert", "cluster.replicas" };
enum { TENSOR, PIPELINE, DATA, EXPERT, REPLICAS };

typedef struct enumeration {
    sim_domain *domain;
    const sim_config *config;
    bool is_moe;
    int64_t gpus_per_node;
    sim_error *error;
} enumeration;

// A large budget has shares that no worker may have.
static bool is_in_range(const enumeration *in, const int64_t values[SIM_LAYOUT_KEYS]) {
    for (size_t i = 0; i < SIM_LAYOUT_KEYS; i++) {
        char spelled[SIM_CANONICAL_BYTES];
        const sim_key *key = sim_config_spell(in->config, sim_layout_keys[i], spelled);
        if (key && (double)values[i] > key->max) return false;
    }
    return true;
}

// Do the shapes of the model divide so?
static bool is_legal(const enumeration *in, const int64_t values[SIM_LAYOUT_KEYS]) {
    sim_parallel_config parallel;
    sim_engine_config engine;
    sim_deployment deployment;
    sim_config_fill(in->config, &sim_parallel_keys, &parallel);
    sim_config_fill(in->config, &sim_engine_keys, &engine);
    parallel.tensor = values[TENSOR];
    parallel.pipeline = values[PIPELINE];
    parallel.data = values[DATA];
    parallel.expert = values[EXPERT];
    return sim_deployment_load(&deployment, in->config, &parallel, engine.backend, NULL) == SIM_OK;
}

static sim_status add(const enumeration *in, const int64_t values[SIM_LAYOUT_KEYS]) {
    sim_domain *domain = in->domain;
    if (!is_in_range(in, values) || !is_legal(in, values)) return SIM_OK;
    char **more = realloc(domain->values, (domain->n_values + 1) * SIM_LAYOUT_KEYS * sizeof *more);
    if (!more) return sim_error_set(in->error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    domain->values = more;
    for (size_t i = 0; i < SIM_LAYOUT_KEYS; i++) {
        char text[24];
        snprintf(text, sizeof text, "%" PRId64, values[i]);
        more[domain->n_values * SIM_LAYOUT_KEYS + i] = strdup(text);
    }
    domain->n_values++;
    return SIM_OK;
}

static sim_status add_experts(const enumeration *in, int64_t values[SIM_LAYOUT_KEYS]) {
    const int64_t n_ranks = values[TENSOR] * values[DATA];
    sim_status status = SIM_OK;
    for (int64_t expert = 1; expert <= (in->is_moe ? n_ranks : 1) && !status; expert++) {
        values[EXPERT] = expert;
        if (n_ranks % expert == 0) status = add(in, values);
    }
    return status;
}

static sim_status add_workers_of(const enumeration *in, int64_t n_gpus, int64_t replicas) {
    int64_t values[SIM_LAYOUT_KEYS] = { [REPLICAS] = replicas };
    sim_status status = SIM_OK;
    for (int64_t tensor = 1; tensor <= n_gpus && tensor <= in->gpus_per_node; tensor++) {
        for (int64_t pipeline = 1; tensor * pipeline <= n_gpus && n_gpus % tensor == 0 && !status; pipeline++) {
            if (n_gpus / tensor % pipeline != 0) continue;
            values[TENSOR] = tensor;
            values[PIPELINE] = pipeline;
            values[DATA] = n_gpus / tensor / pipeline;
            status = add_experts(in, values);
        }
    }
    return status;
}

sim_status sim_layouts(sim_domain *domain, const sim_config *config, int64_t gpus, sim_error *error) {
    sim_parallel_config parallel;
    sim_engine_config engine;
    sim_deployment deployment;
    *domain = (sim_domain){ .n_keys = SIM_LAYOUT_KEYS, .unit = "" };
    if (gpus == 0)
        return sim_config_contradiction(config, error, "sweep", "layouts",
                                        "layouts = auto needs the number of GPUs to lay out (sweep.gpus = 16)");
    sim_config_fill(config, &sim_parallel_keys, &parallel);
    sim_config_fill(config, &sim_engine_keys, &engine);
    parallel.tensor = parallel.pipeline = parallel.data = parallel.expert = 1;
    parallel.moe_tensor = 0;
    const sim_status status = sim_deployment_load(&deployment, config, &parallel, engine.backend, error);
    if (status) return status;
    if (!deployment.has_model || !deployment.has_system)
        return sim_config_contradiction(config, error, "sweep", "layouts",
                                        "layouts = auto needs to know what is laid out (model.name and system.name)");
    const enumeration in = { domain, config, deployment.architecture.n_moe_layers > 0, deployment.system.gpus_per_node,
                             error };
    sim_status added = SIM_OK;
    for (int64_t replicas = 1; replicas <= gpus && !added; replicas++)
        if (gpus % replicas == 0) added = add_workers_of(&in, gpus / replicas, replicas);
    if (!added && domain->n_values == 0)
        added = sim_config_contradiction(config, error, "sweep", "gpus", "no layout of %s uses %" PRId64 " GPUs",
                                         deployment.architecture.name, gpus);
    if (added) sim_domain_clear(domain);
    return added;
}
