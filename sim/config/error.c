// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/config/error.h"

#include <stdarg.h>
#include <stdio.h>

int sim_status_exit(sim_status status) {
    switch (status) {
#define X(code, exit_status, meaning) \
    case code:                        \
        return exit_status;
        SIM_STATUS_LIST(X)
#undef X
    }
    return 1;
}

sim_status sim_signal_status(const volatile sig_atomic_t *caught) {
    if (!caught || !*caught) return SIM_OK;
    return *caught == SIGTERM ? SIM_TERMINATED : SIM_INTERRUPTED;
}

sim_status sim_error_set(sim_error *error, sim_status code, const char *file, int64_t line, const char *format, ...) {
    if (!error) return code;
    error->code = code;
    error->line = line;
    error->column = 0;
    // `file` may be the file of this very error, when a message is put into other words
    if (file != error->file) snprintf(error->file, sizeof error->file, "%s", file ? file : "");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return code;
}
