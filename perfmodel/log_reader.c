// SPDX-License-Identifier: GPL-3.0-or-later
//
// FPM log -> iterations. A row is read ahead to see whether it still belongs to the iteration; worker ids are kept in
// two buffers that change places, one for the iteration given out and one for the row read ahead.
#include "perfmodel/line_reader.h"
#include "perfmodel/metrics_json.h"

#include <stdlib.h>
#include <string.h>

typedef struct worker_id_buffer {
    char *text; // NUL-terminated
    size_t capacity;
} worker_id_buffer;

struct fpm_log_reader {
    fpm_line_reader *lines;
    fpm_metrics *ranks; // the iteration
    size_t n_ranks, capacity;
    uint32_t largest_rank; // of the iteration
    worker_id_buffer current, ahead_id;
    fpm_metrics ahead; // the row after the iteration
    int64_t ahead_line;
    bool has_ahead;
    bool is_at_end;
    fpm_error failed; // code FPM_OK while all is well; errors stick
};

fpm_status fpm_log_reader_open(fpm_log_reader **reader, const char *path, fpm_error *error) {
    *reader = NULL;
    fpm_log_reader *new_reader = calloc(1, sizeof *new_reader);
    if (!new_reader) return fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
    const fpm_status status = fpm_line_reader_open(&new_reader->lines, path, error);
    if (status) {
        free(new_reader);
        return status;
    }
    *reader = new_reader;
    return FPM_OK;
}

fpm_status fpm_log_reader_open_memory(fpm_log_reader **reader, const char *text, size_t n_bytes, const char *name,
                                      fpm_error *error) {
    *reader = NULL;
    fpm_log_reader *new_reader = calloc(1, sizeof *new_reader);
    if (!new_reader) return fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
    const fpm_status status = fpm_line_reader_open_memory(&new_reader->lines, text, n_bytes, name, 0, error);
    if (status) {
        free(new_reader);
        return status;
    }
    *reader = new_reader;
    return FPM_OK;
}

void fpm_log_reader_free(fpm_log_reader *reader) {
    if (!reader) return;
    fpm_line_reader_free(reader->lines);
    free(reader->ranks);
    free(reader->current.text);
    free(reader->ahead_id.text);
    free(reader);
}

static bool is_blank(const fpm_line *line) {
    for (size_t i = 0; i < line->n_bytes; i++)
        if (!strchr(" \t\r", line->text[i]) || line->text[i] == '\0') return false;
    return true;
}

static bool keep_worker_id(worker_id_buffer *buffer, const fpm_worker_id_text *id) {
    if (buffer->capacity < id->raw.n_bytes + 1) {
        const size_t capacity = 2 * id->raw.n_bytes + 32;
        char *text = realloc(buffer->text, capacity);
        if (!text) return false;
        *buffer = (worker_id_buffer){ text, capacity };
    }
    size_t n = id->raw.n_bytes;
    if (id->has_escapes)
        n = fpm_json_unescape(id->raw, buffer->text);
    else if (n)
        memcpy(buffer->text, id->raw.text, n);
    buffer->text[n] = '\0';
    return true;
}

// Where an error of this line stands. The scanner has set message and column.
static fpm_status place_error(const fpm_log_reader *reader, const fpm_line *line, fpm_error *error) {
    error->line = line->number;
    snprintf(error->file, sizeof error->file, "%s", fpm_line_reader_name(reader->lines));
    return error->code;
}

static fpm_status read_row(fpm_log_reader *reader, const fpm_line *line, fpm_error *error) {
    if (line->has_nul) {
        fpm_error_set(error, FPM_SYNTAX, "a NUL byte in the row");
        return place_error(reader, line, error);
    }
    fpm_json json;
    fpm_worker_id_text id;
    fpm_json_begin(&json, line->text, line->n_bytes);
    fpm_metrics_parse(&json, &reader->ahead, &id);
    if (fpm_json_end(&json, error)) return place_error(reader, line, error);
    if (!keep_worker_id(&reader->ahead_id, &id)) return fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
    reader->ahead_line = line->number;
    reader->has_ahead = true;
    return FPM_OK;
}

// Next row that is not blank into `ahead`; `has_ahead` stays false at the end of the log.
static fpm_status read_ahead(fpm_log_reader *reader, fpm_error *error) {
    while (!reader->is_at_end) {
        fpm_line line;
        bool has_line = false;
        const fpm_status status = fpm_line_reader_next(reader->lines, &line, &has_line, error);
        if (status) return status;
        if (!has_line)
            reader->is_at_end = true;
        else if (!is_blank(&line))
            return read_row(reader, &line, error);
    }
    return FPM_OK;
}

static bool has_rank(const fpm_log_reader *reader, uint32_t dp_rank) {
    if (dp_rank > reader->largest_rank) return false; // as always when ranks come in order
    for (size_t i = 0; i < reader->n_ranks; i++)
        if (reader->ranks[i].dp_rank == dp_rank) return true;
    return false;
}

static bool belongs_here(const fpm_log_reader *reader) {
    return reader->n_ranks == 0 ||
           (reader->ahead.counter_id == reader->ranks[0].counter_id &&
            strcmp(reader->ahead_id.text, reader->current.text) == 0 && !has_rank(reader, reader->ahead.dp_rank));
}

static fpm_status append_ahead(fpm_log_reader *reader, fpm_error *error) {
    if (reader->n_ranks == reader->capacity) {
        const size_t capacity = reader->capacity ? 2 * reader->capacity : 8;
        fpm_metrics *ranks = realloc(reader->ranks, capacity * sizeof *ranks);
        if (!ranks) return fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
        reader->ranks = ranks;
        reader->capacity = capacity;
    }
    if (reader->n_ranks == 0) {
        const worker_id_buffer swap = reader->current;
        reader->current = reader->ahead_id;
        reader->ahead_id = swap;
    }
    if (reader->n_ranks == 0 || reader->ahead.dp_rank > reader->largest_rank)
        reader->largest_rank = reader->ahead.dp_rank;
    reader->ranks[reader->n_ranks++] = reader->ahead;
    reader->has_ahead = false;
    return FPM_OK;
}

static fpm_status read_iteration(fpm_log_reader *reader, int64_t *line, fpm_error *error) {
    reader->n_ranks = 0;
    for (;;) {
        fpm_status status = FPM_OK;
        if (!reader->has_ahead) status = read_ahead(reader, error);
        if (status) return status;
        if (!reader->has_ahead || !belongs_here(reader)) break;
        if (reader->n_ranks == 0) *line = reader->ahead_line;
        status = append_ahead(reader, error);
        if (status) return status;
    }
    for (size_t i = 0; i < reader->n_ranks; i++) reader->ranks[i].worker_id = reader->current.text;
    return FPM_OK;
}

fpm_status fpm_log_reader_next(fpm_log_reader *reader, const fpm_metrics **ranks, size_t *n_ranks, int64_t *line,
                               fpm_error *error) {
    *ranks = NULL;
    *n_ranks = 0;
    *line = 0;
    if (!reader->failed.code && !read_iteration(reader, line, &reader->failed)) {
        *ranks = reader->ranks;
        *n_ranks = reader->n_ranks;
        return FPM_OK;
    }
    if (error) *error = reader->failed;
    return reader->failed.code;
}
