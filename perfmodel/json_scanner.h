// SPDX-License-Identifier: GPL-3.0-or-later
//
// Strict pull scanner for one JSON text in memory, made for rows of traces and FPM logs.
//
// Why not cJSON: it keeps numbers as doubles (ids above 2^53 lose bits), cannot tell 1.0 from 1, accepts duplicate keys
// and allocates per value (architecture.md "Libraries"). This scanner allocates nothing, keeps 64-bit integers exact,
// limits depth, and says where an error is. It is checked against cJSON in tests/property.
//
// Errors stick: after the first one every call fails, so a reader may check once at the end of an object.
// Objects are read against a list of known names. Unknown members are checked for syntax and skipped; a known name that
// comes twice is an error (which of the two would count?).
#ifndef PERFMODEL_JSON_SCANNER_H
#define PERFMODEL_JSON_SCANNER_H

#include "perfmodel/perfmodel.h"

#define FPM_JSON_MAX_DEPTH 64

typedef struct fpm_json {
    const char *at;
    const char *end;
    const char *begin;
    fpm_status failed;     // FPM_OK while all is well
    const char *complaint; // static text; set with `failed`
    char detail[64];       // the offending name, if any
} fpm_json;

typedef struct fpm_json_name {
    const char *text;
    size_t n_bytes;
} fpm_json_name;
#define FPM_JSON_NAME(literal) \
    { (literal), sizeof(literal) - 1 }

// At most 64 names.
typedef struct fpm_json_object {
    const fpm_json_name *names;
    unsigned n_names;
    unsigned expected; // rows of one file repeat their order: try this name first
    uint64_t seen;     // bit i: name i has come
    bool is_first;
} fpm_json_object;

typedef struct fpm_json_span {
    const char *text;
    size_t n_bytes;
} fpm_json_span;

typedef enum fpm_json_type {
    FPM_JSON_INVALID,
    FPM_JSON_NULL,
    FPM_JSON_BOOL,
    FPM_JSON_NUMBER,
    FPM_JSON_STRING,
    FPM_JSON_ARRAY,
    FPM_JSON_OBJECT
} fpm_json_type;

// Begin on a text that need not end in NUL. The text must outlive the scanner.
void fpm_json_begin(fpm_json *json, const char *text, size_t n_bytes);
// Only white space may be left. Also reports an earlier error. On failure fills `error` with message and column;
// file and line are the caller's.
fpm_status fpm_json_end(fpm_json *json, fpm_error *error);
// Make the scanner fail here with a static complaint, e.g. a semantic rule of the caller.
void fpm_json_fail(fpm_json *json, fpm_status code, const char *complaint);

// Type of the next value, without reading it.
fpm_json_type fpm_json_peek(fpm_json *json);

bool fpm_json_object_begin(fpm_json *json, fpm_json_object *object, const fpm_json_name *names, unsigned n_names);
// Index of the next known member, whose value must then be read; -1 at the end of the object or after an error.
int fpm_json_object_next(fpm_json *json, fpm_json_object *object);

bool fpm_json_array_begin(fpm_json *json);
// True when an element follows; *is_first must be true on the first call and is kept by the scanner.
bool fpm_json_array_next(fpm_json *json, bool *is_first);

bool fpm_json_u64(fpm_json *json, uint64_t *value); // plain integers only: 1.0, 1e3, -1, null are errors
bool fpm_json_u32(fpm_json *json, uint32_t *value);
// A whole array of plain integers, at most `capacity` of them, as fpm_json_u64 reads each: the block ids of a trace are
// nine tenths of its bytes. *n is set only on success.
bool fpm_json_u64_array(fpm_json *json, uint64_t *values, size_t capacity, size_t *n);
bool fpm_json_i64(fpm_json *json, int64_t *value);
bool fpm_json_double(fpm_json *json, double *value); // finite; 1e400 is an error
bool fpm_json_bool(fpm_json *json, bool *value);
bool fpm_json_null(fpm_json *json);
// The digits of a number as they stand, grammar checked, for callers with exact arithmetic of their own.
bool fpm_json_number_text(fpm_json *json, fpm_json_span *text);
// The bytes between the quotes, escapes not resolved, checked (UTF-8, escapes, no control characters).
bool fpm_json_string_raw(fpm_json *json, fpm_json_span *text, bool *has_escapes);
// The string with escapes resolved, NUL-terminated; longer than capacity - 1 bytes or holding a NUL is an error.
bool fpm_json_string(fpm_json *json, char *buffer, size_t capacity, size_t *n_bytes);
// Resolve escapes of a checked raw string into `buffer` (at least raw.n_bytes); returns the length.
size_t fpm_json_unescape(fpm_json_span raw, char *buffer);
// Check and skip any value.
bool fpm_json_skip(fpm_json *json);

#endif
