// SPDX-License-Identifier: GPL-3.0-or-later
//
// One table says which file holds what: its columns by name and the function that makes a sample of a row.
#include "sim/experiment/operator_records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const sim_record_common_columns[SIM_AT_OWN] = { "system",  "backend",       "version",
                                                            "op_name", "kernel_source", "latency" };

static bool is(const sim_operator_record *row, int column, const char *text) {
    return strcmp(row->text[column], text) == 0;
}

// Number formats of the files. False: one that forepass does not have.
static bool format_of(const char *text, int *format) {
    static const struct {
        const char *name;
        fpm_precision precision;
        bool has_16bit_activations;
    } formats[] = {
        { "bfloat16", FPM_BF16, false }, { "fp8", FPM_FP8, false },          { "fp8_block", FPM_FP8_BLOCK, false },
        { "nvfp4", FPM_NVFP4, false },   { "sq", FPM_INT8, false },          { "int8_wo", FPM_INT8, true },
        { "int4_wo", FPM_INT4, true },   { "w4a16_mxfp4", FPM_MXFP4, true }, { "w4a8_mxfp4_mxfp8", FPM_MXFP4, false },
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(text, formats[i].name) != 0) continue;
        *format = fpm_format(formats[i].precision, formats[i].has_16bit_activations);
        return true;
    }
    return false;
}

static fpm_precision cache_of(const sim_operator_record *row, int column) {
    return is(row, column, "fp8") ? FPM_FP8 : FPM_BF16;
}

// Sums of `requests` alike requests with `fresh` new and `past` cached tokens each, in a window (0 = none).
static fpm_attention_sums prefill_sums(double requests, double fresh, double past, double window) {
    const double context = past + fresh;
    fpm_attention_sums sums = { .pairs = requests * fresh * (past + fresh / 2),
                                .kv_tokens = requests * context,
                                .tokens = requests * fresh,
                                .requests = requests };
    if (window > 0 && context > window) {
        // The queries before the window is full see all that came before them, the others `window` tokens.
        const double growing = fmax(window - past, 0);
        sums.pairs = requests * (growing * (past + growing / 2) + (fresh - growing) * window);
        sums.kv_tokens = requests * fmin(context, fresh + window);
    }
    return sums;
}

static fpm_attention_sums decode_sums(double requests, double context, double window) {
    if (window > 0) context = fmin(context, window);
    return (fpm_attention_sums){
        .pairs = requests * context, .kv_tokens = requests * context, .tokens = requests, .requests = requests
    };
}

enum { GEMM_DTYPE = SIM_AT_OWN, GEMM_M, GEMM_N, GEMM_K };
static bool read_gemm(const sim_operator_record *row, sim_operator_sample *sample) {
    sample->kind = SIM_SAMPLE_GEMM;
    sample->m = row->number[GEMM_M];
    sample->n = row->number[GEMM_N];
    sample->k = row->number[GEMM_K];
    return format_of(row->text[GEMM_DTYPE], &sample->format);
}

enum {
    MOE_DTYPE = SIM_AT_OWN,
    MOE_TOKENS,
    MOE_HIDDEN,
    MOE_INTER,
    MOE_TOPK,
    MOE_EXPERTS,
    MOE_TP,
    MOE_EP,
    MOE_DISTRIBUTION
};
static bool read_moe(const sim_operator_record *row, sim_operator_sample *sample) {
    sample->kind = SIM_SAMPLE_MOE;
    sample->tokens = row->number[MOE_TOKENS];
    fpm_moe_shape *shape = &sample->shape.moe;
    *shape = (fpm_moe_shape){ .hidden = row->number[MOE_HIDDEN],
                              .intermediate = row->number[MOE_INTER],
                              .n_experts = row->number[MOE_EXPERTS],
                              .experts_per_token = row->number[MOE_TOPK],
                              .tensor = row->number[MOE_TP],
                              .expert = row->number[MOE_EP] };
    // Nemotron's experts, whose kernels do not always say so, have no gate.
    shape->is_ungated = strstr(row->text[SIM_AT_KERNEL], "nongated") != NULL || shape->experts_per_token == 22 ||
                        (shape->hidden == 2688 && shape->intermediate == 1856);
    if (strncmp(row->text[MOE_DISTRIBUTION], "power_law_", 10) == 0)
        shape->skew = strtod(row->text[MOE_DISTRIBUTION] + 10, NULL);
    shape->imbalance = fpm_moe_imbalance(shape);
    return format_of(row->text[MOE_DTYPE], &sample->format);
}

