// SPDX-License-Identifier: GPL-3.0-or-later
//
// forepass list KIND: what is built in. A kind is a row of the table below.
#include <cJSON.h>
#include <stdio.h>
#include <string.h>

#include "sim/cli/command.h"
#include "sim/deployment/model_file.h"
#include "sim/deployment/system_file.h"
#include "sim/experiment/settings.h"

typedef struct listing {
    const char *name;
    // Both take --data-dir, or "". print_table: what could not be written is main's affair; fill_json: SIM_NO_MEMORY.
    sim_status (*print_table)(const char *data_dir, FILE *out, sim_error *error);
    sim_status (*fill_json)(const char *data_dir, cJSON *array, sim_error *error);
} listing;

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

static cJSON *add_object(cJSON *array) {
    cJSON *object = cJSON_CreateObject();
    if (cJSON_AddItemToArray(array, object)) return object;
    cJSON_Delete(object);
    return NULL;
}

// ---------------------------------------------------------------------------------------------------------------------
// keys
// ---------------------------------------------------------------------------------------------------------------------

static sim_status print_keys(const char *data_dir, FILE *out, sim_error *error) {
    (void)data_dir, (void)error;
    sim_config_write_keys(sim_settings_tables, sim_settings_n_tables, out);
    return SIM_OK;
}

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

static sim_status fill_keys(const char *data_dir, cJSON *array, sim_error *error) {
    (void)data_dir;
    for (size_t t = 0; t < sim_settings_n_tables; t++) {
        for (size_t k = 0; k < sim_settings_tables[t]->n_keys; k++) {
            if (!add_key(array, sim_settings_tables[t], &sim_settings_tables[t]->keys[k])) return no_memory(error);
        }
    }
    return SIM_OK;
}

// ---------------------------------------------------------------------------------------------------------------------
// formats
// ---------------------------------------------------------------------------------------------------------------------

static sim_status print_formats(const char *data_dir, FILE *out, sim_error *error) {
    (void)data_dir, (void)error;
    for (size_t i = 0; sim_trace_format_names[i]; i++)
        fprintf(out, "%-12s %s\n", sim_trace_format_names[i], sim_trace_format_looks(i));
    return SIM_OK;
}

static sim_status fill_formats(const char *data_dir, cJSON *array, sim_error *error) {
    (void)data_dir;
    for (size_t i = 0; sim_trace_format_names[i]; i++) {
        cJSON *object = add_object(array);
        if (!object || !cJSON_AddStringToObject(object, "format", sim_trace_format_names[i]) ||
            !cJSON_AddStringToObject(object, "help", sim_trace_format_looks(i)))
            return no_memory(error);
    }
    return SIM_OK;
}

// ---------------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------------

// Every model in turn, or the first error.
typedef struct model_visitor {
    sim_status (*visit)(const sim_model_file *model, const sim_data_file *file, void *self, sim_error *error);
    void *self; // FILE * or cJSON *
} model_visitor;

static sim_status visit_models(const char *data_dir, const model_visitor *visitor, sim_error *error) {
    sim_data_list list;
    sim_status status = sim_data_list_read(&list, data_dir, "models", error);
    for (size_t i = 0; i < list.n_files && !status; i++) {
        sim_model_file model;
        status = sim_model_file_load(&model, list.files[i].path, error);
        if (!status) status = visitor->visit(&model, &list.files[i], visitor->self, error);
    }
    sim_data_list_clear(&list);
    return status;
}

static sim_status print_model(const sim_model_file *model, const sim_data_file *file, void *self, sim_error *error) {
    (void)file, (void)error;
    const fpm_architecture *a = &model->architecture;
    fprintf(self, "%-20s %9.2f %9.2f %6lld  %-9s %9lld  %s\n", a->name, fpm_architecture_parameters(a) / 1e9,
            fpm_architecture_active_parameters(a) / 1e9, (long long)a->n_layers, fpm_attention_kind_name(a->attention),
            (long long)a->max_context_tokens, model->source);
    return SIM_OK;
}

static sim_status print_models(const char *data_dir, FILE *out, sim_error *error) {
    fprintf(out, "%-20s %9s %9s %6s  %-9s %9s  %s\n", "MODEL", "PARAM/1e9", "ACTIVE", "LAYERS", "ATTENTION", "CONTEXT",
            "SOURCE");
    return visit_models(data_dir, &(model_visitor){ print_model, out }, error);
}

static sim_status add_model(const sim_model_file *model, const sim_data_file *file, void *self, sim_error *error) {
    const fpm_architecture *a = &model->architecture;
    cJSON *object = add_object(self);
    const bool is_well = object && cJSON_AddStringToObject(object, "model", a->name) &&
                         cJSON_AddNumberToObject(object, "parameters", fpm_architecture_parameters(a)) &&
                         cJSON_AddNumberToObject(object, "active_parameters", fpm_architecture_active_parameters(a)) &&
                         cJSON_AddNumberToObject(object, "layers", (double)a->n_layers) &&
                         cJSON_AddStringToObject(object, "attention", fpm_attention_kind_name(a->attention)) &&
                         cJSON_AddNumberToObject(object, "max_context_tokens", (double)a->max_context_tokens) &&
                         cJSON_AddStringToObject(object, "published", model->published) &&
                         cJSON_AddStringToObject(object, "source", model->source) &&
                         cJSON_AddStringToObject(object, "file", file->path);
    return is_well ? SIM_OK : no_memory(error);
}

static sim_status fill_models(const char *data_dir, cJSON *array, sim_error *error) {
    return visit_models(data_dir, &(model_visitor){ add_model, array }, error);
}

// ---------------------------------------------------------------------------------------------------------------------
// systems
// ---------------------------------------------------------------------------------------------------------------------

