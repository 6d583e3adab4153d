// SPDX-License-Identifier: GPL-3.0-or-later
//
// A config.json names a class of the transformers library; the class says what the other keys mean. The table at the end is the list of classes we know. Keys of
// a multi-modal checkpoint's language model stand in `text_config`.
#include "sim/deployment/hf_config.h"

#include <cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/deployment/hf_document.h"

typedef struct reader {
    const cJSON *root, *text; // text: text_config, or the root
    const char *path;
    fpm_architecture *a;
    sim_error *error;
    sim_status status; // the first error stays
} reader;

// ---------------------------------------------------------------------------------------------------------------------
// Keys
// ---------------------------------------------------------------------------------------------------------------------

static const cJSON *find(const reader *in, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(in->text, key);
    if (!item) item = cJSON_GetObjectItemCaseSensitive(in->root, key);
    return cJSON_IsNull(item) ? NULL : item;
}

static void refuse(reader *in, const char *key, const char *what) {
    if (in->status) return;
    in->status = sim_error_set(in->error, SIM_USAGE, in->path, 0, "\"%s\" %s", key, what);
}

static int64_t read_count(reader *in, const char *key, const cJSON *item) {
    const double value = cJSON_IsNumber(item) ? item->valuedouble : -1;
    if (value >= 0 && value <= 1073741824.0 && floor(value) == value) return (int64_t)value;
    refuse(in, key, "is no count (a whole number from 0 to 1073741824)");
    return 0;
}

static int64_t needed(reader *in, const char *key) {
    const cJSON *item = find(in, key);
    if (!item) refuse(in, key, "is missing");
    return item ? read_count(in, key, item) : 0;
}

static int64_t count_or(reader *in, const char *key, int64_t otherwise) {
    const cJSON *item = find(in, key);
    return item ? read_count(in, key, item) : otherwise;
}

static bool says(const reader *in, const char *key) { return cJSON_IsTrue(find(in, key)); }

// Layers of one type in `layer_types`; -1: there is no such list.
static int64_t count_layer_types(const reader *in, const char *type) {
    const cJSON *types = find(in, "layer_types"), *one;
    if (!cJSON_IsArray(types)) return -1;
    int64_t n = 0;
    cJSON_ArrayForEach(one, types) {
        const char *name = cJSON_GetStringValue(one);
        n += name && strcmp(name, type) == 0;
    }
    return n;
}

// ---------------------------------------------------------------------------------------------------------------------
// Parts of a model
// ---------------------------------------------------------------------------------------------------------------------

static void read_body(reader *in) {
    fpm_architecture *a = in->a;
    a->n_layers = needed(in, "num_hidden_layers");
    a->hidden = needed(in, "hidden_size");
    a->vocab = needed(in, "vocab_size");
    a->max_context_tokens = count_or(in, "max_position_embeddings", 0);
    a->n_heads = needed(in, "num_attention_heads");
    a->ties_embeddings = says(in, "tie_word_embeddings");
}

static void read_grouped(reader *in) {
    fpm_architecture *a = in->a;
    a->n_kv_heads = count_or(in, "num_key_value_heads", a->n_heads);
    a->head_dim = count_or(in, "head_dim", a->n_heads > 0 ? a->hidden / a->n_heads : 0);
    const int64_t window = count_or(in, "sliding_window", 0);
    const cJSON *is_used = find(in, "use_sliding_window");
    if (window == 0 || cJSON_IsFalse(is_used)) return;
    const int64_t n_typed = count_layer_types(in, "sliding_attention");
    const int64_t n_before = is_used ? count_or(in, "max_window_layers", 0) : 0; // Qwen: full attention up to there
    a->n_window_layers = n_typed >= 0 ? n_typed : n_before < a->n_layers ? a->n_layers - n_before : 0;
    a->window_tokens = a->n_window_layers > 0 ? window : 0;
}

static void read_latent(reader *in) {
    fpm_architecture *a = in->a;
    a->attention = FPM_ATTENTION_LATENT;
    a->q_rank = count_or(in, "q_lora_rank", 0);
    a->kv_rank = needed(in, "kv_lora_rank");
    a->nope_dim = needed(in, "qk_nope_head_dim");
    a->rope_dim = needed(in, "qk_rope_head_dim");
    a->value_dim = needed(in, "v_head_dim");
}

static void read_indexer(reader *in) {
    in->a->attention = FPM_ATTENTION_SPARSE;
    in->a->index_heads = needed(in, "index_n_heads");
    in->a->index_dim = needed(in, "index_head_dim");
    in->a->index_topk = needed(in, "index_topk");
}

