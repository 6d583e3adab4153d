// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/workload/csv_row.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sim/workload/growable.h"
#include "sim/workload/trace_reader.h"

enum { RECORD_LIMIT_BYTES = 1 << 20 };

static const char no_memory[] = "out of memory";

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

void sim_csv_row_clear(sim_csv_row *row) {
    free(row->fields);
    free(row->joined);
    free(row->plain);
    *row = (sim_csv_row){ 0 };
}

// Does the text, which begins inside a quoted field or not, end inside one? Only a quote at the start of a field opens
// one.
static bool ends_in_quotes(const char *text, size_t n_bytes, bool is_open) {
    bool is_start = !is_open;
    for (size_t i = 0; i < n_bytes; i++) {
        if (!is_open) {
            is_open = is_start && text[i] == '"';
            is_start = text[i] == ',';
        } else if (text[i] == '"') {
            if (i + 1 < n_bytes && text[i + 1] == '"')
                i++;
            else
                is_open = false;
        }
    }
    return is_open;
}

static bool append(sim_csv_row *row, size_t *n_joined, const char *text, size_t n_bytes) {
    char *larger = sim_grown(row->joined, &row->joined_capacity, *n_joined + n_bytes + 1, 1);
    if (!larger) return false;
    row->joined = larger;
    memcpy(larger + *n_joined, text, n_bytes);
    *n_joined += n_bytes;
    return true;
}

// A record whose first line ends inside quotes goes on until they close.
static const char *join_lines(sim_csv_row *row, const fpm_line *first, fpm_line_reader *lines, size_t *n_joined,
                              fpm_status *status, fpm_error *error) {
    *n_joined = 0;
    if (!append(row, n_joined, first->text, first->n_bytes)) return no_memory;
    bool is_open = true;
    while (is_open) {
        fpm_line line;
        bool has_line;
        *status = fpm_line_reader_next(lines, &line, &has_line, error);
        if (*status) return error->message;
        if (!has_line || *n_joined + line.n_bytes > RECORD_LIMIT_BYTES) return "a quoted field has no end";
        if (!append(row, n_joined, "\n", 1) || !append(row, n_joined, line.text, line.n_bytes)) return no_memory;
        is_open = ends_in_quotes(line.text, line.n_bytes, true);
    }
    return NULL;
}

// A quoted field whose opening quote is at `at`: its content goes to `plain` at *n_plain. Returns the place behind the
// closing quote, or NULL when there is none.
static const char *read_quoted(sim_csv_row *row, const char *at, const char *end, size_t *n_plain,
                               sim_csv_field *field) {
    char *out = row->plain + *n_plain;
    size_t n = 0;
    for (at++; at < end; at++) {
        if (*at == '"') {
            if (at + 1 == end || at[1] != '"') {
                *field = (sim_csv_field){ .text = out, .n_bytes = n, .is_quoted = true };
                *n_plain += n;
                return at + 1;
            }
            at++;
        }
        out[n++] = *at;
    }
    return NULL;
}

static void trim(sim_csv_field *field) {
    while (field->n_bytes > 0 && is_blank(field->text[field->n_bytes - 1])) field->n_bytes--, field->had_blanks = true;
    while (field->n_bytes > 0 && is_blank(*field->text)) field->text++, field->n_bytes--, field->had_blanks = true;
}

static const char *split(sim_csv_row *row, const char *text, size_t n_bytes, bool has_quotes) {
    const char *at = text, *end = text + n_bytes;
    size_t n_plain = 0;
    row->n_fields = 0;
    for (;;) {
        sim_csv_field *fields = sim_grown(row->fields, &row->capacity, row->n_fields + 1, sizeof *fields);
        if (!fields) return no_memory;
        row->fields = fields;
        sim_csv_field *field = &fields[row->n_fields++];
        if (at < end && *at == '"') {
            at = read_quoted(row, at, end, &n_plain, field);
            if (!at) return "a quoted field has no end";
            if (at < end && *at != ',') return "something follows the closing quote of a field";
        } else {
            const char *comma = memchr(at, ',', (size_t)(end - at));
            if (!comma) comma = end;
            *field = (sim_csv_field){ .text = at, .n_bytes = (size_t)(comma - at) };
            if (has_quotes && memchr(at, '"', field->n_bytes)) return "a quote inside an unquoted field";
            trim(field);
            at = comma;
        }
        if (at == end) return NULL;
        at++; // the comma
    }
}

static const char *read_record(sim_csv_row *row, const fpm_line *first, fpm_line_reader *lines, fpm_status *status,
                               fpm_error *error) {
    const char *text = first->text;
    size_t n_bytes = first->n_bytes;
    if (!memchr(text, '"', n_bytes)) return split(row, text, n_bytes, false);
    if (ends_in_quotes(text, n_bytes, false)) {
        const char *complaint = join_lines(row, first, lines, &n_bytes, status, error);
        if (complaint) return complaint;
        text = row->joined;
    }
    char *plain = sim_grown(row->plain, &row->plain_capacity, n_bytes, 1);
    if (!plain) return no_memory;
    row->plain = plain;
    return split(row, text, n_bytes, true);
}

const char *sim_csv_row_read(sim_csv_row *row, const fpm_line *first, fpm_line_reader *lines, fpm_status *status,
                             fpm_error *error) {
    *status = FPM_OK;
    const char *complaint = read_record(row, first, lines, status, error);
    if (complaint == no_memory) *status = fpm_error_set(error, FPM_NO_MEMORY, "%s", no_memory); // no fault of the row
    return complaint;
}

bool sim_csv_field_u64(const sim_csv_field *field, uint64_t *value) {
    if (field->n_bytes == 0) return false;
    uint64_t sum = 0;
    for (size_t i = 0; i < field->n_bytes; i++) {
        char c = field->text[i];
        if (c < '0' || c > '9') return false;
        if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, (uint64_t)(c - '0'), &sum))
            return false;
    }
    *value = sum;
    return true;
}

int sim_csv_find_column(const sim_csv_row *header, const char *name, bool *is_exact, int *n_found) {
    int index = -1;
    size_t n = strlen(name);
    *n_found = 0;
    *is_exact = false;
    for (size_t i = 0; i < header->n_fields; i++) {
        const sim_csv_field *field = &header->fields[i];
        if (field->n_bytes != n || strncasecmp(field->text, name, n) != 0) continue;
        if (index < 0) {
            index = (int)i;
            *is_exact = memcmp(field->text, name, n) == 0 && !field->had_blanks;
        }
        ++*n_found;
    }
    return index;
}

sim_status sim_csv_record_read(sim_csv_row *row, const fpm_line *first, fpm_line_reader *lines, const char *path,
                               sim_error *error) {
    const int64_t line = first->number;
    fpm_status failed;
    fpm_error fault;
    if (first->has_nul)
        return sim_error_set(error, SIM_BAD_DATA, path, line, "the line holds NUL bytes (damaged file?)");
    if (first->n_bytes > 0 && memchr(first->text, '\r', first->n_bytes))
        return sim_error_set(error, SIM_BAD_DATA, path, line,
                             "the lines end in CR alone (convert them to LF: tr '\\r' '\\n')");
    const char *complaint = sim_csv_row_read(row, first, lines, &failed, &fault);
    if (failed) return sim_error_from_fpm(error, &fault);
    return complaint ? sim_error_set(error, SIM_BAD_DATA, path, line, "%s", complaint) : SIM_OK;
}
