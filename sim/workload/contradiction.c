// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/workload/contradiction.h"

#include <stdarg.h>
#include <stdio.h>

sim_status sim_contradiction(const sim_config *config, sim_error *error, const char *section, const char *key,
                             const char *format, ...) {
    char message[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (config) return sim_config_contradiction(config, error, section, key, "%s", message);
    return sim_error_set(error, SIM_USAGE, NULL, 0, "%s.%s: %s", section, key, message);
}
