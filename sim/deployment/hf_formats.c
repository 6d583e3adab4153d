// SPDX-License-Identifier: GPL-3.0-or-later
//
// How checkpoints say what their numbers are. Four dialects: fp8 and mxfp4 (one word each), ModelOpt (`quant_algo`), compressed-tensors
// (groups of layers), and the older weight-only methods (`bits`). Layers that are left out of the quantising stand in a list of patterns; when attention is
// among them only the experts are quantised.
#include <cJSON.h>
#include <stdio.h>
#include <string.h>

#include "sim/deployment/hf_config.h"
#include "sim/deployment/hf_document.h"

struct cJSON *sim_hf_document(const char *text, size_t n_bytes, const char *path, sim_error *error) {
    const char *end = text;
    cJSON *root = cJSON_ParseWithLengthOpts(text, n_bytes, &end, false);
    if (root && cJSON_IsObject(root)) return root;
    int64_t line = 1;
    for (const char *c = text; c < end && c < text + n_bytes; c++) line += *c == '\n';
    sim_error_set(error, SIM_USAGE, path, line, root ? "the document is no JSON object" : "this is not JSON");
    cJSON_Delete(root);
    return NULL;
}

static const char *text_of(const cJSON *object, const char *key) {
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
    return text ? text : "";
}

static double number_of(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

// Does a list of excluded modules name the attention projections?
static bool leaves_out_attention(const cJSON *quantisation) {
    static const char *const lists[] = { "ignore", "exclude_modules", "modules_to_not_convert" };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const cJSON *pattern;
        cJSON_ArrayForEach(pattern, cJSON_GetObjectItemCaseSensitive(quantisation, lists[i])) {
            const char *name = cJSON_GetStringValue(pattern);
            // The indexer and the norms of attention stay 16-bit in checkpoints whose projections do not.
            const bool is_part = name && (strstr(name, "indexer") || strstr(name, "norm"));
            if (name && !is_part && (strstr(name, "self_attn") || strstr(name, "linear_attn"))) return true;
        }
    }
    return false;
}

static bool keeps_fp8_cache(const cJSON *quantisation) {
    return number_of(cJSON_GetObjectItemCaseSensitive(quantisation, "kv_cache_scheme"), "num_bits") == 8 ||
           strcmp(text_of(quantisation, "kv_cache_quant_algo"), "FP8") == 0;
}

// compressed-tensors: the weights of the first group, which stands for all linear layers that are not ignored.
static bool read_group(const cJSON *quantisation, fpm_precision *format) {
    const cJSON *groups = cJSON_GetObjectItemCaseSensitive(quantisation, "config_groups");
    const cJSON *weights = cJSON_GetObjectItemCaseSensitive(groups ? groups->child : NULL, "weights");
    const double bits = number_of(weights, "num_bits");
    const bool is_float = strcmp(text_of(weights, "type"), "float") == 0;
    const bool is_block = strcmp(text_of(weights, "strategy"), "block") == 0;
    if (bits == 8)
        *format = !is_float ? FPM_INT8 : is_block ? FPM_FP8_BLOCK : FPM_FP8;
    else if (bits == 4)
        *format = !is_float ? FPM_INT4 : number_of(weights, "group_size") == 32 ? FPM_MXFP4 : FPM_NVFP4;
    else
        return false;
    return true;
}

static bool read_bits(const cJSON *quantisation, fpm_precision *format) {
    const double bits = number_of(quantisation, "bits");
    *format = bits == 8 ? FPM_INT8 : FPM_INT4;
    return bits == 8 || bits == 4;
}

static bool read_algorithm(const char *algorithm, fpm_precision *format) {
    static const struct {
        const char *name;
        fpm_precision format;
    } algorithms[] = {
        { "FP8", FPM_FP8 },     { "FP8_PER_CHANNEL_PER_TOKEN", FPM_FP8 },
        { "NVFP4", FPM_NVFP4 }, { "FP8_PB_WO", FPM_FP8_BLOCK },
        { "MXFP4", FPM_MXFP4 }, { "FP8_BLOCK_SCALES", FPM_FP8_BLOCK },
        { "W4A16", FPM_INT4 },  { "W4A16_AWQ", FPM_INT4 },
        { "INT8", FPM_INT8 },   { "W8A8_SQ_PER_CHANNEL", FPM_INT8 },
    };
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        if (strcmp(algorithms[i].name, algorithm) != 0) continue;
        *format = algorithms[i].format;
        return true;
    }
    return false;
}

static bool read_method(const cJSON *quantisation, fpm_precision *format) {
    const char *method = text_of(quantisation, "quant_method"), *algorithm = text_of(quantisation, "quant_algo");
    if (*algorithm) return read_algorithm(algorithm, format);
    if (strcmp(method, "fp8") == 0) {
        const bool is_block = cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(quantisation, "weight_block_size"));
        *format = is_block ? FPM_FP8_BLOCK : FPM_FP8;
        return true;
    }
    if (strcmp(method, "mxfp4") == 0) {
        *format = FPM_MXFP4;
        return true;
    }
    if (strcmp(method, "compressed-tensors") == 0) return read_group(quantisation, format);
    if (strcmp(method, "awq") == 0 || strcmp(method, "gptq") == 0) return read_bits(quantisation, format);
    return false;
}

void sim_hf_formats_read(sim_declared_formats *formats, const struct cJSON *quantisation) {
    *formats = (sim_declared_formats){ .is_declared = true };
    fpm_precision format = FPM_BF16;
    if (!read_method(quantisation, &format)) {
        const char *method = text_of(quantisation, "quant_method"), *algorithm = text_of(quantisation, "quant_algo");
        snprintf(formats->unknown, sizeof formats->unknown, "%s",
                 *algorithm ? algorithm
                 : *method  ? method
                            : "of no name");
        return;
    }
    formats->moe_weights = format;
    formats->weights = leaves_out_attention(quantisation) ? FPM_BF16 : format;
    formats->kv_cache = keeps_fp8_cache(quantisation) ? FPM_FP8 : FPM_BF16;
}

sim_status sim_hf_formats_parse(sim_declared_formats *formats, const char *text, size_t n_bytes, const char *path,
                                sim_error *error) {
    cJSON *root = sim_hf_document(text, n_bytes, path, error);
    if (!root) return SIM_USAGE;
    const cJSON *quantisation = cJSON_GetObjectItemCaseSensitive(root, "quantization");
    const bool is_there = cJSON_IsObject(quantisation);
    if (is_there) sim_hf_formats_read(formats, quantisation);
    cJSON_Delete(root);
    if (is_there) return SIM_OK;
    return sim_error_set(error, SIM_USAGE, path, 0, "the document has no \"quantization\" object");
}
