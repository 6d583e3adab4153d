// SPDX-License-Identifier: GPL-3.0-or-later
//
// The explanation as JSON: the same lines as the table, shapes as numbers.
#include <cjson/cJSON.h>
#include <stdlib.h>

#include "sim/report/explanation.h"

static void add_number(cJSON *object, const char *key, double value) {
    char text[FPM_NUMBER_BYTES];
    fpm_format_number(text, value);
    cJSON_AddRawToObject(object, key, text);
}

static cJSON *add_item(cJSON *array) {
    cJSON *object = cJSON_CreateObject();
    if (cJSON_AddItemToArray(array, object)) return object;
    cJSON_Delete(object);
    return NULL;
}

// ---------------------------------------------------------------------------------------------------------------------
// What was priced
// ---------------------------------------------------------------------------------------------------------------------

static void add_what(cJSON *root, const sim_explanation *e) {
    const fpm_deployment *d = e->deployment;
    cJSON_AddStringToObject(root, "model", d->architecture.name);
    cJSON_AddStringToObject(root, "system", d->system.name);
    cJSON_AddStringToObject(root, "backend", fpm_backend_name(d->backend));
    cJSON *layout = cJSON_AddObjectToObject(root, "layout");
    add_number(layout, "tensor", (double)d->layout.tensor);
    add_number(layout, "pipeline", (double)d->layout.pipeline);
    add_number(layout, "data", (double)d->layout.data);
    add_number(layout, "expert", (double)d->layout.expert);
    add_number(layout, "moe_tensor", (double)d->layout.moe_tensor);
    cJSON *formats = cJSON_AddObjectToObject(root, "formats");
    cJSON_AddStringToObject(formats, "weights", fpm_precision_name(d->quantisation.weights));
    cJSON_AddStringToObject(formats, "moe_weights", fpm_precision_name(d->quantisation.moe_weights));
    cJSON_AddStringToObject(formats, "kv_cache", fpm_precision_name(d->quantisation.kv_cache));
    cJSON_AddBoolToObject(formats, "has_16bit_activations", d->quantisation.has_16bit_activations);
    cJSON_AddStringToObject(root, "pricing", e->pricing == FPM_PRICING_SERIAL ? "serial" : "fused");
    cJSON_AddStringToObject(root, "curves", e->curves);
    cJSON_AddBoolToObject(root, "is_measured", e->has_curves);
    cJSON_AddStringToObject(root, "collectives", e->collectives);
    cJSON_AddStringToObject(root, "calibration", e->calibration);
    cJSON_AddBoolToObject(root, "has_calibration_overrides", e->has_overrides);
}

static void add_batch(cJSON *root, const sim_explanation *e) {
    const fpm_scheduled_requests *s = &e->batch.scheduled;
    cJSON *batch = cJSON_AddObjectToObject(root, "batch");
    cJSON_AddStringToObject(batch, "kind", fpm_kind_name(fpm_metrics_kind(&e->batch)));
    cJSON_AddBoolToObject(batch, "is_default", e->is_default_batch);
    add_number(batch, "ranks", (double)e->deployment->layout.data);
    add_number(batch, "prefill_tokens", s->sum_prefill_tokens);
    add_number(batch, "prefill_kv_tokens", s->sum_prefill_kv_tokens);
    add_number(batch, "decode_requests", s->num_decode_requests);
    add_number(batch, "decode_kv_tokens", s->sum_decode_kv_tokens);
}

// ---------------------------------------------------------------------------------------------------------------------
// Operators
// ---------------------------------------------------------------------------------------------------------------------

static void add_experts(cJSON *shape, const fpm_explained_operation *line) {
    const fpm_moe_shape *moe = &line->operation->shape.moe.shape;
    add_number(shape, "tokens", line->amount);
    add_number(shape, "hidden", moe->hidden);
    add_number(shape, "intermediate", moe->intermediate);
    add_number(shape, "experts", moe->n_experts);
    add_number(shape, "experts_per_token", moe->experts_per_token);
    add_number(shape, "tensor", moe->tensor);
    add_number(shape, "expert", moe->expert);
    add_number(shape, "imbalance", moe->imbalance);
    cJSON_AddStringToObject(shape, "format",
                            fpm_format_name(fpm_format(line->operation->shape.moe.weights,
                                                       line->operation->shape.moe.has_16bit_activations)));
}

