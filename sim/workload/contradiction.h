// SPDX-License-Identifier: GPL-3.0-or-later
//
// sim_config_contradiction for callers that may have no configuration (tests, programs that fill the structs
// themselves).
#ifndef SIM_WORKLOAD_CONTRADICTION_H
#define SIM_WORKLOAD_CONTRADICTION_H

#include "sim/config/config.h"

// Returns SIM_USAGE. Without a configuration the message begins with "section.key: ".
sim_status sim_contradiction(const sim_config *config, sim_error *error, const char *section, const char *key,
                             const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
