// SPDX-License-Identifier: GPL-3.0-or-later
//
// forepass list KIND: what is built in. A kind is a row of the table below.
#include <cJSON.h>
#include <stdio.h>
#include <string.h>

#include "sim/cli/command.h"
#include "sim/experiment/settings.h"

typedef struct listing {
    const char *name;
    bool (*print_table)(FILE *out);
    bool (*fill_json)(cJSON *array); // false: no memory
} listing;

static cJSON *add_object(cJSON *array) {
    cJSON *object = cJSON_CreateObject();
    if (cJSON_AddItemToArray(array, object)) return object;
    cJSON_Delete(object);
    return NULL;
}

// ---------------------------------------------------------------------------------------------------------------------
// keys
// ---------------------------------------------------------------------------------------------------------------------

static bool print_keys(FILE *out) { return sim_config_write_keys(sim_settings_tables, sim_settings_n_tables, out); }

static bool add_key(cJSON *array, const sim_key_table *table, const sim_key *key) {
    char name[128], range[256];
    snprintf(name, sizeof name, "%s.%s", table->section, key->name);
    sim_key_range(key, range, sizeof range);
    cJSON *object = add_object(array);
    return object && cJSON_AddStringToObject(object, "key", name) &&
           cJSON_AddStringToObject(object, "type", sim_key_type_name(key->type)) &&
           cJSON_AddStringToObject(object, "default", key->default_text) &&
           cJSON_AddStringToObject(object, "unit", key->unit ? key->unit : "") &&
           cJSON_AddStringToObject(object, "values", range) && cJSON_AddStringToObject(object, "help", key->help);
}

static bool fill_keys(cJSON *array) {
    for (size_t t = 0; t < sim_settings_n_tables; t++) {
        for (size_t k = 0; k < sim_settings_tables[t]->n_keys; k++) {
            if (!add_key(array, sim_settings_tables[t], &sim_settings_tables[t]->keys[k])) return false;
        }
    }
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// formats
// ---------------------------------------------------------------------------------------------------------------------

static bool print_formats(FILE *out) {
    bool is_well = true;
    for (size_t i = 0; sim_trace_format_names[i]; i++)
        is_well = fprintf(out, "%-12s %s\n", sim_trace_format_names[i], sim_trace_format_looks(i)) >= 0 && is_well;
    return is_well;
}

static bool fill_formats(cJSON *array) {
    for (size_t i = 0; sim_trace_format_names[i]; i++) {
        cJSON *object = add_object(array);
        if (!object || !cJSON_AddStringToObject(object, "format", sim_trace_format_names[i]) ||
            !cJSON_AddStringToObject(object, "help", sim_trace_format_looks(i)))
            return false;
    }
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// The command
// ---------------------------------------------------------------------------------------------------------------------

static const listing listings[] = {
    { "keys", print_keys, fill_keys },
    { "formats", print_formats, fill_formats },
};
enum { N_LISTINGS = sizeof listings / sizeof *listings };

static sim_status print_json(const listing *what, sim_error *error) {
    cJSON *array = cJSON_CreateArray();
    char *text = array && what->fill_json(array) ? cJSON_Print(array) : NULL;
    cJSON_Delete(array);
    if (!text) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    puts(text);
    cJSON_free(text);
    return SIM_OK;
}

static sim_status unknown_kind(const char *wanted, sim_error *error) {
    const char *names[N_LISTINGS];
    char known[128] = "";
    for (size_t i = 0; i < N_LISTINGS; i++) {
        names[i] = listings[i].name;
        const size_t n = strlen(known);
        snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "", names[i]);
    }
    const char *nearest = sim_nearest_name(wanted, names, N_LISTINGS);
    if (nearest)
        return sim_error_set(error, SIM_USAGE, NULL, 0, "list: unknown kind %s (did you mean %s?)", wanted, nearest);
    return sim_error_set(error, SIM_USAGE, NULL, 0, "list: unknown kind %s (kinds: %s)", wanted, known);
}

static sim_status run(const sim_cli *cli, sim_error *error) {
    for (size_t i = 0; i < N_LISTINGS; i++) {
        if (strcmp(listings[i].name, cli->arguments[0]) != 0) continue;
        if (cli->json) return print_json(&listings[i], error);
        listings[i].print_table(stdout); // main reports what standard output did not take
        return SIM_OK;
    }
    return unknown_kind(cli->arguments[0], error);
}

const sim_command sim_cmd_list = {
    .name = "list",
    .synopsis = "keys|formats",
    .help = "print what is built in",
    .details = "keys: every key of the configuration with its type, default, unit, values and meaning.\n"
               "formats: the trace formats that [workload] format takes.\n",
    .options = SIM_OPT_FORMAT,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run,
};
