// SPDX-License-Identifier: GPL-3.0-or-later
//
// Sizes and durations are decimal fractions times an integer unit and must come out whole, so they are computed in
// integers: 0.1ms is exactly 100000 ns, 1.5k is 1500 and 1.5 tokens is an error.
#include "sim/config/numbers.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/config/config.h"

__extension__ typedef unsigned __int128 u128;

enum { MAX_FRACTION_DIGITS = 18 };

typedef struct decimal {
    bool is_negative;
    uint64_t whole;
    uint64_t fraction;    // the digits behind the point, without trailing zeros
    uint64_t denominator; // 10 ^ number of them
} decimal;

static const char too_large[] = "the number is too large";
static const char size_hint[] = "a whole number; k M G (1000) or Ki Mi Gi (1024) may follow";
static const char duration_hint[] = "a duration such as 250ms, 1.5s or 2h; units: ns us ms s m h d";

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads [-]digits[.digits] and returns where it ends. NULL: `*hint` says why, or stays when there is no number at all.
static const char *read_decimal(const char *text, decimal *out, const char **hint) {
    *out = (decimal){ .denominator = 1 };
    if (*text == '-') {
        out->is_negative = true;
        text++;
    }
    if (!is_digit(*text)) return NULL;
    for (; is_digit(*text); text++) {
        const uint64_t digit = (uint64_t)(*text - '0');
        if (__builtin_mul_overflow(out->whole, 10, &out->whole) ||
            __builtin_add_overflow(out->whole, digit, &out->whole)) {
            *hint = too_large;
            return NULL;
        }
    }
    if (*text != '.') return text;
    const char *digits = ++text;
    if (!is_digit(*text)) return NULL;
    while (is_digit(*text)) text++;
    const char *end = text;
    while (end > digits && end[-1] == '0') end--;
    if (end - digits > MAX_FRACTION_DIGITS) {
        *hint = "at most 18 digits behind the point";
        return NULL;
    }
    for (; digits < end; digits++) {
        out->fraction = out->fraction * 10 + (uint64_t)(*digits - '0');
        out->denominator *= 10;
    }
    return text;
}

// number x unit as a whole number. NULL when well, else the hint: `not_whole` or too large.
static const char *scale(const decimal *number, uint64_t unit, const char *not_whole, int64_t *out) {
    const u128 fraction = (u128)number->fraction * unit;
    if (fraction % number->denominator != 0) return not_whole;
    const u128 value = (u128)number->whole * unit + fraction / number->denominator;
    const uint64_t limit = (uint64_t)INT64_MAX + number->is_negative;
    if (value > limit) return too_large;
    *out = number->is_negative ? (int64_t)(0 - (uint64_t)value) : (int64_t)value;
    return NULL;
}

typedef struct unit {
    const char *name;
    uint64_t factor;
} unit;

static const unit size_units[] = {
    { "", 1 },          { "k", 1000 },      { "M", 1000000 },   { "G", 1000000000 },
    { "Ki", 1u << 10 }, { "Mi", 1u << 20 }, { "Gi", 1u << 30 }, { NULL, 0 },
};

// from the largest down, as sim_format_duration looks for the largest that fits
static const unit time_units[] = {
    { "d", UINT64_C(86400000000000) },
    { "h", UINT64_C(3600000000000) },
    { "m", UINT64_C(60000000000) },
    { "s", UINT64_C(1000000000) },
    { "ms", 1000000 },
    { "us", 1000 },
    { "ns", 1 },
    { NULL, 0 },
};

static const unit *find_unit(const unit *units, const char *name) {
    for (; units->name; units++) {
        if (strcmp(units->name, name) == 0) return units;
    }
    return NULL;
}

const char *sim_parse_size(const char *text, int64_t *value) {
    const char *hint = size_hint;
    decimal number;
    const char *end = read_decimal(text, &number, &hint);
    if (!end) return hint;
    const unit *found = find_unit(size_units, end);
    return found ? scale(&number, found->factor, size_hint, value) : size_hint;
}

const char *sim_parse_duration(const char *text, bool bare_is_ms, int64_t *ns) {
    const char *hint = duration_hint;
    decimal number;
    const char *end = read_decimal(text, &number, &hint);
    if (!end) return hint;
    const bool is_zero = number.whole == 0 && number.fraction == 0;
    if (number.is_negative && !is_zero) return "a duration is not negative";
    if (*end == '\0' && is_zero) {
        *ns = 0;
        return NULL;
    }
    const unit *found = find_unit(time_units, *end == '\0' && bare_is_ms ? "ms" : end);
    if (!found) return *end == '\0' ? "a unit must follow: ns us ms s m h d" : duration_hint;
    return scale(&number, found->factor, "whole nanoseconds", ns);
}

const char *sim_parse_real(const char *text, double *value) {
    static const char hint[] = "a number such as 0.5, 12 or 1e-3";
    // strtod alone would also take blanks, hexadecimal, inf and nan
    if (text[strspn(text, "0123456789+-.eE")] != '\0') return hint;
    char *end;
    const double parsed = strtod(text, &end);
    if (end == text || *end != '\0') return hint;
    if (!isfinite(parsed)) return too_large;
    *value = parsed;
    return NULL;
}

const char *sim_parse_ms(const char *text, double *ms) {
    static const char hint[] = "milliseconds, or a duration with a unit: ns us ms s m h d";
    char number[64];
    const size_t n = strlen(text);
    if (n >= 2 && n - 2 < sizeof number && strcmp(text + n - 2, "ms") == 0) {
        memcpy(number, text, n - 2);
        number[n - 2] = '\0';
        return sim_parse_real(number, ms) ? hint : NULL;
    }
    if (!sim_parse_real(text, ms)) return NULL;
    int64_t ns;
    if (sim_parse_duration(text, true, &ns)) return hint;
    *ms = (double)ns / 1e6;
    return NULL;
}

void sim_format_duration(double ns, char *text, size_t n) {
    if (ns == 0) {
        snprintf(text, n, "0");
        return;
    }
    const unit *found = time_units;
    while (fmod(ns, (double)found->factor) != 0 && found[1].name) found++;
    snprintf(text, n, "%.0f%s", ns / (double)found->factor, found->name);
}
