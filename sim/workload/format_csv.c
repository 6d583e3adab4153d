// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any CSV file whose columns the user names in [csv]. Nothing is guessed: not which column is which, not the unit, not that the file is one of these
// (recognises claims nothing; workload.format = csv or a key of [csv] chooses it). Names must be those of the header to the letter, blanks around them
// aside; a column that no key names is ignored. No hash ids. Rows of one session are its turns, in file order.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/workload/csv_trace.h"

enum { ARRIVAL, INPUT, OUTPUT, SESSION, N_COLUMNS };
static const char *const key_names[N_COLUMNS] = { "arrival", "input_tokens", "output_tokens", "session" };

typedef struct csv_state {
    sim_csv_trace trace;
    int column[N_COLUMNS]; // -1: the key is not given
} csv_state;

static void clear(void *state) { sim_csv_row_clear(&((csv_state *)state)->trace.row); }

static bool recognises(const char *text, size_t n_bytes) {
    (void)text, (void)n_bytes;
    return false;
}

// --- columns ---------------------------------------------------------------------------------------------------------

static bool no_memory(sim_trace_input *input) {
    input->failed = fpm_error_set(&input->error, FPM_NO_MEMORY, "out of memory");
    return false;
}

static bool refuse_missing(sim_trace_input *input, const char *key, const char *name, const char *nearest) {
    return sim_trace_refuse(input, SIM_DROP_SYNTAX, 0,
                            "the header has no column \"%.100s\", which csv.%s names%s%.100s%s", name, key,
                            nearest ? " (did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?)" : "");
}

static void free_names(char **names, size_t n) {
    for (size_t i = 0; names && i < n; i++) free(names[i]);
    free(names);
}

// Say which header comes nearest.
static bool refuse_unknown(sim_trace_input *input, const sim_csv_row *header, const char *key, const char *name) {
    char **names = calloc(header->n_fields, sizeof *names);
    bool has_memory = names;
    for (size_t i = 0; has_memory && i < header->n_fields; i++) {
        names[i] = strndup(header->fields[i].text, header->fields[i].n_bytes);
        has_memory = names[i];
    }
    if (has_memory)
        refuse_missing(input, key, name, sim_nearest_name(name, (const char *const *)names, header->n_fields));
    else
        no_memory(input);
    free_names(names, header->n_fields);
    return false;
}

static bool find_column(sim_trace_input *input, const sim_csv_row *header, const char *key, const char *name,
                        int *column) {
    *column = -1;
    if (!name || !*name) return true;
    const size_t n = strlen(name);
    for (size_t i = 0; i < header->n_fields; i++) {
        const sim_csv_field *field = &header->fields[i];
        if (field->n_bytes != n || memcmp(field->text, name, n) != 0) continue;
        if (*column >= 0)
            return sim_trace_refuse(input, SIM_DROP_SYNTAX, 0, "two columns are called \"%.100s\" (csv.%s)", name, key);
        *column = (int)i;
    }
    return *column >= 0 || refuse_unknown(input, header, key, name);
}

static bool read_header(sim_trace_input *input, const fpm_line *line) {
    csv_state *state = input->state;
    const sim_csv_config *csv = &input->settings->csv;
    const char *const names[N_COLUMNS] = { csv->arrival, csv->input_tokens, csv->output_tokens, csv->session };
    if (!sim_csv_trace_read_header(input, &state->trace, line)) return false;
    for (int i = 0; i < N_COLUMNS; i++)
        if (!find_column(input, &state->trace.row, key_names[i], names[i], &state->column[i])) return false;
    assert(state->column[INPUT] >= 0 && state->column[OUTPUT] >= 0 && "sim_workload_check asks for both");
    return true;
}

// --- rows ------------------------------------------------------------------------------------------------------------

static bool read_row(sim_trace_input *input, const fpm_line *line, sim_trace_row *out) {
    csv_state *state = input->state;
    const sim_csv_config *csv = &input->settings->csv;
    sim_csv_trace *trace = &state->trace;
    if (!sim_csv_trace_read_row(input, trace, line)) return false;
    if (state->column[ARRIVAL] >= 0 && !sim_csv_trace_stamp(input, trace, state->column[ARRIVAL], out)) return false;
    if (state->column[SESSION] >= 0 && trace->row.fields[state->column[SESSION]].n_bytes > 0) {
        out->session = trace->row.fields[state->column[SESSION]].text;
        out->session_bytes = trace->row.fields[state->column[SESSION]].n_bytes;
    }
    return sim_csv_trace_count(input, trace, state->column[INPUT], csv->input_tokens, &out->input_tokens) &&
           sim_csv_trace_count(input, trace, state->column[OUTPUT], csv->output_tokens, &out->output_tokens);
}

const sim_trace_format sim_format_csv = {
    .name = "csv",
    .block_size = 0,
    .rounding = SIM_ROUNDING_FORMAT,
    .unit = SIM_UNIT_FORMAT, // csv.unit
    .looks_like = "CSV with a header, whose columns [csv] names: csv.input_tokens, csv.output_tokens, csv.arrival, ...",
    .recognises = recognises,
    .state_bytes = sizeof(csv_state),
    .clear = clear,
    .read_header = read_header,
    .read_row = read_row,
};
