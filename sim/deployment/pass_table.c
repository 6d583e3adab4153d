// SPDX-License-Identifier: GPL-3.0-or-later
//
// A file is opened twice: once to see what it is and, if CSV, to read it; a log has a reader of its own.
#include "sim/deployment/pass_table.h"

#include <stdlib.h>
#include <string.h>

#include "sim/deployment/csv_table.h"
#include "sim/workload/growable.h"

// A path, or text in memory.
typedef struct input {
    const char *path;
    const char *text; // NULL: the file at path
    size_t n_bytes;
} input;

static sim_status add_pass(sim_pass_table *table, const fpm_measured_pass *pass, sim_error *error) {
    fpm_measured_pass *larger = sim_grown(table->passes, &table->capacity, table->n + 1, sizeof *larger);
    if (!larger) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    table->passes = larger;
    larger[table->n++] = *pass;
    return SIM_OK;
}

static sim_status refuse_pass(const char *path, int64_t line, const fpm_error *source, sim_error *error) {
    return sim_error_set(error, SIM_BAD_DATA, path, line, "%s", source->message);
}

// ---------------------------------------------------------------------------------------------------------------------
// CSV
// ---------------------------------------------------------------------------------------------------------------------

enum { FRESH, PAST, DECODES, CONTEXT, MS, N_COLUMNS };
static const sim_csv_column columns[N_COLUMNS] = {
    [FRESH] = { .name = "prefill_tokens", .type = SIM_CSV_COUNT },
    [PAST] = { .name = "prefill_kv_tokens", .type = SIM_CSV_COUNT },
    [DECODES] = { .name = "decode_requests", .type = SIM_CSV_COUNT },
    [CONTEXT] = { .name = "decode_kv_tokens", .type = SIM_CSV_COUNT },
    [MS] = { .name = "ms", .type = SIM_CSV_NUMBER },
};

static sim_status take_row(void *context, const sim_csv_values *row, const char *path, sim_error *error) {
    const fpm_measured_pass pass = { .scheduled = { .sum_prefill_tokens = (uint32_t)row->numbers[FRESH],
                                                    .sum_prefill_kv_tokens = (uint32_t)row->numbers[PAST],
                                                    .num_decode_requests = (uint32_t)row->numbers[DECODES],
                                                    .sum_decode_kv_tokens = (uint32_t)row->numbers[CONTEXT] },
                                     .ms = row->numbers[MS] };
    fpm_error source = { .code = FPM_OK };
    if (fpm_measured_pass_check(&pass, &source)) return refuse_pass(path, row->line, &source, error);
    return add_pass(context, &pass, error);
}

// ---------------------------------------------------------------------------------------------------------------------
// A log
// ---------------------------------------------------------------------------------------------------------------------

static sim_status read_rows(sim_pass_table *table, fpm_log_reader *reader, const char *path, sim_error *error) {
    for (;;) {
        const fpm_metrics *ranks;
        size_t n_ranks;
        int64_t line;
        fpm_error source = { .code = FPM_OK };
        if (fpm_log_reader_next(reader, &ranks, &n_ranks, &line, &source))
            return sim_csv_from_fpm(&source, path, error);
        if (n_ranks == 0) return SIM_OK;
        fpm_measured_pass pass;
        if (fpm_metrics_validate(ranks, n_ranks, &source)) return refuse_pass(path, line, &source, error);
        if (!fpm_measured_pass_of(ranks, n_ranks, &pass)) continue;
        if (fpm_measured_pass_check(&pass, &source)) return refuse_pass(path, line, &source, error);
        const sim_status status = add_pass(table, &pass, error);
        if (status) return status;
    }
}

static sim_status read_log(sim_pass_table *table, const input *from, sim_error *error) {
    fpm_log_reader *reader;
    fpm_error source = { .code = FPM_OK };
    const fpm_status opened = from->text
                                  ? fpm_log_reader_open_memory(&reader, from->text, from->n_bytes, from->path, &source)
                                  : fpm_log_reader_open(&reader, from->path, &source);
    if (opened) return sim_csv_from_fpm(&source, from->path, error);
    const sim_status status = read_rows(table, reader, from->path, error);
    fpm_log_reader_free(reader);
    return status;
}

// ---------------------------------------------------------------------------------------------------------------------
// Which of the two
// ---------------------------------------------------------------------------------------------------------------------

static sim_status open_lines(fpm_line_reader **lines, const input *from, sim_error *error) {
    fpm_error source = { .code = FPM_OK };
    const fpm_status opened =
        from->text ? fpm_line_reader_open_memory(lines, from->text, from->n_bytes, from->path, 0, &source)
                   : fpm_line_reader_open(lines, from->path, &source);
    return opened ? sim_csv_from_fpm(&source, from->path, error) : SIM_OK;
}

// JSON begins with a brace.
static sim_status is_log(const input *from, bool *answer, sim_error *error) {
    fpm_line_reader *lines;
    const sim_status status = open_lines(&lines, from, error);
    if (status) return status;
    fpm_line line;
    bool has_line = true;
    fpm_error source = { .code = FPM_OK };
    fpm_status read = FPM_OK;
    size_t blank = 0;
    do {
        read = fpm_line_reader_next(lines, &line, &has_line, &source);
        for (blank = 0; !read && has_line && blank < line.n_bytes && strchr(" \t\r", line.text[blank]); blank++) {
        }
    } while (!read && has_line && blank == line.n_bytes);
    *answer = !read && has_line && line.text[blank] == '{';
    fpm_line_reader_free(lines);
    return read ? sim_csv_from_fpm(&source, from->path, error) : SIM_OK;
}

static sim_status read_csv(sim_pass_table *table, const input *from, sim_error *error) {
    fpm_line_reader *lines;
    sim_status status = open_lines(&lines, from, error);
    if (status) return status;
    status = sim_csv_table_read(lines, columns, N_COLUMNS, take_row, table, error);
    fpm_line_reader_free(lines);
    return status;
}

static sim_status read_source(sim_pass_table *table, const input *from, sim_error *error) {
    *table = (sim_pass_table){ .n = 0 };
    bool holds_log;
    sim_status status = is_log(from, &holds_log, error);
    if (!status) status = holds_log ? read_log(table, from, error) : read_csv(table, from, error);
    if (!status && table->n == 0)
        status = sim_error_set(error, SIM_BAD_DATA, from->path, 0, "there is no measured pass%s",
                               holds_log ? " (rows with work and a wall_time above 0)" : "");
    return status;
}

sim_status sim_pass_table_load(sim_pass_table *table, const char *path, sim_error *error) {
    return read_source(table, &(input){ .path = path }, error);
}

sim_status sim_pass_table_parse(sim_pass_table *table, const char *text, size_t n_bytes, const char *name,
                                sim_error *error) {
    return read_source(table, &(input){ .path = name, .text = text, .n_bytes = n_bytes }, error);
}

void sim_pass_table_clear(sim_pass_table *table) {
    free(table->passes);
    *table = (sim_pass_table){ .n = 0 };
}
