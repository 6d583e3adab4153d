// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/deployment/table_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/deployment/csv_table.h"
#include "sim/workload/growable.h"

typedef struct cell_list {
    const fpm_operators *operators;
    const char *path; // of the file that is read
    fpm_table_cell *cells;
    size_t n, capacity;
} cell_list;

// ---------------------------------------------------------------------------------------------------------------------
// Rows
// ---------------------------------------------------------------------------------------------------------------------

static sim_status add_cell(cell_list *list, const fpm_table_cell *cell, int64_t line, sim_error *error) {
    fpm_table_cell *larger = sim_grown(list->cells, &list->capacity, list->n + 1, sizeof *larger);
    if (!larger) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    list->cells = larger;
    larger[list->n] = *cell;
    larger[list->n].file = list->path;
    larger[list->n++].line = line;
    return SIM_OK;
}

static sim_status refuse(const sim_csv_values *row, const char *path, const char *column, const char *text,
                         const char *hint, sim_error *error) {
    return sim_error_set(error, SIM_BAD_DATA, path, row->line, "%s \"%s\" is not right (%s)", column, text, hint);
}

static bool is(const char *text, const char *word) { return strcmp(text, word) == 0; }

static bool precision_of(const char *text, fpm_precision *precision) {
    for (int i = 0; i < FPM_PRECISIONS; i++) {
        *precision = (fpm_precision)i;
        if (is(text, fpm_precision_name(*precision))) return true;
    }
    return false;
}

// `weights` and `activations`, columns 0 and 1; auto is that of model.activations, for this format alone.
static sim_status read_format(const cell_list *list, fpm_table_cell *cell, const sim_csv_values *row, const char *path,
                              sim_error *error) {
    if (!precision_of(row->texts[0], &cell->weights))
        return refuse(row, path, "weights", row->texts[0], "bf16, fp8, fp8_block, nvfp4, mxfp4, int8 or int4", error);
    const char *activations = row->texts[1];
    cell->has_16bit_activations = is(activations, "bf16");
    if (is(activations, "auto"))
        cell->has_16bit_activations =
            cell->weights == FPM_INT4 ||
            (cell->weights == FPM_MXFP4 && list->operators->system->generation != FPM_BLACKWELL);
    else if (!is(activations, "bf16") && !is(activations, "quantised"))
        return refuse(row, path, "activations", activations, "auto, bf16 or quantised", error);
    return SIM_OK;
}

#define WEIGHTS \
    { .name = "weights", .type = SIM_CSV_TEXT }
#define ACTIVATIONS \
    { .name = "activations", .type = SIM_CSV_TEXT, .is_optional = true, .default_text = "auto" }
#define SIZE(column) \
    { .name = column, .type = SIM_CSV_SIZE }
#define MS \
    { .name = "ms", .type = SIM_CSV_NUMBER }

static const sim_csv_column gemm_columns[] = { WEIGHTS, ACTIVATIONS, SIZE("m"), SIZE("n"), SIZE("k"), MS };
static sim_status take_gemm(void *context, const sim_csv_values *row, const char *path, sim_error *error) {
    fpm_table_cell cell = { .kind = FPM_TABLE_GEMM };
    const sim_status status = read_format(context, &cell, row, path, error);
    if (status) return status;
    cell.count = row->numbers[2];
    cell.n = row->numbers[3];
    cell.k = row->numbers[4];
    cell.ms = row->numbers[5];
    return add_cell(context, &cell, row->line, error);
}

static const sim_csv_column moe_columns[] = {
    WEIGHTS,
    ACTIVATIONS,
    { .name = "gated", .type = SIM_CSV_TEXT, .is_optional = true, .default_text = "true" },
    SIZE("tokens"),
    SIZE("hidden"),
    SIZE("intermediate"),
    SIZE("experts"),
    SIZE("topk"),
    SIZE("moe_tensor"),
    SIZE("expert"),
    MS,
};
static sim_status take_moe(void *context, const sim_csv_values *row, const char *path, sim_error *error) {
    fpm_table_cell cell = { .kind = FPM_TABLE_MOE };
    const sim_status status = read_format(context, &cell, row, path, error);
    if (status) return status;
    const char *gated = row->texts[2];
    if (!is(gated, "true") && !is(gated, "false")) return refuse(row, path, "gated", gated, "true or false", error);
    cell.count = row->numbers[3];
    cell.moe = (fpm_moe_shape){ .hidden = row->numbers[4],
                                .intermediate = row->numbers[5],
                                .n_experts = row->numbers[6],
                                .experts_per_token = row->numbers[7],
                                .tensor = row->numbers[8],
                                .expert = row->numbers[9],
                                .is_ungated = is(gated, "false") };
    cell.ms = row->numbers[10];
    if (cell.moe.experts_per_token > cell.moe.n_experts || cell.moe.expert > cell.moe.n_experts)
        return sim_error_set(error, SIM_BAD_DATA, path, row->line, "topk and expert must not be above experts (%.0f)",
                             cell.moe.n_experts);
    return add_cell(context, &cell, row->line, error);
}