static void read_linear(reader *in) {
    fpm_architecture *a = in->a;
    const int64_t every = count_or(in, "full_attention_interval", 4),
                  n_typed = count_layer_types(in, "linear_attention");
    a->n_linear_layers = n_typed >= 0 ? n_typed : every > 0 ? a->n_layers - a->n_layers / every : 0;
    a->linear_key_heads = needed(in, "linear_num_key_heads");
    a->linear_key_dim = needed(in, "linear_key_head_dim");
    a->linear_value_heads = needed(in, "linear_num_value_heads");
    a->linear_value_dim = needed(in, "linear_value_head_dim");
    a->linear_conv_width = needed(in, "linear_conv_kernel_dim");
}

// Experts in all layers but `n_dense`, whose width is only read where there are such layers.
static void read_experts(reader *in, int64_t n_dense, const char *n_experts, const char *width,
                         const char *dense_width) {
    fpm_architecture *a = in->a;
    a->n_moe_layers = n_dense < a->n_layers ? a->n_layers - n_dense : 0;
    a->n_experts = needed(in, n_experts);
    a->experts_per_token = needed(in, "num_experts_per_tok");
    a->expert_intermediate = needed(in, width);
    if (n_dense > 0) a->intermediate = needed(in, dense_width);
}

// ---------------------------------------------------------------------------------------------------------------------
// Families
// ---------------------------------------------------------------------------------------------------------------------

static void read_dense(reader *in) {
    read_grouped(in);
    in->a->intermediate = needed(in, "intermediate_size");
}

static void read_qwen3(reader *in) {
    read_dense(in);
    in->a->has_qk_norm = true;
}

static int64_t count_mlp_only(reader *in) {
    const cJSON *list = find(in, "mlp_only_layers");
    if (count_or(in, "decoder_sparse_step", 1) != 1)
        refuse(in, "decoder_sparse_step", "differs from 1, which we do not know");
    return cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
}

static void read_qwen3_moe(reader *in) {
    read_grouped(in);
    in->a->has_qk_norm = true;
    read_experts(in, count_mlp_only(in), "num_experts", "moe_intermediate_size", "intermediate_size");
    in->a->shared_intermediate = count_or(in, "shared_expert_intermediate_size", 0);
}

static void read_qwen3_5(reader *in) {
    read_grouped(in);
    read_linear(in);
    in->a->has_qk_norm = true;
    const cJSON *gate = find(in, "attn_output_gate"); // Qwen3-Next always has one and does not say so
    in->a->has_output_gate = !gate || cJSON_IsTrue(gate);
    in->a->n_mtp_layers = count_or(in, "mtp_num_hidden_layers", 0);
    if (find(in, "num_experts")) {
        read_experts(in, count_mlp_only(in), "num_experts", "moe_intermediate_size", "intermediate_size");
        in->a->shared_intermediate = count_or(in, "shared_expert_intermediate_size", 0);
    } else {
        in->a->intermediate = needed(in, "intermediate_size");
    }
}

static void read_mixtral(reader *in) {
    read_grouped(in);
    read_experts(in, 0, "num_local_experts", "intermediate_size", "");
}

static void read_minimax(reader *in) {
    read_mixtral(in);
    in->a->has_qk_norm = says(in, "use_qk_norm");
    in->a->shared_intermediate = count_or(in, "shared_intermediate_size", 0);
    in->a->n_mtp_layers = says(in, "use_mtp") ? count_or(in, "num_mtp_modules", 0) : 0;
}

static void read_deepseek(reader *in) {
    read_latent(in);
    if (count_or(in, "moe_layer_freq", 1) != 1) refuse(in, "moe_layer_freq", "differs from 1, which we do not know");
    read_experts(in, count_or(in, "first_k_dense_replace", 0), "n_routed_experts", "moe_intermediate_size",
                 "intermediate_size");
    const int64_t n_shared = count_or(in, "n_shared_experts", 0);
    if (n_shared > 1024) refuse(in, "n_shared_experts", "is more than 1024");
    in->a->shared_intermediate = in->status ? 0 : n_shared * in->a->expert_intermediate;
    in->a->n_mtp_layers = count_or(in, "num_nextn_predict_layers", 0);
}

static void read_deepseek_sparse(reader *in) {
    read_deepseek(in);
    read_indexer(in);
}