enum { AT_BATCH = SIM_AT_OWN, AT_ISL, AT_HEADS, AT_KV_HEADS, AT_DIM, AT_DTYPE, AT_CACHE, AT_STEP, AT_WINDOW };
static double window_of(const sim_operator_record *row) {
    return isnan(row->number[AT_WINDOW]) ? 0 : row->number[AT_WINDOW];
}

static void read_attention(const sim_operator_record *row, sim_operator_sample *sample) {
    sample->shape.attention = (fpm_attention_shape){ .n_heads = row->number[AT_HEADS],
                                                     .n_kv_heads = row->number[AT_KV_HEADS],
                                                     .head_dim = row->number[AT_DIM],
                                                     .kv_cache = cache_of(row, AT_CACHE),
                                                     .has_window = window_of(row) > 0 };
}

static bool read_context_attention(const sim_operator_record *row, sim_operator_sample *sample) {
    sample->kind = SIM_SAMPLE_ATTENTION_PREFILL;
    read_attention(row, sample);
    sample->shape.attention.has_16bit_scores = is(row, AT_DTYPE, "bfloat16");
    sample->format = fpm_format(sample->shape.attention.kv_cache, sample->shape.attention.has_16bit_scores);
    sample->sums = prefill_sums(row->number[AT_BATCH], row->number[AT_ISL], row->number[AT_STEP], window_of(row));
    return true;
}

static bool read_generation_attention(const sim_operator_record *row, sim_operator_sample *sample) {
    sample->kind = SIM_SAMPLE_ATTENTION_DECODE;
    read_attention(row, sample);
    sample->format = (int)sample->shape.attention.kv_cache;
    sample->sums = decode_sums(row->number[AT_BATCH], row->number[AT_ISL] + row->number[AT_STEP], window_of(row));
    return true;
}

static const fpm_latent_shape deepseek_latent = { .kv_rank = 512, .nope_dim = 128, .rope_dim = 64, .value_dim = 128 };

enum { MLA_CACHE = SIM_AT_OWN, MLA_HEADS, MLA_BATCH, MLA_ISL, MLA_STEP };
static void read_latent(const sim_operator_record *row, sim_operator_sample *sample) {
    sample->shape.latent = deepseek_latent;
    sample->shape.latent.n_heads = row->number[MLA_HEADS];
    sample->shape.latent.kv_cache = cache_of(row, MLA_CACHE);
    sample->format = (int)sample->shape.latent.kv_cache;
}

static bool read_context_mla(const sim_operator_record *row, sim_operator_sample *sample) {
    sample->kind = SIM_SAMPLE_LATENT_PREFILL;
    read_latent(row, sample);
    sample->sums = prefill_sums(row->number[MLA_BATCH], row->number[MLA_ISL], row->number[MLA_STEP], 0);
    return true;
}

static bool read_generation_mla(const sim_operator_record *row, sim_operator_sample *sample) {
    sample->kind = SIM_SAMPLE_LATENT_DECODE;
    read_latent(row, sample);
    sample->sums = decode_sums(row->number[MLA_BATCH], row->number[MLA_ISL] + row->number[MLA_STEP], 0);
    return true;
}

enum { BMM_DTYPE = SIM_AT_OWN, BMM_TOKENS, BMM_HEADS };
static bool read_bmm(const sim_operator_record *row, sim_operator_sample *sample) {
    sample->kind = SIM_SAMPLE_LATENT_BMM;
    sample->shape.latent = deepseek_latent;
    sample->shape.latent.n_heads = row->number[BMM_HEADS];
    sample->sums = decode_sums(row->number[BMM_TOKENS], 1, 0);
    return is(row, BMM_DTYPE, "bfloat16"); // engines keep these weights in bf16
}

