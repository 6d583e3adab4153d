// SPDX-License-Identifier: GPL-3.0-or-later
//
// The rules every format shares (interface.md "Trace formats"): rows read = kept + dropped; a bad record ends the
// reading or is counted; a file has stamps on all rows or on none, so that a missing one never becomes 0; negative
// stamps are legal where the trace is re-based; the number of hash ids fits the length; equal stamps keep file order.
#include "sim/workload/trace_reader.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/kernel/clock.h"
#include "sim/workload/block_census.h"
#include "sim/workload/contradiction.h"
#include "sim/workload/csv_keys.h"
#include "sim/workload/session_table.h"
#include "sim/workload/trace_format.h"
#include "sim/workload/trace_order.h"

#define X(code, name) [code] = name,
const char *const sim_drop_reason_names[SIM_DROP_REASONS] = { SIM_DROP_LIST(X) };
#undef X

static const sim_trace_format *const formats[] = { NULL /* auto */, &sim_format_mooncake, &sim_format_azure,
                                                   &sim_format_csv };
enum { N_FORMATS = sizeof formats / sizeof *formats };
const char *const sim_trace_format_names[] = { "auto", "mooncake", "azure", "csv", NULL };
static_assert(sizeof sim_trace_format_names / sizeof *sim_trace_format_names == N_FORMATS + 1,
              "names and formats are one list");

const char *sim_trace_format_looks(size_t index) {
    assert(index < N_FORMATS);
    return formats[index] ? formats[index]->looks_like : "whichever of these the first record shows";
}

bool sim_workload_is_csv(const sim_workload_config *settings) {
    const sim_trace_format *format = formats[settings->format];
    return settings->source == SIM_SOURCE_TRACE &&
           (format == &sim_format_csv || (!format && sim_csv_is_given(&settings->csv)));
}

bool sim_workload_can_have_stamps(const sim_workload_config *settings) {
    if (settings->source != SIM_SOURCE_TRACE) return false;
    return !sim_workload_is_csv(settings) || (settings->csv.arrival && *settings->csv.arrival);
}

// First sizes of the arrays: large enough to be mappings of their own, which grow without copying and of which
// untouched pages cost nothing.
enum { FIRST_REQUESTS = 1 << 14, FIRST_IDS = 1 << 17 };

typedef enum stamps { STAMPS_UNKNOWN, STAMPS_ON_ALL, STAMPS_ON_NONE } stamps;

typedef struct reading {
    sim_workload *workload;
    const sim_config *config;
    const sim_workload_config *settings;
    const sim_trace_format *format; // NULL until it is known
    sim_trace_input input;
    size_t request_capacity;
    sim_text_list warnings, notes;
    const char *name; // of the file
    bool wants_header;
    stamps stamps;
    uint64_t n_fractional; // kept rows whose stamp is no whole number of its unit
    int64_t latest_ns;     // of the stamps kept so far
    uint32_t *last_turns;  // by session: the latest request of it
    size_t last_turn_capacity;
    char *first_fault[SIM_DROP_REASONS];
} reading;

bool sim_trace_refuse(sim_trace_input *input, sim_drop_reason reason, int64_t column, const char *format, ...) {
    input->fault.reason = reason;
    input->fault.column = column;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(input->fault.message, sizeof input->fault.message, format, arguments);
    va_end(arguments);
    return false;
}

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

sim_status sim_error_from_fpm(sim_error *error, const fpm_error *from) {
    sim_status status = from->code == FPM_IO ? SIM_IO : from->code == FPM_NO_MEMORY ? SIM_NO_MEMORY : SIM_BAD_DATA;
    sim_error_set(error, status, from->file[0] ? from->file : NULL, from->line, "%s", from->message);
    if (error) error->column = from->column;
    return status;
}

// --- format ----------------------------------------------------------------------------------------------------------

static const char *rounding_words(sim_block_rounding rounding) {
    return rounding == SIM_ROUNDING_CEIL ? "a partial last block has an id" : "a partial last block has no id";
}

static bool reserve(reading *r) {
    r->workload->requests = sim_grown(NULL, &r->request_capacity, FIRST_REQUESTS, sizeof *r->workload->requests);
    if (!r->workload->requests || r->format->block_size == 0) return r->workload->requests != NULL;
    r->input.ids.ids = sim_grown(NULL, &r->input.ids.capacity, FIRST_IDS, sizeof *r->input.ids.ids);
    return r->input.ids.ids;
}

