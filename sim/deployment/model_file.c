// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/deployment/model_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "sim/deployment/hf_config.h"

typedef struct about_settings {
    const char *source, *published, *published_more;
} about_settings;

static const sim_key about_keys[] = {
    { .name = "source",
      .type = SIM_KEY_TEXT,
      .offset = offsetof(about_settings, source),
      .default_text = "",
      .help = "where the numbers are from" },
    { .name = "published",
      .type = SIM_KEY_TEXT,
      .offset = offsetof(about_settings, published),
      .default_text = "",
      .help = "names of checkpoints with this architecture, with commas" },
    { .name = "published_more",
      .type = SIM_KEY_TEXT,
      .offset = offsetof(about_settings, published_more),
      .default_text = "",
      .help = "more of them" },
};

static const char *const attention_names[] = {
#define X(code, name) name,
    FPM_ATTENTION_LIST(X)
#undef X
        NULL
};

// fpm_architecture keeps its kind as an enumeration, the configuration as an int.
typedef struct architecture_settings {
    fpm_architecture architecture;
    int attention;
} architecture_settings;

static const double max_count = 1073741824.0;

#define COUNTS(field, text)                                                                          \
    {                                                                                                \
        .name = #field, .type = SIM_KEY_INT,                                                         \
        .offset = offsetof(architecture_settings, architecture) + offsetof(fpm_architecture, field), \
        .default_text = "0", .max = max_count, .help = text                                          \
    }
#define SAYS(field, text)                                                                            \
    {                                                                                                \
        .name = #field, .type = SIM_KEY_BOOL,                                                        \
        .offset = offsetof(architecture_settings, architecture) + offsetof(fpm_architecture, field), \
        .default_text = "false", .help = text                                                        \
    }
static const sim_key architecture_keys[] = {
    COUNTS(n_layers, "decoder layers"),
    COUNTS(hidden, "width of the residual stream"),
    COUNTS(vocab, "rows of the embedding"),
    COUNTS(max_context_tokens, "longest sequence; 0 = unknown"),
    SAYS(ties_embeddings, "LM head and embedding are one matrix"),
    COUNTS(n_mtp_layers, "multi-token-prediction layers of the checkpoint"),
    { .name = "attention",
      .type = SIM_KEY_CHOICE,
      .offset = offsetof(architecture_settings, attention),
      .default_text = "grouped",
      .choices = attention_names,
      .help = "of the layers that are not linear" },
    COUNTS(n_heads, "attention heads"),
    COUNTS(n_kv_heads, "grouped: KV heads"),
    COUNTS(head_dim, "grouped: width of a head"),
    SAYS(has_qk_norm, "queries and keys are normed"),
    SAYS(has_output_gate, "the query projection also makes a gate"),
    COUNTS(n_window_layers, "layers that see only the last window_tokens"),
    COUNTS(window_tokens, "their window"),
    COUNTS(q_rank, "latent: low-rank step of the query; 0 = none"),
    COUNTS(kv_rank, "latent: width of the compressed KV"),
    COUNTS(nope_dim, "latent: key width without position"),
    COUNTS(rope_dim, "latent: key width with position"),
    COUNTS(value_dim, "latent: value width"),
    COUNTS(index_heads, "sparse: heads of the indexer"),
    COUNTS(index_dim, "sparse: width of its heads"),
    COUNTS(index_topk, "sparse: tokens it picks"),
    COUNTS(n_linear_layers, "gated delta net layers"),
    COUNTS(linear_key_heads, "their key heads"),
    COUNTS(linear_key_dim, "width of a key head"),
    COUNTS(linear_value_heads, "their value heads"),
    COUNTS(linear_value_dim, "width of a value head"),
    COUNTS(linear_conv_width, "width of their convolution"),
    COUNTS(intermediate, "inner width of dense feed-forward layers"),
    SAYS(has_ungated_ffn, "two feed-forward matrices instead of three"),
    COUNTS(n_moe_layers, "layers with routed experts"),
    COUNTS(n_experts, "routed experts of a layer"),
    COUNTS(experts_per_token, "experts a token goes to"),
    COUNTS(expert_intermediate, "inner width of an expert"),
    COUNTS(shared_intermediate, "inner width of all shared experts of a layer"),
};

