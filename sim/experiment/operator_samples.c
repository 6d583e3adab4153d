// SPDX-License-Identifier: GPL-3.0-or-later
//
// One table says which file holds what: its columns by name and the function that makes a sample of a row.
#include "sim/experiment/operator_samples.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/workload/csv_row.h"
#include "sim/workload/growable.h"
#include "sim/workload/trace_reader.h"

static const char *const kind_names[] = {
#define X(code, name, family, host_us, class_of) name,
    SIM_SAMPLE_KIND_LIST(X)
#undef X
};
static const fpm_family kind_families[] = {
#define X(code, name, family, host_us, class_of) family,
    SIM_SAMPLE_KIND_LIST(X)
#undef X
};

static const sim_sample_class kind_classes[] = {
#define X(code, name, family, host_us, class_of) class_of,
    SIM_SAMPLE_KIND_LIST(X)
#undef X
};

const char *sim_sample_kind_name(sim_sample_kind kind) { return kind_names[kind]; }
sim_sample_class sim_sample_kind_class(sim_sample_kind kind) { return kind_classes[kind]; }
const char *sim_sample_class_name(sim_sample_class of) {
    static const char *const names[] = { "GEMM", "ATTENTION", "MOE", "COLLECTIVE", "MODULE" };
    return names[of];
}

