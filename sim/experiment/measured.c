// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/measured.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/line_reader.h"
#include "sim/workload/csv_row.h"
#include "sim/workload/growable.h"
#include "sim/workload/trace_reader.h"

const sim_target_names sim_targets[SIM_TARGETS] = {
#define X(code, column, stem, heading) [code] = { column, stem, heading },
    SIM_TARGET_LIST(X)
#undef X
};

static const char label_prefix[] = "label.", target_prefix[] = "measured.";
enum { N_LABEL_PREFIX = sizeof label_prefix - 1, N_TARGET_PREFIX = sizeof target_prefix - 1 };

typedef struct reading {
    sim_measured *measured;
    const sim_config *known;
    fpm_line_reader *lines;
    sim_csv_row row;
    int64_t line; // of the record in hand
    size_t row_capacity;
    sim_error *error;
} reading;

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

static const char *row_id(const sim_measured *measured, const sim_measured_row *row) {
    return row->cells[measured->id_column];
}

// --- the header ------------------------------------------------------------------------------------------------------

static sim_status unknown_column(const reading *in, const char *name) {
    const char *names[SIM_TARGETS + 1] = { "id" };
    char targets[SIM_TARGETS][64];
    for (int i = 0; i < SIM_TARGETS; i++) {
        snprintf(targets[i], sizeof targets[i], "%s%s", target_prefix, sim_targets[i].column);
        names[i + 1] = targets[i];
    }
    const char *path = in->measured->path, *nearest = sim_nearest_name(name, names, SIM_TARGETS + 1);
    if (nearest)
        return sim_error_set(in->error, SIM_BAD_DATA, path, in->line, "unknown column \"%s\" (did you mean %s?)", name,
                             nearest);
    const bool is_key_like = strchr(name, '.') && strncmp(name, target_prefix, N_TARGET_PREFIX) != 0 &&
                             strncmp(name, label_prefix, N_LABEL_PREFIX) != 0;
    if (is_key_like) return sim_config_check_name(in->known, name, path, in->line, in->error);
    return sim_error_set(in->error, SIM_BAD_DATA, path, in->line,
                         "unknown column \"%s\" (columns: id, section.key, label.NAME, measured.ttft_ms, "
                         "measured.tpot_ms)",
                         name);
}

// What the column is called decides what it is.
static sim_status classify(const reading *in, sim_measured_column *column) {
    const char *name = column->name;
    column->kind = SIM_COLUMN_KEY;
    if (strcmp(name, "id") == 0) {
        column->kind = SIM_COLUMN_ID;
    } else if (strncmp(name, label_prefix, N_LABEL_PREFIX) == 0 && name[N_LABEL_PREFIX]) {
        column->kind = SIM_COLUMN_LABEL;
    } else if (strncmp(name, target_prefix, N_TARGET_PREFIX) == 0) {
        column->kind = SIM_COLUMN_TARGET;
        for (int i = 0; i < SIM_TARGETS; i++) {
            column->target = (sim_target)i;
            if (strcmp(name + N_TARGET_PREFIX, sim_targets[i].column) == 0) return SIM_OK;
        }
        return unknown_column(in, name);
    } else if (sim_config_check_name(in->known, name, NULL, 0, NULL)) {
        return unknown_column(in, name);
    }
    return SIM_OK;
}

static sim_status add_column(const reading *in, const sim_csv_field *field) {
    sim_measured *measured = in->measured;
    sim_measured_column *column = &measured->columns[measured->n_columns];
    column->name = strndup(field->text, field->n_bytes);
    if (!column->name) return no_memory(in->error);
    for (size_t i = 0; i < measured->n_columns; i++)
        if (strcmp(measured->columns[i].name, column->name) == 0) {
            sim_status status = sim_error_set(in->error, SIM_BAD_DATA, measured->path, in->line,
                                              "two columns are called \"%s\" (keep one)", column->name);
            free(column->name);
            return status;
        }
    measured->n_columns++;
    return classify(in, column);
}

static sim_status read_header(reading *in) {
    sim_measured *measured = in->measured;
    measured->columns = calloc(in->row.n_fields, sizeof *measured->columns);
    if (!measured->columns) return no_memory(in->error);
    size_t n_targets = 0;
    measured->id_column = SIZE_MAX;
    for (size_t i = 0; i < in->row.n_fields; i++) {
        sim_status status = add_column(in, &in->row.fields[i]);
        if (status) return status;
        if (measured->columns[i].kind == SIM_COLUMN_ID) measured->id_column = i;
        n_targets += measured->columns[i].kind == SIM_COLUMN_TARGET;
    }
    if (measured->id_column == SIZE_MAX)
        return sim_error_set(in->error, SIM_BAD_DATA, measured->path, in->line,
                             "the header has no column id (it names the rows)");
    if (n_targets == 0)
        return sim_error_set(in->error, SIM_BAD_DATA, measured->path, in->line,
                             "the header has no measured column (measured.ttft_ms, measured.tpot_ms)");
    return SIM_OK;
}