#define COUNT(array) (sizeof(array) / sizeof *(array))
static const sim_key_table about_table = { "model", "what it is", about_keys, COUNT(about_keys) };
static const sim_key_table architecture_table = { "architecture", "shapes of the whole model", architecture_keys,
                                                  COUNT(architecture_keys) };
static const sim_key_table *const tables[] = { &about_table, &architecture_table };

static sim_status take(sim_model_file *file, const sim_config *config, const char *path, sim_error *error) {
    about_settings about;
    architecture_settings shapes = { .attention = 0 };
    sim_config_fill(config, &about_table, &about);
    sim_config_fill(config, &architecture_table, &shapes);
    *file = (sim_model_file){ .architecture = shapes.architecture };
    file->architecture.attention = (fpm_attention_kind)shapes.attention;
    sim_data_name(path, file->architecture.name);
    snprintf(file->source, sizeof file->source, "%s", about.source);
    snprintf(file->published, sizeof file->published, "%s%s%s", about.published, *about.published_more ? ", " : "",
             about.published_more);
    fpm_error source = { .code = FPM_OK };
    if (fpm_architecture_check(&file->architecture, &source) == FPM_OK) return SIM_OK;
    return sim_error_set(error, SIM_USAGE, path, 0, "%s", source.message);
}

static sim_status load_ini(sim_model_file *file, const char *path, sim_error *error) {
    sim_config *config;
    sim_status status = sim_config_new(&config, tables, COUNT(tables), error);
    if (!status) status = sim_config_load(config, path, error);
    if (!status) status = take(file, config, path, error);
    sim_config_free(config);
    return status;
}

sim_status sim_model_file_parse(sim_model_file *file, const char *text, size_t n_bytes, const char *path,
                                sim_error *error) {
    sim_config *config;
    sim_status status = sim_config_new(&config, tables, COUNT(tables), error);
    if (!status) status = sim_config_load_text(config, text, n_bytes, path, error);
    if (!status) status = take(file, config, path, error);
    sim_config_free(config);
    return status;
}

// A config.json begins with a brace, which no line of an INI file does.
static bool is_json(const char *text) {
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0) text += 3;
    return text[strspn(text, " \t\r\n")] == '{';
}

// ModelOpt keeps the number formats in a file of its own, which is there or not.
static sim_status load_formats_beside(sim_model_file *file, const char *path, sim_error *error) {
    static const char end[] = "config.json";
    char beside[SIM_DATA_PATH_BYTES];
    const size_t n = strlen(path), n_end = strlen(end);
    if (file->formats.is_declared || n < n_end || strcmp(path + n - n_end, end) != 0) return SIM_OK;
    const int length = snprintf(beside, sizeof beside, "%.*shf_quant_config.json", (int)(n - n_end), path);
    struct stat there;
    if (length >= (int)sizeof beside || stat(beside, &there) != 0) return SIM_OK;
    char *text;
    size_t n_bytes;
    sim_status status = sim_data_read(beside, &text, &n_bytes, error);
    if (!status) status = sim_hf_formats_parse(&file->formats, text, n_bytes, beside, error);
    free(text);
    return status;
}

sim_status sim_model_file_load(sim_model_file *file, const char *path, sim_error *error) {
    char in_directory[SIM_DATA_PATH_BYTES];
    struct stat there;
    if (stat(path, &there) == 0 && S_ISDIR(there.st_mode) &&
        snprintf(in_directory, sizeof in_directory, "%s/config.json", path) < (int)sizeof in_directory)
        path = in_directory;
    char *text;
    size_t n_bytes;
    sim_status status = sim_data_read(path, &text, &n_bytes, error);
    if (status) return status;
    if (is_json(text)) {
        status = sim_hf_config_parse(file, text, n_bytes, path, error);
        if (!status) status = load_formats_beside(file, path, error);
    } else {
        status = load_ini(file, path, error);
    }
    free(text);
    return status;
}

bool sim_model_file_publishes(const sim_model_file *file, const char *name) {
    const size_t n = strlen(name);
    for (const char *at = file->published; *at && n;) {
        at += strspn(at, ", ");
        const size_t n_this = strcspn(at, ",");
        if (n_this == n && strncasecmp(at, name, n) == 0) return true;
        at += n_this;
    }
    return false;
}