// Settle unit, block size and rounding; keys that make no sense for the format are contradictions.
static sim_status choose_format(reading *r, const sim_trace_format *format, sim_error *error) {
    const sim_workload_config *settings = r->settings;
    if (format->block_size == 0 && settings->block_size != 0)
        return sim_contradiction(r->config, error, "workload", "block_size",
                                 "%s traces have no hash ids (leave it empty)", format->name);
    if (format->block_size == 0 && settings->block_rounding != SIM_ROUNDING_FORMAT)
        return sim_contradiction(r->config, error, "workload", "block_rounding",
                                 "%s traces have no hash ids (leave it empty)", format->name);
    r->format = format;
    r->wants_header = format->read_header != NULL;
    const sim_time_unit own_unit = format->unit == SIM_UNIT_FORMAT ? sim_csv_time_unit(&settings->csv) : format->unit;
    r->input.unit = settings->time_unit == SIM_UNIT_FORMAT ? own_unit : (sim_time_unit)settings->time_unit;
    r->input.state = calloc(1, format->state_bytes);
    if (!r->input.state || !reserve(r)) return no_memory(error);
    sim_workload *workload = r->workload;
    workload->format_name = format->name;
    workload->time_unit = (int)r->input.unit;
    workload->id_tokens = settings->block_size ? (uint32_t)settings->block_size : format->block_size;
    workload->block_rounding = settings->block_rounding == SIM_ROUNDING_FORMAT || format->block_size == 0
                                   ? (int)format->rounding
                                   : settings->block_rounding;
    return SIM_OK;
}

static bool note_format(reading *r) {
    const sim_workload *workload = r->workload;
    const char *unit = sim_time_unit_names[workload->time_unit];
    if (workload->id_tokens == 0)
        return sim_text_list_add(&r->notes, "%s: read as %s: time unit %s, no hash ids", r->name, r->format->name,
                                 unit);
    return sim_text_list_add(&r->notes, "%s: read as %s: time unit %s, blocks of %" PRIu32 " tokens, %s", r->name,
                             r->format->name, unit, workload->id_tokens,
                             rounding_words((sim_block_rounding)workload->block_rounding));
}

static const sim_trace_format *recognise(const fpm_line *line) {
    for (int i = 1; i < N_FORMATS; i++)
        if (formats[i]->recognises(line->text, line->n_bytes)) return formats[i];
    return NULL;
}

static bool refuse_unknown_format(reading *r, const fpm_line *line) {
    static const char lfs[] = "version https://git-lfs";
    if (line->n_bytes >= sizeof lfs - 1 && memcmp(line->text, lfs, sizeof lfs - 1) == 0)
        return sim_trace_refuse(&r->input, SIM_DROP_SYNTAX, 0,
                                "a Git LFS pointer, not the file itself (fetch it with git lfs pull)");
    if (line->n_bytes > 0 && line->text[0] == '[')
        return sim_trace_refuse(&r->input, SIM_DROP_SYNTAX, 1,
                                "a JSON array (JSON Lines is expected: one object { ... } a line, no commas between)");
    return sim_trace_refuse(
        &r->input, SIM_DROP_SYNTAX, 0,
        "the first record fits no known format (mooncake: %s; azure: %s; workload.format names one, [csv] the columns "
        "of any CSV)",
        sim_format_mooncake.looks_like, sim_format_azure.looks_like);
}

// --- rows ------------------------------------------------------------------------------------------------------------

static sim_status place_fault(const reading *r, int64_t line, sim_error *error) {
    sim_error_set(error, SIM_BAD_DATA, r->name, line, "%s", r->input.fault.message);
    if (error) error->column = r->input.fault.column;
    return SIM_BAD_DATA;
}

// A bad row: the end of the reading, or one more of its kind.
static sim_status drop_row(reading *r, int64_t line, sim_error *error) {
    if (r->settings->on_bad_record == SIM_BAD_RECORD_FAIL) return place_fault(r, line, error);
    sim_drop_reason reason = r->input.fault.reason;
    if (r->workload->dropped[reason]++ > 0) return SIM_OK;
    char text[480];
    snprintf(text, sizeof text, "%s:%" PRId64 ": %s", r->name, line, r->input.fault.message);
    r->first_fault[reason] = strdup(text);
    return r->first_fault[reason] ? SIM_OK : no_memory(error);
}

