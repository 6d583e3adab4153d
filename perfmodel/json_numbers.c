// SPDX-License-Identifier: GPL-3.0-or-later
//
// Numbers of the scanner: the plain case of an integer is a short loop, the block ids of a trace are read eight bytes at once, everything else takes the careful path.
#include "perfmodel/json_scanner_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool fpm_json_number_text(fpm_json *json, fpm_json_span *text) {
    if (json->failed) return false;
    skip_space(json);
    const char *at = json->at, *end = json->end;
    if (at < end && *at == '-') at++;
    if (at >= end || !is_digit_at(at))
        return syntax(json, at < end && (*at == 'N' || *at == 'I')
                                ? "a number is wanted here (NaN and Infinity are none in JSON)"
                                : "a number is wanted here");
    if (*at == '0') {
        at++;
        if (at < end && is_digit_at(at)) return syntax(json, "a number with a leading zero");
    }
    while (at < end && is_digit_at(at)) at++;
    if (at < end && *at == '.') {
        const char *fraction = ++at;
        while (at < end && is_digit_at(at)) at++;
        if (at == fraction) return syntax(json, "a number without digits after the point");
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-')) at++;
        const char *exponent = at;
        while (at < end && is_digit_at(at)) at++;
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
    while (at < safe && is_digit_at(at)) sum = sum * 10 + (uint64_t)(*at++ - '0');
    if (at == json->at) {
        if (at < end && *at == '-') return fail(json, FPM_OUT_OF_RANGE, "a whole number >= 0 is wanted here");
        return syntax(json, "a whole number is wanted here");
    }
    if (at == safe && at < end && is_digit_at(at)) {
        uint64_t digit = (uint64_t)(*at++ - '0');
        bool is_last = at >= end || !is_digit_at(at);
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
    for (; n < 8 && is_digit_at(p + n); n++) sum = sum * 10 + (uint64_t)(p[n] - '0');
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
    if (is_negative && json->at < json->end && !is_digit_at(json->at))
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
    for (; at < end && is_digit_at(at); at++) {
        if (n >= UINT64_MAX / 10 - 1) return false;
        n = n * 10 + (uint64_t)(*at - '0');
    }
    size_t n_fraction = 0;
    if (at < end && *at == '.') {
        const char *fraction = ++at;
        for (; at < end && is_digit_at(at); at++) {
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
