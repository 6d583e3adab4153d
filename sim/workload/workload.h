// SPDX-License-Identifier: GPL-3.0-or-later
//
// What is asked: the table of requests of a run, from a trace or a generator.
//
// Requests are immutable records of 64 bytes; the hash ids of all prompts stand in one array beside them. A prompt is
// never expanded to tokens: its content is a row of spans, each of which is a run of tokens of one identity, so that
// two prompts share a prefix exactly as far as their spans agree (simulation-semantics.md 1.2; token value = id,
// repeated). Spans of a prompt, in order:
//   - `shared_tokens` of the head of prefix group `group` (synthetic);
//   - `n_ids` trace blocks of `id_tokens` tokens each, the last one cut at input_tokens (trace);
//   - the rest, which belongs to this request alone.
// In generated sessions a prompt begins with the whole sequence of the turn before, prompt and answer, whose spans those are.
#ifndef SIM_WORKLOAD_WORKLOAD_H
#define SIM_WORKLOAD_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/config/config.h"

typedef enum sim_source { SIM_SOURCE_SYNTHETIC, SIM_SOURCE_TRACE, SIM_SOURCE_SESSIONS } sim_source;
typedef enum sim_block_rounding { SIM_ROUNDING_FORMAT, SIM_ROUNDING_CEIL, SIM_ROUNDING_FLOOR } sim_block_rounding;
typedef enum sim_time_unit {
    SIM_UNIT_FORMAT,
    SIM_UNIT_NS,
    SIM_UNIT_US,
    SIM_UNIT_MS,
    SIM_UNIT_S,
    SIM_UNIT_CALENDAR
} sim_time_unit;
typedef enum sim_bad_record { SIM_BAD_RECORD_FAIL, SIM_BAD_RECORD_SKIP } sim_bad_record;

// A distribution of token counts (distribution.h).
typedef enum sim_distribution_kind {
    SIM_DIST_CONSTANT,
    SIM_DIST_UNIFORM,
    SIM_DIST_NORMAL,
    SIM_DIST_LOGNORMAL,
    SIM_DIST_GAMMA,
    SIM_DIST_ZIPF
} sim_distribution_kind;
typedef struct sim_distribution {
    sim_distribution_kind kind;
    double a, b;
} sim_distribution;

// Columns of a CSV trace by name, "" or NULL = not given.
typedef struct sim_csv_config { // section [csv]
    const char *arrival, *input_tokens, *output_tokens, *session, *priority, *cached_tokens;
    int unit; // sim_csv_unit
} sim_csv_config;
// Seconds first: what is zero is what nobody asked to be otherwise.
typedef enum sim_csv_unit { SIM_CSV_S, SIM_CSV_NS, SIM_CSV_US, SIM_CSV_MS, SIM_CSV_CALENDAR } sim_csv_unit;

typedef struct sim_workload_config {
    int source;         // sim_source
    int format;         // index into sim_trace_format_names (0 = auto)
    const char *path;   // "" = none; a trace needs one
    int64_t block_size; // tokens per hash id; 0 = the format's own
    int block_rounding; // sim_block_rounding
    int time_unit;      // sim_time_unit
    bool rebase;
    int64_t limit; // first N requests; 0 = all
    int on_bad_record;
    sim_distribution input_tokens;
    sim_distribution output_tokens;
    int64_t requests;
    int64_t shared_prefix_tokens;
    int64_t prefix_groups;
    int64_t turns; // sessions: of each; the last one may have fewer
    int64_t think_time_ns;
    sim_csv_config csv;
} sim_workload_config;

extern const sim_key_table sim_workload_keys;      // section [workload]
extern const sim_key_table sim_csv_keys;           // section [csv]: sim_workload_config.csv
extern const char *const sim_trace_format_names[]; // "auto", "mooncake", "azure", "csv", NULL
// What a file of that format holds, in one line for people (`list formats`). `index` is one of sim_trace_format_names.
const char *sim_trace_format_looks(size_t index);
extern const char *const sim_block_rounding_names[]; // of sim_block_rounding, NULL-terminated
extern const char *const sim_time_unit_names[];      // of sim_time_unit, NULL-terminated

// Longest prompt and longest answer, so that their sum fits 32 bits; a larger count is a bad record.
#define SIM_MAX_TOKENS UINT32_C(2147483647)

typedef struct sim_request {
    int64_t stamp_ns;       // recorded arrival; 0 for a generator
    uint64_t first_id;      // index of its first hash id in sim_workload.ids
    uint32_t n_ids;         // 0: no trace identity
    uint32_t input_tokens;  // >= 1
    uint32_t output_tokens; // 0: prefill only
    uint32_t shared_tokens; // tokens of the group's head, in front of everything else
    uint32_t group;
    uint32_t session;  // index of the session, SIM_NO_SESSION without one
    uint32_t line;     // physical line in the trace, 0 for a generator; UINT32_MAX for anything beyond
    uint32_t previous; // the turn before of its session, SIM_NO_REQUEST for a first turn or without one
    int64_t delay_ns;  // from the end of that turn to this one; < 0: not given
    bool has_stamp;    // it has an arrival time of its own
} sim_request;
#define SIM_NO_REQUEST UINT32_MAX
#define SIM_NO_SESSION UINT32_MAX