typedef struct system_visitor {
    sim_status (*visit)(const sim_system_file *system, const sim_data_file *file, void *self, sim_error *error);
    void *self;
} system_visitor;

static sim_status visit_systems(const char *data_dir, const system_visitor *visitor, sim_error *error) {
    sim_data_list list;
    sim_status status = sim_data_list_read(&list, data_dir, "systems", error);
    for (size_t i = 0; i < list.n_files && !status; i++) {
        sim_system_file system;
        status = sim_system_file_load(&system, list.files[i].path, error);
        if (!status) status = visitor->visit(&system, &list.files[i], visitor->self, error);
    }
    sim_data_list_clear(&list);
    return status;
}

static double tflops(const fpm_system *s, fpm_arithmetic arithmetic) { return s->flops_per_s[arithmetic] / 1e12; }

static sim_status print_system(const sim_system_file *system, const sim_data_file *file, void *self, sim_error *error) {
    (void)file, (void)error;
    const fpm_system *s = &system->system;
    fprintf(self, "%-20s %-10s %9.1f %7.0f %8.0f %8.0f %8.0f %8.0f %9.0f %9.0f  %s\n", s->name,
            fpm_generation_name(s->generation), s->memory_bytes / 1e9, s->memory_bytes_per_s / 1e9,
            tflops(s, FPM_ARITHMETIC_BF16), tflops(s, FPM_ARITHMETIC_FP8), tflops(s, FPM_ARITHMETIC_FP4),
            tflops(s, FPM_ARITHMETIC_INT8), s->intra_node_bytes_per_s / 1e9, s->inter_node_bytes_per_s / 1e9,
            system->source);
    return SIM_OK;
}

static sim_status print_systems(const char *data_dir, FILE *out, sim_error *error) {
    fprintf(out, "%-20s %-10s %9s %7s %8s %8s %8s %8s %9s %9s  %s\n", "SYSTEM", "GENERATION", "MEMORY/GB", "GB/S",
            "BF16 TF", "FP8 TF", "FP4 TF", "INT8 TF", "NODE GB/S", "LINK GB/S", "SOURCE");
    return visit_systems(data_dir, &(system_visitor){ print_system, out }, error);
}

static sim_status add_system(const sim_system_file *system, const sim_data_file *file, void *self, sim_error *error) {
    const fpm_system *s = &system->system;
    const struct {
        const char *name;
        double value;
    } numbers[] = {
        { "memory_bytes", s->memory_bytes },
        { "reserved_bytes", s->reserved_bytes },
        { "memory_gbps", s->memory_bytes_per_s / 1e9 },
        { "bf16_tflops", tflops(s, FPM_ARITHMETIC_BF16) },
        { "fp8_tflops", tflops(s, FPM_ARITHMETIC_FP8) },
        { "fp4_tflops", tflops(s, FPM_ARITHMETIC_FP4) },
        { "int8_tflops", tflops(s, FPM_ARITHMETIC_INT8) },
        { "intra_node_gbps", s->intra_node_bytes_per_s / 1e9 },
        { "inter_node_gbps", s->inter_node_bytes_per_s / 1e9 },
        { "gpus_per_node", (double)s->gpus_per_node },
        { "gpus_per_rack", (double)s->gpus_per_rack },
        { "power_w", s->power_w },
    };
    cJSON *object = add_object(self);
    bool is_well = object && cJSON_AddStringToObject(object, "system", s->name) &&
                   cJSON_AddStringToObject(object, "generation", fpm_generation_name(s->generation));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && is_well; i++)
        is_well = cJSON_AddNumberToObject(object, numbers[i].name, numbers[i].value);
    is_well = is_well && cJSON_AddStringToObject(object, "operators", system->operators) &&
              cJSON_AddStringToObject(object, "source", system->source) &&
              cJSON_AddStringToObject(object, "file", file->path);
    return is_well ? SIM_OK : no_memory(error);
}

static sim_status fill_systems(const char *data_dir, cJSON *array, sim_error *error) {
    return visit_systems(data_dir, &(system_visitor){ add_system, array }, error);
}

// ---------------------------------------------------------------------------------------------------------------------
// The command
// ---------------------------------------------------------------------------------------------------------------------

static const listing listings[] = {
    { "keys", print_keys, fill_keys },
    { "formats", print_formats, fill_formats },
    { "models", print_models, fill_models },
    { "systems", print_systems, fill_systems },
};
enum { N_LISTINGS = sizeof listings / sizeof *listings };

static sim_status print_json(const listing *what, const char *data_dir, sim_error *error) {
    cJSON *array = cJSON_CreateArray();
    const sim_status status = array ? what->fill_json(data_dir, array, error) : no_memory(error);
    char *text = status ? NULL : cJSON_Print(array);
    cJSON_Delete(array);
    if (status) return status;
    if (!text) return no_memory(error);
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
    const char *data_dir = cli->data_dir ? cli->data_dir : "";
    for (size_t i = 0; i < N_LISTINGS; i++) {
        if (strcmp(listings[i].name, cli->arguments[0]) != 0) continue;
        if (cli->json) return print_json(&listings[i], data_dir, error);
        return listings[i].print_table(data_dir, stdout, error); // main reports what standard output did not take
    }
    return unknown_kind(cli->arguments[0], error);
}

const sim_command sim_cmd_list = {
    .name = "list",
    .synopsis = "keys|formats|models|systems",
    .help = "print what is built in",
    .details = "keys: every key of the configuration with its type, default, unit, values and meaning.\n"
               "formats: the trace formats that [workload] format takes.\n"
               "models, systems: what model.name and system.name may say, with --data-dir's own.\n",
    .options = SIM_OPT_FORMAT | SIM_OPT_DATA,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run,
};
