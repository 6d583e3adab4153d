// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/deployment/deployment.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/deployment/data_resolve.h"
#include "sim/deployment/model_file.h"
#include "sim/deployment/system_file.h"

_Static_assert((int)SIM_BACKEND_VLLM == (int)FPM_VLLM && (int)SIM_BACKEND_SGLANG == (int)FPM_SGLANG &&
                   (int)SIM_BACKEND_TRTLLM == (int)FPM_TRTLLM,
               "the backends stand in one order");

// ---------------------------------------------------------------------------------------------------------------------
// Model and system
// ---------------------------------------------------------------------------------------------------------------------

static sim_status check_dir(const sim_config *config, const char *dir, sim_error *error) {
    struct stat status;
    if (!*dir || (stat(dir, &status) == 0 && S_ISDIR(status.st_mode))) return SIM_OK;
    return sim_config_contradiction(config, error, "data", "dir", "data.dir: %.300s is no directory", dir);
}

// What the user says beats what the checkpoint declares, which beats bf16.
static void choose_formats(fpm_quantisation *q, const sim_model_config *model, const sim_declared_formats *declared) {
    const bool is_silent = model->weights < 0 && declared->is_declared;
    *q = (fpm_quantisation){
        .weights = model->weights >= 0 ? (fpm_precision)model->weights : declared->weights,
        .kv_cache = model->kv_cache >= 0 ? (fpm_precision)model->kv_cache : declared->kv_cache,
    };
    q->moe_weights = model->moe_weights >= 0 ? (fpm_precision)model->moe_weights
                     : is_silent             ? declared->moe_weights
                                             : q->weights;
}

// Without a system nothing is multiplied.
static bool is_weight_only(fpm_precision format, const sim_deployment *d) {
    return format == FPM_INT4 || (format == FPM_MXFP4 && d->has_system && d->system.generation != FPM_BLACKWELL);
}

// One word for dense layers and experts: bf16 when nothing quantised is left that would want more.
static bool multiplies_in_bf16(const sim_deployment *d, int activations) {
    if (activations != SIM_ACTIVATIONS_AUTO) return activations == SIM_ACTIVATIONS_BF16;
    const fpm_precision formats[] = { d->quantisation.weights, d->quantisation.moe_weights };
    const size_t n = d->architecture.n_moe_layers > 0 ? 2 : 1;
    bool has_weight_only = false, has_other = false;
    for (size_t i = 0; i < n; i++) {
        has_weight_only |= is_weight_only(formats[i], d);
        has_other |= formats[i] != FPM_BF16 && !is_weight_only(formats[i], d);
    }
    return has_weight_only && !has_other;
}

static void tell_declared(sim_deployment *d, const sim_model_config *model, const sim_declared_formats *declared) {
    if (!declared->is_declared || (model->weights >= 0 && model->kv_cache >= 0)) return;
    const bool has_experts = d->architecture.n_moe_layers > 0;
    snprintf(d->note, sizeof d->note, "model %s, as its checkpoint declares: weights %s%s%s, KV cache %s",
             d->architecture.name, fpm_precision_name(d->quantisation.weights), has_experts ? ", experts " : "",
             has_experts ? fpm_precision_name(d->quantisation.moe_weights) : "",
             fpm_precision_name(d->quantisation.kv_cache));
}

static sim_status load_model(sim_deployment *d, const sim_config *config, const char *dir, sim_error *error) {
    sim_model_config model;
    sim_config_fill(config, &sim_model_keys, &model);
    if (!*model.name) {
        const char *key = model.weights >= 0       ? "weights"
                          : model.moe_weights >= 0 ? "moe_weights"
                          : model.kv_cache >= 0    ? "kv_cache"
                          : model.activations      ? "activations"
                                                   : NULL;
        if (!key) return SIM_OK;
        return sim_config_contradiction(config, error, "model", key, "model.%s has no effect without model.name", key);
    }
    sim_model_file file;
    sim_status status = sim_model_resolve(config, dir, model.name, d->model_path, error);
    if (!status) status = sim_model_file_load(&file, d->model_path, error);
    if (status) return status;
    if (*file.formats.unknown && model.weights < 0)
        return sim_config_contradiction(config, error, "model", "name",
                                        "model %s: its way of quantising, %s, is not known (give model.weights)",
                                        file.architecture.name, file.formats.unknown);
    d->has_model = true;
    d->architecture = file.architecture;
    choose_formats(&d->quantisation, &model, &file.formats);
    d->quantisation.has_16bit_activations = multiplies_in_bf16(d, model.activations);
    tell_declared(d, &model, &file.formats);
    return SIM_OK;
}

