// SPDX-License-Identifier: GPL-3.0-or-later
//
// A list of points: CSV whose columns are keys, one point a row; an empty cell leaves its key as the configuration has it.
#include <stdlib.h>
#include <string.h>

#include "sim/experiment/sweep/design.h"
#include "sim/workload/csv_row.h"
#include "sim/workload/trace_reader.h"

typedef struct reading {
    sim_design *design;
    sim_space *space;
    const char *path;
    fpm_line_reader *lines;
    sim_csv_row row;
    int64_t line; // of the record in hand
    sim_error *error;
} reading;

static sim_status no_memory(const reading *in) {
    return sim_error_set(in->error, SIM_NO_MEMORY, NULL, 0, "out of memory");
}

static sim_status take_header(reading *in) {
    for (size_t i = 0; i < in->row.n_fields; i++) {
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)in->row.fields[i].n_bytes, in->row.fields[i].text);
        const sim_status status = sim_space_add_key(in->space, name, in->path, in->line, in->error);
        if (status == SIM_NO_MEMORY) return status;
        if (status) return in->error ? in->error->code = SIM_BAD_DATA : SIM_BAD_DATA;
    }
    return SIM_OK;
}

static sim_status take_point(reading *in, const char *const *values) {
    sim_point point;
    sim_status status = sim_space_row(in->space, values, in->path, in->line, &point, in->error);
    if (status == SIM_USAGE) return in->error ? in->error->code = SIM_BAD_DATA : SIM_BAD_DATA;
    if (status) return status;
    status = sim_design_add(in->design, &point, in->error);
    if (status) sim_point_clear(&point, sim_space_n_keys(in->space));
    return status;
}

// Columns stand in front of keys that follow from others, which were declared first: the keys of the file are the last ones.
static sim_status take_row(reading *in) {
    const size_t n_keys = sim_space_n_keys(in->space), n = in->row.n_fields;
    char **values = calloc(n_keys + 1, sizeof *values);
    if (!values) return no_memory(in);
    bool is_whole = true;
    for (size_t i = 0; i < n && is_whole; i++) {
        const sim_csv_field *field = &in->row.fields[i];
        char **value = &values[n_keys - n + i];
        *value = strndup(field->n_bytes ? field->text : "", field->n_bytes);
        is_whole = *value;
    }
    const sim_status status = is_whole ? take_point(in, (const char *const *)values) : no_memory(in);
    for (size_t i = 0; i < n_keys; i++) free(values[i]);
    free(values);
    return status;
}

static sim_status take_record(reading *in, const fpm_line *line, size_t *n_columns) {
    in->line = line->number;
    const sim_status read = sim_csv_record_read(&in->row, line, in->lines, in->path, in->error);
    if (read) return read;
    const bool is_header = *n_columns == 0;
    if (is_header) *n_columns = in->row.n_fields;
    if (in->row.n_fields != *n_columns)
        return sim_error_set(in->error, SIM_BAD_DATA, in->path, in->line,
                             "the row has %zu fields, the header %zu (an empty field leaves its key alone)",
                             in->row.n_fields, *n_columns);
    return is_header ? take_header(in) : take_row(in);
}

static sim_status take_records(reading *in) {
    size_t n_columns = 0;
    for (;;) {
        fpm_line line;
        fpm_error fault;
        bool has_line;
        if (fpm_line_reader_next(in->lines, &line, &has_line, &fault)) return sim_error_from_fpm(in->error, &fault);
        if (!has_line) break;
        if (line.n_bytes == 0) continue;
        const sim_status status = take_record(in, &line, &n_columns);
        if (status) return status;
    }
    if (in->design->n_points > 0) return SIM_OK;
    return sim_error_set(in->error, SIM_BAD_DATA, in->path, 0,
                         "there are no points in it (a header of keys, then rows)");
}

sim_status sim_design_read_csv(sim_design *design, sim_space *space, const char *path, sim_error *error) {
    reading in = { .design = design, .space = space, .path = path, .error = error };
    fpm_error fault;
    if (!*path)
        return sim_error_set(error, SIM_USAGE, NULL, 0,
                             "method = list needs a file of points (sweep.points = points.csv)");
    if (fpm_line_reader_open(&in.lines, path, &fault)) return sim_error_from_fpm(error, &fault);
    const sim_status status = take_records(&in);
    sim_csv_row_clear(&in.row);
    fpm_line_reader_free(in.lines);
    return status;
}
