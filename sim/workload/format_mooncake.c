// SPDX-License-Identifier: GPL-3.0-or-later
//
// Mooncake traces (kvcache-ai/Mooncake, FAST25-release/traces) and their dialects: one JSON object a line with
// timestamp (ms), input_length, output_length and hash_ids of 512-token blocks, the partial last one included. Other
// keys are ignored. The other names are those of aiperf and Dynamo, as is `delay`: the time from the end of the turn before of
// the same session_id to this one, in the unit of the timestamps.
#include <assert.h>
#include <string.h>

#include "perfmodel/json_scanner.h"
#include "sim/workload/timestamp.h"
#include "sim/workload/trace_format.h"

enum {
    STAMP,
    INPUT,
    OUTPUT,
    IDS,
    INPUT_ALIAS,
    OUTPUT_ALIAS,
    STAMP_ALIAS,
    SESSION,
    DELAY,
    DELAY_ALIAS,
    OUTPUT_IDS,
    N_NAMES
};
static const fpm_json_name names[N_NAMES] = {
    [STAMP] = FPM_JSON_NAME("timestamp"),
    [STAMP_ALIAS] = FPM_JSON_NAME("created_time"),
    [INPUT] = FPM_JSON_NAME("input_length"),
    [INPUT_ALIAS] = FPM_JSON_NAME("input_tokens"),
    [OUTPUT] = FPM_JSON_NAME("output_length"),
    [OUTPUT_ALIAS] = FPM_JSON_NAME("output_tokens"),
    [IDS] = FPM_JSON_NAME("hash_ids"),
    [SESSION] = FPM_JSON_NAME("session_id"),
    [DELAY] = FPM_JSON_NAME("delay"),
    [DELAY_ALIAS] = FPM_JSON_NAME("delay_ms"),
    [OUTPUT_IDS] = FPM_JSON_NAME("output_token_ids"),
};
static_assert(N_NAMES <= 64, "fpm_json_object counts names in 64 bits");

typedef struct mooncake_state {
    char stamp[128];
    char session[512];
} mooncake_state;

// What of a row has come so far.
typedef struct row_parts {
    bool has_input, has_output, has_output_ids;
    uint64_t n_output_ids;
} row_parts;

static bool contains(const char *text, size_t n_bytes, const char *part) {
    return memmem(text, n_bytes, part, strlen(part)) != NULL;
}

static bool recognises(const char *text, size_t n_bytes) {
    // Keys of other formats whose rows also have input_length.
    static const char *const foreign[] = { "\"chat_id\"", "\"wait_for\"", "\"dependencies\"", "\"session_turns\"" };
    size_t blanks = 0;
    while (blanks < n_bytes && (text[blanks] == ' ' || text[blanks] == '\t')) blanks++;
    if (blanks == n_bytes || (text[blanks] != '{' && text[blanks] != '[')) return false;
    if (!contains(text, n_bytes, "\"input_length\"") && !contains(text, n_bytes, "\"input_tokens\"")) return false;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (contains(text, n_bytes, foreign[i])) return false;
    return true;
}

// The scanner failed while it read a value: a row that is cut off or no JSON at all is a syntax error, a value of the
// wrong kind is the field's own.
static bool refuse_value(sim_trace_input *input, fpm_json *json, sim_drop_reason reason, const char *name) {
    bool is_cut = json->at >= json->end;
    fpm_error error;
    fpm_json_end(json, &error);
    return sim_trace_refuse(input, is_cut ? SIM_DROP_SYNTAX : reason, error.column, "%s: %s", name, error.message);
}

static bool refuse_syntax(sim_trace_input *input, fpm_json *json, const fpm_line *line) {
    fpm_error error;
    fpm_json_end(json, &error);
    const char *hint = "";
    if (memchr(line->text, '\r', line->n_bytes)) hint = " (do the lines end in CR alone? convert them to LF)";
    return sim_trace_refuse(input, SIM_DROP_SYNTAX, error.column, "%s%s", error.message, hint);
}