// --- rows ------------------------------------------------------------------------------------------------------------

// The cells of the record, each ended by NUL, in one block behind their pointers. NULL: no memory.
static const char *const *copy_cells(const sim_csv_row *row) {
    size_t n_bytes = 0;
    for (size_t i = 0; i < row->n_fields; i++) n_bytes += row->fields[i].n_bytes + 1;
    const char **cells = malloc(row->n_fields * sizeof *cells + n_bytes);
    if (!cells) return NULL;
    char *text = (char *)(cells + row->n_fields);
    for (size_t i = 0; i < row->n_fields; i++) {
        const size_t n = row->fields[i].n_bytes;
        if (n) memcpy(text, row->fields[i].text, n);
        text[n] = '\0';
        cells[i] = text;
        text += n + 1;
    }
    return cells;
}

static sim_status read_targets(const reading *in, sim_measured_row *row) {
    const sim_measured *measured = in->measured;
    size_t n_measured = 0;
    for (int i = 0; i < SIM_TARGETS; i++) row->measured[i] = (double)NAN;
    for (size_t i = 0; i < measured->n_columns; i++) {
        const sim_measured_column *column = &measured->columns[i];
        if (column->kind != SIM_COLUMN_TARGET || row->cells[i][0] == '\0') continue;
        double value;
        const char *hint = sim_parse_real(row->cells[i], &value);
        if (hint || !(value > 0))
            return sim_error_set(in->error, SIM_BAD_DATA, measured->path, in->line,
                                 "%s: \"%.60s\" is no measured value (a number above 0; empty: not measured)",
                                 column->name, row->cells[i]);
        row->measured[column->target] = value;
        n_measured++;
    }
    if (n_measured > 0) return SIM_OK;
    return sim_error_set(in->error, SIM_BAD_DATA, measured->path, in->line,
                         "row %.80s has no measured value at all (leave the row out)", row_id(measured, row));
}

static sim_status read_row(reading *in) {
    sim_measured *measured = in->measured;
    if (in->row.n_fields != measured->n_columns)
        return sim_error_set(in->error, SIM_BAD_DATA, measured->path, in->line,
                             "the row has %zu fields, the header %zu", in->row.n_fields, measured->n_columns);
    sim_measured_row *rows = sim_grown(measured->rows, &in->row_capacity, measured->n_rows + 1, sizeof *rows);
    if (!rows) return no_memory(in->error);
    measured->rows = rows;
    sim_measured_row *row = &rows[measured->n_rows];
    row->line = in->line;
    row->cells = copy_cells(&in->row);
    if (!row->cells) return no_memory(in->error);
    measured->n_rows++;
    if (row_id(measured, row)[0] == '\0')
        return sim_error_set(in->error, SIM_BAD_DATA, measured->path, in->line, "the row has no id");
    return read_targets(in, row);
}

