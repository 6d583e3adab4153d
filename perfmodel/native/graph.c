// SPDX-License-Identifier: GPL-3.0-or-later
//
// Sources of the operator list: notes/native-model.md sections 2 to 4 (what vLLM, SGLang and TensorRT-LLM launch per layer) and the published
// model code of each family. Dimensions are those of one rank; a dimension that does not divide is rounded up, as the busiest rank has it.
#include "perfmodel/native/graph.h"

#include <assert.h>
#include <math.h>

#include "perfmodel/native/operator_tables.h"

static const double ACTIVATION_BYTES = 2.0; // activations between kernels are bf16

typedef struct builder {
    fpm_graph *graph;
    const fpm_architecture *a;
    const fpm_layout *layout;
    const fpm_quantisation *q;
    const fpm_operators *operators;
    double tensor;
} builder;

static double cut(int64_t width, double ranks) { return ceil((double)width / ranks); }

// ---------------------------------------------------------------------------------------------------------------------
// Entries of the list
// ---------------------------------------------------------------------------------------------------------------------

static fpm_operation *add(builder *b, const char *name, fpm_operation_kind kind, fpm_driver driver, fpm_term term,
                          double count) {
    assert(b->graph->n_operations < FPM_MAX_OPERATIONS);
    fpm_operation *operation = &b->graph->operations[b->graph->n_operations++];
    *operation = (fpm_operation){ .name = name, .kind = kind, .driver = driver, .term = term, .count = count };
    operation->floor_term = term == FPM_TERM_COLLECTIVE ? FPM_TERM_LATENCY : FPM_TERM_FLOOR;
    return operation;
}

static fpm_term gemm_term(fpm_precision weights) {
    switch (weights) {
    case FPM_BF16:
        return FPM_TERM_GEMM_BF16;
    case FPM_FP8:
        return FPM_TERM_GEMM_FP8;
    case FPM_FP8_BLOCK:
        return FPM_TERM_GEMM_FP8_BLOCK;
    case FPM_NVFP4:
        return FPM_TERM_GEMM_NVFP4;
    case FPM_MXFP4:
    case FPM_INT8:
    case FPM_INT4:
    case FPM_PRECISIONS:
        break;
    }
    return FPM_TERM_GEMM_OTHER;
}

static fpm_term moe_term(fpm_precision weights) {
    switch (weights) {
    case FPM_BF16:
        return FPM_TERM_MOE_BF16;
    case FPM_FP8:
        return FPM_TERM_MOE_FP8;
    case FPM_FP8_BLOCK:
        return FPM_TERM_MOE_FP8_BLOCK;
    case FPM_NVFP4:
        return FPM_TERM_MOE_NVFP4;
    case FPM_MXFP4:
        return FPM_TERM_MOE_MXFP4;
    case FPM_INT8:
    case FPM_INT4:
    case FPM_PRECISIONS:
        break;
    }
    return FPM_TERM_MOE_INT;
}

static void gemm_as(builder *b, const char *name, fpm_driver driver, double count, fpm_precision weights, double n,
                    double k) {
    fpm_operation *operation = add(b, name, FPM_OPERATION_GEMM, driver, gemm_term(weights), count);
    operation->shape.gemm.weights = weights;
    operation->shape.gemm.has_16bit_activations = b->q->has_16bit_activations;
    operation->shape.gemm.n = n;
    operation->shape.gemm.k = k;
}

static void gemm(builder *b, const char *name, double count, double n, double k) {
    gemm_as(b, name, FPM_DRIVER_TOKENS, count, b->q->weights, n, k);
}

// `width` elements are read or written per token.
static void elementwise(builder *b, const char *name, fpm_driver driver, double count, double width) {
    add(b, name, FPM_OPERATION_MEMORY, driver, FPM_TERM_MEMORY, count)->shape.bytes_per_token =
        width * ACTIVATION_BYTES;
}

static void collective_as(builder *b, const char *name, fpm_driver driver, double count, fpm_collective kind,
                          double ranks, double bytes_per_token) {
    if (ranks <= 1.0) return;
    fpm_operation *operation = add(b, name, FPM_OPERATION_COLLECTIVE, driver, FPM_TERM_COLLECTIVE, count);
    operation->shape.collective.collective = kind;
    operation->shape.collective.ranks = ranks;
    operation->shape.collective.bytes_per_token = bytes_per_token;
}

