// SPDX-License-Identifier: GPL-3.0-or-later
//
// Request tables from CSV (request_table.h says which).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/kernel/clock.h"
#include "sim/report/request_table.h"
#include "sim/workload/csv_row.h"
#include "sim/workload/growable.h"
#include "sim/workload/session_table.h"
#include "sim/workload/trace_reader.h"

typedef enum meaning { IS_ID, IS_SESSION, IS_STATUS, IS_ARRIVAL, IS_LATENCY, IS_INPUT, IS_CACHED, IS_OUTPUT } meaning;

typedef struct known_column {
    const char *name; // of a time: without its unit
    meaning meaning;
    sim_latency latency;
    bool is_own; // requests.csv has it
} known_column;

static const known_column known[] = {
    { "id", IS_ID, 0, true },
    { "session", IS_SESSION, 0, true },
    { "status", IS_STATUS, 0, true },
    { "arrival", IS_ARRIVAL, 0, true },
    { "ttft", IS_LATENCY, SIM_LATENCY_TTFT, true },
    { "tpot", IS_LATENCY, SIM_LATENCY_TPOT, true },
    { "e2e", IS_LATENCY, SIM_LATENCY_E2E, true },
    { "input_tokens", IS_INPUT, 0, true },
    { "isl", IS_INPUT, 0, false },
    { "cached_tokens", IS_CACHED, 0, true },
    { "output_tokens", IS_OUTPUT, 0, true },
    { "osl", IS_OUTPUT, 0, false },
};
enum { N_KNOWN = sizeof known / sizeof *known };

typedef struct column {
    const known_column *known; // NULL: not used
    double ms;                 // per unit of a time
} column;

static const struct {
    const char *suffix;
    double ms;
} units[] = { { "_ns", 1e-6 }, { "_us", 1e-3 }, { "_ms", 1 }, { "_s", 1e3 } };

typedef struct condition {
    size_t column;
    const char *value;
} condition;

typedef struct reading {
    sim_request_table *table;
    size_t capacity;
    bool is_own;
    const sim_row_filter *filter;
    fpm_line_reader *lines;
    const char *path;
    int64_t line;
    sim_csv_row row;
    column *columns;
    size_t n_columns;
    condition *conditions;
    uint64_t n_read; // rows, before the filter
    sim_session_table *sessions;
    uint32_t *turns; // by session
    size_t turns_capacity;
    sim_error *error;
} reading;

static sim_status no_memory(const reading *in) {
    return sim_error_set(in->error, SIM_NO_MEMORY, NULL, 0, "out of memory");
}

// ---------------------------------------------------------------------------------------------------------------------
// The header
// ---------------------------------------------------------------------------------------------------------------------

static bool is_text(const sim_csv_field *field, const char *text) {
    return field->n_bytes == strlen(text) && memcmp(field->text, text, field->n_bytes) == 0;
}

static bool is_time(const known_column *of) { return of->meaning == IS_ARRIVAL || of->meaning == IS_LATENCY; }

static bool classify(const sim_csv_field *field, column *out) {
    for (size_t k = 0; k < N_KNOWN; k++) {
        char name[64];
        *out = (column){ &known[k], 1 };
        if (!is_time(&known[k]) && is_text(field, known[k].name)) return true;
        for (size_t u = 0; is_time(&known[k]) && u < sizeof units / sizeof *units; u++) {
            snprintf(name, sizeof name, "%s%s", known[k].name, units[u].suffix);
            out->ms = units[u].ms;
            if (is_text(field, name)) return true;
        }
    }
    *out = (column){ .known = NULL };
    return false;
}

// A time without its unit is the likeliest slip, and would otherwise pass for a column that is not used.
static sim_status check_unit(const reading *in, const sim_csv_field *field) {
    for (size_t k = 0; k < N_KNOWN; k++)
        if (is_time(&known[k]) && is_text(field, known[k].name))
            return sim_error_set(in->error, SIM_BAD_DATA, in->path, in->line,
                                 "column \"%s\" does not say its unit (call it %s_ms, %s_s, %s_us or %s_ns)",
                                 known[k].name, known[k].name, known[k].name, known[k].name, known[k].name);
    return SIM_OK;
}

static void note_unused(sim_request_table *table, const sim_csv_field *field) {
    const size_t at = strlen(table->unused);
    snprintf(table->unused + at, sizeof table->unused - at, "%s%.*s", at ? ", " : "",
             (int)(field->n_bytes < 60 ? field->n_bytes : 60), field->text);
}