// Why a row was dropped, as counted in `dropped` of reports.
#define SIM_DROP_LIST(X)                       \
    X(SIM_DROP_SYNTAX, "syntax")               \
    X(SIM_DROP_BAD_TIMESTAMP, "bad_timestamp") \
    X(SIM_DROP_BAD_LENGTH, "bad_length")       \
    X(SIM_DROP_ZERO_INPUT, "zero_input")       \
    X(SIM_DROP_HASH_COUNT, "hash_count")       \
    X(SIM_DROP_FIELD_COUNT, "field_count")
typedef enum sim_drop_reason {
#define X(code, name) code,
    SIM_DROP_LIST(X)
#undef X
        SIM_DROP_REASONS
} sim_drop_reason;
extern const char *const sim_drop_reason_names[SIM_DROP_REASONS];

// The hash ids of a trace under a cache that never forgets, rows in file order (trace_info.h has the definition).
typedef struct sim_block_census {
    uint64_t distinct; // ids
    uint64_t hit_blocks;
    uint64_t hit_tokens;
} sim_block_census;

// Rows whose stamp lies before that of an earlier row. They are sorted, silently up to 1 s.
typedef struct sim_disorder {
    uint64_t adjacent_decreases; // rows stamped before the row in front of them
    int64_t largest_step_ns;     // how far behind the latest stamp so far a row lies at most
    int64_t largest_step_line;
} sim_disorder;

typedef struct sim_workload {
    sim_request *requests; // in order of (stamp, file order)
    size_t n_requests;
    uint64_t *ids;
    size_t n_ids;
    uint32_t id_tokens;     // tokens per hash id
    bool has_stamps;        // a source with arrival times of its own
    bool has_turns;         // some request has a turn before it
    bool has_grown_prompts; // a turn's prompt is the whole sequence before it and then its own tokens
    size_t n_sessions;
    // what became of the input
    const char *format_name; // "" for a generator
    const char *path;        // copy owned by the workload, "" for a generator
    uint64_t rows_read;      // requests, not lines
    uint64_t rows_kept;
    uint64_t dropped[SIM_DROP_REASONS];
    int time_unit;      // sim_time_unit, as resolved
    int block_rounding; // sim_block_rounding, as resolved; SIM_ROUNDING_FORMAT for a format without ids
    sim_block_census census;
    sim_disorder disorder;
    char **warnings; // each one line, "FILE:LINE: ..." where it has a place
    size_t n_warnings;
    char **notes; // likewise: what was decided for the user, e.g. the format
    size_t n_notes;
    struct sim_session_table *sessions; // use sim_workload_session_name
} sim_workload;

// Contradictions between the keys of [workload], for `check` and as the first step of sim_workload_new. A key counts by
// its value, not by being written down, so that a resolved configuration, which has every key, stays valid. `config`
// places the error and may be NULL.
sim_status sim_workload_check(const sim_config *config, const sim_workload_config *settings, sim_error *error);

// A trace with format = csv, or with format = auto and columns named in [csv].
bool sim_workload_is_csv(const sim_workload_config *settings);
// Can its requests have arrival times of their own? Of other traces only reading tells; a CSV trace has them when csv.arrival names a column.
bool sim_workload_can_have_stamps(const sim_workload_config *settings);

// Read the trace or run the generator. SIM_USAGE: contradictions of the keys (placed by `config`, which may be NULL);
// SIM_IO: a trace that cannot be read; SIM_BAD_DATA: a bad record (with on_bad_record = fail), no requests left.
sim_status sim_workload_new(sim_workload **workload, const sim_config *config, const sim_workload_config *settings,
                            uint64_t root_seed, sim_error *error);
void sim_workload_free(sim_workload *workload);

// Name of session `session` as the trace has it, "" for SIM_NO_SESSION.
const char *sim_workload_session_name(const sim_workload *workload, uint32_t session);

// Identity of the content of a run of tokens; equal spans at the same place of two prompts are equal tokens.
typedef enum sim_content { SIM_CONTENT_TRACE, SIM_CONTENT_GROUP, SIM_CONTENT_OWN, SIM_CONTENT_GENERATED } sim_content;
typedef struct sim_span {
    sim_content content;
    uint64_t id;        // hash id, group, index of the request it belongs to, or of the one that generated it
    uint32_t end_token; // first token after the span
} sim_span;

// The span of request `request` that holds token `token` (< input_tokens). O(1), in generated sessions O(turns).
sim_span sim_workload_span(const sim_workload *workload, uint32_t request, uint32_t token);

#endif
