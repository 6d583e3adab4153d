// SPDX-License-Identifier: GPL-3.0-or-later
//
// What one trace format is to the reading loop (trace_reader.c): a row of facts and functions. A new format is one file
// with one const sim_trace_format and an entry in the registry of trace_reader.c. Unit, block size and block rounding
// belong to the format and are never guessed from the numbers (notes/trace-formats.md section 0).
#ifndef SIM_WORKLOAD_TRACE_FORMAT_H
#define SIM_WORKLOAD_TRACE_FORMAT_H

#include "perfmodel/line_reader.h"
#include "sim/workload/growable.h"
#include "sim/workload/workload.h"

// What a row says. Hash ids are appended to the id list instead.
typedef struct sim_trace_row {
    bool has_stamp;
    bool stamp_is_fractional;
    bool has_ids;
    bool lacks_input; // the prompt is as long as its ids say
    bool has_delay;
    int64_t delay_ns; // from the end of the turn before; >= 0
    int64_t stamp_ns;
    uint64_t input_tokens;
    uint64_t output_tokens;
    size_t n_ids;
    const char *session; // not NUL-terminated; NULL = none. Lives until the next row
    size_t session_bytes;
} sim_trace_row;

typedef struct sim_id_list {
    uint64_t *ids;
    size_t n, capacity;
} sim_id_list;

// Why a row is bad.
typedef struct sim_trace_fault {
    sim_drop_reason reason;
    int64_t column; // 0 = no place
    char message[320];
} sim_trace_fault;

typedef struct sim_trace_input {
    fpm_line_reader *lines;
    const sim_workload_config *settings;
    sim_time_unit unit;
    sim_id_list ids; // the reading loop takes the ids of a bad row off again
    sim_text_list *warnings;
    sim_trace_fault fault;
    fpm_status failed; // reading went wrong, or no memory: see `error`
    fpm_error error;
    void *state; // of the format
} sim_trace_input;

typedef struct sim_trace_format {
    const char *name;
    uint32_t block_size;         // tokens per hash id; 0: the format has none
    sim_block_rounding rounding; // SIM_ROUNDING_FORMAT where there are no ids
    sim_time_unit unit;          // SIM_UNIT_FORMAT: the user says it (csv.unit)
    const char *looks_like;      // one line for error messages
    // Does this look like the first record of the format? Must not claim what another format claims.
    bool (*recognises)(const char *text, size_t n_bytes);
    size_t state_bytes; // zeroed before the first record
    void (*clear)(void *state);
    // The header record, for formats that have one; false: not a usable header, see input->fault.
    bool (*read_header)(sim_trace_input *input, const fpm_line *line);
    // One record into a zeroed `row`; false: a bad row, see input->fault (or input->failed, which ends the reading).
    bool (*read_row)(sim_trace_input *input, const fpm_line *line, sim_trace_row *row);
} sim_trace_format;

extern const sim_trace_format sim_format_mooncake;
extern const sim_trace_format sim_format_azure;
extern const sim_trace_format sim_format_csv;

// Fill input->fault and return false.
bool sim_trace_refuse(sim_trace_input *input, sim_drop_reason reason, int64_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