static void all_reduce(builder *b, const char *name, double count) {
    collective_as(b, name, FPM_DRIVER_TOKENS, count, FPM_ALL_REDUCE, b->tensor,
                  (double)b->a->hidden * ACTIVATION_BYTES);
}

static void attention(builder *b, const char *name, fpm_driver driver, fpm_term term, double count,
                      fpm_attention_form form, double window_tokens) {
    if (count <= 0.0) return;
    fpm_operation *operation = add(b, name, FPM_OPERATION_ATTENTION, driver, term, count);
    operation->shape.attention.form = form;
    operation->shape.attention.window_tokens = window_tokens;
}

static void pays(builder *b, fpm_term term, double times) { b->graph->constants[term] += times; }

// ---------------------------------------------------------------------------------------------------------------------
// Attention layers
// ---------------------------------------------------------------------------------------------------------------------

static void grouped_layers(builder *b, double n_layers) {
    const fpm_architecture *a = b->a;
    const double h = (double)a->hidden, d = (double)a->head_dim;
    const double q_width = cut(a->n_heads, b->tensor) * d, kv_width = cut(a->n_kv_heads, b->tensor) * d;
    gemm(b, "qkv_proj", n_layers, q_width * (a->has_output_gate ? 2.0 : 1.0) + 2.0 * kv_width, h);
    // Rotary embedding and the write to the cache; the norm of queries and keys reads and writes them once more.
    elementwise(b, "rope_kv_write", FPM_DRIVER_TOKENS, n_layers,
                (a->has_qk_norm ? 4.0 : 2.0) * (q_width + kv_width) + 2.0 * kv_width);
    fpm_attention_shape shape = {
        .n_heads = q_width / d, .n_kv_heads = kv_width / d, .head_dim = d, .kv_cache = b->q->kv_cache
    };
    const fpm_attention_form prefill = fpm_attention_prefill_form(b->operators, &shape);
    const fpm_attention_form decode = fpm_attention_decode_form(b->operators, &shape);
    shape.has_window = true;
    const fpm_attention_form window_prefill = fpm_attention_prefill_form(b->operators, &shape);
    const fpm_attention_form window_decode = fpm_attention_decode_form(b->operators, &shape);
    const double n_window = (double)a->n_window_layers, window = (double)a->window_tokens;
    attention(b, "attention_prefill", FPM_DRIVER_PREFILL_ATTENTION, FPM_TERM_ATTENTION_PREFILL, n_layers - n_window,
              prefill, 0.0);
    attention(b, "attention_decode", FPM_DRIVER_DECODE_ATTENTION, FPM_TERM_ATTENTION_DECODE, n_layers - n_window,
              decode, 0.0);
    attention(b, "window_attention_prefill", FPM_DRIVER_PREFILL_ATTENTION, FPM_TERM_ATTENTION_PREFILL, n_window,
              window_prefill, window);
    attention(b, "window_attention_decode", FPM_DRIVER_DECODE_ATTENTION, FPM_TERM_ATTENTION_DECODE, n_window,
              window_decode, window);
    if (a->has_output_gate) elementwise(b, "output_gate", FPM_DRIVER_TOKENS, n_layers, 3.0 * q_width);
    gemm(b, "o_proj", n_layers, h, q_width);
}

static void indexer(builder *b, double n_layers) {
    const fpm_architecture *a = b->a;
    const double heads = (double)a->index_heads, dim = (double)a->index_dim;
    // Every rank has the whole indexer.
    gemm(b, "indexer_q_proj", n_layers, heads * dim, (double)a->q_rank);
    gemm(b, "indexer_k_proj", n_layers, dim + heads, (double)a->hidden);
    const fpm_indexer_shape shape = { heads, dim, (double)a->index_topk };
    attention(b, "indexer_prefill", FPM_DRIVER_PREFILL_ATTENTION, FPM_TERM_LATENT_PREFILL, n_layers,
              fpm_indexer_prefill_form(b->operators, &shape), 0.0);
    attention(b, "indexer_decode", FPM_DRIVER_DECODE_ATTENTION, FPM_TERM_LATENT_DECODE, n_layers,
              fpm_indexer_decode_form(b->operators, &shape), 0.0);
}

