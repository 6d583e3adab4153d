// SPDX-License-Identifier: GPL-3.0-or-later
//
// The key tables of sim/config are made here from the tables of parameters in perfmodel, so that a parameter is written down once.
#include "sim/deployment/operator_curves.h"

#include <stdlib.h>
#include <string.h>

#include "sim/config/config.h"
#include "sim/deployment/data_files.h"

enum { N_CURVES = SIM_CURVE_SETS * FPM_FAMILIES * FPM_FORMATS };

void sim_operator_curves_init(sim_operator_curves *curves, const fpm_system *system) {
    memset(curves, 0, sizeof *curves);
    for (int backend = 0; backend < SIM_CURVE_SETS; backend++) {
        fpm_operators_init(&curves->operators[backend], system);
        if (backend < FPM_BACKENDS) curves->operators[backend].backend = (fpm_backend)backend;
    }
}

void sim_operator_curve_name(char name[SIM_CURVE_NAME_BYTES], fpm_family family, int format, int backend) {
    static const char *const backends[] = {
#define X(code, text) text,
        FPM_BACKEND_LIST(X)
#undef X
    };
    const bool has_formats = fpm_family_has_format(family, FPM_FP8);
    const bool has_backend = backend < FPM_BACKENDS;
    snprintf(name, SIM_CURVE_NAME_BYTES, "%s%s%s%s%s", fpm_family_name(family), has_formats ? "." : "",
             has_formats ? fpm_format_name(format) : "", has_backend ? "." : "", has_backend ? backends[backend] : "");
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading
// ---------------------------------------------------------------------------------------------------------------------

// One section of the file.
typedef struct section {
    char name[SIM_CURVE_NAME_BYTES];
    sim_key keys[FPM_CURVE_VALUES];
    sim_key_table table;
    fpm_family family;
    int format;
    bool is_of_backend;
} section;

static void describe(section *of) {
    size_t n;
    const fpm_parameter *parameters = fpm_family_parameters(of->family, &n);
    for (size_t i = 0; i < n; i++) {
        of->keys[i] = (sim_key){ .name = parameters[i].name,
                                 .type = SIM_KEY_REAL,
                                 .offset = i * sizeof(double),
                                 .default_text = "",
                                 .min = parameters[i].min,
                                 .max = parameters[i].max,
                                 .word = "",
                                 .word_value = -1,
                                 .help = parameters[i].help };
    }
    of->table = (sim_key_table){ .section = of->name, .help = "", .keys = of->keys, .n_keys = n };
}

// All sections that a file may have: those of every backend, so that a misspelt one is found whoever reads.
static size_t list_sections(section *sections) {
    size_t n = 0;
    for (int backend = SIM_ALL_BACKENDS; backend >= 0; backend--) {
        for (int family = 0; family < FPM_FAMILIES; family++) {
            for (int format = 0; format < FPM_FORMATS; format++) {
                if (!fpm_family_has_format((fpm_family)family, format)) continue;
                section *of = &sections[n++];
                of->family = (fpm_family)family;
                of->format = format;
                of->is_of_backend = backend < FPM_BACKENDS;
                sim_operator_curve_name(of->name, of->family, format, backend);
                describe(of);
            }
        }
    }
    return n;
}

static void take_section(fpm_operators *operators, const sim_config *config, const section *of) {
    double values[FPM_CURVE_VALUES];
    sim_config_fill(config, &of->table, values);
    double *curve = operators->curves[of->family][of->format].values;
    for (size_t i = 0; i < of->table.n_keys; i++)
        if (values[i] >= 0) curve[i] = values[i];
}

static bool concerns(const section *of, fpm_backend backend) {
    char name[SIM_CURVE_NAME_BYTES];
    sim_operator_curve_name(name, of->family, of->format, (int)backend);
    return !of->is_of_backend || strcmp(name, of->name) == 0;
}

sim_status sim_operator_curves_load(fpm_operators *operators, const fpm_system *system, fpm_backend backend,
                                    const char *path, sim_error *error) {
    section *sections = calloc(N_CURVES, sizeof *sections);
    const sim_key_table **tables = calloc(N_CURVES, sizeof *tables);
    sim_config *config = NULL;
    sim_status status = SIM_OK;
    if (!sections || !tables) status = sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    const size_t n = status == SIM_OK ? list_sections(sections) : 0;
    for (size_t i = 0; i < n; i++) tables[i] = &sections[i].table;
    if (status == SIM_OK) status = sim_config_new(&config, tables, n, error);
    if (status == SIM_OK) status = sim_config_load(config, path, error);
    if (status == SIM_OK) {
        fpm_operators_init(operators, system);
        operators->backend = backend;
        for (size_t i = 0; i < n; i++) // those of all backends come first
            if (concerns(&sections[i], backend)) take_section(operators, config, &sections[i]);
    }
    sim_config_free(config);
    free(tables);
    free(sections);
    return status;
}

static sim_status load_collectives(fpm_operators *operators, const char *path, sim_error *error) {
    static const fpm_family families[] = { FPM_FAMILY_ALL_REDUCE, FPM_FAMILY_ALL_GATHER, FPM_FAMILY_REDUCE_SCATTER,
                                           FPM_FAMILY_ALL_TO_ALL };
    fpm_operators *others = malloc(sizeof *others);
    if (!others) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    const sim_status status = sim_operator_curves_load(others, operators->system, operators->backend, path, error);
    for (size_t i = 0; i < sizeof families / sizeof *families && status == SIM_OK; i++)
        memcpy(operators->curves[families[i]], others->curves[families[i]], sizeof others->curves[families[i]]);
    free(others);
    return status;
}

sim_status sim_system_curves_load(fpm_operators *operators, bool *is_measured, const char *dir,
                                  const fpm_system *system, const char *name, const char *collectives,
                                  fpm_backend backend, sim_error *error) {
    fpm_operators_init(operators, system);
    operators->backend = backend;
    char path[SIM_DATA_PATH_BYTES];
    *is_measured = sim_data_find(dir, "operators", name, path);
    sim_status status = SIM_OK;
    if (*is_measured || sim_data_find(dir, "operators", "typical", path))
        status = sim_operator_curves_load(operators, system, backend, path, error);
    if (status == SIM_OK && strcmp(name, collectives) != 0 && sim_data_find(dir, "operators", collectives, path))
        status = load_collectives(operators, path, error);
    return status;
}

// ---------------------------------------------------------------------------------------------------------------------
// Writing
// ---------------------------------------------------------------------------------------------------------------------

static void write_curve(const sim_operator_curves *curves, int backend, fpm_family family, int format, FILE *out) {
    char name[SIM_CURVE_NAME_BYTES];
    sim_operator_curve_name(name, family, format, backend);
    fprintf(out, "\n[%s]\n", name);
    size_t n;
    const fpm_parameter *parameters = fpm_family_parameters(family, &n);
    const double *values = curves->operators[backend].curves[family][format].values;
    for (size_t i = 0; i < n; i++) fprintf(out, "%s = %.4g\n", parameters[i].name, values[i]);
}

bool sim_operator_curves_write(const sim_operator_curves *curves, FILE *out) {
    for (int family = 0; family < FPM_FAMILIES; family++)
        for (int format = 0; format < FPM_FORMATS; format++)
            for (int i = 0; i < SIM_CURVE_SETS; i++) {
                const int backend = i == 0 ? SIM_ALL_BACKENDS : i - 1;
                if (curves->is_given[backend][family][format])
                    write_curve(curves, backend, (fpm_family)family, format, out);
            }
    return !ferror(out);
}