static const char *const collective_names[FPM_COLLECTIVES] = {
    [FPM_ALL_REDUCE] = "all_reduce",
    [FPM_ALL_GATHER] = "all_gather",
    [FPM_REDUCE_SCATTER] = "reduce_scatter",
    [FPM_ALL_TO_ALL] = "all_to_all",
};

static const sim_csv_column collective_columns[] = {
    { .name = "collective", .type = SIM_CSV_TEXT }, SIZE("ranks"), SIZE("bytes"), MS
};
static sim_status take_collective(void *context, const sim_csv_values *row, const char *path, sim_error *error) {
    fpm_table_cell cell = { .kind = FPM_TABLE_COLLECTIVE };
    int kind = 0;
    while (kind < FPM_COLLECTIVES && !is(row->texts[0], collective_names[kind])) kind++;
    if (kind == FPM_COLLECTIVES)
        return refuse(row, path, "collective", row->texts[0], "all_reduce, all_gather, reduce_scatter or all_to_all",
                      error);
    cell.collective = (fpm_collective)kind;
    cell.ranks = row->numbers[1];
    cell.count = row->numbers[2];
    cell.ms = row->numbers[3];
    if (cell.ranks < 2) return refuse(row, path, "ranks", row->texts[1], "2 or more", error);
    return add_cell(context, &cell, row->line, error);
}

// ---------------------------------------------------------------------------------------------------------------------
// Files
// ---------------------------------------------------------------------------------------------------------------------

#define FILE_OF(file, array, function) \
    { file, array, sizeof array / sizeof *array, function }
static const struct table_file {
    const char *name;
    const sim_csv_column *columns;
    size_t n_columns;
    sim_csv_take take;
} files[FPM_TABLE_KINDS] = {
    [FPM_TABLE_GEMM] = FILE_OF("gemm.csv", gemm_columns, take_gemm),
    [FPM_TABLE_MOE] = FILE_OF("moe.csv", moe_columns, take_moe),
    [FPM_TABLE_COLLECTIVE] = FILE_OF("collective.csv", collective_columns, take_collective),
};

static const struct table_file *file_named(const char *name) {
    for (size_t i = 0; i < FPM_TABLE_KINDS; i++)
        if (is(name, files[i].name)) return &files[i];
    return NULL;
}

static bool is_csv(const char *name) {
    const size_t n = strlen(name);
    return n > 4 && is(name + n - 4, ".csv");
}

// Which of the files are there.
static sim_status list_files(const char *directory, bool has_file[FPM_TABLE_KINDS], sim_error *error) {
    DIR *dir = opendir(directory);
    if (!dir)
        return sim_error_set(error, SIM_USAGE, directory, 0, "operator tables cannot be read: %s", strerror(errno));
    char stranger[256] = ""; // the first by name, whatever the order of the directory
    bool has_any = false;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        const struct table_file *file = file_named(entry->d_name);
        if (file) has_any = has_file[file - files] = true;
        if (!file && is_csv(entry->d_name) && (!*stranger || strcmp(entry->d_name, stranger) < 0))
            snprintf(stranger, sizeof stranger, "%s", entry->d_name);
    }
    closedir(dir);
    if (*stranger)
        return sim_error_set(error, SIM_USAGE, directory, 0,
                             "%s is no operator table (gemm.csv, moe.csv, collective.csv%s)", stranger,
                             strncmp(stranger, "attention", 9) == 0 ? "; attention keeps its formulas" : "");
    if (!has_any)
        return sim_error_set(error, SIM_USAGE, directory, 0,
                             "there is no operator table (gemm.csv, moe.csv or collective.csv)");
    return SIM_OK;
}

static sim_status read_file(cell_list *list, const struct table_file *file, const char *path, sim_error *error) {
    list->path = path;
    fpm_line_reader *lines;
    fpm_error source = { .code = FPM_OK };
    if (fpm_line_reader_open(&lines, path, &source)) return sim_csv_from_fpm(&source, path, error);
    const sim_status status = sim_csv_table_read(lines, file->columns, file->n_columns, file->take, list, error);
    fpm_line_reader_free(lines);
    return status;
}

static sim_status make_tables(fpm_operator_tables **tables, const cell_list *list, sim_error *error) {
    fpm_error source = { .code = FPM_OK };
    if (!fpm_operator_tables_new(tables, list->cells, list->n, list->operators, &source)) return SIM_OK;
    return sim_csv_from_fpm(&source, NULL, error);
}