enum { GDN_PHASE = SIM_AT_OWN, GDN_BATCH, GDN_TOKENS, GDN_CONV, GDN_K_HEADS, GDN_K_DIM, GDN_V_HEADS, GDN_V_DIM };
static bool read_gdn(const sim_operator_record *row, sim_operator_sample *sample) {
    const bool is_prefill = is(row, GDN_PHASE, "context");
    sample->kind = is_prefill ? SIM_SAMPLE_LINEAR_PREFILL : SIM_SAMPLE_LINEAR_DECODE;
    sample->is_part = strncmp(row->text[SIM_AT_KERNEL], "causal_conv1d", 13) == 0;
    sample->shape.linear = (fpm_linear_shape){ .key_heads = row->number[GDN_K_HEADS],
                                               .key_dim = row->number[GDN_K_DIM],
                                               .value_heads = row->number[GDN_V_HEADS],
                                               .value_dim = row->number[GDN_V_DIM],
                                               .conv_width = row->number[GDN_CONV] };
    sample->sums = (fpm_attention_sums){ .tokens = row->number[GDN_TOKENS], .requests = row->number[GDN_BATCH] };
    return true;
}

enum { NCCL_DTYPE = SIM_AT_OWN, NCCL_GPUS, NCCL_ELEMENTS };
static bool read_nccl(const sim_operator_record *row, sim_operator_sample *sample) {
    if (is(row, SIM_AT_OP, "all_gather"))
        sample->kind = SIM_SAMPLE_ALL_GATHER;
    else if (is(row, SIM_AT_OP, "reduce_scatter"))
        sample->kind = SIM_SAMPLE_REDUCE_SCATTER;
    else if (is(row, SIM_AT_OP, "alltoall"))
        sample->kind = SIM_SAMPLE_ALL_TO_ALL;
    else
        return false; // engines reduce with kernels of their own
    sample->backend = FPM_BACKENDS;
    sample->ranks = row->number[NCCL_GPUS];
    sample->bytes = row->number[NCCL_ELEMENTS] * (is(row, NCCL_DTYPE, "half") ? 2 : 1);
    return is(row, SIM_AT_BACKEND, "nccl");
}

enum { AR_GPUS = SIM_AT_OWN, AR_ELEMENTS, AR_MODE };
static bool read_all_reduce(const sim_operator_record *row, sim_operator_sample *sample) {
    sample->kind = SIM_SAMPLE_ALL_REDUCE;
    sample->ranks = row->number[AR_GPUS];
    sample->bytes = 2 * row->number[AR_ELEMENTS];
    return strstr(row->text[AR_MODE], "_eager") == NULL; // engines run graphs
}

enum { MODULE_MODEL = SIM_AT_OWN, MODULE_CACHE, MODULE_DTYPE, MODULE_HEADS, MODULE_BATCH, MODULE_ISL, MODULE_STEP };
static bool read_module(const sim_operator_record *row, sim_operator_sample *sample) {
    sim_module_shape *shape = &sample->shape.module;
    *shape = (sim_module_shape){ .latent = deepseek_latent, .hidden = 7168, .q_rank = 1536 };
    if (strstr(row->text[MODULE_MODEL], "GLM-5")) {
        shape->hidden = 6144;
        shape->q_rank = 2048;
        shape->latent.nope_dim = 192;
        shape->latent.value_dim = 256;
    } else if (strstr(row->text[MODULE_MODEL], "DeepSeek") == NULL) {
        return false;
    }
    shape->latent.n_heads = row->number[MODULE_HEADS];
    shape->latent.kv_cache = cache_of(row, MODULE_CACHE);
    int format;
    if (!format_of(row->text[MODULE_DTYPE], &format)) return false;
    shape->weights = (fpm_precision)format;
    sample->format = FPM_BF16;
    return strstr(row->text[SIM_AT_OP], "skip") == NULL;
}