static bool read_stamp(sim_trace_input *input, fpm_json *json, sim_trace_row *row) {
    mooncake_state *state = input->state;
    fpm_json_span text = { 0 };
    fpm_json_type type = fpm_json_peek(json);
    if (type == FPM_JSON_NULL) return fpm_json_null(json) || refuse_value(input, json, SIM_DROP_SYNTAX, "timestamp");
    if (row->has_stamp)
        return sim_trace_refuse(input, SIM_DROP_SYNTAX, 0, "both timestamp and created_time are given (one is wanted)");
    int64_t column = json->at - json->begin + 1;
    bool is_read;
    if (type == FPM_JSON_STRING) {
        text.text = state->stamp;
        is_read = fpm_json_string(json, state->stamp, sizeof state->stamp, &text.n_bytes);
    } else {
        is_read = fpm_json_number_text(json, &text);
    }
    if (!is_read) return refuse_value(input, json, SIM_DROP_BAD_TIMESTAMP, "timestamp");
    sim_stamp stamp;
    const char *complaint = sim_stamp_parse(text.text, text.n_bytes, input->unit, &stamp);
    if (complaint) return sim_trace_refuse(input, SIM_DROP_BAD_TIMESTAMP, column, "%s", complaint);
    row->has_stamp = true;
    row->stamp_ns = stamp.ns;
    row->stamp_is_fractional = stamp.is_fractional;
    return true;
}

static bool read_length(sim_trace_input *input, fpm_json *json, const char *name, bool *has, uint64_t *value) {
    if (*has) return sim_trace_refuse(input, SIM_DROP_SYNTAX, 0, "%s is given under both of its names", name);
    *has = true;
    return fpm_json_u64(json, value) || refuse_value(input, json, SIM_DROP_BAD_LENGTH, name);
}

static bool read_ids(sim_trace_input *input, fpm_json *json, sim_trace_row *row) {
    if (fpm_json_peek(json) == FPM_JSON_NULL)
        return fpm_json_null(json) || refuse_value(input, json, SIM_DROP_SYNTAX, "hash_ids");
    sim_id_list *list = &input->ids;
    size_t most = (size_t)(json->end - json->at) / 2 + 1; // a digit and a comma each
    if (list->n + most > list->capacity) {
        uint64_t *ids = sim_grown(list->ids, &list->capacity, list->n + most, sizeof *ids);
        if (!ids) {
            input->failed = fpm_error_set(&input->error, FPM_NO_MEMORY, "out of memory");
            return false;
        }
        list->ids = ids;
    }
    row->has_ids = true;
    if (!fpm_json_u64_array(json, list->ids + list->n, most, &row->n_ids))
        return refuse_value(input, json, SIM_DROP_SYNTAX, "hash_ids");
    list->n += row->n_ids;
    return true;
}

// A string, or an integer, which is the same session as the string of its digits.
static bool read_session(sim_trace_input *input, fpm_json *json, sim_trace_row *row) {
    mooncake_state *state = input->state;
    switch (fpm_json_peek(json)) {
    case FPM_JSON_NULL:
        if (!fpm_json_null(json)) break;
        return true;
    case FPM_JSON_STRING:
        if (!fpm_json_string(json, state->session, sizeof state->session, &row->session_bytes)) break;
        row->session = row->session_bytes > 0 ? state->session : NULL;
        return true;
    case FPM_JSON_INVALID:
    case FPM_JSON_BOOL:
    case FPM_JSON_NUMBER:
    case FPM_JSON_ARRAY:
    case FPM_JSON_OBJECT:
        row->session = json->at;
        int64_t number;
        if (!fpm_json_i64(json, &number)) break;
        row->session_bytes = (size_t)(json->at - row->session);
        return true;
    }
    return refuse_value(input, json, SIM_DROP_SYNTAX, "session_id");
}

static bool read_delay(sim_trace_input *input, fpm_json *json, sim_trace_row *row) {
    if (fpm_json_peek(json) == FPM_JSON_NULL)
        return fpm_json_null(json) || refuse_value(input, json, SIM_DROP_SYNTAX, "delay");
    if (row->has_delay)
        return sim_trace_refuse(input, SIM_DROP_SYNTAX, 0, "both delay and delay_ms are given (one is wanted)");
    int64_t column = json->at - json->begin + 1;
    fpm_json_span text;
    if (!fpm_json_number_text(json, &text)) return refuse_value(input, json, SIM_DROP_BAD_TIMESTAMP, "delay");
    sim_stamp stamp;
    sim_time_unit unit = input->unit == SIM_UNIT_CALENDAR ? SIM_UNIT_MS : input->unit;
    const char *complaint = sim_stamp_parse(text.text, text.n_bytes, unit, &stamp);
    if (complaint) return sim_trace_refuse(input, SIM_DROP_BAD_TIMESTAMP, column, "delay: %s", complaint);
    if (stamp.ns < 0) return sim_trace_refuse(input, SIM_DROP_BAD_TIMESTAMP, column, "the delay is negative");
    row->has_delay = true;
    row->delay_ns = stamp.ns;
    return true;
}