static sim_status take_column(reading *in, size_t index) {
    const sim_csv_field *field = &in->row.fields[index];
    column *made = &in->columns[index];
    if (!classify(field, made)) {
        const sim_status status = check_unit(in, field);
        if (!status) note_unused(in->table, field);
        return status;
    }
    for (size_t i = 0; i < index; i++) {
        const known_column *other = in->columns[i].known;
        if (other && other->meaning == made->known->meaning && other->latency == made->known->latency)
            return sim_error_set(in->error, SIM_BAD_DATA, in->path, in->line,
                                 "two columns say the same: \"%s\" and \"%s\" (keep one)", other->name,
                                 made->known->name);
    }
    return SIM_OK;
}

static bool has_column(const reading *in, const known_column *wanted) {
    for (size_t i = 0; i < in->n_columns; i++)
        if (in->columns[i].known == wanted) return true;
    return false;
}

static bool has_meaning(const reading *in, meaning wanted) {
    for (size_t i = 0; i < in->n_columns; i++)
        if (in->columns[i].known && in->columns[i].known->meaning == wanted) return true;
    return false;
}

static sim_status check_columns(reading *in) {
    for (size_t k = 0; in->is_own && k < N_KNOWN; k++)
        if (known[k].is_own && !has_column(in, &known[k]))
            return sim_error_set(
                in->error, SIM_BAD_DATA, in->path, in->line,
                "the header has no column \"%s%s\" (requests.csv of forepass replay --requests has it)", known[k].name,
                is_time(&known[k]) ? "_ms" : "");
    if (!has_meaning(in, IS_LATENCY))
        return sim_error_set(in->error, SIM_BAD_DATA, in->path, in->line,
                             "the header has no measured time (ttft_ms, tpot_ms or e2e_ms; _s, _us and _ns too)");
    in->table->has_arrivals = has_meaning(in, IS_ARRIVAL);
    in->table->has_input_tokens = has_meaning(in, IS_INPUT);
    in->table->has_output_tokens = has_meaning(in, IS_OUTPUT);
    in->table->has_cached_tokens = has_meaning(in, IS_CACHED);
    return SIM_OK;
}

static sim_status resolve_conditions(reading *in) {
    const size_t n = in->filter ? in->filter->n : 0;
    in->conditions = calloc(n + 1, sizeof *in->conditions);
    if (!in->conditions) return no_memory(in);
    for (size_t i = 0; i < n; i++) {
        const char *text = in->filter->conditions[i], *equals = strchr(text, '=');
        if (!equals)
            return sim_error_set(in->error, SIM_USAGE, NULL, 0, "--filter: \"%s\" is no condition (write COLUMN=VALUE)",
                                 text);
        size_t c = 0;
        const size_t n_name = (size_t)(equals - text);
        while (c < in->n_columns &&
               (in->row.fields[c].n_bytes != n_name || memcmp(in->row.fields[c].text, text, n_name) != 0))
            c++;
        if (c == in->n_columns)
            return sim_error_set(in->error, SIM_USAGE, NULL, 0, "--filter: %s has no column %.*s", in->path,
                                 (int)(n_name < 80 ? n_name : 80), text);
        in->conditions[i] = (condition){ c, equals + 1 };
    }
    return SIM_OK;
}

