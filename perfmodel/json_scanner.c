// SPDX-License-Identifier: GPL-3.0-or-later
//
// One pass over the bytes, no tree. Characters are classified by a 256-entry table; the plain case of a string
// (printable ASCII up to the closing quote) and of an integer are short loops, everything else takes the careful path.
#include "perfmodel/json_scanner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { IS_SPACE = 1, IS_DIGIT = 2, IS_PLAIN = 4 }; // plain: a byte that may stand in a string as it is

// clang-format off
#define S4(x) x, x, x, x
#define S16(x) S4(x), S4(x), S4(x), S4(x)
static const unsigned char class_of[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, IS_SPACE, IS_SPACE, 0, 0, IS_SPACE, 0, 0, S16(0),
    IS_SPACE | IS_PLAIN, IS_PLAIN, 0 /* " */, IS_PLAIN, S4(IS_PLAIN), S4(IS_PLAIN), S4(IS_PLAIN),
    S4(IS_DIGIT | IS_PLAIN), S4(IS_DIGIT | IS_PLAIN), IS_DIGIT | IS_PLAIN, IS_DIGIT | IS_PLAIN, IS_PLAIN, IS_PLAIN, S4(IS_PLAIN),
    S16(IS_PLAIN), S4(IS_PLAIN), S4(IS_PLAIN), S4(IS_PLAIN), 0 /* \ */, IS_PLAIN, IS_PLAIN, IS_PLAIN,
    S16(IS_PLAIN), S16(IS_PLAIN), // 0x60 .. 0x7f
    // 0x80 and above: 0, checked as UTF-8
};
#undef S4
#undef S16
// clang-format on

static unsigned class_at(const char *at) { return class_of[(unsigned char)*at]; }

static bool fail(fpm_json *json, fpm_status code, const char *complaint) {
    if (!json->failed) {
        json->failed = code;
        json->complaint = complaint;
    }
    return false;
}

static bool syntax(fpm_json *json, const char *complaint) { return fail(json, FPM_SYNTAX, complaint); }

void fpm_json_fail(fpm_json *json, fpm_status code, const char *complaint) { fail(json, code, complaint); }

void fpm_json_begin(fpm_json *json, const char *text, size_t n_bytes) {
    *json = (fpm_json){ .at = text, .end = text + n_bytes, .begin = text };
}