static void latent_layers(builder *b, double n_layers) {
    const fpm_architecture *a = b->a;
    const double h = (double)a->hidden, heads = cut(a->n_heads, b->tensor);
    const double nope = (double)a->nope_dim, rope = (double)a->rope_dim, value = (double)a->value_dim;
    const double q_width = heads * (nope + rope), latent = (double)(a->kv_rank + a->rope_dim);
    if (a->q_rank > 0) {
        gemm(b, "qkv_a_proj", n_layers, (double)a->q_rank + latent, h); // not cut by tensor
        elementwise(b, "latent_norm", FPM_DRIVER_TOKENS, n_layers, 2.0 * ((double)a->q_rank + latent));
        gemm(b, "q_b_proj", n_layers, q_width, (double)a->q_rank);
    } else {
        gemm(b, "q_proj", n_layers, q_width, h);
        gemm(b, "kv_a_proj", n_layers, latent, h);
    }
    // Prompts expand keys and values; decodes stay in the latent space, with products that the decode form has.
    gemm_as(b, "kv_b_proj", FPM_DRIVER_PREFILL_TOKENS, n_layers, b->q->weights, heads * (nope + value),
            (double)a->kv_rank);
    elementwise(b, "rope_kv_write", FPM_DRIVER_TOKENS, n_layers, 2.0 * heads * rope + 2.0 * latent);
    const bool is_sparse = a->attention == FPM_ATTENTION_SPARSE;
    if (is_sparse) indexer(b, n_layers);
    const fpm_latent_shape shape = { heads, (double)a->kv_rank, nope, rope, value, b->q->kv_cache };
    const double window = is_sparse ? (double)a->index_topk : 0.0;
    attention(b, "latent_attention_prefill", FPM_DRIVER_PREFILL_ATTENTION, FPM_TERM_LATENT_PREFILL, n_layers,
              fpm_latent_prefill_form(b->operators, &shape), window);
    attention(b, "latent_attention_decode", FPM_DRIVER_DECODE_ATTENTION, FPM_TERM_LATENT_DECODE, n_layers,
              fpm_latent_decode_form(b->operators, &shape), window);
    gemm(b, "o_proj", n_layers, h, heads * value);
    pays(b, FPM_TERM_LATENT_LAYER, n_layers);
    if (is_sparse) pays(b, FPM_TERM_SPARSE_LAYER, n_layers);
}

static void linear_layers(builder *b, double n_layers) {
    const fpm_architecture *a = b->a;
    const double h = (double)a->hidden;
    const double key_heads = cut(a->linear_key_heads, b->tensor), value_heads = cut(a->linear_value_heads, b->tensor);
    const double key = key_heads * (double)a->linear_key_dim, value = value_heads * (double)a->linear_value_dim;
    gemm(b, "linear_in_proj", n_layers, 2.0 * key + 2.0 * value + 2.0 * value_heads,
         h); // q, k, v, gate, beta and decay
    const fpm_linear_shape shape = { key_heads, (double)a->linear_key_dim, value_heads, (double)a->linear_value_dim,
                                     (double)a->linear_conv_width };
    attention(b, "gated_delta_prefill", FPM_DRIVER_PREFILL_ATTENTION, FPM_TERM_LINEAR, n_layers,
              fpm_linear_prefill_form(b->operators, &shape), 0.0);
    attention(b, "gated_delta_decode", FPM_DRIVER_DECODE_ATTENTION, FPM_TERM_LINEAR, n_layers,
              fpm_linear_decode_form(b->operators, &shape), 0.0);
    elementwise(b, "gated_norm", FPM_DRIVER_TOKENS, n_layers, 3.0 * value);
    gemm(b, "linear_out_proj", n_layers, h, value);
    pays(b, FPM_TERM_LINEAR_LAYER, n_layers);
}

static void attention_layers(builder *b) {
    const fpm_architecture *a = b->a;
    const double n_linear = (double)a->n_linear_layers, n_attention = (double)a->n_layers - n_linear;
    elementwise(b, "attention_norm", FPM_DRIVER_TOKENS, (double)a->n_layers, 4.0 * (double)a->hidden);
    if (n_attention > 0.0) {
        if (a->attention == FPM_ATTENTION_GROUPED)
            grouped_layers(b, n_attention);
        else
            latent_layers(b, n_attention);
    }
    if (n_linear > 0.0) linear_layers(b, n_linear);
    all_reduce(b, "attention_all_reduce", (double)a->n_layers);
}

// ---------------------------------------------------------------------------------------------------------------------
// Feed-forward layers
// ---------------------------------------------------------------------------------------------------------------------

static void gated_ffn(builder *b, const char *const names[3], double count, double width) {
    const bool is_ungated = b->a->has_ungated_ffn;
    gemm(b, names[0], count, (is_ungated ? 1.0 : 2.0) * width, (double)b->a->hidden);
    elementwise(b, names[1], FPM_DRIVER_TOKENS, count, (is_ungated ? 2.0 : 3.0) * width);
    gemm(b, names[2], count, (double)b->a->hidden, width);
}

