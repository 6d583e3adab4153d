// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/deployment/calibration.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

// Anything that leaves a price finite; a factor of 0 switches a term off.
#define RANGE .min = 0, .max = 1e9
#define AT(code) (offsetof(fpm_calibration, terms) + (size_t)(code) * sizeof(double))

static const sim_key common_keys[] = {
#define X(code, key_name, value, text) \
    { .name = key_name, .type = SIM_KEY_REAL, .offset = AT(code), .default_text = #value, RANGE, .help = text },
    FPM_TERM_LIST(X)
#undef X
};
#define FACTOR(code, key_name, value, text) \
    { .name = key_name,                     \
      .type = SIM_KEY_REAL,                 \
      .offset = AT(code),                   \
      .default_text = "1",                  \
      RANGE,                                \
      .help = "factor on calibration." key_name },
static const sim_key factor_keys[] = { FPM_TERM_LIST(FACTOR) };

// A backend has one thing more, which is no price.
typedef struct backend_section {
    fpm_calibration factors;
    int64_t admission_passes;
} backend_section;
#define BACKEND_KEYS(passes)                                       \
    {                                                              \
        FPM_TERM_LIST(FACTOR){                                     \
            .name = "admission_passes",                            \
            .type = SIM_KEY_INT,                                   \
            .offset = offsetof(backend_section, admission_passes), \
            .default_text = passes,                                \
            .min = 0,                                              \
            .max = 1e6,                                            \
            .unit = "passes",                                      \
            .help = "engine.admission_passes = auto",              \
        },                                                         \
    }
// Passes that give the smallest errors of TTFT over all measured runs (configs/calibrations/default.ini), tried one by one.
static const sim_key backend_keys[FPM_BACKENDS][FPM_TERMS + 1] = {
    [FPM_VLLM] = BACKEND_KEYS("4"),
    [FPM_SGLANG] = BACKEND_KEYS("16"),
    [FPM_TRTLLM] = BACKEND_KEYS("10"),
};
_Static_assert(offsetof(backend_section, factors) == 0, "the factors come first, as in the sections without more");

const sim_key_table sim_calibration_common_keys = { "calibration",
                                                    "what native prices are multiplied by and what is added to them",
                                                    common_keys, FPM_TERMS };
const sim_key_table sim_calibration_generation_keys[FPM_GENERATIONS] = {
#define X(code, name) \
    { "calibration." name, "factors on [calibration] for GPUs of this generation", factor_keys, FPM_TERMS },
    FPM_GENERATION_LIST(X)
#undef X
};
const sim_key_table sim_calibration_backend_keys[FPM_BACKENDS] = {
#define X(code, name) \
    { "calibration." name, "factors on [calibration] under this backend", backend_keys[code], FPM_TERMS + 1 },
    FPM_BACKEND_LIST(X)
#undef X
};
const sim_key_table sim_calibration_system_keys = { "calibration", "factors on the calibration for this system",
                                                    factor_keys, FPM_TERMS };
const sim_key_table *const sim_calibration_tables[SIM_CALIBRATION_TABLES] = { SIM_CALIBRATION_TABLE_LIST };

#define STATED(metric)                                                                                      \
    {                                                                                                       \
        .name = #metric "_mape_pct", .type = SIM_KEY_REAL,                                                  \
        .offset = offsetof(sim_calibration_error_stated, metric##_mape_pct), .default_text = "0", .min = 0, \
        .max = 1e6, .unit = "per cent",                                                                     \
        .help = "mean absolute percentage error of predicted " #metric " in cells that were not fitted"     \
    }
static const sim_key error_keys[] = { STATED(ttft), STATED(tpot) };
const sim_key_table sim_calibration_error_keys = { "calibration.error", "what the calibration is worth", error_keys,
                                                   sizeof error_keys / sizeof *error_keys };

sim_calibration sim_calibration_default(void) {
    sim_calibration calibration = { .common = fpm_calibration_default() };
    for (int t = 0; t < FPM_TERMS; t++) {
        calibration.system.terms[t] = 1.0;
        for (int g = 0; g < FPM_GENERATIONS; g++) calibration.generations[g].terms[t] = 1.0;
        for (int b = 0; b < FPM_BACKENDS; b++) calibration.backends[b].terms[t] = 1.0;
    }
    for (int b = 0; b < FPM_BACKENDS; b++)
        calibration.admission_passes[b] = strtoll(backend_keys[b][FPM_TERMS].default_text, NULL, 10);
    return calibration;
}

static int backend_of(int table) { return table - 1 - FPM_GENERATIONS; } // < 0: the table of something else

static double *terms_of(sim_calibration *calibration, int table) {
    if (table == 0) return calibration->common.terms;
    if (backend_of(table) < 0) return calibration->generations[table - 1].terms;
    return calibration->backends[backend_of(table)].terms;
}

bool sim_calibration_override(sim_calibration *calibration, const sim_config *config) {
    bool is_given = false;
    for (int i = 0; i < SIM_CALIBRATION_TABLES; i++) {
        const sim_key_table *table = sim_calibration_tables[i];
        backend_section given;
        sim_config_fill(config, table, &given);
        for (int t = 0; t < FPM_TERMS; t++) {
            if (!sim_config_is_given(config, table->section, table->keys[t].name)) continue;
            terms_of(calibration, i)[t] = given.factors.terms[t];
            is_given = true;
        }
        if (backend_of(i) >= 0 && sim_config_is_given(config, table->section, "admission_passes"))
            calibration->admission_passes[backend_of(i)] = given.admission_passes;
    }
    return is_given;
}

void sim_calibration_override_error(sim_calibration *calibration, const sim_config *config) {
    sim_calibration_error_stated given;
    sim_config_fill(config, &sim_calibration_error_keys, &given);
    if (sim_config_is_given(config, "calibration.error", "ttft_mape_pct"))
        calibration->error.ttft_mape_pct = given.ttft_mape_pct;
    if (sim_config_is_given(config, "calibration.error", "tpot_mape_pct"))
        calibration->error.tpot_mape_pct = given.tpot_mape_pct;
}

sim_status sim_calibration_load(sim_calibration *calibration, const char *path, sim_error *error) {
    sim_config *config;
    static const sim_key_table *const tables[] = { SIM_CALIBRATION_TABLE_LIST, &sim_calibration_error_keys };
    sim_status status = sim_config_new(&config, tables, sizeof tables / sizeof *tables, error);
    if (status) return status;
    status = sim_config_load(config, path, error);
    if (!status) sim_calibration_override(calibration, config);
    if (!status) sim_calibration_override_error(calibration, config);
    sim_config_free(config);
    return status;
}

fpm_calibration sim_calibration_terms(const sim_calibration *calibration, fpm_generation generation,
                                      fpm_backend backend) {
    fpm_calibration terms = calibration->common;
    for (int t = 0; t < FPM_TERMS; t++)
        terms.terms[t] *= calibration->generations[generation].terms[t] * calibration->backends[backend].terms[t] *
                          calibration->system.terms[t];
    return terms;
}

static bool is_usual(const double *values, const double *usual) {
    for (int t = 0; t < FPM_TERMS; t++)
        if (values[t] != usual[t]) return false;
    return true;
}

// Whole, so that what is included elsewhere leaves nothing to the file beneath; or not at all, where nothing is known.
static bool write_section(const double *values, int64_t admission_passes, const sim_key_table *table, FILE *out) {
    bool is_well = fprintf(out, "\n[%s]\n", table->section) >= 0;
    for (int t = 0; t < FPM_TERMS; t++)
        is_well = fprintf(out, "%s = %.4g\n", table->keys[t].name, values[t]) >= 0 && is_well;
    if (admission_passes < 0) return is_well;
    return fprintf(out, "admission_passes = %" PRId64 "\n", admission_passes) >= 0 && is_well;
}

static bool write_stated(const sim_calibration_error_stated *error, FILE *out) {
    if (error->ttft_mape_pct <= 0 && error->tpot_mape_pct <= 0) return true;
    return fprintf(out, "\n[%s]\nttft_mape_pct = %.4g\ntpot_mape_pct = %.4g\n", sim_calibration_error_keys.section,
                   error->ttft_mape_pct, error->tpot_mape_pct) >= 0;
}

bool sim_calibration_write(const sim_calibration *calibration, FILE *out) {
    sim_calibration values = *calibration, usual = sim_calibration_default();
    bool is_well = true;
    for (int i = 0; i < SIM_CALIBRATION_TABLES; i++) {
        const int64_t passes = backend_of(i) >= 0 ? values.admission_passes[backend_of(i)] : -1;
        if (i > 0 && passes < 0 && is_usual(terms_of(&values, i), terms_of(&usual, i))) continue;
        is_well = write_section(terms_of(&values, i), passes, sim_calibration_tables[i], out) && is_well;
    }
    return write_stated(&values.error, out) && is_well;
}