// A stamp came, but rows before it had none: those are the bad ones.
static sim_status drop_unstamped(reading *r, int64_t line, sim_error *error) {
    sim_workload *workload = r->workload;
    int64_t first = workload->requests[0].line;
    sim_trace_refuse(&r->input, SIM_DROP_BAD_TIMESTAMP, 0, "the timestamp is missing (line %" PRId64 " has one)", line);
    sim_status status = drop_row(r, first, error);
    if (status) return status;
    workload->dropped[SIM_DROP_BAD_TIMESTAMP] += workload->n_requests - 1;
    // The ids of the row in hand stand behind those of the dropped ones.
    size_t n_gone = workload->n_ids;
    memmove(r->input.ids.ids, r->input.ids.ids + n_gone, (r->input.ids.n - n_gone) * sizeof *r->input.ids.ids);
    r->input.ids.n -= n_gone;
    workload->n_ids = 0;
    workload->n_requests = 0;
    sim_session_table_free(workload->sessions);
    workload->sessions = NULL;
    workload->has_turns = false;
    for (size_t i = 0; i < r->last_turn_capacity; i++) r->last_turns[i] = SIM_NO_REQUEST;
    return SIM_OK;
}

// The turn before of the row's session, SIM_NO_REQUEST for a first turn or without a session. Adds nothing.
static uint32_t turn_before(const reading *r, const sim_trace_row *row) {
    uint32_t session;
    if (!row->session || !r->workload->sessions ||
        !sim_session_table_look_up(r->workload->sessions, row->session, row->session_bytes, &session))
        return SIM_NO_REQUEST;
    return session < r->last_turn_capacity ? r->last_turns[session] : SIM_NO_REQUEST;
}

// A delay says when a turn comes after the one before, in place of a stamp or, in a closed loop, beside it.
static bool check_delay(reading *r, const sim_trace_row *row) {
    if (!row->has_delay || row->delay_ns == 0 || turn_before(r, row) != SIM_NO_REQUEST) return true;
    return sim_trace_refuse(
        &r->input, SIM_DROP_BAD_TIMESTAMP, 0,
        "a delay without a turn before it (the first row of a session_id has a timestamp, or nothing)");
}

static bool check_stamp(reading *r, const sim_trace_row *row) {
    bool follows = row->has_delay && turn_before(r, row) != SIM_NO_REQUEST;
    if (!row->has_stamp && !follows && r->stamps == STAMPS_ON_ALL)
        return sim_trace_refuse(&r->input, SIM_DROP_BAD_TIMESTAMP, 0,
                                "the timestamp is missing (earlier rows have one)");
    if (row->has_stamp && row->stamp_ns < 0 && !r->settings->rebase)
        return sim_trace_refuse(&r->input, SIM_DROP_BAD_TIMESTAMP, 0,
                                "the timestamp is negative (workload.rebase = true starts the trace at 0)");
    return true;
}

static bool check_lengths(reading *r, sim_trace_row *row) {
    if (row->lacks_input) row->input_tokens = (uint64_t)row->n_ids * r->workload->id_tokens;
    if (row->input_tokens == 0) return sim_trace_refuse(&r->input, SIM_DROP_ZERO_INPUT, 0, "the prompt has 0 tokens");
    uint64_t larger = row->input_tokens > row->output_tokens ? row->input_tokens : row->output_tokens;
    if (larger <= SIM_MAX_TOKENS) return true;
    return sim_trace_refuse(&r->input, SIM_DROP_BAD_LENGTH, 0, "%" PRIu64 " tokens (at most %" PRIu32 ")", larger,
                            SIM_MAX_TOKENS);
}

