// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/deployment/system_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct system_settings {
    const char *source, *operators, *collectives;
} system_settings;

typedef struct gpu_settings {
    int generation;
    int64_t memory_bytes, reserved_bytes;
    double memory_gbps, bf16_tflops, fp8_tflops, fp4_tflops, int8_tflops, power_w;
} gpu_settings;

typedef struct node_settings {
    int64_t gpus, gpus_per_rack;
    double intra_node_gbps, inter_node_gbps;
} node_settings;

static const char *const generation_names[] = {
#define X(code, name) name,
    FPM_GENERATION_LIST(X)
#undef X
        NULL
};

static const double max_bytes = 1e15, max_rate = 1e9;

static const sim_key system_keys[] = {
    { .name = "source",
      .type = SIM_KEY_TEXT,
      .offset = offsetof(system_settings, source),
      .default_text = "",
      .help = "where the figures are from" },
    { .name = "operators",
      .type = SIM_KEY_TEXT,
      .offset = offsetof(system_settings, operators),
      .default_text = "",
      .help = "operator curves of this GPU or the nearest measured one; empty = the system's own name" },
    { .name = "collectives",
      .type = SIM_KEY_TEXT,
      .offset = offsetof(system_settings, collectives),
      .default_text = "",
      .help = "curves of collectives of the nearest measured system whose GPUs are joined alike; empty = operators" },
};