// Tokens of all ranks reach the experts: with attention data parallelism they are gathered before and scattered after; within a tensor
// group every rank has them, and the sum that follows is an all-reduce.
static void experts(builder *b, double n_layers) {
    const fpm_architecture *a = b->a;
    const fpm_layout *l = b->layout;
    const double data = (double)l->data, group = (double)l->moe_tensor * (double)l->expert;
    const double token_bytes = (double)a->hidden * ACTIVATION_BYTES;
    gemm_as(b, "router", FPM_DRIVER_TOKENS, n_layers, FPM_BF16, (double)a->n_experts, (double)a->hidden);
    if (data > 1.0)
        collective_as(b, "expert_gather", FPM_DRIVER_SHARED_TOKENS, n_layers, FPM_ALL_GATHER, group, token_bytes);
    fpm_operation *operation =
        add(b, "experts", FPM_OPERATION_MOE, FPM_DRIVER_SHARED_TOKENS, moe_term(b->q->moe_weights), n_layers);
    operation->shape.moe.weights = b->q->moe_weights;
    operation->shape.moe.has_16bit_activations = b->q->has_16bit_activations;
    operation->shape.moe.shape = (fpm_moe_shape){
        .hidden = (double)a->hidden,
        .intermediate = (double)a->expert_intermediate,
        .n_experts = (double)a->n_experts,
        .experts_per_token = (double)a->experts_per_token,
        .tensor = (double)l->moe_tensor,
        .expert = (double)l->expert,
        .skew = FPM_ROUTING_SKEW,
        .is_ungated = a->has_ungated_ffn,
    };
    operation->shape.moe.shape.imbalance = fpm_moe_imbalance(&operation->shape.moe.shape);
    if (data > 1.0)
        collective_as(b, "expert_scatter", FPM_DRIVER_SHARED_TOKENS, n_layers, FPM_REDUCE_SCATTER, group, token_bytes);
    else
        collective_as(b, "expert_all_reduce", FPM_DRIVER_TOKENS, n_layers, FPM_ALL_REDUCE, group, token_bytes);
}