static bool check_hash_count(reading *r, const sim_trace_row *row) {
    if (!row->has_ids) return true;
    uint64_t block = r->workload->id_tokens;
    bool is_ceil = r->workload->block_rounding == SIM_ROUNDING_CEIL;
    uint64_t wanted = row->input_tokens / block + (is_ceil && row->input_tokens % block != 0);
    if (row->n_ids == wanted) return true;
    return sim_trace_refuse(&r->input, SIM_DROP_HASH_COUNT, 0,
                            "%zu hash ids for %" PRIu64 " tokens (%" PRIu64 " wanted: blocks of %" PRIu64
                            " tokens, %s; workload.block_size, block_rounding)",
                            row->n_ids, row->input_tokens, wanted, block,
                            rounding_words((sim_block_rounding)r->workload->block_rounding));
}

static bool find_session(reading *r, const sim_trace_row *row, uint32_t *session) {
    *session = SIM_NO_SESSION;
    if (!row->session) return true;
    if (!r->workload->sessions) r->workload->sessions = sim_session_table_new();
    return r->workload->sessions &&
           sim_session_table_find(r->workload->sessions, row->session, row->session_bytes, session);
}

// Rows of one session are its turns, in file order. False: no memory.
static bool link_turn(reading *r, uint32_t session, uint32_t *previous) {
    *previous = SIM_NO_REQUEST;
    if (session == SIM_NO_SESSION) return true;
    size_t known = r->last_turn_capacity;
    if (session >= known) {
        uint32_t *grown = sim_grown(r->last_turns, &r->last_turn_capacity, (size_t)session + 1, sizeof *grown);
        if (!grown) return false;
        r->last_turns = grown;
        for (size_t i = known; i < r->last_turn_capacity; i++) grown[i] = SIM_NO_REQUEST;
    }
    *previous = r->last_turns[session];
    r->last_turns[session] = (uint32_t)r->workload->n_requests;
    r->workload->has_turns |= *previous != SIM_NO_REQUEST;
    return true;
}

static void note_order(reading *r, const sim_trace_row *row, int64_t line) {
    const sim_workload *workload = r->workload;
    sim_disorder *disorder = &r->workload->disorder;
    r->n_fractional += row->stamp_is_fractional;
    if (workload->n_requests == 0) {
        r->latest_ns = row->stamp_ns;
        return;
    }
    if (row->stamp_ns >= r->latest_ns) {
        r->latest_ns = row->stamp_ns;
        return;
    }
    if (row->stamp_ns < workload->requests[workload->n_requests - 1].stamp_ns) disorder->adjacent_decreases++;
    int64_t step_ns;
    if (__builtin_sub_overflow(r->latest_ns, row->stamp_ns, &step_ns)) step_ns = INT64_MAX;
    if (step_ns > disorder->largest_step_ns) {
        disorder->largest_step_ns = step_ns;
        disorder->largest_step_line = line;
    }
}

static sim_status keep_row(reading *r, const sim_trace_row *row, int64_t line, sim_error *error) {
    sim_workload *workload = r->workload;
    if (row->has_stamp && r->stamps == STAMPS_ON_NONE) {
        sim_status status = drop_unstamped(r, line, error);
        if (status) return status;
    }
    // A row that follows the turn before stands where that one does.
    uint32_t before = row->has_stamp ? SIM_NO_REQUEST : turn_before(r, row);
    bool follows = row->has_delay && before != SIM_NO_REQUEST;
    if (!follows) {
        r->stamps = row->has_stamp ? STAMPS_ON_ALL : STAMPS_ON_NONE;
        note_order(r, row, line);
    }
    if (workload->n_requests >= UINT32_MAX - 1)
        return sim_error_set(error, SIM_BAD_DATA, r->name, line,
                             "more than %" PRIu32 " requests (workload.limit takes fewer)", UINT32_MAX - 1);
    uint32_t session, previous;
    sim_request *requests = workload->requests;
    if (workload->n_requests == r->request_capacity)
        requests = sim_grown(requests, &r->request_capacity, workload->n_requests + 1, sizeof *requests);
    if (requests) workload->requests = requests;
    if (!requests || !find_session(r, row, &session) || !link_turn(r, session, &previous)) return no_memory(error);
    requests[workload->n_requests++] = (sim_request){
        .stamp_ns = follows ? workload->requests[before].stamp_ns : row->stamp_ns,
        .first_id = workload->n_ids,
        .n_ids = (uint32_t)row->n_ids,
        .input_tokens = (uint32_t)row->input_tokens,
        .output_tokens = (uint32_t)row->output_tokens,
        .session = session,
        .line = line < UINT32_MAX ? (uint32_t)line : UINT32_MAX,
        .previous = previous,
        .delay_ns = row->has_delay ? row->delay_ns : -1,
        .has_stamp = row->has_stamp,
    };
    workload->n_ids = r->input.ids.n;
    return SIM_OK;
}

