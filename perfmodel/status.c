// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/perfmodel.h"

#include <stdarg.h>

const char *fpm_status_name(fpm_status status) {
    switch (status) {
#define X(code, name, meaning) \
    case code:                 \
        return name;
        FPM_STATUS_LIST(X)
#undef X
    }
    return "Unknown";
}

fpm_status fpm_error_set(fpm_error *error, fpm_status code, const char *format, ...) {
    if (!error) return code;
    *error = (fpm_error){ .code = code };
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return code;
}
