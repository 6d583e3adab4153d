// SPDX-License-Identifier: GPL-3.0-or-later
//
// Files of measured kernels into samples, and which of the samples time the host and not the GPU.
#include "sim/experiment/operator_records.h"

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
// Files
// ---------------------------------------------------------------------------------------------------------------------

typedef struct reading {
    sim_sample_set *set;
    const char *path;
    fpm_line_reader *lines;
    sim_csv_row row;
    int column[SIM_RECORD_COLUMNS];
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
        if (i + 1 >= n_first && i + 1 - n_first >= SIM_RECORD_COLUMNS - SIM_AT_OWN) break;
    }
    return SIM_OK;
}

static sim_status read_record(const reading *in, int64_t line, sim_operator_record *row) {
    for (size_t i = 0; i < in->n_columns; i++) {
        if ((size_t)in->column[i] >= in->row.n_fields) return refuse(in, line, "the row has too few fields", "");
        const sim_csv_field *field = &in->row.fields[in->column[i]];
        const size_t n = field->n_bytes < SIM_RECORD_FIELD_BYTES - 1 ? field->n_bytes : SIM_RECORD_FIELD_BYTES - 1;
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

static sim_status source_of(reading *in, const char *file, const sim_operator_record *row, uint16_t *source) {
    sim_sample_set *set = in->set;
    char text[64];
    snprintf(text, sizeof text, "%.32s %.12s %.16s", file, row->text[SIM_AT_BACKEND], row->text[SIM_AT_VERSION]);
    for (size_t i = set->n_sources; i-- > 0;) {
        *source = (uint16_t)i;
        if (strcmp(set->sources[i], text) == 0) return SIM_OK;
    }
    if (set->n_sources == SIM_MAX_SOURCES) return refuse(in, 0, "the files hold too many versions", "");
    *source = (uint16_t)set->n_sources;
    strcpy(set->sources[set->n_sources++], text);
    return SIM_OK;
}

static sim_status add_sample(reading *in, const sim_sample_file *file, const sim_operator_record *row) {
    sim_sample_set *set = in->set;
    sim_operator_sample sample = { .format = FPM_BF16, .ms = row->number[SIM_AT_LATENCY] };
    const int system = system_of(set, row->text[SIM_AT_SYSTEM]);
    const bool is_known =
        system >= 0 && backend_of(row->text[SIM_AT_BACKEND], &sample.backend) && file->read(row, &sample);
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

typedef sim_status (*take_row_fn)(reading *in, const void *what, const sim_operator_record *row);

static sim_status take_sample(reading *in, const void *what, const sim_operator_record *row) {
    return add_sample(in, what, row);
}

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
    sim_operator_record row;
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

static sim_status take_system(reading *in, const void *what, const sim_operator_record *row) {
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
    for (size_t i = 0; i < SIM_SAMPLE_FILES && status == SIM_OK; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s.csv.gz", directory, sim_sample_files[i].name);
        if (access(path, F_OK) != 0) snprintf(path, sizeof path, "%s/%s.csv", directory, sim_sample_files[i].name);
        if (access(path, F_OK) != 0) continue;
        has_file = true;
        reading in = { .set = set, .path = path, .error = error };
        status = read_rows(&in, sim_record_common_columns, SIM_AT_OWN, sim_sample_files[i].columns, take_sample,
                           &sim_sample_files[i]);
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
