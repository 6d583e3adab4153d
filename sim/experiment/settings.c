// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/settings.h"

#include "sim/deployment/learned_prices.h"
#include "sim/experiment/plan/plan_settings.h"
#include "sim/experiment/sweep/sweep_config.h"

const sim_key_table *const sim_settings_tables[] = { &sim_workload_keys,
                                                     &sim_csv_keys,
                                                     &sim_load_keys,
                                                     &sim_data_keys,
                                                     &sim_model_keys,
                                                     &sim_system_keys,
                                                     &sim_parallel_keys,
                                                     &sim_engine_keys,
                                                     &sim_kv_cache_keys,
                                                     &sim_pricing_keys,
                                                     &sim_model_options_keys,
                                                     &sim_tuning_keys,
                                                     &sim_truth_keys,
                                                     &sim_cluster_keys,
                                                     &sim_router_keys,
                                                     &sim_sla_keys,
                                                     &sim_report_keys,
                                                     &sim_sweep_keys,
                                                     &sim_plan_keys,
                                                     SIM_CALIBRATION_TABLE_LIST,
                                                     &sim_calibration_error_keys };
const size_t sim_settings_n_tables = sizeof sim_settings_tables / sizeof *sim_settings_tables;

// KV tokens of one rank.
static uint64_t capacity_tokens(const sim_settings *settings) {
    return (uint64_t)settings->kv_cache.num_blocks * (uint64_t)settings->kv_cache.block_size;
}

static bool learns(const sim_settings *settings) { return settings->tuning.mode == SIM_TUNING_ONLINE; }

sim_status sim_settings_estimator(const sim_config *config, const sim_settings *settings, fpm_estimator **estimator,
                                  sim_error *error) {
    sim_pricing_config pricing = settings->pricing;
    if (learns(settings)) pricing.state = ""; // it goes on learning: not part of the untuned prices
    return sim_pricing_new(estimator, config, &pricing, &settings->deployment, &settings->prices,
                           capacity_tokens(settings), error);
}

// The saved model that the tuner goes on from; *saved = NULL: there is none.
static sim_status load_saved(const sim_config *config, const sim_settings *settings, fpm_estimator *estimator,
                             fpm_model **saved, sim_error *error) {
    const char *path = settings->pricing.state;
    const bool is_regression = settings->pricing.estimator == SIM_ESTIMATOR_REGRESSION;
    *saved = NULL;
    if (!learns(settings) || !path[0]) return SIM_OK;
    sim_status status =
        sim_learned_model_load(saved, config, path, is_regression ? NULL : estimator, is_regression, error);
    if (status) return status;
    status = sim_model_options_check_saved(config, &settings->model_options, fpm_model_get_options(*saved), error);
    if (!status) return SIM_OK;
    fpm_model_free(*saved);
    *saved = NULL;
    return status;
}

// A form of the learner that is not the one in force.
static sim_status refuse_idle_form(const sim_config *config, const sim_settings *settings, sim_error *error) {
    const bool is_regression = settings->pricing.estimator == SIM_ESTIMATOR_REGRESSION;
    const bool is_online = settings->tuning.mode == SIM_TUNING_ONLINE;
    if (is_online && is_regression && settings->model_options.correction != FPM_CORRECTION_GRID)
        return sim_config_contradiction(
            config, error, "perfmodel", "correction",
            "perfmodel.correction has no effect with estimator = regression, which corrects "
            "nothing (leave it out)");
    if (is_online && !is_regression && settings->model_options.regression != FPM_REGRESSION_REFERENCE)
        return sim_config_contradiction(config, error, "perfmodel", "regression",
                                        "perfmodel.regression has no effect without estimator = regression (leave it "
                                        "out; perfmodel.correction is the form of corrections)");
    return SIM_OK;
}

sim_status sim_settings_tuner(const sim_config *config, const sim_settings *settings, fpm_estimator *estimator,
                              sim_tuner **tuner, sim_error *error) {
    *tuner = NULL;
    if (!sim_tuning_is_on(&settings->truth)) return SIM_OK;
    fpm_model *saved;
    sim_status status = refuse_idle_form(config, settings, error);
    if (!status) status = load_saved(config, settings, estimator, &saved, error);
    if (status) return status;
    const sim_tuner_parts parts = {
        .tuning = &settings->tuning,
        .truth = &settings->truth,
        .options = &settings->model_options,
        .saved = saved,
        .estimator = estimator,
        .is_regression = settings->pricing.estimator == SIM_ESTIMATOR_REGRESSION,
        .root_seed = (uint64_t)settings->load.seed,
        .n_workers = (uint32_t)settings->cluster.replicas,
        .n_ranks = (uint32_t)settings->parallel.data,
    };
    status = sim_tuner_new(tuner, &parts, error);
    fpm_model_free(saved);
    return status;
}

