// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/deployment/calibration.h"

#include <stddef.h>

// Anything that leaves a price finite; a factor of 0 switches a term off.
#define RANGE .min = 0, .max = 1e9
#define AT(code) (offsetof(fpm_calibration, terms) + (size_t)(code) * sizeof(double))

static const sim_key common_keys[] = {
#define X(code, key_name, value, text) \
    { .name = key_name, .type = SIM_KEY_REAL, .offset = AT(code), .default_text = #value, RANGE, .help = text },
    FPM_TERM_LIST(X)
#undef X
};
static const sim_key factor_keys[] = {
#define X(code, key_name, value, text) \
    { .name = key_name,                \
      .type = SIM_KEY_REAL,            \
      .offset = AT(code),              \
      .default_text = "1",             \
      RANGE,                           \
      .help = "factor on calibration." key_name },
    FPM_TERM_LIST(X)
#undef X
};

#define FACTORS(title, text) \
    { "calibration." title, text, factor_keys, FPM_TERMS }
static const sim_key_table common_table = { "calibration", "what prices are multiplied by and what is added to them",
                                            common_keys, FPM_TERMS };
static const sim_key_table generation_tables[FPM_GENERATIONS] = {
#define X(code, name) FACTORS(name, "factors on [calibration] for GPUs of this generation"),
    FPM_GENERATION_LIST(X)
#undef X
};
static const sim_key_table backend_tables[FPM_BACKENDS] = {
#define X(code, name) FACTORS(name, "factors on [calibration] under this backend"),
    FPM_BACKEND_LIST(X)
#undef X
};

const sim_key_table *const sim_calibration_tables[SIM_CALIBRATION_TABLES] = { &common_table,
#define X(code, name) &generation_tables[code],
                                                                              FPM_GENERATION_LIST(X)
#undef X
#define X(code, name) &backend_tables[code],
                                                                                  FPM_BACKEND_LIST(X)
#undef X
};

sim_calibration sim_calibration_default(void) {
    sim_calibration calibration = { .common = fpm_calibration_default() };
    for (int t = 0; t < FPM_TERMS; t++) {
        for (int g = 0; g < FPM_GENERATIONS; g++) calibration.generations[g].terms[t] = 1.0;
        for (int b = 0; b < FPM_BACKENDS; b++) calibration.backends[b].terms[t] = 1.0;
    }
    return calibration;
}

static fpm_calibration *set_of(sim_calibration *calibration, int table) {
    if (table == 0) return &calibration->common;
    if (table <= FPM_GENERATIONS) return &calibration->generations[table - 1];
    return &calibration->backends[table - 1 - FPM_GENERATIONS];
}

void sim_calibration_override(sim_calibration *calibration, const sim_config *config) {
    for (int i = 0; i < SIM_CALIBRATION_TABLES; i++) {
        const sim_key_table *table = sim_calibration_tables[i];
        fpm_calibration given;
        sim_config_fill(config, table, &given);
        for (int t = 0; t < FPM_TERMS; t++)
            if (sim_config_is_given(config, table->section, table->keys[t].name))
                set_of(calibration, i)->terms[t] = given.terms[t];
    }
}

fpm_calibration sim_calibration_terms(const sim_calibration *calibration, fpm_generation generation,
                                      fpm_backend backend) {
    fpm_calibration terms = calibration->common;
    for (int t = 0; t < FPM_TERMS; t++)
        terms.terms[t] *= calibration->generations[generation].terms[t] * calibration->backends[backend].terms[t];
    return terms;
}

bool sim_calibration_write(const sim_calibration *calibration, FILE *out) {
    const sim_calibration defaults = sim_calibration_default();
    bool is_well = true;
    for (int i = 0; i < SIM_CALIBRATION_TABLES; i++) {
        const sim_key_table *table = sim_calibration_tables[i];
        const double *values = set_of((sim_calibration *)calibration, i)->terms;
        const double *usual = set_of((sim_calibration *)&defaults, i)->terms;
        bool has_head = false;
        for (int t = 0; t < FPM_TERMS; t++) {
            if (values[t] == usual[t]) continue;
            if (!has_head) is_well = fprintf(out, "\n[%s]\n", table->section) >= 0 && is_well;
            has_head = true;
            is_well = fprintf(out, "%s = %.4g\n", table->keys[t].name, values[t]) >= 0 && is_well;
        }
    }
    return is_well;
}
