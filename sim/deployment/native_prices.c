// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/deployment/native_prices.h"

#include <string.h>

#include "sim/deployment/operator_curves.h"
#include "sim/deployment/pricing.h"

// A system file that names curves means them; only its own name may be one of which nothing is measured.
static sim_status check_curves(const char *dir, const sim_deployment *deployment, const char *key, const char *name,
                               sim_error *error) {
    char path[SIM_DATA_PATH_BYTES];
    if (strcmp(name, deployment->system.name) == 0 || sim_data_find(dir, "operators", name, path)) return SIM_OK;
    return sim_error_set(error, SIM_USAGE, deployment->system_path, 0,
                         "system.%s: there are no curves %s (configs/operators has those that are shipped)", key, name);
}

static sim_status load_curves(sim_native_prices *prices, const char *dir, const sim_deployment *deployment,
                              sim_error *error) {
    prices->has_curves = false;
    sim_status status = check_curves(dir, deployment, "operators", deployment->operators, error);
    if (!status) status = check_curves(dir, deployment, "collectives", deployment->collectives, error);
    if (status) return status;
    status = sim_system_curves_load(&prices->operators, &prices->has_curves, dir, &deployment->system,
                                    deployment->operators, deployment->collectives, deployment->backend, error);
    const char *name = prices->has_curves ? deployment->operators : "typical";
    if (!sim_data_find(dir, "operators", name, prices->curves_path)) prices->curves_path[0] = '\0';
    return status;
}

static sim_status load_calibration(sim_native_prices *prices, const sim_config *config, const char *dir,
                                   const char *name, sim_error *error) {
    prices->calibration = sim_calibration_default();
    if (!sim_data_find(dir, "calibrations", name, prices->calibration_path))
        return sim_config_contradiction(config, error, "perfmodel", "calibration",
                                        "there is no calibration %s (configs/calibrations has those that are shipped; "
                                        "a file of your own is taken in by include = FILE)",
                                        name);
    return sim_calibration_load(&prices->calibration, prices->calibration_path, error);
}

static sim_status check_tables(sim_native_prices *prices, const sim_config *config, const sim_deployment *deployment,
                               sim_error *error) {
    sim_pricing_config settings;
    sim_config_fill(config, &sim_pricing_keys, &settings);
    if (!*settings.operator_tables) return SIM_OK;
    fpm_operator_tables *tables;
    const sim_status status = sim_table_files_load(&tables, settings.operator_tables, &prices->operators, error);
    if (status == SIM_USAGE) { // the directory: the key is to blame
        char what[sizeof error->message];
        snprintf(what, sizeof what, "%s", error->message);
        return sim_config_contradiction(config, error, "perfmodel", "operator_tables", "%.200s: %s",
                                        settings.operator_tables, what);
    }
    if (status) return status;
    const fpm_deployment d = sim_deployment_native(deployment);
    sim_table_files_note(prices->note, tables, &d, &prices->operators);
    fpm_operator_tables_free(tables);
    return SIM_OK;
}

sim_status sim_native_prices_load(sim_native_prices *prices, const sim_config *config, const char *calibration,
                                  const sim_deployment *deployment, sim_error *error) {
    sim_data_config data;
    sim_config_fill(config, &sim_data_keys, &data);
    sim_status status = load_curves(prices, data.dir, deployment, error);
    prices->calibration_path[0] = '\0';
    if (!status && strcmp(calibration, "none") == 0)
        prices->calibration = sim_calibration_default();
    else if (!status)
        status = load_calibration(prices, config, data.dir, calibration, error);
    if (status) return status;
    prices->has_overrides = sim_calibration_override(&prices->calibration, config);
    sim_calibration_override_error(&prices->calibration, config);
    prices->calibration.system = deployment->factors;
    prices->note[0] = '\0';
    return check_tables(prices, config, deployment, error);
}
