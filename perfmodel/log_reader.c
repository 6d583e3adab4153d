// SPDX-License-Identifier: GPL-3.0-or-later
//
// FPM log -> iterations. A row is read ahead to see whether it still belongs to the iteration; worker ids are kept in
// two buffers that change places, one for the iteration given out and one for the row read ahead. A row that is an array
// is an iteration of its own: its ranks are read into a list that changes places with those given out.
#include "perfmodel/line_reader.h"
#include "perfmodel/metrics_json.h"

#include <stdlib.h>
#include <string.h>

typedef struct worker_id_buffer {
    char *text; // NUL-terminated
    size_t capacity;
} worker_id_buffer;

typedef struct rank_list {
    fpm_metrics *ranks;
    int64_t *lines; // where each stands
    size_t n, capacity;
} rank_list;

struct fpm_log_reader {
    fpm_line_reader *lines;
    rank_list iteration;
    bool is_closed;        // it came as an array: nothing can follow
    uint32_t largest_rank; // of the iteration
    worker_id_buffer current, ahead_id;
    rank_list ahead; // the row after the iteration: one rank, or those of an array
    bool is_ahead_closed;
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

static void free_list(rank_list *list) {
    free(list->ranks);
    free(list->lines);
}

void fpm_log_reader_free(fpm_log_reader *reader) {
    if (!reader) return;
    fpm_line_reader_free(reader->lines);
    free_list(&reader->iteration);
    free_list(&reader->ahead);
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

// Room for one more; false: no memory.
static bool reserve_rank(rank_list *list) {
    if (list->n < list->capacity) return true;
    const size_t capacity = list->capacity ? 2 * list->capacity : 8;
    fpm_metrics *ranks = realloc(list->ranks, capacity * sizeof *ranks);
    if (!ranks) return false;
    list->ranks = ranks;
    int64_t *lines = realloc(list->lines, capacity * sizeof *lines);
    if (!lines) return false;
    list->lines = lines;
    list->capacity = capacity;
    return true;
}

// One rank into `ahead`; the first one says which worker it is.
static void read_rank(fpm_log_reader *reader, fpm_json *json, int64_t line) {
    rank_list *ahead = &reader->ahead;
    fpm_worker_id_text id;
    if (!reserve_rank(ahead))
        fpm_json_fail(json, FPM_NO_MEMORY, "out of memory");
    else if (fpm_metrics_parse(json, &ahead->ranks[ahead->n], &id)) {
        if (ahead->n == 0 && !keep_worker_id(&reader->ahead_id, &id))
            fpm_json_fail(json, FPM_NO_MEMORY, "out of memory");
        ahead->lines[ahead->n++] = line;
    }
}

static void read_array(fpm_log_reader *reader, fpm_json *json, int64_t line) {
    bool is_first = true;
    if (!fpm_json_array_begin(json)) return;
    while (fpm_json_array_next(json, &is_first)) read_rank(reader, json, line);
    if (!json->failed && reader->ahead.n == 0) fpm_json_fail(json, FPM_SYNTAX, "an iteration without ranks");
}

static fpm_status read_row(fpm_log_reader *reader, const fpm_line *line, fpm_error *error) {
    if (line->has_nul) {
        fpm_error_set(error, FPM_SYNTAX, "a NUL byte in the row");
        return place_error(reader, line, error);
    }
    fpm_json json;
    fpm_json_begin(&json, line->text, line->n_bytes);
    reader->ahead.n = 0;
    reader->is_ahead_closed = fpm_json_peek(&json) == FPM_JSON_ARRAY;
    if (reader->is_ahead_closed)
        read_array(reader, &json, line->number);
    else
        read_rank(reader, &json, line->number);
    if (fpm_json_end(&json, error)) return place_error(reader, line, error);
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
    for (size_t i = 0; i < reader->iteration.n; i++)
        if (reader->iteration.ranks[i].dp_rank == dp_rank) return true;
    return false;
}

static bool belongs_here(const fpm_log_reader *reader) {
    if (reader->iteration.n == 0) return true;
    const fpm_metrics *ahead = reader->ahead.ranks;
    return !reader->is_closed && !reader->is_ahead_closed &&
           ahead->counter_id == reader->iteration.ranks[0].counter_id &&
           strcmp(reader->ahead_id.text, reader->current.text) == 0 && !has_rank(reader, ahead->dp_rank);
}

// The row read ahead becomes the iteration.
static void begin_iteration(fpm_log_reader *reader) {
    const worker_id_buffer id = reader->current;
    reader->current = reader->ahead_id;
    reader->ahead_id = id;
    const rank_list list = reader->iteration;
    reader->iteration = reader->ahead;
    reader->ahead = list;
    reader->is_closed = reader->is_ahead_closed;
    reader->largest_rank = reader->iteration.ranks[0].dp_rank;
}

static fpm_status append_ahead(fpm_log_reader *reader, fpm_error *error) {
    if (reader->iteration.n == 0) {
        begin_iteration(reader);
    } else {
        rank_list *to = &reader->iteration;
        if (!reserve_rank(to)) return fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
        to->ranks[to->n] = reader->ahead.ranks[0];
        to->lines[to->n] = reader->ahead.lines[0];
        if (to->ranks[to->n].dp_rank > reader->largest_rank) reader->largest_rank = to->ranks[to->n].dp_rank;
        to->n++;
    }
    reader->has_ahead = false;
    return FPM_OK;
}

static fpm_status read_iteration(fpm_log_reader *reader, int64_t *line, fpm_error *error) {
    reader->iteration.n = 0;
    for (;;) {
        fpm_status status = FPM_OK;
        if (!reader->has_ahead) status = read_ahead(reader, error);
        if (status) return status;
        if (!reader->has_ahead || !belongs_here(reader)) break;
        status = append_ahead(reader, error);
        if (status) return status;
    }
    const rank_list *all = &reader->iteration;
    for (size_t i = 0; i < all->n; i++) all->ranks[i].worker_id = reader->current.text;
    if (all->n > 0) *line = all->lines[0];
    return FPM_OK;
}

fpm_status fpm_log_reader_next(fpm_log_reader *reader, const fpm_metrics **ranks, size_t *n_ranks, int64_t *line,
                               fpm_error *error) {
    *ranks = NULL;
    *n_ranks = 0;
    *line = 0;
    if (!reader->failed.code && !read_iteration(reader, line, &reader->failed)) {
        *ranks = reader->iteration.ranks;
        *n_ranks = reader->iteration.n;
        return FPM_OK;
    }
    if (error) *error = reader->failed;
    return reader->failed.code;
}

int64_t fpm_log_reader_line(const fpm_log_reader *reader, size_t rank) {
    return rank < reader->iteration.n ? reader->iteration.lines[rank] : 0;
}