fpm_family sim_sample_family(const sim_operator_sample *sample) {
    if (sample->kind == SIM_SAMPLE_ATTENTION_PREFILL || sample->kind == SIM_SAMPLE_ATTENTION_DECODE)
        return fpm_attention_family(&sample->shape.attention, sample->kind == SIM_SAMPLE_ATTENTION_PREFILL);
    return kind_families[sample->kind];
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows
// ---------------------------------------------------------------------------------------------------------------------

enum { MAX_COLUMNS = 20, MAX_FIELD = 96 };
typedef struct record {
    char text[MAX_COLUMNS][MAX_FIELD];
    double number[MAX_COLUMNS]; // NAN: not a number
} record;

// Columns that every file has, in front of its own.
enum { SYSTEM, BACKEND, VERSION, OP, KERNEL, LATENCY, OWN };
static const char *const common_columns[OWN] = {
    "system", "backend", "version", "op_name", "kernel_source", "latency"
};

static bool is(const record *row, int column, const char *text) { return strcmp(row->text[column], text) == 0; }

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

static fpm_precision cache_of(const record *row, int column) { return is(row, column, "fp8") ? FPM_FP8 : FPM_BF16; }

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

enum { GEMM_DTYPE = OWN, GEMM_M, GEMM_N, GEMM_K };
static bool read_gemm(const record *row, sim_operator_sample *sample) {
    sample->kind = SIM_SAMPLE_GEMM;
    sample->m = row->number[GEMM_M];
    sample->n = row->number[GEMM_N];
    sample->k = row->number[GEMM_K];
    return format_of(row->text[GEMM_DTYPE], &sample->format);
}

enum { MOE_DTYPE = OWN, MOE_TOKENS, MOE_HIDDEN, MOE_INTER, MOE_TOPK, MOE_EXPERTS, MOE_TP, MOE_EP, MOE_DISTRIBUTION };
static bool read_moe(const record *row, sim_operator_sample *sample) {
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
    shape->is_ungated = strstr(row->text[KERNEL], "nongated") != NULL || shape->experts_per_token == 22 ||
                        (shape->hidden == 2688 && shape->intermediate == 1856);
    if (strncmp(row->text[MOE_DISTRIBUTION], "power_law_", 10) == 0)
        shape->skew = strtod(row->text[MOE_DISTRIBUTION] + 10, NULL);
    shape->imbalance = fpm_moe_imbalance(shape);
    return format_of(row->text[MOE_DTYPE], &sample->format);
}

enum { AT_BATCH = OWN, AT_ISL, AT_HEADS, AT_KV_HEADS, AT_DIM, AT_DTYPE, AT_CACHE, AT_STEP, AT_WINDOW };
static double window_of(const record *row) { return isnan(row->number[AT_WINDOW]) ? 0 : row->number[AT_WINDOW]; }

static void read_attention(const record *row, sim_operator_sample *sample) {
    sample->shape.attention = (fpm_attention_shape){ .n_heads = row->number[AT_HEADS],
                                                     .n_kv_heads = row->number[AT_KV_HEADS],
                                                     .head_dim = row->number[AT_DIM],
                                                     .kv_cache = cache_of(row, AT_CACHE),
                                                     .has_window = window_of(row) > 0 };
}

static bool read_context_attention(const record *row, sim_operator_sample *sample) {
    sample->kind = SIM_SAMPLE_ATTENTION_PREFILL;
    read_attention(row, sample);
    sample->shape.attention.has_16bit_scores = is(row, AT_DTYPE, "bfloat16");
    sample->format = fpm_format(sample->shape.attention.kv_cache, sample->shape.attention.has_16bit_scores);
    sample->sums = prefill_sums(row->number[AT_BATCH], row->number[AT_ISL], row->number[AT_STEP], window_of(row));
    return true;
}

static bool read_generation_attention(const record *row, sim_operator_sample *sample) {
    sample->kind = SIM_SAMPLE_ATTENTION_DECODE;
    read_attention(row, sample);
    sample->format = (int)sample->shape.attention.kv_cache;
    sample->sums = decode_sums(row->number[AT_BATCH], row->number[AT_ISL] + row->number[AT_STEP], window_of(row));
    return true;
}

static const fpm_latent_shape deepseek_latent = { .kv_rank = 512, .nope_dim = 128, .rope_dim = 64, .value_dim = 128 };

enum { MLA_CACHE = OWN, MLA_HEADS, MLA_BATCH, MLA_ISL, MLA_STEP };
static void read_latent(const record *row, sim_operator_sample *sample) {
    sample->shape.latent = deepseek_latent;
    sample->shape.latent.n_heads = row->number[MLA_HEADS];
    sample->shape.latent.kv_cache = cache_of(row, MLA_CACHE);
    sample->format = (int)sample->shape.latent.kv_cache;
}

static bool read_context_mla(const record *row, sim_operator_sample *sample) {
    sample->kind = SIM_SAMPLE_LATENT_PREFILL;
    read_latent(row, sample);
    sample->sums = prefill_sums(row->number[MLA_BATCH], row->number[MLA_ISL], row->number[MLA_STEP], 0);
    return true;
}

static bool read_generation_mla(const record *row, sim_operator_sample *sample) {
    sample->kind = SIM_SAMPLE_LATENT_DECODE;
    read_latent(row, sample);
    sample->sums = decode_sums(row->number[MLA_BATCH], row->number[MLA_ISL] + row->number[MLA_STEP], 0);
    return true;
}

enum { BMM_DTYPE = OWN, BMM_TOKENS, BMM_HEADS };
static bool read_bmm(const record *row, sim_operator_sample *sample) {
    sample->kind = SIM_SAMPLE_LATENT_BMM;
    sample->shape.latent = deepseek_latent;
    sample->shape.latent.n_heads = row->number[BMM_HEADS];
    sample->sums = decode_sums(row->number[BMM_TOKENS], 1, 0);
    return is(row, BMM_DTYPE, "bfloat16"); // engines keep these weights in bf16
}

enum { GDN_PHASE = OWN, GDN_BATCH, GDN_TOKENS, GDN_CONV, GDN_K_HEADS, GDN_K_DIM, GDN_V_HEADS, GDN_V_DIM };
static bool read_gdn(const record *row, sim_operator_sample *sample) {
    const bool is_prefill = is(row, GDN_PHASE, "context");
    sample->kind = is_prefill ? SIM_SAMPLE_LINEAR_PREFILL : SIM_SAMPLE_LINEAR_DECODE;
    sample->is_part = strncmp(row->text[KERNEL], "causal_conv1d", 13) == 0;
    sample->shape.linear = (fpm_linear_shape){ .key_heads = row->number[GDN_K_HEADS],
                                               .key_dim = row->number[GDN_K_DIM],
                                               .value_heads = row->number[GDN_V_HEADS],
                                               .value_dim = row->number[GDN_V_DIM],
                                               .conv_width = row->number[GDN_CONV] };
    sample->sums = (fpm_attention_sums){ .tokens = row->number[GDN_TOKENS], .requests = row->number[GDN_BATCH] };
    return true;
}

enum { NCCL_DTYPE = OWN, NCCL_GPUS, NCCL_ELEMENTS };
static bool read_nccl(const record *row, sim_operator_sample *sample) {
    if (is(row, OP, "all_gather"))
        sample->kind = SIM_SAMPLE_ALL_GATHER;
    else if (is(row, OP, "reduce_scatter"))
        sample->kind = SIM_SAMPLE_REDUCE_SCATTER;
    else if (is(row, OP, "alltoall"))
        sample->kind = SIM_SAMPLE_ALL_TO_ALL;
    else
        return false; // engines reduce with kernels of their own
    sample->backend = FPM_BACKENDS;
    sample->ranks = row->number[NCCL_GPUS];
    sample->bytes = row->number[NCCL_ELEMENTS] * (is(row, NCCL_DTYPE, "half") ? 2 : 1);
    return is(row, BACKEND, "nccl");
}

enum { AR_GPUS = OWN, AR_ELEMENTS, AR_MODE };
static bool read_all_reduce(const record *row, sim_operator_sample *sample) {
    sample->kind = SIM_SAMPLE_ALL_REDUCE;
    sample->ranks = row->number[AR_GPUS];
    sample->bytes = 2 * row->number[AR_ELEMENTS];
    return strstr(row->text[AR_MODE], "_eager") == NULL; // engines run graphs
}

enum { MODULE_MODEL = OWN, MODULE_CACHE, MODULE_DTYPE, MODULE_HEADS, MODULE_BATCH, MODULE_ISL, MODULE_STEP };
static bool read_module(const record *row, sim_operator_sample *sample) {
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
    return strstr(row->text[OP], "skip") == NULL;
}

static void read_module_sums(const record *row, sim_operator_sample *sample, bool is_prefill, double topk) {
    const double batch = row->number[MODULE_BATCH], isl = row->number[MODULE_ISL], step = row->number[MODULE_STEP];
    sample->dense = is_prefill ? prefill_sums(batch, isl, step, 0) : decode_sums(batch, isl + step, 0);
    sample->sums = is_prefill ? prefill_sums(batch, isl, step, topk) : decode_sums(batch, isl + step, topk);
}

static bool read_latent_prefill_module(const record *row, sim_operator_sample *sample) {
    sample->kind = SIM_SAMPLE_LATENT_MODULE_PREFILL;
    read_module_sums(row, sample, true, 0);
    return read_module(row, sample);
}

static bool read_latent_decode_module(const record *row, sim_operator_sample *sample) {
    sample->kind = SIM_SAMPLE_LATENT_MODULE_DECODE;
    read_module_sums(row, sample, false, 0);
    return read_module(row, sample);
}

static bool read_sparse_module(const record *row, sim_operator_sample *sample, bool is_prefill) {
    sample->kind = is_prefill ? SIM_SAMPLE_SPARSE_MODULE_PREFILL : SIM_SAMPLE_SPARSE_MODULE_DECODE;
    if (!read_module(row, sample)) return false;
    fpm_indexer_shape *indexer = &sample->shape.module.indexer;
    *indexer = (fpm_indexer_shape){ .heads = sample->shape.module.hidden > 7000 ? 64 : 32, .dim = 128, .topk = 2048 };
    read_module_sums(row, sample, is_prefill, indexer->topk);
    return true;
}

static bool read_sparse_prefill_module(const record *row, sim_operator_sample *sample) {
    return read_sparse_module(row, sample, true);
}

static bool read_sparse_decode_module(const record *row, sim_operator_sample *sample) {
    return read_sparse_module(row, sample, false);
}

// ---------------------------------------------------------------------------------------------------------------------
// Files
// ---------------------------------------------------------------------------------------------------------------------

typedef struct sample_file {
    const char *name;
    bool (*read)(const record *row, sim_operator_sample *sample); // false: a row without a price
    const char *columns[MAX_COLUMNS - OWN];                       // "" never, NULL-terminated
} sample_file;

#define ATTENTION_COLUMNS                                                                                            \
    {                                                                                                                \
        "batch_size", "isl", "num_heads", "num_key_value_heads", "head_dim", "attn_dtype", "kv_cache_dtype", "step", \
            "window_size"                                                                                            \
    }
#define MLA_COLUMNS \
    { "kv_cache_dtype", "num_heads", "batch_size", "isl", "step" }
#define MODULE_COLUMNS \
    { "model", "kv_cache_dtype", "gemm_type", "num_heads", "batch_size", "isl", "step" }
static const sample_file files[] = {
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
enum { N_FILES = sizeof files / sizeof *files };

typedef struct reading {
    sim_sample_set *set;
    const char *path;
    fpm_line_reader *lines;
    sim_csv_row row;
    int column[MAX_COLUMNS];
    size_t n_columns;
    sim_error *error;
} reading;

static sim_status refuse(const reading *in, int64_t line, const char *complaint, const char *about) {
    return sim_error_set(in->error, SIM_BAD_DATA, in->path, line, "%s%s", complaint, about);
}

// The next record; *has_row = false at the end.
static sim_status next_row(reading *in, int64_t *line_number, bool *has_row) {
    fpm_line line;
    fpm_error failure = { .code = FPM_OK };
    fpm_status status = fpm_line_reader_next(in->lines, &line, has_row, &failure);
    if (status != FPM_OK) return sim_error_from_fpm(in->error, &failure);
    if (!*has_row) return SIM_OK;
    *line_number = line.number;
    const char *complaint = sim_csv_row_read(&in->row, &line, in->lines, &status, &failure);
    if (status != FPM_OK) return sim_error_from_fpm(in->error, &failure);
    return complaint ? refuse(in, line.number, complaint, "") : SIM_OK;
}

// The last column of a name counts: custom_allreduce has two called backend, of which the second says how it ran.
static int last_column(const sim_csv_row *header, const char *name, bool wants_first) {
    int found = -1;
    for (size_t i = 0; i < header->n_fields; i++) {
        const sim_csv_field *field = &header->fields[i];
        if (field->n_bytes != strlen(name) || memcmp(field->text, name, field->n_bytes) != 0) continue;
        if (found < 0 || !wants_first) found = (int)i;
    }
    return found;
}

static sim_status bind_columns(reading *in, const char *const *first, size_t n_first, const char *const *own,
                               int64_t line) {
    in->n_columns = 0;
    for (size_t i = 0; i < n_first || own[i - n_first] != NULL; i++) {
        const char *name = i < n_first ? first[i] : own[i - n_first];
        in->column[i] = last_column(&in->row, name, i < n_first);
        if (in->column[i] < 0) return refuse(in, line, "the header has no column ", name);
        in->n_columns++;
        if (i + 1 >= n_first && i + 1 - n_first >= MAX_COLUMNS - OWN) break;
    }
    return SIM_OK;
}

static sim_status read_record(const reading *in, int64_t line, record *row) {
    for (size_t i = 0; i < in->n_columns; i++) {
        if ((size_t)in->column[i] >= in->row.n_fields) return refuse(in, line, "the row has too few fields", "");
        const sim_csv_field *field = &in->row.fields[in->column[i]];
        const size_t n = field->n_bytes < MAX_FIELD - 1 ? field->n_bytes : MAX_FIELD - 1;
        memcpy(row->text[i], field->text, n);
        row->text[i][n] = '\0';
        char *end;
        row->number[i] = strtod(row->text[i], &end);
        if (n == 0 || *end != '\0') row->number[i] = (double)NAN;
    }
    return SIM_OK;
}

static int system_of(const sim_sample_set *set, const char *name) {
    for (size_t i = 0; i < set->n_systems; i++)
        if (strcmp(set->systems[i].name, name) == 0) return (int)i;
    return -1;
}

static bool backend_of(const char *name, int *backend) {
    static const char *const names[] = {
#define X(code, text) text,
        FPM_BACKEND_LIST(X)
#undef X
    };
    for (int i = 0; i < FPM_BACKENDS; i++) {
        *backend = i;
        if (strcmp(name, names[i]) == 0) return true;
    }
    return strcmp(name, "nccl") == 0;
}

static sim_status source_of(reading *in, const char *file, const record *row, uint16_t *source) {
    sim_sample_set *set = in->set;
    char text[64];
    snprintf(text, sizeof text, "%.32s %.12s %.16s", file, row->text[BACKEND], row->text[VERSION]);
    for (size_t i = set->n_sources; i-- > 0;) {
        *source = (uint16_t)i;
        if (strcmp(set->sources[i], text) == 0) return SIM_OK;
    }
    if (set->n_sources == SIM_MAX_SOURCES) return refuse(in, 0, "the files hold too many versions", "");
    *source = (uint16_t)set->n_sources;
    strcpy(set->sources[set->n_sources++], text);
    return SIM_OK;
}

static sim_status add_sample(reading *in, const sample_file *file, const record *row) {
    sim_sample_set *set = in->set;
    sim_operator_sample sample = { .format = FPM_BF16, .ms = row->number[LATENCY] };
    const int system = system_of(set, row->text[SYSTEM]);
    const bool is_known = system >= 0 && backend_of(row->text[BACKEND], &sample.backend) && file->read(row, &sample);
    if (!is_known || !(sample.ms > 0)) {
        set->n_skipped++;
        return SIM_OK;
    }
    sample.system = (uint16_t)system;
    const sim_status status = source_of(in, file->name, row, &sample.source);
    if (status != SIM_OK) return status;
    sim_operator_sample *grown = sim_grown(set->samples, &set->capacity, set->n + 1, sizeof *grown);
    if (!grown) return sim_error_set(in->error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    set->samples = grown;
    set->samples[set->n++] = sample;
    return SIM_OK;
}

typedef sim_status (*take_row_fn)(reading *in, const void *what, const record *row);

static sim_status take_sample(reading *in, const void *what, const record *row) { return add_sample(in, what, row); }

// Every row of the CSV file at in->path goes to `take`.
static sim_status read_rows(reading *in, const char *const *first, size_t n_first, const char *const *own,
                            take_row_fn take, const void *what) {
    fpm_error failure = { .code = FPM_OK };
    if (fpm_line_reader_open(&in->lines, in->path, &failure) != FPM_OK) return sim_error_from_fpm(in->error, &failure);
    int64_t line = 0;
    bool has_row;
    sim_status status = next_row(in, &line, &has_row);
    if (status == SIM_OK && !has_row) status = refuse(in, 1, "the file is empty", "");
    if (status == SIM_OK) status = bind_columns(in, first, n_first, own, line);
    record row;
    while (status == SIM_OK) {
        status = next_row(in, &line, &has_row);
        if (status != SIM_OK || !has_row) break;
        status = read_record(in, line, &row);
        if (status == SIM_OK) status = take(in, what, &row);
    }
    sim_csv_row_clear(&in->row);
    fpm_line_reader_free(in->lines);
    return status;
}

// ---------------------------------------------------------------------------------------------------------------------
// Systems
// ---------------------------------------------------------------------------------------------------------------------

enum {
    S_NAME,
    S_BF16,
    S_FP8,
    S_FP4,
    S_INT8,
    S_INTRA,
    S_INTER,
    S_MEMORY_BW,
    S_MEMORY,
    S_PER_NODE,
    S_PER_RACK,
    S_SM,
    S_N
};
static const char *const system_columns[S_N] = {
    "system",        "bfloat16_tc_flops", "fp8_tc_flops",      "fp4_tc_flops",
    "int8_tc_flops", "intra_node_bw",     "inter_node_bw",     "mem_bw",
    "mem_capacity",  "num_gpus_per_node", "num_gpus_per_rack", "sm_version"
};

static double or_zero(double value) { return isnan(value) ? 0 : value; }

static fpm_generation generation_of(double sm) {
    if (sm < 89) return FPM_AMPERE;
    if (sm < 90) return FPM_ADA;
    return sm < 100 ? FPM_HOPPER : FPM_BLACKWELL;
}

static sim_status take_system(reading *in, const void *what, const record *row) {
    (void)what;
    sim_sample_set *set = in->set;
    if (isnan(row->number[S_SM])) return SIM_OK; // no NVIDIA GPU: forepass has no curves for it
    if (set->n_systems == SIM_MAX_SYSTEMS) return refuse(in, 0, "the file holds too many systems", "");
    fpm_system *system = &set->systems[set->n_systems++];
    *system = (fpm_system){ .generation = generation_of(row->number[S_SM]),
                            .memory_bytes = row->number[S_MEMORY],
                            .memory_bytes_per_s = row->number[S_MEMORY_BW],
                            .intra_node_bytes_per_s = row->number[S_INTRA],
                            .inter_node_bytes_per_s = row->number[S_INTER],
                            .gpus_per_node = (int64_t)or_zero(row->number[S_PER_NODE]),
                            .gpus_per_rack = (int64_t)or_zero(row->number[S_PER_RACK]) };
    snprintf(system->name, sizeof system->name, "%.63s", row->text[S_NAME]);
    system->flops_per_s[FPM_ARITHMETIC_BF16] = or_zero(row->number[S_BF16]);
    system->flops_per_s[FPM_ARITHMETIC_FP8] = or_zero(row->number[S_FP8]);
    system->flops_per_s[FPM_ARITHMETIC_FP4] = or_zero(row->number[S_FP4]);
    system->flops_per_s[FPM_ARITHMETIC_INT8] = or_zero(row->number[S_INT8]);
    return SIM_OK;
}

static sim_status read_systems(sim_sample_set *set, const char *directory, sim_error *error) {
    static const char *const places[] = { "systems.csv", "../systems.csv" };
    static const char *const none[] = { NULL };
    char path[1024];
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, places[i]);
        if (access(path, F_OK) != 0) continue;
        reading in = { .set = set, .path = path, .error = error };
        return read_rows(&in, system_columns, S_N, none, take_system, NULL);
    }
    return sim_error_set(error, SIM_IO, directory, 0, "no systems.csv in or above the directory: %s", strerror(ENOENT));
}

// ---------------------------------------------------------------------------------------------------------------------
// Groups whose times are the host's
// ---------------------------------------------------------------------------------------------------------------------

enum { N_GROUPS = SIM_SAMPLE_KINDS * SIM_MAX_SYSTEMS * (FPM_BACKENDS + 1) * FPM_FORMATS };

// Samples of one kind, system, backend and format: of the modules, the format of their weights.
static size_t group_of(const sim_operator_sample *sample) {
    const bool is_module = sample->kind >= SIM_SAMPLE_LATENT_MODULE_PREFILL;
    const size_t format = is_module ? (size_t)sample->shape.module.weights : (size_t)sample->format;
    return (((size_t)sample->kind * SIM_MAX_SYSTEMS + sample->system) * (FPM_BACKENDS + 1) + (size_t)sample->backend) *
               FPM_FORMATS +
           format;
}

// The fastest twentieth of a group must have a sample below the limit of its kind.
static bool mark_host_bound(sim_sample_set *set) {
    static const double limits_us[] = {
#define X(code, name, family, host_us, class_of) host_us,
        SIM_SAMPLE_KIND_LIST(X)
#undef X
    };
    size_t *counts = calloc(2 * N_GROUPS, sizeof *counts);
    if (!counts) return false;
    size_t *fast_counts = counts + N_GROUPS;
    for (size_t i = 0; i < set->n; i++) {
        const size_t group = group_of(&set->samples[i]);
        counts[group]++;
        fast_counts[group] += 1e3 * set->samples[i].ms < limits_us[set->samples[i].kind];
    }
    for (size_t i = 0; i < set->n; i++) {
        const size_t group = group_of(&set->samples[i]);
        set->samples[i].is_host_bound = 20 * fast_counts[group] < counts[group];
    }
    free(counts);
    return true;
}

sim_status sim_sample_set_read(sim_sample_set *set, const char *directory, sim_error *error) {
    memset(set, 0, sizeof *set);
    sim_status status = read_systems(set, directory, error);
    bool has_file = false;
    for (size_t i = 0; i < N_FILES && status == SIM_OK; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s.csv.gz", directory, files[i].name);
        if (access(path, F_OK) != 0) snprintf(path, sizeof path, "%s/%s.csv", directory, files[i].name);
        if (access(path, F_OK) != 0) continue;
        has_file = true;
        reading in = { .set = set, .path = path, .error = error };
        status = read_rows(&in, common_columns, OWN, files[i].columns, take_sample, &files[i]);
    }
    if (status == SIM_OK && !has_file)
        status =
            sim_error_set(error, SIM_IO, directory, 0, "no measured operators there (files like gemm_perf.csv.gz)");
    if (status == SIM_OK && !mark_host_bound(set))
        status = sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    if (status != SIM_OK) sim_sample_set_clear(set);
    return status;
}

void sim_sample_set_clear(sim_sample_set *set) {
    free(set->samples);
    set->samples = NULL;
    set->n = set->capacity = 0;
}
