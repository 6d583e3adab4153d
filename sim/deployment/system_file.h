// SPDX-License-Identifier: GPL-3.0-or-later
//
// A file of configs/systems: one GPU and the node around it.
#ifndef SIM_DEPLOYMENT_SYSTEM_FILE_H
#define SIM_DEPLOYMENT_SYSTEM_FILE_H

#include "sim/deployment/calibration.h"
#include "sim/deployment/data_files.h"

typedef struct sim_system_file {
    fpm_system system;              // named after the file
    char operators[FPM_NAME_BYTES]; // curves in configs/operators, measured on this GPU or the nearest one
    char collectives
        [FPM_NAME_BYTES];    // likewise of collectives, which hang on how GPUs are joined; operators unless said
    fpm_calibration factors; // on the calibration, for this system; 1 where the file says nothing
    char source[200];
} sim_system_file;

// SIM_USAGE with file and line: a missing file, what an INI file may not hold, a system that is none.
sim_status sim_system_file_load(sim_system_file *file, const char *path, sim_error *error);
// The same from memory (tests, fuzzing).
sim_status sim_system_file_parse(sim_system_file *file, const char *text, size_t n_bytes, const char *path,
                                 sim_error *error);

#endif
