// SPDX-License-Identifier: GPL-3.0-or-later
//
// The calibration of the native model as configuration: [calibration] holds what all engines and GPUs have in common, [calibration.hopper] and its like
// a factor per GPU generation, [calibration.vllm] and its like one per backend; the file of a system may say factors of its own (system_file.h). A
// term is the product of the four. Shipped values: configs/calibrations.
#ifndef SIM_DEPLOYMENT_CALIBRATION_H
#define SIM_DEPLOYMENT_CALIBRATION_H

#include <stdio.h>

#include "perfmodel/native/native.h"
#include "sim/config/config.h"

// Section [calibration.error]: how far predictions with this calibration are off, as mean absolute percentage errors of cells that a fit had not seen. 0 = not stated.
typedef struct sim_calibration_error_stated {
    double ttft_mape_pct, tpot_mape_pct;
} sim_calibration_error_stated;
extern const sim_key_table sim_calibration_error_keys;

typedef struct sim_calibration {
    fpm_calibration common;
    fpm_calibration generations[FPM_GENERATIONS]; // factors
    fpm_calibration backends[FPM_BACKENDS];       // factors
    fpm_calibration system;                       // factors of the one system that it is used for
    int64_t admission_passes[FPM_BACKENDS];       // engine.admission_passes = auto
    sim_calibration_error_stated error;
} sim_calibration;

// The tables of all these sections.
enum { SIM_CALIBRATION_TABLES = 1 + FPM_GENERATIONS + FPM_BACKENDS };
extern const sim_key_table *const sim_calibration_tables[SIM_CALIBRATION_TABLES];
extern const sim_key_table sim_calibration_common_keys, sim_calibration_generation_keys[FPM_GENERATIONS],
    sim_calibration_backend_keys[FPM_BACKENDS];
// Section [calibration] in the file of a system.
extern const sim_key_table sim_calibration_system_keys;
// The tables again as initialisers, for a list of tables.
#define SIM_CALIBRATION_TABLE_LIST                                                                    \
    &sim_calibration_common_keys, &sim_calibration_generation_keys[FPM_AMPERE],                       \
        &sim_calibration_generation_keys[FPM_ADA], &sim_calibration_generation_keys[FPM_HOPPER],      \
        &sim_calibration_generation_keys[FPM_BLACKWELL], &sim_calibration_generation_keys[FPM_CDNA3], \
        &sim_calibration_backend_keys[FPM_VLLM], &sim_calibration_backend_keys[FPM_SGLANG],           \
        &sim_calibration_backend_keys[FPM_TRTLLM]

// Defaults of the tables.
sim_calibration sim_calibration_default(void);
// What `config` was given replaces what `calibration` holds; the rest stays. The configuration must have been made with the tables. True: something was given.
bool sim_calibration_override(sim_calibration *calibration, const sim_config *config);
// The same of the error it states; the configuration must have been made with sim_calibration_error_keys.
void sim_calibration_override_error(sim_calibration *calibration, const sim_config *config);
// The terms of one generation under one backend, on the system.
fpm_calibration sim_calibration_terms(const sim_calibration *calibration, fpm_generation generation,
                                      fpm_backend backend);
// A file of these sections alone, as sim_calibration_write makes them, over what `calibration` holds. SIM_USAGE.
sim_status sim_calibration_load(sim_calibration *calibration, const char *path, sim_error *error);
// As INI sections, those of which nothing is known left out, and without the system's. False on a write error.
bool sim_calibration_write(const sim_calibration *calibration, FILE *out);

#endif
