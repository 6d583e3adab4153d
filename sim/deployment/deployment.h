// SPDX-License-Identifier: GPL-3.0-or-later
//
// What runs on what: [model], [system] and [parallel] resolved into the structs of the forward-pass library, and what follows from them for an engine (its
// longest sequence, its KV blocks).
#ifndef SIM_DEPLOYMENT_DEPLOYMENT_H
#define SIM_DEPLOYMENT_DEPLOYMENT_H

#include "sim/deployment/data_files.h"
#include "sim/engine/worker.h"

typedef enum sim_activations { SIM_ACTIVATIONS_AUTO, SIM_ACTIVATIONS_BF16, SIM_ACTIVATIONS_QUANTISED } sim_activations;

typedef struct sim_model_config { // section [model]
    const char *name;             // "" = none
    int weights;                  // fpm_precision; -1: bf16, or what a config.json declares
    int moe_weights;              // fpm_precision; -1: as weights
    int kv_cache;                 // fpm_precision; -1 as for weights
    int activations;              // sim_activations
} sim_model_config;
extern const sim_key_table sim_model_keys;

typedef struct sim_system_config { // section [system]
    const char *name;              // "" = none
} sim_system_config;
extern const sim_key_table sim_system_keys;

typedef struct sim_deployment {
    bool has_model, has_system;
    fpm_architecture architecture;
    fpm_quantisation quantisation;
    fpm_system system;
    fpm_layout layout;
    fpm_backend backend;
    bool has_budget; // the KV cache was sized
    fpm_memory_budget budget;
    char operators[FPM_NAME_BYTES];   // curves of the system, in configs/operators
    char collectives[FPM_NAME_BYTES]; // those of its collectives
    fpm_calibration factors;          // of the system, on the calibration
    char model_path[SIM_DATA_PATH_BYTES], system_path[SIM_DATA_PATH_BYTES];
    char note[200]; // what was decided in the user's place; "" = nothing
} sim_deployment;

// Find and check model, system, layout and number formats; either of the first two may be missing. The configuration has the tables [data], [model],
// [system] and [parallel]. SIM_USAGE, placed where the key was given: an unknown name (the nearest is suggested), a file that is none, a layout that does not
// divide, a format the GPU cannot multiply, a key without the model it is about.
sim_status sim_deployment_load(sim_deployment *deployment, const sim_config *config,
                               const sim_parallel_config *parallel, int backend, sim_error *error);

// Resolve engine->max_model_len = 0 and kv_cache->num_blocks = 0 (auto). SIM_USAGE: a max_model_len beyond the model's, auto without model and system, a model
// that leaves no room.
sim_status sim_deployment_size(sim_deployment *deployment, const sim_config *config, sim_engine_config *engine,
                               sim_kv_cache_config *kv_cache, sim_error *error);

// As the forward-pass library wants it; model and system are there.
fpm_deployment sim_deployment_native(const sim_deployment *deployment);

// Tell what was resolved, in comments of an INI file. Nothing without model and system. False on a write error.
bool sim_deployment_write(const sim_deployment *deployment, const sim_kv_cache_config *kv_cache, FILE *out);

#endif
