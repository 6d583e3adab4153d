// SPDX-License-Identifier: GPL-3.0-or-later
//
// Inside the room: the text of a JSON document of a checkpoint into the number formats it declares. (The tree is cJSON's and stays in .c files.)
#ifndef SIM_DEPLOYMENT_HF_DOCUMENT_H
#define SIM_DEPLOYMENT_HF_DOCUMENT_H

#include "sim/deployment/model_file.h"

struct cJSON;

// NULL: a syntax error, placed. The tree goes with cJSON_Delete.
struct cJSON *sim_hf_document(const char *text, size_t n_bytes, const char *path, sim_error *error);

// What a `quantization_config` object (or ModelOpt's `quantization`) says; formats->unknown names a method that we do not know.
void sim_hf_formats_read(sim_declared_formats *formats, const struct cJSON *quantisation);

#endif