static int compare_ids(const void *a, const void *b, void *context) {
    const sim_measured *measured = context;
    const sim_measured_row *x = &measured->rows[*(const size_t *)a], *y = &measured->rows[*(const size_t *)b];
    const int order = strcmp(row_id(measured, x), row_id(measured, y));
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static sim_status check_ids(sim_measured *measured, sim_error *error) {
    size_t *order = malloc(measured->n_rows * sizeof *order);
    if (!order) return no_memory(error);
    for (size_t i = 0; i < measured->n_rows; i++) order[i] = i;
    qsort_r(order, measured->n_rows, sizeof *order, compare_ids, measured);
    sim_status status = SIM_OK;
    for (size_t i = 1; i < measured->n_rows && !status; i++) {
        const sim_measured_row *first = &measured->rows[order[i - 1]], *second = &measured->rows[order[i]];
        if (strcmp(row_id(measured, first), row_id(measured, second)) != 0) continue;
        status = sim_error_set(error, SIM_BAD_DATA, measured->path, second->line,
                               "id %.80s is taken by line %" PRId64 " already", row_id(measured, second), first->line);
    }
    free(order);
    return status;
}

// --- the file --------------------------------------------------------------------------------------------------------

static bool is_blank(const fpm_line *line) {
    for (size_t i = 0; i < line->n_bytes; i++)
        if (line->text[i] != ' ' && line->text[i] != '\t') return false;
    return true;
}

static sim_status read_record(reading *in, const fpm_line *line) {
    in->line = line->number;
    const sim_status status = sim_csv_record_read(&in->row, line, in->lines, in->measured->path, in->error);
    if (status) return status;
    return in->measured->columns ? read_row(in) : read_header(in);
}

static sim_status read_all(reading *in) {
    sim_measured *measured = in->measured;
    for (;;) {
        fpm_line line;
        bool has_line;
        fpm_error fault;
        if (fpm_line_reader_next(in->lines, &line, &has_line, &fault)) return sim_error_from_fpm(in->error, &fault);
        if (!has_line) break;
        if (is_blank(&line)) continue;
        sim_status status = read_record(in, &line);
        if (status) return status;
    }
    if (measured->n_rows == 0)
        return sim_error_set(in->error, SIM_BAD_DATA, measured->path, 0, "the table has no rows");
    return check_ids(measured, in->error);
}

sim_status sim_measured_read(sim_measured **measured, const char *path, const sim_config *known, sim_error *error) {
    *measured = NULL;
    reading in = { .known = known, .error = error, .measured = calloc(1, sizeof *in.measured) };
    if (!in.measured) return no_memory(error);
    fpm_error fault;
    sim_status status = SIM_OK;
    if (fpm_line_reader_open(&in.lines, path, &fault)) status = sim_error_from_fpm(error, &fault);
    if (!status && !(in.measured->path = strdup(fpm_line_reader_name(in.lines)))) status = no_memory(error);
    if (!status) status = read_all(&in);
    sim_csv_row_clear(&in.row);
    fpm_line_reader_free(in.lines);
    if (status)
        sim_measured_free(in.measured);
    else
        *measured = in.measured;
    return status;
}

static void free_row(sim_measured_row *row) { free((void *)(uintptr_t)row->cells); }

void sim_measured_free(sim_measured *measured) {
    if (!measured) return;
    for (size_t i = 0; i < measured->n_rows; i++) free_row(&measured->rows[i]);
    for (size_t i = 0; i < measured->n_columns; i++) free(measured->columns[i].name);
    free(measured->rows);
    free(measured->columns);
    free((void *)(uintptr_t)measured->path);
    free(measured);
}

// --- use -------------------------------------------------------------------------------------------------------------

size_t sim_measured_find(const sim_measured *measured, const char *name, const char **nearest) {
    const char **names = calloc(measured->n_columns, sizeof *names);
    size_t index = measured->n_columns;
    for (size_t i = 0; i < measured->n_columns; i++) {
        if (names) names[i] = measured->columns[i].name;
        if (strcmp(measured->columns[i].name, name) == 0) index = i;
    }
    if (nearest) *nearest = names ? sim_nearest_name(name, names, measured->n_columns) : NULL;
    free(names);
    return index;
}

const char *sim_measured_id(const sim_measured *measured, size_t row) { return row_id(measured, &measured->rows[row]); }

typedef struct condition {
    size_t column;
    const char *value;
} condition;

static sim_status parse_filter(const sim_measured *measured, const char *text, condition *out, sim_error *error) {
    char name[128];
    const char *equals = strchr(text, '=');
    if (!equals || (size_t)(equals - text) >= sizeof name)
        return sim_error_set(error, SIM_USAGE, NULL, 0, "--filter: \"%s\" is no condition (write COLUMN=VALUE)", text);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    const char *nearest;
    out->column = sim_measured_find(measured, name, &nearest);
    out->value = equals + 1;
    if (out->column < measured->n_columns) return SIM_OK;
    return sim_error_set(error, SIM_USAGE, NULL, 0, "--filter: %s has no column %s%s%s%s", measured->path, name,
                         nearest ? " (did you mean " : "", nearest ? nearest : "", nearest ? "?)" : "");
}

static bool passes(const sim_measured_row *row, const condition *conditions, size_t n) {
    for (size_t i = 0; i < n; i++) {
        bool is_met = false; // by any condition on the same column
        for (size_t k = 0; k < n; k++)
            if (conditions[k].column == conditions[i].column)
                is_met |= strcmp(row->cells[conditions[k].column], conditions[k].value) == 0;
        if (!is_met) return false;
    }
    return true;
}

sim_status sim_measured_filter(sim_measured *measured, const char *const *filters, size_t n_filters, sim_error *error) {
    if (n_filters == 0) return SIM_OK;
    condition *conditions = calloc(n_filters, sizeof *conditions);
    if (!conditions) return no_memory(error);
    sim_status status = SIM_OK;
    for (size_t i = 0; i < n_filters && !status; i++)
        status = parse_filter(measured, filters[i], &conditions[i], error);
    size_t n_kept = 0;
    for (size_t i = 0; i < measured->n_rows && !status; i++) {
        if (passes(&measured->rows[i], conditions, n_filters))
            measured->rows[n_kept++] = measured->rows[i];
        else
            free_row(&measured->rows[i]);
    }
    free(conditions);
    if (status) return status;
    measured->n_rows = n_kept;
    if (n_kept > 0) return SIM_OK;
    return sim_error_set(error, SIM_BAD_DATA, measured->path, 0, "no row passes the filters");
}