static bool is_empty(const fpm_line *line) {
    for (size_t i = 0; i < line->n_bytes; i++) {
        char c = line->text[i];
        if (c != ' ' && c != '\t' && c != '\r') return false;
    }
    return true;
}

static sim_status read_record(reading *r, const fpm_line *line, sim_error *error) {
    if (!r->format) {
        const sim_trace_format *format = recognise(line);
        if (!format) {
            refuse_unknown_format(r, line);
            return drop_row(r, line->number, error);
        }
        sim_status status = choose_format(r, format, error);
        if (status) return status;
        if (!note_format(r)) return no_memory(error);
    }
    if (r->wants_header) {
        r->wants_header = false;
        if (r->format->read_header(&r->input, line)) return SIM_OK;
        // Without its header nothing of the file means anything, whatever on_bad_record says.
        return r->input.failed ? sim_error_from_fpm(error, &r->input.error) : place_fault(r, line->number, error);
    }
    int64_t number = line->number; // a record of several lines moves the reader on
    sim_trace_row row = { 0 };
    bool is_good = r->format->read_row(&r->input, line, &row) && check_delay(r, &row) && check_stamp(r, &row) &&
                   check_lengths(r, &row) && check_hash_count(r, &row);
    if (r->input.failed) return sim_error_from_fpm(error, &r->input.error);
    if (is_good) return keep_row(r, &row, number, error);
    r->input.ids.n = r->workload->n_ids;
    return drop_row(r, number, error);
}

static sim_status read_all(reading *r, sim_error *error) {
    const uint64_t limit = r->settings->limit > 0 ? (uint64_t)r->settings->limit : UINT64_MAX;
    while (r->workload->n_requests < limit) {
        fpm_line line;
        bool has_line;
        fpm_error fault;
        if (fpm_line_reader_next(r->input.lines, &line, &has_line, &fault)) return sim_error_from_fpm(error, &fault);
        if (!has_line) break;
        if (is_empty(&line)) continue;
        sim_status status = read_record(r, &line, error);
        if (status) return status;
    }
    return SIM_OK;
}

// --- the whole -------------------------------------------------------------------------------------------------------

static sim_status count_rows(reading *r, sim_error *error) {
    sim_workload *workload = r->workload;
    uint64_t n_dropped = 0;
    for (int i = 0; i < SIM_DROP_REASONS; i++) n_dropped += workload->dropped[i];
    workload->rows_kept = workload->n_requests;
    workload->rows_read = workload->rows_kept + n_dropped;
    for (int i = 0; i < SIM_DROP_REASONS; i++)
        if (r->first_fault[i] &&
            !sim_text_list_add(&r->warnings, "%s (dropped; %s: %" PRIu64 " of %" PRIu64 " rows)", r->first_fault[i],
                               sim_drop_reason_names[i], workload->dropped[i], workload->rows_read))
            return no_memory(error);
    if (workload->n_requests > 0) return SIM_OK;
    if (n_dropped == 0) return sim_error_set(error, SIM_BAD_DATA, r->name, 0, "the trace has no requests");
    const char *first = "";
    for (int i = SIM_DROP_REASONS - 1; i >= 0; i--)
        if (r->first_fault[i]) first = r->first_fault[i];
    return sim_error_set(error, SIM_BAD_DATA, r->name, 0, "no requests are left: all %" PRIu64 " rows are bad (%s)",
                         n_dropped, first);
}