#define KEY(field, ...) \
    { .offset = offsetof(gpu_settings, field), .name = #field, __VA_ARGS__ }
#define TFLOPS(arithmetic)                                                                          \
    .type = SIM_KEY_REAL, .default_text = "0", .max = max_rate, .unit = "1e12 operations/s, dense", \
    .help = arithmetic " products; 0 = none"
static const sim_key gpu_keys[] = {
    KEY(generation, .type = SIM_KEY_CHOICE, .default_text = "hopper", .choices = generation_names,
        .help = "whose kernels run"),
    KEY(memory_bytes, .type = SIM_KEY_INT, .default_text = "0", .max = max_bytes, .unit = "bytes", .help = "memory"),
    KEY(reserved_bytes, .type = SIM_KEY_INT, .default_text = "0", .max = max_bytes, .unit = "bytes",
        .help = "of it, never the engine's: error correction, firmware, driver"),
    KEY(memory_gbps, .type = SIM_KEY_REAL, .default_text = "0", .max = max_rate, .unit = "1e9 bytes/s",
        .help = "memory bandwidth"),
    KEY(bf16_tflops, TFLOPS("bf16")),
    KEY(fp8_tflops, TFLOPS("fp8")),
    KEY(fp4_tflops, TFLOPS("fp4")),
    KEY(int8_tflops, TFLOPS("int8")),
    KEY(power_w, .type = SIM_KEY_REAL, .default_text = "0", .max = max_rate, .unit = "W", .help = "power limit"),
};
#undef KEY

#define KEY(field, ...) \
    { .offset = offsetof(node_settings, field), .name = #field, __VA_ARGS__ }
static const sim_key node_keys[] = {
    KEY(gpus, .type = SIM_KEY_INT, .default_text = "8", .min = 1, .max = 1e6, .unit = "GPUs", .help = "of one node"),
    KEY(gpus_per_rack, .type = SIM_KEY_INT, .default_text = "0", .max = 1e6, .unit = "GPUs",
        .help = "joined by the inter-node link; 0 = no limit"),
    KEY(intra_node_gbps, .type = SIM_KEY_REAL, .default_text = "0", .max = max_rate, .unit = "1e9 bytes/s",
        .help = "from a GPU to the others of its node, one direction"),
    KEY(inter_node_gbps, .type = SIM_KEY_REAL, .default_text = "0", .max = max_rate, .unit = "1e9 bytes/s",
        .help = "from a GPU to other nodes, one direction"),
};
#undef KEY

#define COUNT(array) (sizeof(array) / sizeof *(array))
static const sim_key_table system_table = { "system", "what it is", system_keys, COUNT(system_keys) };
static const sim_key_table gpu_table = { "gpu", "one GPU", gpu_keys, COUNT(gpu_keys) };
static const sim_key_table node_table = { "node", "the node around it", node_keys, COUNT(node_keys) };
static const sim_key_table *const tables[] = { &system_table, &gpu_table, &node_table, &sim_calibration_system_keys };

// Figures without which there is no system, by the names that the file gives them.
static sim_status check_figures(const sim_config *config, const gpu_settings *gpu, const node_settings *node,
                                const char *path, sim_error *error) {
    const struct {
        const char *section, *key;
        double value;
    } figures[] = {
        { "gpu", "memory_bytes", (double)gpu->memory_bytes }, { "gpu", "memory_gbps", gpu->memory_gbps },
        { "gpu", "bf16_tflops", gpu->bf16_tflops },           { "node", "intra_node_gbps", node->intra_node_gbps },
        { "node", "inter_node_gbps", node->inter_node_gbps },
    };
    for (size_t i = 0; i < COUNT(figures); i++) {
        if (figures[i].value > 1e-6) continue;
        const char *section = figures[i].section, *key = figures[i].key;
        if (!sim_config_is_given(config, section, key))
            return sim_error_set(error, SIM_USAGE, path, 0, "%s.%s is missing (it must be given, and above 0)", section,
                                 key);
        return sim_config_contradiction(config, error, section, key, "%s.%s = %g is no figure of a GPU (above 0)",
                                        section, key, figures[i].value);
    }
    return SIM_OK;
}

static sim_status take(sim_system_file *file, const sim_config *config, const char *path, sim_error *error) {
    system_settings about;
    gpu_settings gpu;
    node_settings node;
    sim_config_fill(config, &system_table, &about);
    sim_config_fill(config, &gpu_table, &gpu);
    sim_config_fill(config, &node_table, &node);
    const sim_status status = check_figures(config, &gpu, &node, path, error);
    if (status) return status;
    *file = (sim_system_file){ .system = {
                                   .generation = (fpm_generation)gpu.generation,
                                   .memory_bytes = (double)gpu.memory_bytes,
                                   .memory_bytes_per_s = gpu.memory_gbps * 1e9,
                                   .flops_per_s = { [FPM_ARITHMETIC_BF16] = gpu.bf16_tflops * 1e12,
                                                    [FPM_ARITHMETIC_FP8] = gpu.fp8_tflops * 1e12,
                                                    [FPM_ARITHMETIC_FP4] = gpu.fp4_tflops * 1e12,
                                                    [FPM_ARITHMETIC_INT8] = gpu.int8_tflops * 1e12 },
                                   .intra_node_bytes_per_s = node.intra_node_gbps * 1e9,
                                   .inter_node_bytes_per_s = node.inter_node_gbps * 1e9,
                                   .gpus_per_node = node.gpus,
                                   .gpus_per_rack = node.gpus_per_rack,
                                   .reserved_bytes = (double)gpu.reserved_bytes,
                                   .power_w = gpu.power_w,
                               } };
    sim_config_fill(config, &sim_calibration_system_keys, &file->factors);
    sim_data_name(path, file->system.name);
    snprintf(file->source, sizeof file->source, "%s", about.source);
    if (strlen(about.operators) >= FPM_NAME_BYTES)
        return sim_config_contradiction(config, error, "system", "operators", "system.operators: the name is too long");
    if (strlen(about.collectives) >= FPM_NAME_BYTES)
        return sim_config_contradiction(config, error, "system", "collectives",
                                        "system.collectives: the name is too long");
    strcpy(file->operators, *about.operators ? about.operators : file->system.name);
    strcpy(file->collectives, *about.collectives ? about.collectives : file->operators);
    fpm_error source = { .code = FPM_OK };
    if (fpm_system_check(&file->system, &source) == FPM_OK) return SIM_OK;
    return sim_error_set(error, SIM_USAGE, path, 0, "%s", source.message);
}

sim_status sim_system_file_load(sim_system_file *file, const char *path, sim_error *error) {
    sim_config *config;
    sim_status status = sim_config_new(&config, tables, COUNT(tables), error);
    if (!status) status = sim_config_load(config, path, error);
    if (!status) status = take(file, config, path, error);
    sim_config_free(config);
    return status;
}

sim_status sim_system_file_parse(sim_system_file *file, const char *text, size_t n_bytes, const char *path,
                                 sim_error *error) {
    sim_config *config;
    sim_status status = sim_config_new(&config, tables, COUNT(tables), error);
    if (!status) status = sim_config_load_text(config, text, n_bytes, path, error);
    if (!status) status = take(file, config, path, error);
    sim_config_free(config);
    return status;
}
