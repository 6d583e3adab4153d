// SPDX-License-Identifier: GPL-3.0-or-later
//
// One pass over the bytes, no tree. The plain case of a string, printable ASCII up to the closing quote, is a short loop, everything else takes the careful path.
#include "perfmodel/json_scanner_internal.h"

#include <string.h>

// Bytes that may stand in a string as they are: printable ASCII but for the quote and the backslash. 0x80 and above are checked as UTF-8.
// clang-format off
#define S4(x) x, x, x, x
#define S16(x) S4(x), S4(x), S4(x), S4(x)
static const bool is_plain[256] = {
    S16(false), S16(false),
    true, true, false /* " */, true, S4(true), S4(true), S4(true), S16(true), // 0x20
    S16(true), S4(true), S4(true), S4(true), false /* \ */, true, true, true, // 0x40
    S16(true), S16(true), // 0x60
};
#undef S4
#undef S16
// clang-format on

static bool is_plain_at(const char *at) { return is_plain[(unsigned char)*at]; }

void fpm_json_fail(fpm_json *json, fpm_status code, const char *complaint) { fail(json, code, complaint); }

void fpm_json_begin(fpm_json *json, const char *text, size_t n_bytes) {
    *json = (fpm_json){ .at = text, .end = text + n_bytes, .begin = text };
}

fpm_status fpm_json_end(fpm_json *json, fpm_error *error) {
    if (!json->failed) {
        skip_space(json);
        if (json->at < json->end) syntax(json, "something follows the end of the JSON value");
    }
    if (!json->failed) return FPM_OK;
    if (json->detail[0])
        fpm_error_set(error, json->failed, "%s: \"%s\"", json->complaint, json->detail);
    else
        fpm_error_set(error, json->failed, "%s", json->complaint);
    if (error) error->column = json->at - json->begin + 1;
    return json->failed;
}

fpm_json_type fpm_json_peek(fpm_json *json) {
    if (json->failed) return FPM_JSON_INVALID;
    skip_space(json);
    if (json->at >= json->end) return FPM_JSON_INVALID;
    switch (*json->at) {
    case '{':
        return FPM_JSON_OBJECT;
    case '[':
        return FPM_JSON_ARRAY;
    case '"':
        return FPM_JSON_STRING;
    case 't':
    case 'f':
        return FPM_JSON_BOOL;
    case 'n':
        return FPM_JSON_NULL;
    case '-':
        return FPM_JSON_NUMBER;
    default:
        return is_digit_at(json->at) ? FPM_JSON_NUMBER : FPM_JSON_INVALID;
    }
}

// Consume `wanted` (after white space) or fail.
static bool take(fpm_json *json, char wanted, const char *complaint) {
    if (json->failed) return false;
    skip_space(json);
    if (json->at >= json->end || *json->at != wanted)
        return syntax(json, json->at >= json->end ? "the text ends too early (cut off?)" : complaint);
    json->at++;
    return true;
}

static bool take_literal(fpm_json *json, const char *literal, const char *complaint) {
    if (json->failed) return false;
    skip_space(json);
    size_t n = strlen(literal);
    if ((size_t)(json->end - json->at) < n || memcmp(json->at, literal, n) != 0) return syntax(json, complaint);
    json->at += n;
    return true;
}

// --- strings --------------------------------------------------------------------------------------------------------

static int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// Four hex digits at `at`, or -1.
static long hex4(const char *at, const char *end) {
    if (end - at < 4) return -1;
    long value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_value(at[i]);
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

// Length of the well-formed UTF-8 sequence at `at` (first byte >= 0x80), or 0. Table 3-7 of the Unicode standard.
static int utf8_length(const char *at, const char *end) {
    const unsigned char *s = (const unsigned char *)at;
    ptrdiff_t left = end - at;
    int n = s[0] >= 0xc2 && s[0] <= 0xdf ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4 : 0;
    if (n == 0 || left < n) return 0;
    for (int i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)) return 0;
    if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) return 0;
    return n;
}

// An escape at `at` (the backslash): its length, 0 when it is not one. Surrogates must come in pairs.
static int escape_length(const char *at, const char *end) {
    if (end - at < 2) return 0;
    if (at[1] != 'u') return strchr("\"\\/bfnrt", at[1]) && at[1] ? 2 : 0;
    long unit = hex4(at + 2, end);
    if (unit < 0 || (unit >= 0xdc00 && unit <= 0xdfff)) return 0;
    if (unit < 0xd800 || unit > 0xdbff) return 6;
    if (end - at < 12 || at[6] != '\\' || at[7] != 'u') return 0;
    long low = hex4(at + 8, end);
    return low >= 0xdc00 && low <= 0xdfff ? 12 : 0;
}