static void add_shape(cJSON *object, const fpm_explained_operation *line) {
    const fpm_operation *o = line->operation;
    cJSON *shape = cJSON_AddObjectToObject(object, "shape");
    switch (o->kind) {
    case FPM_OPERATION_GEMM:
        add_number(shape, "m", line->amount);
        add_number(shape, "n", o->shape.gemm.n);
        add_number(shape, "k", o->shape.gemm.k);
        cJSON_AddStringToObject(
            shape, "format", fpm_format_name(fpm_format(o->shape.gemm.weights, o->shape.gemm.has_16bit_activations)));
        return;
    case FPM_OPERATION_MOE:
        add_experts(shape, line);
        return;
    case FPM_OPERATION_COLLECTIVE:
        cJSON_AddStringToObject(shape, "collective", sim_collective_name(o->shape.collective.collective));
        add_number(shape, "ranks", o->shape.collective.ranks);
        add_number(shape, "bytes", o->shape.collective.bytes_per_token * line->amount);
        return;
    case FPM_OPERATION_SEND:
    case FPM_OPERATION_MEMORY:
        add_number(shape, "bytes", o->shape.bytes_per_token * line->amount);
        return;
    case FPM_OPERATION_ATTENTION:
        add_number(shape, "requests", line->sums.requests);
        add_number(shape, "tokens", line->sums.tokens);
        add_number(shape, "kv_tokens", line->sums.kv_tokens);
        add_number(shape, "pairs", line->sums.pairs);
        add_number(shape, "window_tokens", o->shape.attention.window_tokens);
        return;
    }
}

static void add_operation(cJSON *array, const fpm_explained_operation *line, double estimate_ms) {
    cJSON *object = add_item(array);
    cJSON_AddStringToObject(object, "name", line->operation->name);
    cJSON_AddStringToObject(object, "kind", sim_operation_kind_name(line->operation->kind));
    add_shape(object, line);
    add_number(object, "count", line->operation->count);
    add_number(object, "uncalibrated_ms", line->price.ms);
    add_number(object, "bound_ms", line->price.bound_ms);
    add_number(object, "ms", line->ms);
    add_number(object, "time_share", line->ms / estimate_ms);
    cJSON_AddStringToObject(object, "bound", fpm_bound_name(line->price.bound));
    cJSON_AddStringToObject(object, "source", fpm_price_source_name(line->source));
}

static void add_term(cJSON *array, const fpm_explained_term *term, double estimate_ms) {
    cJSON *object = add_item(array);
    cJSON_AddStringToObject(object, "name", fpm_term_name(term->term));
    add_number(object, "count", term->times);
    add_number(object, "each_us", term->each_us);
    add_number(object, "ms", term->ms);
    add_number(object, "time_share", term->ms / estimate_ms);
    cJSON_AddStringToObject(object, "source", "calibration");
}

static void add_passes(cJSON *root, const sim_explanation *e) {
    cJSON *passes = cJSON_AddArrayToObject(root, "passes");
    for (size_t i = 0; i < e->n_passes; i++) {
        cJSON *pass = add_item(passes);
        cJSON *operators = cJSON_AddArrayToObject(pass, "operators");
        for (size_t o = 0; o < e->passes[i].n_operations; o++)
            add_operation(operators, &e->passes[i].operations[o], e->estimate_ms);
        cJSON *overheads = cJSON_AddArrayToObject(pass, "overheads");
        for (size_t t = 0; t < e->passes[i].n_terms; t++) add_term(overheads, &e->passes[i].terms[t], e->estimate_ms);
    }
}

static void add_totals(cJSON *root, const sim_explanation *e) {
    const sim_explanation_totals t = sim_explanation_total(e);
    add_number(root, "num_gpus", t.n_gpus);
    add_number(root, "estimate_ms", e->estimate_ms);
    add_number(root, "operators_ms", t.operations_ms);
    add_number(root, "overhead_ms", t.terms_ms);
    add_number(root, "bound_ms", t.bound_ms);
    add_number(root, "mfu_ratio", t.mfu_ratio);
    add_number(root, "mbu_ratio", t.mbu_ratio);
    add_number(root, "input_throughput_tok_s", t.input_tokens_per_s);
    add_number(root, "output_throughput_tok_s", t.output_tokens_per_s);
    add_number(root, "output_throughput_per_gpu_tok_s", t.output_tokens_per_s / t.n_gpus);
}

sim_status sim_explanation_write_json(const sim_explanation *e, FILE *out, sim_error *error) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "schema", "forepass.estimate");
    cJSON_AddRawToObject(root, "version", "1");
    add_what(root, e);
    add_batch(root, e);
    add_totals(root, e);
    add_passes(root, e);
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    const bool is_written = fputs(text, out) >= 0 && fputc('\n', out) != EOF;
    free(text);
    return is_written ? SIM_OK : sim_error_set(error, SIM_IO, NULL, 0, "the explanation could not be written");
}