// Experts in every `interleave_moe_layer_step`th layer, each with one shared expert as wide as a routed one. Three layers in four attend within chunks; we
// take those for windows of that size.
static void read_llama4(reader *in) {
    fpm_architecture *a = in->a;
    read_grouped(in);
    const int64_t step = count_or(in, "interleave_moe_layer_step", 1), chunk = count_or(in, "attention_chunk_size", 0);
    if (step < 1) refuse(in, "interleave_moe_layer_step", "is out of range (1 or more)");
    if (in->status) return;
    read_experts(in, a->n_layers - a->n_layers / step, "num_local_experts", "intermediate_size",
                 "intermediate_size_mlp");
    a->shared_intermediate = a->expert_intermediate;
    a->has_qk_norm = says(in, "use_qk_norm");
    a->n_window_layers = chunk > 0 ? a->n_layers - a->n_layers / 4 : 0;
    a->window_tokens = chunk;
}

static const struct {
    const char *name;
    void (*read)(reader *in);
} families[] = {
    { "LlamaForCausalLM", read_dense },
    { "MistralForCausalLM", read_dense },
    { "Qwen2ForCausalLM", read_dense },
    { "Qwen3ForCausalLM", read_qwen3 },
    { "Qwen3MoeForCausalLM", read_qwen3_moe },
    { "Qwen3NextForCausalLM", read_qwen3_5 },
    { "Qwen3_5ForCausalLM", read_qwen3_5 },
    { "Qwen3_5ForConditionalGeneration", read_qwen3_5 },
    { "Qwen3_5MoeForCausalLM", read_qwen3_5 },
    { "Qwen3_5MoeForConditionalGeneration", read_qwen3_5 },
    { "MixtralForCausalLM", read_mixtral },
    { "GptOssForCausalLM", read_mixtral },
    { "MiniMaxM2ForCausalLM", read_minimax },
    { "DeepseekV3ForCausalLM", read_deepseek },
    { "DeepseekV32ForCausalLM", read_deepseek_sparse },
    { "KimiK25ForConditionalGeneration", read_deepseek },
    { "GlmMoeDsaForCausalLM", read_deepseek_sparse },
    { "Llama4ForConditionalGeneration", read_llama4 },
    { "Llama4ForCausalLM", read_llama4 },
};
enum { N_FAMILIES = sizeof families / sizeof *families };

static void read_family(reader *in) {
    const cJSON *classes = cJSON_GetObjectItemCaseSensitive(in->root, "architectures");
    const char *name = cJSON_GetStringValue(cJSON_GetArrayItem(classes, 0));
    if (!name) {
        refuse(in, "architectures", "is missing (this is no config.json of a model)");
        return;
    }
    const char *names[N_FAMILIES];
    for (size_t i = 0; i < N_FAMILIES; i++) {
        names[i] = families[i].name;
        if (strcmp(names[i], name) != 0) continue;
        read_body(in);
        if (!in->status) families[i].read(in);
        return;
    }
    const char *nearest = sim_nearest_name(name, names, N_FAMILIES);
    in->status = sim_error_set(in->error, SIM_USAGE, in->path, 0, "the architecture %.100s is not known (%s%s)", name,
                               nearest ? "the nearest known one is " : "describe it in an INI file; see configs/models",
                               nearest ? nearest : "");
}

// ---------------------------------------------------------------------------------------------------------------------
// The document
// ---------------------------------------------------------------------------------------------------------------------

sim_status sim_hf_config_parse(sim_model_file *file, const char *text, size_t n_bytes, const char *path,
                               sim_error *error) {
    *file = (sim_model_file){ .source = "Hugging Face config.json" };
    cJSON *root = sim_hf_document(text, n_bytes, path, error);
    if (!root) return SIM_USAGE;
    const cJSON *nested = cJSON_GetObjectItemCaseSensitive(root, "text_config");
    reader in = { .root = root, .text = cJSON_IsObject(nested) ? nested : root, .path = path };
    in.a = &file->architecture;
    in.error = error;
    sim_data_name(path, in.a->name);
    read_family(&in);
    const cJSON *quantisation = find(&in, "quantization_config");
    if (!in.status && cJSON_IsObject(quantisation)) sim_hf_formats_read(&file->formats, quantisation);
    cJSON_Delete(root);
    if (in.status) return in.status;
    fpm_error source = { .code = FPM_OK };
    if (fpm_architecture_check(&file->architecture, &source) == FPM_OK) return SIM_OK;
    return sim_error_set(error, SIM_USAGE, path, 0, "%s", source.message);
}
