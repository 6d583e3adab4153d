// SPDX-License-Identifier: GPL-3.0-or-later
//
// One experiment, typed: what the configuration says to each room, checked as a whole.
#ifndef SIM_EXPERIMENT_SETTINGS_H
#define SIM_EXPERIMENT_SETTINGS_H

#include "sim/deployment/pricing.h"
#include "sim/report/summary.h"
#include "sim/tuning/model_options.h"
#include "sim/workload/load.h"

typedef struct sim_settings {
    sim_workload_config workload;
    sim_load_config load;
    sim_parallel_config parallel;
    sim_engine_config engine;
    sim_kv_cache_config kv_cache;
    sim_deployment deployment;
    sim_native_prices prices; // where the estimator is native
    sim_pricing_config pricing;
    fpm_model_options model_options; // of a model that learns
    sim_tuning_config tuning;
    sim_truth_config truth;
    sim_cluster_config cluster;
    sim_router_config router;
    sim_sla_config sla;
    sim_report_config report;
} sim_settings;

// The key tables of all rooms, joined: what a configuration may say.
extern const sim_key_table *const sim_settings_tables[];
extern const size_t sim_settings_n_tables;

// Fill `settings`, read what [model] and [system] name, and check the rules between keys that need no other input file. SIM_USAGE, placed where the key was given. Texts belong to `config`.
sim_status sim_settings_read(const sim_config *config, sim_settings *settings, sim_error *error);

// The estimator that [perfmodel] describes, for the KV capacity of [kv_cache]. With tuning.mode = online perfmodel.state is left to the tuner.
sim_status sim_settings_estimator(const sim_config *config, const sim_settings *settings, fpm_estimator **estimator,
                                  sim_error *error);

// What tells how long passes take where [truth] has a source, else NULL; its models go on from perfmodel.state. The estimator and the settings must outlive it.
// Errors of sim_tuner_new and sim_learned_model_load.
sim_status sim_settings_tuner(const sim_config *config, const sim_settings *settings, fpm_estimator *estimator,
                              sim_tuner **tuner, sim_error *error);

// The workers of [cluster] with everything they are made of, which must outlive them; `tuner` (may be NULL) and `observers` as in sim_cluster_parts.
sim_status sim_settings_cluster(const sim_settings *settings, const sim_workload *workload,
                                const fpm_estimator *estimator, sim_tuner *tuner, const sim_observer *const *observers,
                                uint32_t n_observers, sim_cluster **cluster, sim_error *error);

// The configuration, fully resolved and runnable as it is, with what was made of model and system in comments at its head. False on a write error.
bool sim_settings_write(const sim_config *config, const sim_settings *settings, FILE *out);

#endif
