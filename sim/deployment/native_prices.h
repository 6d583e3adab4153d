// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the native estimator needs beside the deployment: the curves of its operators and its calibration, from the files that the configuration names.
#ifndef SIM_DEPLOYMENT_NATIVE_PRICES_H
#define SIM_DEPLOYMENT_NATIVE_PRICES_H

#include "perfmodel/native/operators.h"
#include "sim/deployment/calibration.h"
#include "sim/deployment/table_files.h"

typedef struct sim_native_prices {
    fpm_operators operators; // borrows the deployment's system
    sim_calibration calibration;
    bool has_curves;                            // measured ones; else typical
    char curves_path[SIM_DATA_PATH_BYTES];      // theirs, or those of typical ones; "": none
    char calibration_path[SIM_DATA_PATH_BYTES]; // "": none
    bool has_overrides;                         // keys of [calibration] and its like were given
    char note[SIM_TABLE_NOTE_BYTES];            // of perfmodel.operator_tables, what the user should know; "" = nothing
} sim_native_prices;

// Curves of deployment->operators (typical ones where nothing of that name is found), the calibration file that perfmodel.calibration names, and over it what
// `config` says in [calibration] and its like. The files of perfmodel.operator_tables are only checked here (the curves stay without tables): whoever prices
// operations loads them (sim_table_files_load) and frees them again, as pricing.c does. The deployment has model and system, and must outlive the prices. SIM_USAGE; SIM_IO, SIM_BAD_DATA of the tables.
sim_status sim_native_prices_load(sim_native_prices *prices, const sim_config *config, const char *calibration,
                                  const sim_deployment *deployment, sim_error *error);

#endif