sim_status sim_settings_cluster(const sim_settings *settings, const sim_workload *workload,
                                const fpm_estimator *estimator, sim_tuner *tuner, const sim_observer *const *observers,
                                uint32_t n_observers, sim_cluster **cluster, sim_error *error) {
    const sim_cluster_parts parts = {
        .cluster = &settings->cluster,
        .router = &settings->router,
        .parallel = &settings->parallel,
        .engine = &settings->engine,
        .kv_cache = &settings->kv_cache,
        .workload = workload,
        .estimator = estimator,
        .tuner = tuner,
        .observers = observers,
        .n_observers = n_observers,
    };
    return sim_cluster_new(cluster, &parts, error);
}

// Native prices, and what their calibration says of the engine.
static sim_status read_prices(const sim_config *config, sim_settings *settings, sim_error *error) {
    const bool is_native = sim_pricing_is_native(&settings->pricing, &settings->deployment);
    sim_status status = SIM_OK;
    if (is_native)
        status = sim_native_prices_load(&settings->prices, config, settings->pricing.calibration, &settings->deployment,
                                        error);
    if (status || settings->engine.admission_passes >= 0) return status;
    settings->engine.admission_passes =
        is_native ? settings->prices.calibration.admission_passes[settings->deployment.backend] : 0;
    return SIM_OK;
}

// What a regression does not learn it does not know.
static sim_status check_learner(const sim_config *config, const sim_settings *settings, sim_error *error) {
    const bool is_tuned = settings->tuning.mode == SIM_TUNING_ONLINE;
    if (settings->pricing.estimator != SIM_ESTIMATOR_REGRESSION || is_tuned || settings->pricing.state[0])
        return SIM_OK;
    return sim_config_contradiction(config, error, "perfmodel", "estimator",
                                    "estimator = regression knows nothing by itself: it needs tuning.mode = online "
                                    "and a [truth] to learn from, or perfmodel.state with what was learned (or choose "
                                    "native, polynomial or fixed)");
}

// Their constructors know the rules of [perfmodel].
static sim_status check_prices(const sim_config *config, const sim_settings *settings, sim_error *error) {
    fpm_estimator *estimator;
    fpm_model *saved;
    sim_status status = sim_settings_estimator(config, settings, &estimator, error);
    if (status) return status;
    status = load_saved(config, settings, estimator, &saved, error);
    if (!status) fpm_model_free(saved);
    fpm_estimator_free(estimator);
    return status;
}

sim_status sim_settings_read(const sim_config *config, sim_settings *settings, sim_error *error) {
    *settings = (sim_settings){ .workload = { .source = 0 } };
    sim_config_fill(config, &sim_workload_keys, &settings->workload);
    sim_config_fill(config, &sim_csv_keys, &settings->workload.csv);
    sim_config_fill(config, &sim_load_keys, &settings->load);
    sim_config_fill(config, &sim_parallel_keys, &settings->parallel);
    sim_config_fill(config, &sim_engine_keys, &settings->engine);
    sim_config_fill(config, &sim_kv_cache_keys, &settings->kv_cache);
    sim_config_fill(config, &sim_pricing_keys, &settings->pricing);
    sim_config_fill(config, &sim_cluster_keys, &settings->cluster);
    sim_config_fill(config, &sim_router_keys, &settings->router);
    sim_config_fill(config, &sim_sla_keys, &settings->sla);
    sim_config_fill(config, &sim_report_keys, &settings->report);

    sim_status status = sim_workload_check(config, &settings->workload, error);
    if (!status)
        status = sim_load_check(config, &settings->load, sim_workload_can_have_stamps(&settings->workload), error);
    if (!status) status = sim_engine_check(config, &settings->engine, &settings->kv_cache, error);
    if (!status)
        status =
            sim_deployment_load(&settings->deployment, config, &settings->parallel, settings->engine.backend, error);
    if (!status)
        status = sim_deployment_size(&settings->deployment, config, &settings->engine, &settings->kv_cache, error);
    if (!status) status = read_prices(config, settings, error);
    if (!status) status = sim_model_options_read(config, &settings->model_options, error);
    if (!status) status = sim_tuning_read(config, &settings->tuning, &settings->truth, error);
    if (!status) status = check_learner(config, settings, error);
    if (!status) status = sim_sla_check(config, &settings->sla, error);
    if (status) return status;
    return check_prices(config, settings, error);
}

bool sim_settings_write(const sim_config *config, const sim_settings *settings, FILE *out) {
    return sim_deployment_write(&settings->deployment, &settings->kv_cache, out) &&
           sim_pricing_write(&settings->pricing, &settings->deployment, capacity_tokens(settings), out) &&
           sim_config_write(config, out);
}