static sim_status read_header(reading *in) {
    in->n_columns = in->row.n_fields;
    in->columns = calloc(in->n_columns, sizeof *in->columns);
    if (!in->columns) return no_memory(in);
    for (size_t i = 0; i < in->n_columns; i++) {
        const sim_status status = take_column(in, i);
        if (status) return status;
    }
    const sim_status status = check_columns(in);
    return status ? status : resolve_conditions(in);
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows
// ---------------------------------------------------------------------------------------------------------------------

static sim_status refuse_cell(const reading *in, const known_column *of, const sim_csv_field *field,
                              const char *wanted) {
    return sim_error_set(in->error, SIM_BAD_DATA, in->path, in->line, "%s: \"%.*s\" is none (%s)", of->name,
                         (int)(field->n_bytes < 60 ? field->n_bytes : 60), field->text, wanted);
}

static bool parse_number(const sim_csv_field *field, double *value) {
    char text[64];
    if (field->n_bytes == 0 || field->n_bytes >= sizeof text) return false;
    snprintf(text, sizeof text, "%.*s", (int)field->n_bytes, field->text);
    return !sim_parse_real(text, value) && isfinite(*value);
}

static sim_status read_arrival(const reading *in, const column *of, const sim_csv_field *field,
                               sim_request_outcome *row) {
    double value;
    const bool is_number = parse_number(field, &value);
    const double ns = is_number ? value * (of->ms * 1e6) : 0;
    if (!is_number || fabs(ns) > 9e18) return refuse_cell(in, of->known, field, "a time");
    row->arrival_ns = (int64_t)llround(ns);
    row->is_measured = true;
    return SIM_OK;
}

static sim_status read_latency(const reading *in, const column *of, const sim_csv_field *field,
                               sim_request_outcome *row) {
    double value;
    if (!parse_number(field, &value) || value < 0 || value * (of->ms * 1e6) > 9e18)
        return refuse_cell(in, of->known, field, "a time from 0 to 285 years; empty: there is none");
    row->ms[of->known->latency] = value * of->ms;
    return SIM_OK;
}

static sim_status read_count(const reading *in, const column *of, const sim_csv_field *field, uint32_t *count) {
    uint64_t value;
    if (!sim_csv_field_u64(field, &value) || value > UINT32_MAX)
        return refuse_cell(in, of->known, field, "a number of tokens, 0 to 4294967295");
    *count = (uint32_t)value;
    return SIM_OK;
}

static sim_status read_session(reading *in, const sim_csv_field *field, sim_request_outcome *row) {
    uint32_t session;
    const size_t n_before = sim_session_table_count(in->sessions);
    if (!sim_session_table_find(in->sessions, field->text, field->n_bytes, &session)) return no_memory(in);
    uint32_t *turns = sim_grown(in->turns, &in->turns_capacity, (size_t)session + 1, sizeof *turns);
    if (!turns) return no_memory(in);
    in->turns = turns;
    if (session >= n_before) turns[session] = 0;
    row->turn = ++turns[session];
    in->table->has_sessions = true;
    return SIM_OK;
}

static sim_status read_status(const reading *in, const column *of, const sim_csv_field *field,
                              sim_request_outcome *row) {
    static const struct {
        const char *name;
        sim_request_status status;
    } names[] = { { "completed", SIM_REQUEST_COMPLETED },
                  { "rejected", SIM_REQUEST_REJECTED },
                  { "incomplete", SIM_REQUEST_OPEN },
                  { "not_admitted", SIM_REQUEST_PENDING } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        row->status = (uint8_t)names[i].status;
        if (is_text(field, names[i].name)) return SIM_OK;
    }
    return refuse_cell(in, of->known, field, "completed, rejected, incomplete or not_admitted");
}

// requests.csv numbers its rows; a gap is a part of the file that is lost.
static sim_status read_id(const reading *in, const column *of, const sim_csv_field *field) {
    uint64_t id;
    if (!in->is_own || (sim_csv_field_u64(field, &id) && id == in->n_read)) return SIM_OK;
    char wanted[64];
    snprintf(wanted, sizeof wanted, "%llu is due here; are rows missing?", (unsigned long long)in->n_read);
    return refuse_cell(in, of->known, field, wanted);
}

static sim_status read_cell(reading *in, const column *of, const sim_csv_field *field, sim_request_outcome *row) {
    if (!of->known || (field->n_bytes == 0 && of->known->meaning != IS_STATUS && of->known->meaning != IS_ID))
        return SIM_OK;
    switch (of->known->meaning) {
    case IS_ID:
        return read_id(in, of, field);
    case IS_SESSION:
        return read_session(in, field, row);
    case IS_STATUS:
        return read_status(in, of, field, row);
    case IS_ARRIVAL:
        return read_arrival(in, of, field, row);
    case IS_LATENCY:
        return read_latency(in, of, field, row);
    case IS_INPUT:
        return read_count(in, of, field, &row->input_tokens);
    case IS_OUTPUT:
        return read_count(in, of, field, &row->output_tokens);
    case IS_CACHED:
        row->has_cached = true;
        return read_count(in, of, field, &row->cached_tokens);
    }
    return SIM_OK;
}

static bool passes(const reading *in) {
    const size_t n = in->filter ? in->filter->n : 0;
    for (size_t i = 0; i < n; i++) {
        bool is_met = false; // by any condition on the same column
        for (size_t k = 0; k < n; k++)
            if (in->conditions[k].column == in->conditions[i].column)
                is_met |= is_text(&in->row.fields[in->conditions[k].column], in->conditions[k].value);
        if (!is_met) return false;
    }
    return true;
}

static sim_status check_row(const reading *in, sim_request_outcome *row) {
    const sim_request_table *table = in->table;
    bool has_time = false;
    for (int i = 0; i < SIM_LATENCIES; i++) has_time |= !isnan(row->ms[i]);
    const bool has_output = !table->has_output_tokens || row->output_tokens > 0;
    if (row->status == SIM_REQUEST_COMPLETED && has_output && !has_time)
        return sim_error_set(in->error, SIM_BAD_DATA, in->path, in->line,
                             "a completed request without any time (status tells of those that failed)");
    // of a run that was cut short: one that had not come yet
    if (in->is_own && row->status == SIM_REQUEST_OPEN && !row->is_measured) row->status = SIM_REQUEST_PENDING;
    if (row->status != SIM_REQUEST_PENDING && table->has_arrivals && !row->is_measured)
        return sim_error_set(in->error, SIM_BAD_DATA, in->path, in->line, "the request has no arrival");
    row->is_measured = row->status != SIM_REQUEST_PENDING;
    return SIM_OK;
}

static sim_status read_row(reading *in, bool has_end) {
    sim_request_table *table = in->table;
    if (in->row.n_fields != in->n_columns)
        return sim_error_set(in->error, SIM_BAD_DATA, in->path, in->line,
                             "the row has %zu fields, the header %zu (is the file cut short?)", in->row.n_fields,
                             in->n_columns);
    if (in->is_own && !has_end)
        return sim_error_set(in->error, SIM_BAD_DATA, in->path, in->line,
                             "the line has no end (is the file cut short?)");
    if (!passes(in)) return SIM_OK;
    sim_request_outcome *rows = sim_grown(table->rows, &in->capacity, table->n_rows + 1, sizeof *rows);
    if (!rows) return no_memory(in);
    table->rows = rows;
    sim_request_outcome *row = &rows[table->n_rows];
    *row = (sim_request_outcome){ .status = SIM_REQUEST_COMPLETED };
    for (int i = 0; i < SIM_LATENCIES; i++) row->ms[i] = (double)NAN;
    for (size_t i = 0; i < in->n_columns; i++) {
        const sim_status status = read_cell(in, &in->columns[i], &in->row.fields[i], row);
        if (status) return status;
    }
    table->n_rows++;
    return check_row(in, row);
}

// ---------------------------------------------------------------------------------------------------------------------
// The file
// ---------------------------------------------------------------------------------------------------------------------

static sim_status read_record(reading *in, const fpm_line *line) {
    const bool has_end = line->has_end;
    in->line = line->number;
    sim_status status = sim_csv_record_read(&in->row, line, in->lines, in->path, in->error);
    if (status) return status;
    if (!in->columns) return read_header(in);
    status = read_row(in, has_end);
    in->n_read++;
    return status;
}

static sim_status read_all(reading *in) {
    for (;;) {
        fpm_line line;
        bool has_line;
        fpm_error fault;
        if (fpm_line_reader_next(in->lines, &line, &has_line, &fault)) return sim_error_from_fpm(in->error, &fault);
        if (!has_line) break;
        if (line.n_bytes == 0) continue;
        const sim_status status = read_record(in, &line);
        if (status) return status;
    }
    if (in->table->n_rows > 0) return SIM_OK;
    return sim_error_set(in->error, SIM_BAD_DATA, in->path, 0, "%s",
                         in->n_read > 0 ? "no row is left by --filter" : "the file has no requests");
}

sim_status sim_request_table_read(sim_request_table *table, fpm_line_reader *lines, bool is_own,
                                  const sim_row_filter *filter, sim_error *error) {
    *table = (sim_request_table){ .rows = NULL };
    reading in = {
        .table = table,
        .is_own = is_own,
        .filter = filter,
        .lines = lines,
        .path = fpm_line_reader_name(lines),
        .sessions = sim_session_table_new(),
        .error = error,
    };
    const sim_status status = in.sessions ? read_all(&in) : no_memory(&in);
    sim_csv_row_clear(&in.row);
    sim_session_table_free(in.sessions);
    free(in.columns);
    free(in.conditions);
    free(in.turns);
    if (status) sim_request_table_clear(table);
    return status;
}