static sim_status load_system(sim_deployment *d, const sim_config *config, const char *dir, sim_error *error) {
    sim_system_config system;
    sim_config_fill(config, &sim_system_keys, &system);
    if (!*system.name) return SIM_OK;
    sim_system_file file;
    sim_status status = sim_system_resolve(config, dir, system.name, d->system_path, error);
    if (!status) status = sim_system_file_load(&file, d->system_path, error);
    if (status) return status;
    d->has_system = true;
    d->system = file.system;
    d->factors = file.factors;
    memcpy(d->operators, file.operators, sizeof d->operators);
    memcpy(d->collectives, file.collectives, sizeof d->collectives);
    return SIM_OK;
}

// ---------------------------------------------------------------------------------------------------------------------
// Layout and formats
// ---------------------------------------------------------------------------------------------------------------------

static bool begins_with(const char *text, const char *word) {
    const size_t n = strlen(word);
    return strncmp(text, word, n) == 0 && text[n] == ' ';
}

// The key a message of the forward-pass library begins with, or the first of `keys` that was given.
static const char *key_of(const sim_config *config, const char *section, const char *message, const char *const *keys,
                          size_t n) {
    for (size_t i = 0; i < n; i++)
        if (begins_with(message, keys[i]) && sim_config_is_given(config, section, keys[i])) return keys[i];
    for (size_t i = 0; i < n; i++)
        if (sim_config_is_given(config, section, keys[i])) return keys[i];
    return keys[0];
}

static sim_status check_layout(const sim_deployment *d, const sim_config *config, sim_error *error) {
    static const char *const keys[] = { "moe_tensor", "expert", "tensor", "data", "pipeline" };
    fpm_error source = { .code = FPM_OK };
    if (!d->has_model || fpm_layout_check(&d->layout, &d->architecture, &source) == FPM_OK) return SIM_OK;
    const char *message = source.message;
    const bool is_product = begins_with(message, "tensor x");
    const char *key = key_of(config, "parallel", is_product ? "" : message, keys, sizeof keys / sizeof *keys);
    return sim_config_contradiction(config, error, "parallel", key, "[parallel]: %s", message);
}

static sim_status check_formats(const sim_deployment *d, const sim_config *config, sim_error *error) {
    static const char *const keys[] = { "moe_weights", "weights", "kv_cache", "name" };
    fpm_error source = { .code = FPM_OK };
    if (!d->has_model || !d->has_system ||
        fpm_quantisation_check(&d->quantisation, &d->architecture, &d->system, &source) == FPM_OK)
        return SIM_OK;
    const char *key = key_of(config, "model", source.message, keys, sizeof keys / sizeof *keys);
    return sim_config_contradiction(config, error, "model", key, "[model]: %s", source.message);
}

// moe_tensor = auto of a MoE model: the ranks that expert leaves. Where it does not divide them the check of the layout says so.
static fpm_layout layout_of(const sim_deployment *d, const sim_parallel_config *parallel) {
    fpm_layout layout = {
        .tensor = parallel->tensor,
        .pipeline = parallel->pipeline,
        .data = parallel->data,
        .expert = parallel->expert,
        .moe_tensor = parallel->moe_tensor,
    };
    if (layout.moe_tensor == 0) {
        const int64_t left = parallel->tensor * parallel->data / parallel->expert;
        layout.moe_tensor = d->architecture.n_moe_layers > 0 && left > 0 ? left : 1;
    }
    return layout;
}

sim_status sim_deployment_load(sim_deployment *d, const sim_config *config, const sim_parallel_config *parallel,
                               int backend, sim_error *error) {
    *d = (sim_deployment){ .backend = (fpm_backend)backend };
    sim_data_config data;
    sim_config_fill(config, &sim_data_keys, &data);
    sim_status status = check_dir(config, data.dir, error);
    if (!status) status = load_system(d, config, data.dir, error); // first: what is multiplied depends on it
    if (!status) status = load_model(d, config, data.dir, error);
    if (status) return status;
    d->layout = layout_of(d, parallel);
    status = check_layout(d, config, error);
    return status ? status : check_formats(d, config, error);
}

// ---------------------------------------------------------------------------------------------------------------------
// Sizes of the engine
// ---------------------------------------------------------------------------------------------------------------------

static sim_status size_sequences(const sim_deployment *d, const sim_config *config, sim_engine_config *engine,
                                 sim_error *error) {
    const int64_t limit = d->architecture.max_context_tokens;
    if (!d->has_model || limit == 0) return SIM_OK;
    if (engine->max_model_len > limit)
        return sim_config_contradiction(config, error, "engine", "max_model_len",
                                        "max_model_len = %lld exceeds the context of %s (at most %lld)",
                                        (long long)engine->max_model_len, d->architecture.name, (long long)limit);
    if (engine->max_model_len == 0) engine->max_model_len = limit;
    return SIM_OK;
}