static void read_module_sums(const sim_operator_record *row, sim_operator_sample *sample, bool is_prefill,
                             double topk) {
    const double batch = row->number[MODULE_BATCH], isl = row->number[MODULE_ISL], step = row->number[MODULE_STEP];
    sample->dense = is_prefill ? prefill_sums(batch, isl, step, 0) : decode_sums(batch, isl + step, 0);
    sample->sums = is_prefill ? prefill_sums(batch, isl, step, topk) : decode_sums(batch, isl + step, topk);
}

static bool read_latent_prefill_module(const sim_operator_record *row, sim_operator_sample *sample) {
    sample->kind = SIM_SAMPLE_LATENT_MODULE_PREFILL;
    read_module_sums(row, sample, true, 0);
    return read_module(row, sample);
}

static bool read_latent_decode_module(const sim_operator_record *row, sim_operator_sample *sample) {
    sample->kind = SIM_SAMPLE_LATENT_MODULE_DECODE;
    read_module_sums(row, sample, false, 0);
    return read_module(row, sample);
}

static bool read_sparse_module(const sim_operator_record *row, sim_operator_sample *sample, bool is_prefill) {
    sample->kind = is_prefill ? SIM_SAMPLE_SPARSE_MODULE_PREFILL : SIM_SAMPLE_SPARSE_MODULE_DECODE;
    if (!read_module(row, sample)) return false;
    fpm_indexer_shape *indexer = &sample->shape.module.indexer;
    *indexer = (fpm_indexer_shape){ .heads = sample->shape.module.hidden > 7000 ? 64 : 32, .dim = 128, .topk = 2048 };
    read_module_sums(row, sample, is_prefill, indexer->topk);
    return true;
}

static bool read_sparse_prefill_module(const sim_operator_record *row, sim_operator_sample *sample) {
    return read_sparse_module(row, sample, true);
}

static bool read_sparse_decode_module(const sim_operator_record *row, sim_operator_sample *sample) {
    return read_sparse_module(row, sample, false);
}

// ---------------------------------------------------------------------------------------------------------------------
// Which file holds what
// ---------------------------------------------------------------------------------------------------------------------

#define ATTENTION_COLUMNS                                                                                            \
    {                                                                                                                \
        "batch_size", "isl", "num_heads", "num_key_value_heads", "head_dim", "attn_dtype", "kv_cache_dtype", "step", \
            "window_size"                                                                                            \
    }
#define MLA_COLUMNS \
    { "kv_cache_dtype", "num_heads", "batch_size", "isl", "step" }
#define MODULE_COLUMNS \
    { "model", "kv_cache_dtype", "gemm_type", "num_heads", "batch_size", "isl", "step" }
const sim_sample_file sim_sample_files[SIM_SAMPLE_FILES] = {
    { "gemm_perf", read_gemm, { "gemm_dtype", "m", "n", "k" } },
    { "moe_perf",
      read_moe,
      { "moe_dtype", "num_tokens", "hidden_size", "inter_size", "topk", "num_experts", "moe_tp_size", "moe_ep_size",
        "distribution" } },
    { "context_attention_perf", read_context_attention, ATTENTION_COLUMNS },
    { "generation_attention_perf", read_generation_attention, ATTENTION_COLUMNS },
    { "context_mla_perf", read_context_mla, MLA_COLUMNS },
    { "generation_mla_perf", read_generation_mla, MLA_COLUMNS },
    { "mla_bmm_perf", read_bmm, { "bmm_dtype", "num_tokens", "num_heads" } },
    { "gdn_perf",
      read_gdn,
      { "phase", "batch_size", "num_tokens", "d_conv", "num_k_heads", "head_k_dim", "num_v_heads", "head_v_dim" } },
    { "custom_allreduce_perf", read_all_reduce, { "num_gpus", "message_size", "backend" } },
    { "nccl_perf", read_nccl, { "nccl_dtype", "num_gpus", "message_size" } },
    { "mla_context_module_perf", read_latent_prefill_module, MODULE_COLUMNS },
    { "mla_generation_module_perf", read_latent_decode_module, MODULE_COLUMNS },
    { "dsa_context_module_perf", read_sparse_prefill_module, MODULE_COLUMNS },
    { "dsa_generation_module_perf", read_sparse_decode_module, MODULE_COLUMNS },
};
