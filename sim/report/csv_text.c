// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/report/csv_text.h"

#include <string.h>

void sim_csv_put_text(FILE *out, const char *text) {
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) fputs(*text == '"' ? "\"\"" : (char[2]){ *text, '\0' }, out);
    fputc('"', out);
}