sim_status sim_table_files_load(fpm_operator_tables **tables, const char *directory, const fpm_operators *operators,
                                sim_error *error) {
    *tables = NULL;
    bool has_file[FPM_TABLE_KINDS] = { false };
    char paths[FPM_TABLE_KINDS][SIM_DATA_PATH_BYTES]; // cells point there
    cell_list list = { .operators = operators };
    sim_status status = list_files(directory, has_file, error);
    for (size_t i = 0; !status && i < FPM_TABLE_KINDS; i++) {
        if (!has_file[i]) continue;
        const int n = snprintf(paths[i], sizeof paths[i], "%s/%s", directory, files[i].name);
        if (n < 0 || (size_t)n >= sizeof paths[i])
            status = sim_error_set(error, SIM_USAGE, directory, 0, "the path is too long (at most %d bytes)",
                                   SIM_DATA_PATH_BYTES - 16);
        else
            status = read_file(&list, &files[i], paths[i], error);
    }
    if (!status) status = make_tables(tables, &list, error);
    free(list.cells);
    return status;
}

sim_status sim_table_files_parse(fpm_operator_tables **tables, const char *text, size_t n_bytes, const char *name,
                                 const fpm_operators *operators, sim_error *error) {
    *tables = NULL;
    const struct table_file *file = file_named(name);
    if (!file) return sim_error_set(error, SIM_USAGE, name, 0, "is no operator table");
    cell_list list = { .operators = operators, .path = name };
    fpm_line_reader *lines;
    fpm_error source = { .code = FPM_OK };
    if (fpm_line_reader_open_memory(&lines, text, n_bytes, name, 0, &source))
        return sim_csv_from_fpm(&source, name, error);
    sim_status status = sim_csv_table_read(lines, file->columns, file->n_columns, file->take, &list, error);
    fpm_line_reader_free(lines);
    if (!status) status = make_tables(tables, &list, error);
    free(list.cells);
    return status;
}

// ---------------------------------------------------------------------------------------------------------------------
// What nobody needs
// ---------------------------------------------------------------------------------------------------------------------

// An operation of the deployment as a row of its file would name it.
static void name_shape(char *text, size_t size, const fpm_operation *operation, const fpm_table_cell *shape) {
    const fpm_moe_shape *moe = &shape->moe;
    const char *activations = shape->has_16bit_activations && shape->weights != FPM_BF16 ? ", activations bf16" : "";
    switch (shape->kind) {
    case FPM_TABLE_GEMM:
        snprintf(text, size, "%s: weights %s%s, n %.0f, k %.0f", operation->name, fpm_precision_name(shape->weights),
                 activations, shape->n, shape->k);
        break;
    case FPM_TABLE_MOE:
        snprintf(text, size,
                 "%s: weights %s%s, hidden %.0f, intermediate %.0f, experts %.0f, topk %.0f, moe_tensor %.0f, "
                 "expert %.0f%s",
                 operation->name, fpm_precision_name(shape->weights), activations, moe->hidden, moe->intermediate,
                 moe->n_experts, moe->experts_per_token, moe->tensor, moe->expert,
                 moe->is_ungated ? ", gated false" : "");
        break;
    case FPM_TABLE_COLLECTIVE:
        snprintf(text, size, "%s: %s, ranks %.0f", operation->name, collective_names[shape->collective], shape->ranks);
        break;
    case FPM_TABLE_KINDS:
        break;
    }
}

// Is a kind in use? If not, `example` is the first operation that it could serve ("" without).
static bool is_used(fpm_table_kind kind, const fpm_graph *graph, const fpm_operators *operators, char *example,
                    size_t size) {
    *example = '\0';
    for (size_t i = 0; i < graph->n_operations; i++) {
        fpm_table_cell shape;
        if (!fpm_operation_table_shape(&graph->operations[i], &shape) || shape.kind != kind) continue;
        if (fpm_operation_has_table(&graph->operations[i], operators)) return true;
        if (!*example) name_shape(example, size, &graph->operations[i], &shape);
    }
    return false;
}

void sim_table_files_note(char note[SIM_TABLE_NOTE_BYTES], const fpm_operator_tables *tables,
                          const fpm_deployment *deployment, const fpm_operators *operators) {
    fpm_operators with_tables = *operators;
    with_tables.tables = tables;
    fpm_graph graph;
    fpm_graph_build(&graph, deployment, &with_tables);
    note[0] = '\0';
    for (int kind = 0; kind < FPM_TABLE_KINDS && !note[0]; kind++) {
        char example[200];
        if (!fpm_operator_tables_has_kind(tables, (fpm_table_kind)kind)) continue;
        if (is_used((fpm_table_kind)kind, &graph, &with_tables, example, sizeof example)) continue;
        snprintf(note, SIM_TABLE_NOTE_BYTES, "operator tables: %s holds no shape of this deployment%s%s%s",
                 files[kind].name, *example ? " (it has " : "", example, *example ? ")" : ", which has none");
    }
}