bool fpm_json_string_raw(fpm_json *json, fpm_json_span *text, bool *has_escapes) {
    if (!take(json, '"', "a string is wanted here")) return false;
    const char *at = json->at, *end = json->end;
    *has_escapes = false;
    for (;;) {
        while (at < end && is_plain_at(at)) at++;
        if (at >= end) {
            json->at = end;
            return syntax(json, "the string has no end (cut off?)");
        }
        if (*at == '"') break;
        int n;
        if (*at == '\\') {
            *has_escapes = true;
            n = escape_length(at, end);
            if (!n) syntax(json, "unknown escape in a string");
        } else if ((unsigned char)*at < 0x20) {
            n = 0;
            syntax(json, "raw control character in a string");
        } else {
            n = utf8_length(at, end);
            if (!n) syntax(json, "a string that is not UTF-8");
        }
        if (!n) {
            json->at = at;
            return false;
        }
        at += n;
    }
    *text = (fpm_json_span){ json->at, (size_t)(at - json->at) };
    json->at = at + 1;
    return true;
}

static size_t put_utf8(char *out, unsigned long point) {
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    if (point < 0x800) {
        out[0] = (char)(0xc0 | point >> 6);
        out[1] = (char)(0x80 | (point & 0x3f));
        return 2;
    }
    if (point < 0x10000) {
        out[0] = (char)(0xe0 | point >> 12);
        out[1] = (char)(0x80 | (point >> 6 & 0x3f));
        out[2] = (char)(0x80 | (point & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | point >> 18);
    out[1] = (char)(0x80 | (point >> 12 & 0x3f));
    out[2] = (char)(0x80 | (point >> 6 & 0x3f));
    out[3] = (char)(0x80 | (point & 0x3f));
    return 4;
}

size_t fpm_json_unescape(fpm_json_span raw, char *buffer) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *at = raw.text, *end = raw.text + raw.n_bytes;
    size_t n = 0;
    while (at < end) {
        if (*at != '\\') {
            buffer[n++] = *at++;
        } else if (at[1] != 'u') {
            buffer[n++] = to[strchr(from, at[1]) - from];
            at += 2;
        } else {
            unsigned long unit = (unsigned long)hex4(at + 2, end);
            at += 6;
            if (unit >= 0xd800 && unit <= 0xdbff) {
                unit = 0x10000 + ((unit - 0xd800) << 10) + ((unsigned long)hex4(at + 2, end) - 0xdc00);
                at += 6;
            }
            n += put_utf8(buffer + n, unit);
        }
    }
    return n;
}

bool fpm_json_string(fpm_json *json, char *buffer, size_t capacity, size_t *n_bytes) {
    fpm_json_span raw;
    bool has_escapes;
    if (!fpm_json_string_raw(json, &raw, &has_escapes)) return false;
    if (raw.n_bytes >= capacity) return syntax(json, "the string is too long");
    size_t n = raw.n_bytes;
    if (has_escapes)
        n = fpm_json_unescape(raw, buffer);
    else
        memcpy(buffer, raw.text, n);
    buffer[n] = '\0';
    if (memchr(buffer, '\0', n)) return syntax(json, "a NUL character in a string");
    if (n_bytes) *n_bytes = n;
    return true;
}

// --- objects and arrays -----------------------------------------------------------------------------------------------

bool fpm_json_object_begin(fpm_json *json, fpm_json_object *object, const fpm_json_name *names, unsigned n_names) {
    *object = (fpm_json_object){ .names = names, .n_names = n_names, .is_first = true };
    return take(json, '{', "an object { ... } is wanted here");
}

static bool is_name(const fpm_json_name *name, const char *text, size_t n_bytes) {
    return name->n_bytes == n_bytes && memcmp(name->text, text, n_bytes) == 0;
}

static int find_name(const fpm_json_object *object, fpm_json_span key, bool has_escapes) {
    char plain[64];
    if (has_escapes) {
        if (key.n_bytes > 6 * sizeof plain) return -1; // longer than any name, however escaped
        char buffer[6 * sizeof plain];
        size_t n = fpm_json_unescape(key, buffer);
        if (n > sizeof plain) return -1;
        memcpy(plain, buffer, n);
        key = (fpm_json_span){ plain, n };
    }
    if (object->expected < object->n_names && is_name(&object->names[object->expected], key.text, key.n_bytes))
        return (int)object->expected;
    for (unsigned i = 0; i < object->n_names; i++)
        if (is_name(&object->names[i], key.text, key.n_bytes)) return (int)i;
    return -1;
}

// The expected name, plainly written, at json->at: take it. Rows of one file repeat their order, so this is the usual
// case.
static bool take_expected_name(fpm_json *json, const fpm_json_object *object) {
    if (object->expected >= object->n_names) return false;
    const fpm_json_name *name = &object->names[object->expected];
    if ((size_t)(json->end - json->at) < name->n_bytes + 2) return false;
    if (json->at[0] != '"' || json->at[name->n_bytes + 1] != '"' ||
        memcmp(json->at + 1, name->text, name->n_bytes) != 0)
        return false;
    json->at += name->n_bytes + 2;
    return true;
}

int fpm_json_object_next(fpm_json *json, fpm_json_object *object) {
    while (!json->failed) {
        skip_space(json);
        if (json->at < json->end && *json->at == '}') {
            json->at++;
            return -1;
        }
        if (!object->is_first && !take(json, ',', "a comma or } is wanted here")) return -1;
        object->is_first = false;
        skip_space(json);
        const char *start = json->at;
        fpm_json_span key;
        bool has_escapes;
        const bool is_expected = take_expected_name(json, object);
        if (!is_expected && !fpm_json_string_raw(json, &key, &has_escapes)) return -1;
        if (!take(json, ':', "a colon is wanted here")) return -1;
        const int index = is_expected ? (int)object->expected : find_name(object, key, has_escapes);
        if (index < 0) {
            fpm_json_skip(json);
            continue;
        }
        if (object->seen >> index & 1) {
            json->at = start;
            size_t n = object->names[index].n_bytes;
            memcpy(json->detail, object->names[index].text, n < sizeof json->detail ? n : sizeof json->detail - 1);
            syntax(json, "the key comes twice");
            return -1;
        }
        object->seen |= UINT64_C(1) << index;
        object->expected = (unsigned)index + 1;
        return index;
    }
    return -1;
}

bool fpm_json_array_begin(fpm_json *json) { return take(json, '[', "an array [ ... ] is wanted here"); }

bool fpm_json_array_next(fpm_json *json, bool *is_first) {
    if (json->failed) return false;
    skip_space(json);
    if (json->at < json->end && *json->at == ']') {
        json->at++;
        return false;
    }
    if (!*is_first && !take(json, ',', "a comma or ] is wanted here")) return false;
    *is_first = false;
    return true;
}

// --- words -------------------------------------------------------------------------------------------------------------

bool fpm_json_bool(fpm_json *json, bool *value) {
    *value = fpm_json_peek(json) == FPM_JSON_BOOL && *json->at == 't';
    return take_literal(json, *value ? "true" : "false", "true or false is wanted here");
}

bool fpm_json_null(fpm_json *json) { return take_literal(json, "null", "null is wanted here"); }

// --- skipping ---------------------------------------------------------------------------------------------------------

static bool skip_scalar(fpm_json *json) {
    fpm_json_span text;
    bool flag;
    switch (fpm_json_peek(json)) {
    case FPM_JSON_STRING:
        return fpm_json_string_raw(json, &text, &flag);
    case FPM_JSON_NUMBER:
        return fpm_json_number_text(json, &text);
    case FPM_JSON_BOOL:
        return fpm_json_bool(json, &flag);
    case FPM_JSON_NULL:
        return fpm_json_null(json);
    case FPM_JSON_INVALID:
    case FPM_JSON_ARRAY:
    case FPM_JSON_OBJECT:
        break;
    }
    return syntax(json, json->at < json->end ? "a JSON value is wanted here" : "the text ends too early (cut off?)");
}

static bool skip_key(fpm_json *json) {
    fpm_json_span text;
    bool flag;
    return fpm_json_string_raw(json, &text, &flag) && take(json, ':', "a colon is wanted here");
}

bool fpm_json_skip(fpm_json *json) {
    uint64_t is_object = 0; // bit d: the container at depth d is an object
    int depth = 0;
    do {
        // A value begins here.
        fpm_json_type type = fpm_json_peek(json);
        if (type == FPM_JSON_OBJECT || type == FPM_JSON_ARRAY) {
            if (depth == FPM_JSON_MAX_DEPTH) return syntax(json, "nested deeper than 64 levels");
            bool object = type == FPM_JSON_OBJECT;
            is_object = (is_object & ~(UINT64_C(1) << depth)) | (uint64_t)object << depth;
            json->at++;
            skip_space(json);
            if (json->at < json->end && *json->at == (object ? '}' : ']')) {
                json->at++;
            } else {
                depth++;
                if (object && !skip_key(json)) return false;
                continue;
            }
        } else if (!skip_scalar(json)) {
            return false;
        }
        // A value ended here: close containers until another value follows.
        while (depth > 0) {
            bool object = is_object >> (depth - 1) & 1;
            skip_space(json);
            if (json->at < json->end && *json->at == (object ? '}' : ']')) {
                json->at++;
                depth--;
                continue;
            }
            if (!take(json, ',', "a comma or a closing bracket is wanted here")) return false;
            if (object && !skip_key(json)) return false;
            break;
        }
    } while (depth > 0);
    return true;
}