static void skip_space(fpm_json *json) {
    while (json->at < json->end && (class_at(json->at) & IS_SPACE)) json->at++;
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
        return class_at(json->at) & IS_DIGIT ? FPM_JSON_NUMBER : FPM_JSON_INVALID;
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
        while (at < end && (class_at(at) & IS_PLAIN)) at++;
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

// --- numbers ----------------------------------------------------------------------------------------------------------

bool fpm_json_number_text(fpm_json *json, fpm_json_span *text) {
    if (json->failed) return false;
    skip_space(json);
    const char *at = json->at, *end = json->end;
    if (at < end && *at == '-') at++;
    if (at >= end || !(class_at(at) & IS_DIGIT))
        return syntax(json, at < end && (*at == 'N' || *at == 'I')
                                ? "a number is wanted here (NaN and Infinity are none in JSON)"
                                : "a number is wanted here");
    if (*at == '0') {
        at++;
        if (at < end && (class_at(at) & IS_DIGIT)) return syntax(json, "a number with a leading zero");
    }
    while (at < end && (class_at(at) & IS_DIGIT)) at++;
    if (at < end && *at == '.') {
        const char *fraction = ++at;
        while (at < end && (class_at(at) & IS_DIGIT)) at++;
        if (at == fraction) return syntax(json, "a number without digits after the point");
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-')) at++;
        const char *exponent = at;
        while (at < end && (class_at(at) & IS_DIGIT)) at++;
        if (at == exponent) return syntax(json, "a number without digits in its exponent");
    }
    *text = (fpm_json_span){ json->at, (size_t)(at - json->at) };
    json->at = at;
    return true;
}

bool fpm_json_u64(fpm_json *json, uint64_t *value) {
    if (json->failed) return false;
    skip_space(json);
    const char *at = json->at, *end = json->end;
    uint64_t sum = 0;
    // 19 digits always fit; the 20th is checked.
    const char *safe = end - at > 19 ? at + 19 : end;
    while (at < safe && (class_at(at) & IS_DIGIT)) sum = sum * 10 + (uint64_t)(*at++ - '0');
    if (at == json->at) {
        if (at < end && *at == '-') return fail(json, FPM_OUT_OF_RANGE, "a whole number >= 0 is wanted here");
        return syntax(json, "a whole number is wanted here");
    }
    if (at == safe && at < end && (class_at(at) & IS_DIGIT)) {
        uint64_t digit = (uint64_t)(*at++ - '0');
        bool is_last = at >= end || !(class_at(at) & IS_DIGIT);
        if (!is_last || sum > (UINT64_MAX - digit) / 10) return fail(json, FPM_OUT_OF_RANGE, "a number above 2^64-1");
        sum = sum * 10 + digit;
    }
    if (*json->at == '0' && at - json->at > 1) return syntax(json, "a number with a leading zero");
    if (at < end && (*at == '.' || *at == 'e' || *at == 'E'))
        return syntax(json, "a whole number is wanted here, without fraction or exponent");
    json->at = at;
    *value = sum;
    return true;
}

#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
// A number of 1 to 7 digits at `p`, of which 8 bytes can be read: its value and the place behind it; NULL when it is no
// number or longer. Eight bytes at once: digits become 0..9, the first byte above 9 ends the number, leading zeros are
// shifted in, and three multiplications join neighbours to pairs, fours and eights (D. Lemire, "Number parsing at a
// gigabyte per second", 2021, section 5).
static inline const char *short_number(const char *p, uint64_t *value) {
    uint64_t digits;
    memcpy(&digits, p, 8);
    digits ^= UINT64_C(0x3030303030303030);
    const uint64_t beyond = (digits | (digits + UINT64_C(0x7676767676767676))) & UINT64_C(0x8080808080808080);
    if (beyond == 0) return NULL;
    const int n_bits = __builtin_ctzll(beyond) & ~7;                      // of the digits
    if (n_bits == 0 || ((digits & 0xff) == 0 && n_bits > 8)) return NULL; // no digit, or a leading zero
    digits <<= 64 - n_bits;
    digits = digits * 2561 >> 8 & UINT64_C(0x00ff00ff00ff00ff);
    digits = digits * 6553601 >> 16 & UINT64_C(0x0000ffff0000ffff);
    *value = digits * UINT64_C(42949672960001) >> 32;
    return p + n_bits / 8;
}
#else
static inline const char *short_number(const char *p, uint64_t *value) {
    uint64_t sum = 0;
    int n = 0;
    for (; n < 8 && (class_at(p + n) & IS_DIGIT); n++) sum = sum * 10 + (uint64_t)(p[n] - '0');
    *value = sum;
    return n == 0 || n == 8 || (n > 1 && *p == '0') ? NULL : p + n;
}
#endif

// The element at `*at` when it is in the common form, 1 to 7 digits and then ", " or "," or "]": read it, move behind
// the separator and tell whether another element follows. Anything else is left to the careful path.
typedef enum quick { QUICK_NOT, QUICK_MORE, QUICK_LAST } quick;
static inline quick quick_element(const char **at, const char *end, uint64_t *value) {
    if (end - *at < 9) return QUICK_NOT; // 7 digits, comma, blank
    const char *p = short_number(*at, value);
    if (!p) return QUICK_NOT;
    if (*p == ']') {
        *at = p + 1;
        return QUICK_LAST;
    }
    if (*p != ',') return QUICK_NOT;
    *at = p + 1 + (p[1] == ' ');
    return QUICK_MORE;
}

bool fpm_json_u64_array(fpm_json *json, uint64_t *values, size_t capacity, size_t *n) {
    size_t count = 0;
    bool is_first = true;
    if (!fpm_json_array_begin(json)) return false;
    while (fpm_json_array_next(json, &is_first)) { // an element begins here
        skip_space(json);
        quick found = QUICK_MORE;
        while (count < capacity && (found = quick_element(&json->at, json->end, &values[count])) == QUICK_MORE) count++;
        if (count == capacity) return fail(json, FPM_OUT_OF_RANGE, "an array with too many numbers");
        if (found == QUICK_LAST) {
            *n = count + 1;
            return true;
        }
        if (!fpm_json_u64(json, &values[count])) return false;
        count++;
    }
    if (json->failed) return false;
    *n = count;
    return true;
}

bool fpm_json_u32(fpm_json *json, uint32_t *value) {
    uint64_t wide;
    const char *start = json->at;
    if (!fpm_json_u64(json, &wide)) return false;
    if (wide > UINT32_MAX) {
        json->at = start;
        return fail(json, FPM_OUT_OF_RANGE, "a number above 2^32-1");
    }
    *value = (uint32_t)wide;
    return true;
}

bool fpm_json_i64(fpm_json *json, int64_t *value) {
    if (json->failed) return false;
    skip_space(json);
    const char *start = json->at;
    bool is_negative = json->at < json->end && *json->at == '-';
    if (is_negative) json->at++;
    if (is_negative && json->at < json->end && !(class_at(json->at) & IS_DIGIT))
        return syntax(json, "a whole number is wanted here");
    uint64_t magnitude;
    if (!fpm_json_u64(json, &magnitude)) return false;
    if (magnitude > (uint64_t)INT64_MAX + is_negative) {
        json->at = start;
        return fail(json, FPM_OUT_OF_RANGE, "a number outside 64 bits");
    }
    *value = is_negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

// A number of up to 19 significant digits without exponent: n / 10^k with n < 2^53 and k <= 22 is exact by one division,
// because n and 10^k are doubles themselves (W. D. Clinger, "How to read floating point numbers accurately", 1990).
// False: it is another one.
static bool quick_double(fpm_json_span text, double *value) {
    static const double power_of_ten[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                           1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    const char *at = text.text, *end = text.text + text.n_bytes;
    const bool is_negative = *at == '-';
    uint64_t n = 0;
    at += is_negative;
    for (; at < end && (class_at(at) & IS_DIGIT); at++) {
        if (n >= UINT64_MAX / 10 - 1) return false;
        n = n * 10 + (uint64_t)(*at - '0');
    }
    size_t n_fraction = 0;
    if (at < end && *at == '.') {
        const char *fraction = ++at;
        for (; at < end && (class_at(at) & IS_DIGIT); at++) {
            if (n >= UINT64_MAX / 10 - 1) return false;
            n = n * 10 + (uint64_t)(*at - '0');
        }
        n_fraction = (size_t)(at - fraction);
    }
    if (at < end || n > UINT64_C(1) << 53 || n_fraction > 22) return false;
    const double size = (double)n / power_of_ten[n_fraction];
    *value = is_negative ? -size : size;
    return true;
}

bool fpm_json_double(fpm_json *json, double *value) {
    fpm_json_span text;
    if (!fpm_json_number_text(json, &text)) return false;
    if (quick_double(text, value)) return true;
    char digits[512];
    if (text.n_bytes >= sizeof digits) return syntax(json, "a number of more than 511 characters");
    memcpy(digits, text.text, text.n_bytes);
    digits[text.n_bytes] = '\0';
    *value = strtod(digits, NULL); // the C locale: nobody calls setlocale (style.md "Numbers")
    return isfinite(*value) ? true : fail(json, FPM_OUT_OF_RANGE, "a number beyond the range of a double");
}

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