static void ffn_layers(builder *b) {
    static const char *const dense_names[] = { "gate_up_proj", "activation", "down_proj" };
    static const char *const shared_names[] = { "shared_gate_up_proj", "shared_activation", "shared_down_proj" };
    const fpm_architecture *a = b->a;
    const double n_moe = (double)a->n_moe_layers, n_dense = (double)a->n_layers - n_moe;
    elementwise(b, "ffn_norm", FPM_DRIVER_TOKENS, (double)a->n_layers, 4.0 * (double)a->hidden);
    if (n_dense > 0.0) {
        gated_ffn(b, dense_names, n_dense, cut(a->intermediate, b->tensor));
        all_reduce(b, "ffn_all_reduce", n_dense);
    }
    if (n_moe > 0.0) {
        if (a->shared_intermediate > 0) gated_ffn(b, shared_names, n_moe, cut(a->shared_intermediate, b->tensor));
        experts(b, n_moe);
        pays(b, FPM_TERM_MOE_LAYER, n_moe);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The whole
// ---------------------------------------------------------------------------------------------------------------------

static void head(builder *b) {
    const fpm_architecture *a = b->a;
    const double vocab = cut(a->vocab, b->tensor);
    gemm_as(b, "lm_head", FPM_DRIVER_ROWS, 1.0, FPM_BF16, vocab, (double)a->hidden);
    collective_as(b, "logits_gather", FPM_DRIVER_ROWS, 1.0, FPM_ALL_GATHER, b->tensor,
                  (double)a->vocab * ACTIVATION_BYTES);
    elementwise(b, "sampling", FPM_DRIVER_ROWS, 1.0, 6.0 * (double)a->vocab); // softmax in fp32: read, write, read
}

void fpm_graph_build(fpm_graph *graph, const fpm_deployment *deployment, const fpm_operators *operators) {
    const fpm_architecture *a = &deployment->architecture;
    *graph = (fpm_graph){ .n_operations = 0 };
    builder b = {
        graph, a, &deployment->layout, &deployment->quantisation, operators, (double)deployment->layout.tensor
    };
    elementwise(&b, "embedding", FPM_DRIVER_TOKENS, 1.0, 2.0 * (double)a->hidden);
    all_reduce(&b, "embedding_all_reduce", 1.0);
    attention_layers(&b);
    ffn_layers(&b);
    head(&b);
    const double n_layers = (double)a->n_layers, pipeline = (double)deployment->layout.pipeline;
    if (pipeline > 1.0)
        add(&b, "pipeline_send", FPM_OPERATION_SEND, FPM_DRIVER_TOKENS, FPM_TERM_COLLECTIVE, pipeline - 1.0)
            ->shape.bytes_per_token = (double)a->hidden * ACTIVATION_BYTES;
    pays(&b, FPM_TERM_PASS, 1.0);
    pays(&b, FPM_TERM_LAYER, n_layers);
    if (b.tensor > 1.0) pays(&b, FPM_TERM_TENSOR_LAYER, n_layers);
    pays(&b, FPM_TERM_PREFILL_PASS, 1.0);
    pays(&b, FPM_TERM_PREFILL_LAYER, n_layers);
}

// ---------------------------------------------------------------------------------------------------------------------
// Prices
// ---------------------------------------------------------------------------------------------------------------------

static fpm_price times(fpm_price price, double count) {
    return (fpm_price){ .ms = price.ms * count,
                        .floor_ms = price.floor_ms * count,
                        .bound_ms = price.bound_ms * count,
                        .peak_compute_ms = price.peak_compute_ms * count,
                        .peak_memory_ms = price.peak_memory_ms * count,
                        .bound = price.bound };
}

fpm_price fpm_operation_formula(const fpm_operation *o, const fpm_operators *operators, double count) {
    switch (o->kind) {
    case FPM_OPERATION_GEMM:
        return fpm_gemm_price(operators, o->shape.gemm.weights, o->shape.gemm.has_16bit_activations, count,
                              o->shape.gemm.n, o->shape.gemm.k);
    case FPM_OPERATION_MOE:
        return fpm_moe_price(operators, o->shape.moe.weights, o->shape.moe.has_16bit_activations, &o->shape.moe.shape,
                             count);
    case FPM_OPERATION_COLLECTIVE:
        return fpm_collective_price(operators, o->shape.collective.collective, o->shape.collective.ranks,
                                    o->shape.collective.bytes_per_token * count);
    case FPM_OPERATION_SEND:
        return fpm_send_price(operators, o->shape.bytes_per_token * count);
    case FPM_OPERATION_MEMORY:
        return fpm_memory_price(operators, o->shape.bytes_per_token * count);
    case FPM_OPERATION_ATTENTION:
        break;
    }
    assert(!"attention has no single count");
    return (fpm_price){ .bound = FPM_BOUND_LAUNCH };
}

fpm_price fpm_operation_price_at(const fpm_operation *o, const fpm_operators *operators, double count) {
    if (count <= 0.0) return (fpm_price){ .bound = FPM_BOUND_LAUNCH };
    const fpm_price formula = fpm_operation_formula(o, operators, count);
    return times(operators->tables ? fpm_table_price(o, operators, count, formula) : formula, o->count);
}

fpm_price fpm_operation_price(const fpm_operation *o, const fpm_operators *operators, const fpm_batch *batch) {
    switch (o->driver) {
    case FPM_DRIVER_TOKENS:
        return fpm_operation_price_at(o, operators, batch->tokens);
    case FPM_DRIVER_PREFILL_TOKENS:
        return fpm_operation_price_at(o, operators, batch->prefill_tokens);
    case FPM_DRIVER_SHARED_TOKENS:
        return fpm_operation_price_at(o, operators, batch->shared_tokens);
    case FPM_DRIVER_ROWS:
        return fpm_operation_price_at(o, operators, batch->rows);
    case FPM_DRIVER_PREFILL_ATTENTION:
    case FPM_DRIVER_DECODE_ATTENTION:
        break;
    }
    const fpm_attention_sums sums = fpm_batch_attention(batch, o->driver, o->shape.attention.window_tokens);
    if (sums.requests <= 0.0) return (fpm_price){ .bound = FPM_BOUND_LAUNCH };
    return times(fpm_attention_price(&o->shape.attention.form, &sums), o->count);
}

double fpm_operation_calibrated_ms(const fpm_operation *o, const fpm_price *price, const fpm_calibration *calibration) {
    const double ms = (price->ms - price->floor_ms) * calibration->terms[o->term] +
                      price->floor_ms * calibration->terms[o->floor_term];
    return fmax(ms, price->bound_ms);
}
