// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/deployment/csv_table.h"

#include <stdio.h>
#include <string.h>

#include "sim/config/config.h"
#include "sim/workload/csv_row.h"

typedef struct reading {
    fpm_line_reader *lines;
    const char *path;
    const sim_csv_column *columns;
    size_t n_columns;
    int field_of[SIM_CSV_COLUMNS]; // -1: the file has no such column
    size_t n_fields;
    sim_csv_row row;
    sim_csv_values values;
    sim_error *error;
} reading;

sim_status sim_csv_from_fpm(const fpm_error *source, const char *path, sim_error *error) {
    const sim_status code = source->code == FPM_NO_MEMORY ? SIM_NO_MEMORY
                            : source->code == FPM_IO      ? SIM_IO
                                                          : SIM_BAD_DATA;
    sim_error_set(error, code, source->file[0] ? source->file : path, source->line, "%s", source->message);
    if (error) error->column = source->column;
    return code;
}

// The next record that is not blank; *has_row = false at the end.
static sim_status next_record(reading *in, bool *has_row) {
    fpm_line line;
    fpm_error source = { .code = FPM_OK };
    do {
        if (fpm_line_reader_next(in->lines, &line, has_row, &source))
            return sim_csv_from_fpm(&source, in->path, in->error);
        if (!*has_row) return SIM_OK;
    } while (line.n_bytes == 0);
    in->values.line = line.number;
    if (line.has_nul) return sim_error_set(in->error, SIM_BAD_DATA, in->path, line.number, "a NUL byte");
    fpm_status status;
    const char *complaint = sim_csv_row_read(&in->row, &line, in->lines, &status, &source);
    if (status) return sim_csv_from_fpm(&source, in->path, in->error);
    return complaint ? sim_error_set(in->error, SIM_BAD_DATA, in->path, in->values.line, "%s", complaint) : SIM_OK;
}

// ---------------------------------------------------------------------------------------------------------------------
// Header
// ---------------------------------------------------------------------------------------------------------------------

static void list_columns(const reading *in, char *text, size_t size) {
    size_t at = 0;
    for (size_t i = 0; i < in->n_columns && at < size; i++) {
        const char *optional = in->columns[i].is_optional ? "[" : "", *end = in->columns[i].is_optional ? "]" : "";
        at += (size_t)snprintf(text + at, size - at, "%s%s%s%s", i ? ", " : "", optional, in->columns[i].name, end);
    }
}

static sim_status refuse_header(const reading *in, const char *what, const char *name, size_t n_bytes) {
    char known[240];
    list_columns(in, known, sizeof known);
    return sim_error_set(in->error, SIM_BAD_DATA, in->path, in->values.line, "%s \"%.*s\" (columns: %s)", what,
                         (int)(n_bytes < 64 ? n_bytes : 64), name, known);
}

static bool is_name(const sim_csv_field *field, const char *name) {
    return field->n_bytes == strlen(name) && memcmp(field->text, name, field->n_bytes) == 0;
}

static sim_status read_header(reading *in) {
    bool has_row;
    const sim_status status = next_record(in, &has_row);
    if (status) return status;
    if (!has_row) return sim_error_set(in->error, SIM_BAD_DATA, in->path, 1, "the file is empty (it needs a header)");
    in->n_fields = in->row.n_fields;
    for (size_t c = 0; c < in->n_columns; c++) in->field_of[c] = -1;
    for (size_t f = 0; f < in->n_fields; f++) {
        const sim_csv_field *field = &in->row.fields[f];
        size_t c = 0;
        while (c < in->n_columns && !is_name(field, in->columns[c].name)) c++;
        if (c == in->n_columns) return refuse_header(in, "unknown column", field->text, field->n_bytes);
        if (in->field_of[c] >= 0) return refuse_header(in, "a second column", field->text, field->n_bytes);
        in->field_of[c] = (int)f;
    }
    for (size_t c = 0; c < in->n_columns; c++)
        if (in->field_of[c] < 0 && !in->columns[c].is_optional)
            return refuse_header(in, "there is no column", in->columns[c].name, strlen(in->columns[c].name));
    return SIM_OK;
}

// ---------------------------------------------------------------------------------------------------------------------
// Records
// ---------------------------------------------------------------------------------------------------------------------

static bool parse_whole(const char *text, uint64_t min, double *number) {
    uint64_t whole;
    const sim_csv_field field = { .text = text, .n_bytes = strlen(text) };
    if (!sim_csv_field_u64(&field, &whole) || whole < min || whole > UINT32_MAX) return false;
    *number = (double)whole;
    return true;
}

// NULL when well, else what would be right.
static const char *parse(const char *text, sim_csv_type type, double *number) {
    switch (type) {
    case SIM_CSV_COUNT:
        return parse_whole(text, 0, number) ? NULL : "a whole number from 0 to 4294967295";
    case SIM_CSV_SIZE:
        return parse_whole(text, 1, number) ? NULL : "a whole number from 1 to 4294967295";
    case SIM_CSV_NUMBER:
        return sim_parse_real(text, number) || !(*number > 0) ? "a number above 0" : NULL;
    case SIM_CSV_TEXT:
        break;
    }
    return NULL;
}

static sim_status read_values(reading *in) {
    if (in->row.n_fields != in->n_fields)
        return sim_error_set(in->error, SIM_BAD_DATA, in->path, in->values.line,
                             "the row has %zu fields, the header %zu", in->row.n_fields, in->n_fields);
    for (size_t c = 0; c < in->n_columns; c++) {
        const sim_csv_column *column = &in->columns[c];
        char *text = in->values.texts[c];
        if (in->field_of[c] < 0) {
            snprintf(text, SIM_CSV_TEXT_BYTES, "%s", column->default_text ? column->default_text : "");
            in->values.numbers[c] = column->default_number;
            continue;
        }
        const sim_csv_field *field = &in->row.fields[in->field_of[c]];
        const size_t n = field->n_bytes < SIM_CSV_TEXT_BYTES - 1 ? field->n_bytes : SIM_CSV_TEXT_BYTES - 1;
        memcpy(text, field->text, n);
        text[n] = '\0';
        const char *hint =
            field->n_bytes > n ? "at most 31 characters" : parse(text, column->type, &in->values.numbers[c]);
        if (hint)
            return sim_error_set(in->error, SIM_BAD_DATA, in->path, in->values.line, "%s \"%s\" is not right (%s)",
                                 column->name, text, hint);
    }
    return SIM_OK;
}

sim_status sim_csv_table_read(fpm_line_reader *lines, const sim_csv_column *columns, size_t n_columns,
                              sim_csv_take take, void *context, sim_error *error) {
    reading in = {
        .lines = lines, .path = fpm_line_reader_name(lines), .columns = columns, .n_columns = n_columns, .error = error
    };
    sim_status status = read_header(&in);
    for (bool has_row = true; !status && has_row;) {
        status = next_record(&in, &has_row);
        if (!status && has_row) status = read_values(&in);
        if (!status && has_row) status = take(context, &in.values, in.path, error);
    }
    sim_csv_row_clear(&in.row);
    return status;
}