// Only their number is of use here: which tokens an answer has decides no scheduling.
static bool count_output_ids(sim_trace_input *input, fpm_json *json, row_parts *parts) {
    if (fpm_json_peek(json) == FPM_JSON_NULL)
        return fpm_json_null(json) || refuse_value(input, json, SIM_DROP_SYNTAX, "output_token_ids");
    bool is_first = true;
    uint32_t id;
    parts->has_output_ids = fpm_json_array_begin(json);
    while (fpm_json_array_next(json, &is_first) && fpm_json_u32(json, &id)) parts->n_output_ids++;
    return !json->failed || refuse_value(input, json, SIM_DROP_SYNTAX, "output_token_ids");
}

static bool read_member(sim_trace_input *input, fpm_json *json, int member, sim_trace_row *row, row_parts *parts) {
    switch (member) {
    case STAMP:
    case STAMP_ALIAS:
        return read_stamp(input, json, row);
    case INPUT:
    case INPUT_ALIAS:
        return read_length(input, json, "input_length", &parts->has_input, &row->input_tokens);
    case OUTPUT:
    case OUTPUT_ALIAS:
        return read_length(input, json, "output_length", &parts->has_output, &row->output_tokens);
    case IDS:
        return read_ids(input, json, row);
    case SESSION:
        return read_session(input, json, row);
    case OUTPUT_IDS:
        return count_output_ids(input, json, parts);
    default:
        return read_delay(input, json, row);
    }
}

static bool begin_object(sim_trace_input *input, fpm_json *json, fpm_json_object *object, const fpm_line *line) {
    if (line->has_nul) return sim_trace_refuse(input, SIM_DROP_SYNTAX, 0, "the line holds NUL bytes (damaged file?)");
    if (fpm_json_peek(json) == FPM_JSON_ARRAY)
        return sim_trace_refuse(input, SIM_DROP_SYNTAX, json->at - json->begin + 1,
                                "a JSON array (JSON Lines is expected: one object { ... } a line, no commas between)");
    return fpm_json_object_begin(json, object, names, N_NAMES) || refuse_syntax(input, json, line);
}

static bool read_row(sim_trace_input *input, const fpm_line *line, sim_trace_row *row) {
    fpm_json json;
    fpm_json_object object;
    row_parts parts = { 0 };
    fpm_json_begin(&json, line->text, line->n_bytes);
    if (!begin_object(input, &json, &object, line)) return false;
    for (int member; (member = fpm_json_object_next(&json, &object)) >= 0;)
        if (!read_member(input, &json, member, row, &parts)) return false;
    if (fpm_json_end(&json, NULL)) return refuse_syntax(input, &json, line);
    row->lacks_input = !parts.has_input && row->has_ids;
    if (!parts.has_input && !row->has_ids)
        return sim_trace_refuse(
            input, SIM_DROP_BAD_LENGTH, 0,
            "input_length is missing, and no hash_ids tell it (or input_tokens; key names are case-sensitive)");
    if (!parts.has_output)
        return sim_trace_refuse(input, SIM_DROP_BAD_LENGTH, 0,
                                "output_length is missing (or output_tokens; key names are case-sensitive)");
    if (parts.has_output_ids && parts.n_output_ids != row->output_tokens)
        return sim_trace_refuse(input, SIM_DROP_BAD_LENGTH, 0, "%llu output_token_ids for an output_length of %llu",
                                (unsigned long long)parts.n_output_ids, (unsigned long long)row->output_tokens);
    return true;
}

const sim_trace_format sim_format_mooncake = {
    .name = "mooncake",
    .block_size = 512,
    .rounding = SIM_ROUNDING_CEIL,
    .unit = SIM_UNIT_MS,
    .looks_like = "JSON Lines with timestamp, input_length, output_length, hash_ids",
    .recognises = recognises,
    .state_bytes = sizeof(mooncake_state),
    .read_row = read_row,
};