static sim_status size_cache(sim_deployment *d, const sim_config *config, const sim_engine_config *engine,
                             sim_kv_cache_config *kv_cache, sim_error *error) {
    if (kv_cache->num_blocks != 0) return SIM_OK;
    if (!d->has_model || !d->has_system)
        return sim_config_contradiction(config, error, "kv_cache", "num_blocks",
                                        "kv_cache.num_blocks = auto needs %s%s%s (or give a number of blocks)",
                                        d->has_model ? "" : "model.name", d->has_model || d->has_system ? "" : " and ",
                                        d->has_system ? "" : "system.name");
    const fpm_memory_options options = {
        .backend = d->backend,
        .memory_fraction = kv_cache->memory_fraction,
        .block_size_tokens = kv_cache->block_size,
        .max_num_batched_tokens = engine->max_num_batched_tokens,
        .max_num_seqs = engine->max_num_seqs,
    };
    fpm_error source = { .code = FPM_OK };
    const fpm_status status =
        fpm_memory_plan(&d->budget, &d->architecture, &d->system, &d->layout, &d->quantisation, &options, &source);
    if (status)
        return sim_config_contradiction(config, error, "model", "name", "model %s: %s", d->architecture.name,
                                        source.message);
    d->has_budget = true;
    kv_cache->num_blocks = d->budget.kv_blocks;
    return SIM_OK;
}

sim_status sim_deployment_size(sim_deployment *d, const sim_config *config, sim_engine_config *engine,
                               sim_kv_cache_config *kv_cache, sim_error *error) {
    const sim_status status = size_sequences(d, config, engine, error);
    return status ? status : size_cache(d, config, engine, kv_cache, error);
}

fpm_deployment sim_deployment_native(const sim_deployment *d) {
    return (fpm_deployment){ d->architecture, d->system, d->layout, d->quantisation, d->backend };
}

// ---------------------------------------------------------------------------------------------------------------------
// Told
// ---------------------------------------------------------------------------------------------------------------------

static bool write_model(const sim_deployment *d, FILE *out) {
    const fpm_architecture *a = &d->architecture;
    const fpm_quantisation *q = &d->quantisation;
    const bool has_experts = a->n_moe_layers > 0;
    bool is_well = fprintf(out, "; model %s (%s): %.4g billion parameters, %lld layers, %s attention, context %lld\n",
                           a->name, d->model_path, fpm_architecture_parameters(a) / 1e9, (long long)a->n_layers,
                           fpm_attention_kind_name(a->attention), (long long)a->max_context_tokens) >= 0;
    if (has_experts)
        is_well = fprintf(out, "; experts %lld, of which %lld a token; moe_tensor %lld x expert %lld\n",
                          (long long)a->n_experts, (long long)a->experts_per_token, (long long)d->layout.moe_tensor,
                          (long long)d->layout.expert) >= 0 &&
                  is_well;
    return fprintf(out, "; formats: weights %s%s%s, KV cache %s, activations %s\n", fpm_precision_name(q->weights),
                   has_experts ? ", experts " : "", has_experts ? fpm_precision_name(q->moe_weights) : "",
                   fpm_precision_name(q->kv_cache), q->has_16bit_activations ? "bf16" : "as the weights") >= 0 &&
           is_well;
}

static bool write_system(const sim_deployment *d, FILE *out) {
    const fpm_system *s = &d->system;
    return fprintf(out, "; system %s (%s): %s, %.4g GB, %.4g GB/s, bf16 %.4g TFLOP/s, operators %s\n", s->name,
                   d->system_path, fpm_generation_name(s->generation), s->memory_bytes / 1e9,
                   s->memory_bytes_per_s / 1e9, s->flops_per_s[FPM_ARITHMETIC_BF16] / 1e12, d->operators) >= 0;
}

static bool write_budget(const sim_deployment *d, const sim_kv_cache_config *kv_cache, FILE *out) {
    const fpm_memory_budget *b = &d->budget;
    return fprintf(
               out,
               "; memory of a GPU in GB: usable %.2f = weights %.2f + activations %.2f + collectives %.2f + reserved "
               "%.2f + KV %.2f\n"
               "; KV cache of a rank: %lld blocks of %lld tokens, %.0f bytes a token\n",
               b->usable_bytes / 1e9, b->weights_bytes / 1e9, b->activations_bytes / 1e9, b->collectives_bytes / 1e9,
               b->reserved_bytes / 1e9, b->kv_bytes / 1e9, (long long)b->kv_blocks, (long long)kv_cache->block_size,
               b->kv_bytes_per_token) >= 0;
}

bool sim_deployment_write(const sim_deployment *d, const sim_kv_cache_config *kv_cache, FILE *out) {
    bool is_well = true;
    if (d->has_model) is_well = write_model(d, out);
    if (d->has_system) is_well = write_system(d, out) && is_well;
    if (d->has_budget) is_well = write_budget(d, kv_cache, out) && is_well;
    return is_well && (d->has_model || d->has_system ? fputc('\n', out) != EOF : true);
}