// Fractional stamps that span next to nothing are seconds read as something smaller (hard-inputs 06).
static bool warn_of_unit(reading *r) {
    const sim_workload *workload = r->workload;
    const bool is_said = r->settings->time_unit != SIM_UNIT_FORMAT || r->format->unit == SIM_UNIT_FORMAT;
    if (is_said || r->n_fractional == 0 || workload->n_requests < 2) return true;
    if (workload->time_unit != SIM_UNIT_MS && workload->time_unit != SIM_UNIT_US) return true;
    int64_t span_ns = workload->requests[workload->n_requests - 1].stamp_ns - workload->requests[0].stamp_ns;
    int64_t per_ms = span_ns / SIM_NS_PER_MS > 0 ? (int64_t)workload->n_requests / (span_ns / SIM_NS_PER_MS) : 1;
    if (span_ns >= SIM_NS_PER_S && per_ms < 1) return true;
    return sim_text_list_add(
        &r->warnings,
        "%s: fractional timestamps that span %.6g ms look like seconds, read as %s (set workload.time_unit)", r->name,
        sim_ms_from_ns(span_ns), sim_time_unit_names[workload->time_unit]);
}

static bool warn_of_disorder(reading *r) {
    const sim_disorder *disorder = &r->workload->disorder;
    if (disorder->largest_step_ns <= SIM_NS_PER_S) return true;
    return sim_text_list_add(&r->warnings,
                             "%s:%" PRId64
                             ": the timestamp lies %.9g s before an earlier row's (rows are sorted by time; does "
                             "the clock step back, e.g. local time when summer time ends?)",
                             r->name, disorder->largest_step_line, sim_s_from_ns(disorder->largest_step_ns));
}

static bool note_missing_stamps(reading *r) {
    if (r->workload->has_stamps) return true;
    return sim_text_list_add(&r->notes, "%s: no row has a timestamp, so load.mode = timestamps is not available",
                             r->name);
}

static sim_status finish(reading *r, sim_error *error) {
    sim_workload *workload = r->workload;
    sim_status status = count_rows(r, error);
    if (status) return status;
    workload->requests = sim_shrunk(workload->requests, workload->n_requests, sizeof *workload->requests);
    r->input.ids.ids = sim_shrunk(r->input.ids.ids, workload->n_ids, sizeof *workload->ids);
    workload->ids = r->input.ids.ids;
    r->input.ids = (sim_id_list){ 0 };
    workload->has_stamps = r->stamps == STAMPS_ON_ALL;
    workload->n_sessions = workload->sessions ? sim_session_table_count(workload->sessions) : 0;
    status = sim_block_census_take(workload, r->name, &r->warnings, error);
    if (status) return status;
    status = sim_trace_order(workload, r->settings->rebase, r->name, error);
    if (status) return status;
    return warn_of_unit(r) && warn_of_disorder(r) && note_missing_stamps(r) ? SIM_OK : no_memory(error);
}

static void give_texts(reading *r) {
    sim_workload *workload = r->workload;
    workload->warnings = r->warnings.items;
    workload->n_warnings = r->warnings.n;
    workload->notes = r->notes.items;
    workload->n_notes = r->notes.n;
}

static sim_status read_trace(reading *r, sim_error *error) {
    const sim_trace_format *format = formats[r->settings->format];
    const bool is_csv_by_keys = !format && sim_workload_is_csv(r->settings);
    if (is_csv_by_keys) format = &sim_format_csv;
    sim_status status = format ? choose_format(r, format, error) : SIM_OK;
    if (!status && is_csv_by_keys && !note_format(r)) status = no_memory(error);
    if (!status) status = read_all(r, error);
    return status ? status : finish(r, error);
}

sim_status sim_workload_from_lines(sim_workload **out, fpm_line_reader *lines, const sim_config *config,
                                   const sim_workload_config *settings, sim_error *error) {
    *out = NULL;
    reading r = { .config = config, .settings = settings, .name = fpm_line_reader_name(lines), .input.lines = lines };
    r.input.warnings = &r.warnings;
    r.input.settings = settings;
    r.workload = calloc(1, sizeof *r.workload);
    if (!r.workload) return no_memory(error);
    r.workload->format_name = "";
    r.workload->path = strdup(r.name);
    sim_status status = r.workload->path ? read_trace(&r, error) : no_memory(error);
    give_texts(&r);
    if (r.format && r.format->clear && r.input.state) r.format->clear(r.input.state);
    free(r.input.state);
    free(r.input.ids.ids);
    free(r.last_turns);
    for (int i = 0; i < SIM_DROP_REASONS; i++) free(r.first_fault[i]);
    if (status)
        sim_workload_free(r.workload);
    else
        *out = r.workload;
    return status;
}
