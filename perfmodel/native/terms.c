// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/native/terms.h"

typedef struct term {
    const char *name;
    double default_value;
    const char *help;
} term;

static const term terms[FPM_TERMS] = {
#define X(code, name, value, help) { name, value, help },
    FPM_TERM_LIST(X)
#undef X
};

const char *fpm_term_name(fpm_term t) { return terms[t].name; }
double fpm_term_default(fpm_term t) { return terms[t].default_value; }
const char *fpm_term_help(fpm_term t) { return terms[t].help; }

fpm_calibration fpm_calibration_default(void) {
    fpm_calibration calibration;
    for (int t = 0; t < FPM_TERMS; t++) calibration.terms[t] = terms[t].default_value;
    return calibration;
}
