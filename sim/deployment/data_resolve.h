// SPDX-License-Identifier: GPL-3.0-or-later
//
// Inside the room: from a name in the configuration to a file.
#ifndef SIM_DEPLOYMENT_DATA_RESOLVE_H
#define SIM_DEPLOYMENT_DATA_RESOLVE_H

#include "sim/deployment/data_files.h"

// SIM_USAGE, placed at SECTION.name: nothing of that name, with the nearest one.
sim_status sim_model_resolve(const sim_config *config, const char *dir, const char *name,
                             char path[SIM_DATA_PATH_BYTES], sim_error *error);
sim_status sim_system_resolve(const sim_config *config, const char *dir, const char *name,
                              char path[SIM_DATA_PATH_BYTES], sim_error *error);

#endif
