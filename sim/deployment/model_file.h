// SPDX-License-Identifier: GPL-3.0-or-later
//
// A file that describes a model: one of configs/models, or the config.json of a published checkpoint.
#ifndef SIM_DEPLOYMENT_MODEL_FILE_H
#define SIM_DEPLOYMENT_MODEL_FILE_H

#include "sim/deployment/data_files.h"

// The number formats a checkpoint says it has.
typedef struct sim_declared_formats {
    bool is_declared;
    fpm_precision weights, moe_weights, kv_cache;
    char unknown[64]; // a way of quantising that we do not know; "" = none
} sim_declared_formats;

typedef struct sim_model_file {
    fpm_architecture architecture; // named after the file
    char published[400];           // names of checkpoints of this architecture, with commas
    char source[200];
    sim_declared_formats formats; // config.json only
} sim_model_file;

// INI or JSON, by content; a directory stands for its config.json. SIM_USAGE with file and line: a missing file, an architecture that is not
// known or is none.
sim_status sim_model_file_load(sim_model_file *file, const char *path, sim_error *error);
// INI from memory (tests, fuzzing).
sim_status sim_model_file_parse(sim_model_file *file, const char *text, size_t n_bytes, const char *path,
                                sim_error *error);
// Is `name` one of its published names? Case does not matter.
bool sim_model_file_publishes(const sim_model_file *file, const char *name);

#endif
