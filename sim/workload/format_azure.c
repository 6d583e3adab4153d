// SPDX-License-Identifier: GPL-3.0-or-later
//
// Azure LLM inference traces (Azure/AzurePublicDataset): CSV with the columns TIMESTAMP, ContextTokens,
// GeneratedTokens. Columns are bound by name, others are ignored (the 2025 files insert NumImages), but every row must
// have as many fields as the header. Column names in another letter case or with blanks around them are accepted with a
// warning. No hash ids, no sessions.
#include <string.h>

#include "sim/workload/csv_trace.h"

enum { STAMP, INPUT, OUTPUT, N_COLUMNS };
static const char *const column_names[N_COLUMNS] = { "TIMESTAMP", "ContextTokens", "GeneratedTokens" };

typedef struct azure_state {
    sim_csv_trace trace;
    int column[N_COLUMNS];
} azure_state;

static void clear(void *state) { sim_csv_row_clear(&((azure_state *)state)->trace.row); }

static bool contains(const char *text, size_t n_bytes, const char *name) {
    size_t n = strlen(name);
    for (size_t i = 0; i + n <= n_bytes; i++)
        if (strncasecmp(text + i, name, n) == 0) return true;
    return false;
}

static bool recognises(const char *text, size_t n_bytes) {
    if (n_bytes > 4096) n_bytes = 4096; // no header is longer
    for (int i = 0; i < N_COLUMNS; i++)
        if (!contains(text, n_bytes, column_names[i])) return false;
    return true;
}

static bool read_header(sim_trace_input *input, const fpm_line *line) {
    azure_state *state = input->state;
    if (!sim_csv_trace_read_header(input, &state->trace, line)) return false;
    const char *delimiter = memchr(line->text, ';', line->n_bytes) && !memchr(line->text, ',', line->n_bytes)
                                ? "; columns are separated by commas, not by ';'"
                                : "";
    bool all_exact = true;
    for (int i = 0; i < N_COLUMNS; i++) {
        bool is_exact;
        int n_found;
        state->column[i] = sim_csv_find_column(&state->trace.row, column_names[i], &is_exact, &n_found);
        if (n_found == 0)
            return sim_trace_refuse(
                input, SIM_DROP_SYNTAX, 0,
                "the header has no column %s (an Azure trace begins with TIMESTAMP,ContextTokens,GeneratedTokens%s)",
                column_names[i], delimiter);
        if (n_found > 1)
            return sim_trace_refuse(input, SIM_DROP_SYNTAX, 0, "the header has %d columns %s (which one counts?)",
                                    n_found, column_names[i]);
        all_exact &= is_exact;
    }
    if (all_exact) return true;
    if (!sim_text_list_add(input->warnings,
                           "%s:%lld: the header is read as TIMESTAMP,ContextTokens,GeneratedTokens, though letter case "
                           "or blanks differ",
                           fpm_line_reader_name(input->lines), (long long)line->number))
        input->failed = fpm_error_set(&input->error, FPM_NO_MEMORY, "out of memory");
    return !input->failed;
}

static bool read_row(sim_trace_input *input, const fpm_line *line, sim_trace_row *out) {
    azure_state *state = input->state;
    sim_csv_trace *trace = &state->trace;
    return sim_csv_trace_read_row(input, trace, line) && sim_csv_trace_stamp(input, trace, state->column[STAMP], out) &&
           sim_csv_trace_count(input, trace, state->column[INPUT], column_names[INPUT], &out->input_tokens) &&
           sim_csv_trace_count(input, trace, state->column[OUTPUT], column_names[OUTPUT], &out->output_tokens);
}

const sim_trace_format sim_format_azure = {
    .name = "azure",
    .block_size = 0,
    .rounding = SIM_ROUNDING_FORMAT,
    .unit = SIM_UNIT_CALENDAR,
    .looks_like = "CSV with the header TIMESTAMP,ContextTokens,GeneratedTokens",
    .recognises = recognises,
    .state_bytes = sizeof(azure_state),
    .clear = clear,
    .read_header = read_header,
    .read_row = read_row,
};
