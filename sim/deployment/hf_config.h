// SPDX-License-Identifier: GPL-3.0-or-later
//
// The config.json of a Hugging Face checkpoint: the architecture it names, and the number formats it declares.
#ifndef SIM_DEPLOYMENT_HF_CONFIG_H
#define SIM_DEPLOYMENT_HF_CONFIG_H

#include "sim/deployment/model_file.h"

// `path` stands in messages and gives the name. SIM_USAGE with the line of a syntax error; a key that is missing or no count; an architecture
// that is not known, with the nearest one that is.
sim_status sim_hf_config_parse(sim_model_file *file, const char *text, size_t n_bytes, const char *path,
                               sim_error *error);
// ModelOpt's hf_quant_config.json.
sim_status sim_hf_formats_parse(sim_declared_formats *formats, const char *text, size_t n_bytes, const char *path,
                                sim_error *error);

#endif
