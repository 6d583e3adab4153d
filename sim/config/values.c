// SPDX-License-Identifier: GPL-3.0-or-later
//
// Sizes and durations are decimal fractions times an integer unit and must come out whole, so they are computed in
// integers: 0.1ms is exactly 100000 ns, 1.5k is 1500 and 1.5 tokens is an error.
#include "sim/config/values.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/config/config.h"
#include "sim/config/nearest_name.h"

__extension__ typedef unsigned __int128 u128;

// ---------------------------------------------------------------------------------------------------------------------
// Decimal fractions
// ---------------------------------------------------------------------------------------------------------------------

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

// Milliseconds as a double: a bare number, or one with "ms", is read as it stands; other units come from whole nanoseconds.
static const char *parse_ms(const char *text, double *ms) {
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

// ---------------------------------------------------------------------------------------------------------------------
// Ranges
// ---------------------------------------------------------------------------------------------------------------------

// Bounds from here on are as good as none and are not told.
static const double no_bound = 1e18;

static bool has_range(const sim_key *key) { return key->min != 0 || key->max != 0 || key->is_min_exclusive; }

static void format_bound(const sim_key *key, double value, char *text, size_t n) {
    if (key->type == SIM_KEY_DURATION && value != 0) {
        const unit *found = time_units;
        while (fmod(value, (double)found->factor) != 0 && found[1].name) found++;
        snprintf(text, n, "%.0f%s", value / (double)found->factor, found->name);
        return;
    }
    if (fabs(value) < 1e15 && floor(value) == value) {
        snprintf(text, n, "%.0f", value);
        return;
    }
    snprintf(text, n, "%.15g", value);
}

static size_t append(char *text, size_t n, size_t at, const char *format, ...) __attribute__((format(printf, 4, 5)));
static size_t append(char *text, size_t n, size_t at, const char *format, ...) {
    if (at >= n) return at;
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text + at, n - at, format, arguments);
    va_end(arguments);
    return length < 0 ? at : at + (size_t)length;
}

static void append_bounds(const sim_key *key, char *text, size_t n, size_t at) {
    const bool has_max = key->max<no_bound, has_min = key->min> - no_bound;
    char min[48], max[48];
    format_bound(key, key->min, min, sizeof min);
    format_bound(key, key->max, max, sizeof max);
    if (key->is_min_exclusive && has_max) {
        append(text, n, at, "above %s, at most %s", min, max);
    } else if (key->is_min_exclusive) {
        append(text, n, at, "above %s", min);
    } else if (has_min && has_max) {
        append(text, n, at, "%s to %s", min, max);
    } else if (has_min) {
        append(text, n, at, "%s or more", min);
    } else if (has_max) {
        append(text, n, at, "at most %s", max);
    }
}

void sim_key_range(const sim_key *key, char *text, size_t n) {
    if (n == 0) return;
    text[0] = '\0';
    size_t at = 0;
    if (key->type == SIM_KEY_BOOL) at = append(text, n, at, "true | false");
    if (key->word) at = append(text, n, at, "%s", *key->word ? key->word : "empty");
    if (key->type == SIM_KEY_CHOICE) {
        for (size_t i = 0; key->choices[i]; i++) {
            at = append(text, n, at, "%s%s", at ? " | " : "", *key->choices[i] ? key->choices[i] : "empty");
        }
        return;
    }
    const bool is_number = key->type == SIM_KEY_INT || key->type == SIM_KEY_REAL || key->type == SIM_KEY_DURATION ||
                           key->type == SIM_KEY_MS;
    if (!is_number || !has_range(key)) return;
    const size_t before = at;
    if (at) at = append(text, n, at, ", or ");
    append_bounds(key, text, n, at);
    if (at < n && text[at] == '\0' && at > before) text[before] = '\0'; // no bound to tell after all
}

// Comparisons of a 64-bit integer with a bound that do not round the integer to a double.
static bool is_below(int64_t value, double bound) {
    if (bound >= 0x1p63) return true;
    return bound > -0x1p63 && value < (int64_t)ceil(bound);
}
static bool is_above(int64_t value, double bound) {
    if (bound < -0x1p63) return true;
    return bound < 0x1p63 && value > (int64_t)floor(bound);
}

static bool is_int_in_range(const sim_key *key, int64_t value) {
    if (!has_range(key)) return true;
    if (key->is_min_exclusive && !is_above(value, key->min)) return false;
    return !is_below(value, key->min) && !is_above(value, key->max);
}

static bool is_real_in_range(const sim_key *key, double value) {
    if (!has_range(key)) return true;
    if (key->is_min_exclusive && !(value > key->min)) return false;
    return value >= key->min && value <= key->max;
}

// ---------------------------------------------------------------------------------------------------------------------
// One key's value
// ---------------------------------------------------------------------------------------------------------------------

typedef struct report {
    char *text;
    size_t n;
} report;

static bool fail(report problem, const char *text, const char *what, const char *hint) {
    if (*text == '\0') {
        snprintf(problem.text, problem.n, "a value is missing (%s)", hint);
    } else {
        snprintf(problem.text, problem.n, "\"%s\" is not %s (%s)", text, what, hint);
    }
    return false;
}

static bool fail_range(report problem, const sim_key *key, const char *text) {
    char range[160];
    sim_key_range(key, range, sizeof range);
    snprintf(problem.text, problem.n, "%s is out of range (%s)", text, range);
    return false;
}

static bool parse_bool(const char *text, bool *out, report problem) {
    *out = strcmp(text, "true") == 0;
    return *out || strcmp(text, "false") == 0 || fail(problem, text, "a truth value", "true | false");
}

static bool parse_int(const sim_key *key, const char *text, int64_t *out, report problem) {
    const char *hint = sim_parse_size(text, out);
    if (hint) return fail(problem, text, "a whole number", hint);
    return is_int_in_range(key, *out) || fail_range(problem, key, text);
}

static bool parse_duration(const sim_key *key, const char *text, int64_t *out, report problem) {
    const char *hint = sim_parse_duration(text, false, out);
    if (hint) return fail(problem, text, "a duration", hint);
    return is_int_in_range(key, *out) || fail_range(problem, key, text);
}

static bool parse_real(const sim_key *key, const char *text, double *out, report problem) {
    const bool is_ms = key->type == SIM_KEY_MS;
    const char *hint = is_ms ? parse_ms(text, out) : sim_parse_real(text, out);
    if (hint) return fail(problem, text, is_ms ? "a time" : "a number", hint);
    return is_real_in_range(key, *out) || fail_range(problem, key, text);
}

static bool parse_choice(const sim_key *key, const char *text, int *out, report problem) {
    sim_nearest nearest = { 0 };
    for (int i = 0; key->choices[i]; i++) {
        if (strcmp(key->choices[i], text) == 0) {
            *out = i;
            return true;
        }
        sim_nearest_consider(&nearest, text, key->choices[i]);
    }
    char choices[320];
    sim_key_range(key, choices, sizeof choices);
    if (!nearest.name) return fail(problem, text, "one of the choices", choices);
    snprintf(problem.text, problem.n, "\"%s\" is not one of the choices (did you mean %s? %s)", text, nearest.name,
             choices);
    return false;
}

// A value of its own: "auto", "none", "".
static void store_word(const sim_key *key, void *field) {
    switch (key->type) {
    case SIM_KEY_INT:
    case SIM_KEY_DURATION:
        *(int64_t *)field = (int64_t)key->word_value;
        return;
    case SIM_KEY_REAL:
    case SIM_KEY_MS:
        *(double *)field = key->word_value;
        return;
    case SIM_KEY_CHOICE:
        *(int *)field = (int)key->word_value;
        return;
    case SIM_KEY_BOOL:
    case SIM_KEY_TEXT:
    case SIM_KEY_PATH:
    case SIM_KEY_CUSTOM:
        return; // refused when the tables are joined
    }
}

bool sim_value_parse(const sim_key *key, const char *text, void *field, char *problem_text, size_t n_problem) {
    const report problem = { problem_text, n_problem };
    if (key->word && strcmp(key->word, text) == 0) {
        store_word(key, field);
        return true;
    }
    switch (key->type) {
    case SIM_KEY_BOOL:
        return parse_bool(text, field, problem);
    case SIM_KEY_INT:
        return parse_int(key, text, field, problem);
    case SIM_KEY_DURATION:
        return parse_duration(key, text, field, problem);
    case SIM_KEY_REAL:
    case SIM_KEY_MS:
        return parse_real(key, text, field, problem);
    case SIM_KEY_CHOICE:
        return parse_choice(key, text, field, problem);
    case SIM_KEY_TEXT:
    case SIM_KEY_PATH:
        *(const char **)field = text;
        return true;
    case SIM_KEY_CUSTOM: {
        const char *hint = key->parse(text, field);
        return !hint || fail(problem, text, "valid", hint);
    }
    }
    return false;
}

const char *sim_key_type_name(sim_key_type type) {
    switch (type) {
    case SIM_KEY_BOOL:
        return "bool";
    case SIM_KEY_INT:
        return "int";
    case SIM_KEY_REAL:
        return "real";
    case SIM_KEY_DURATION:
        return "duration";
    case SIM_KEY_MS:
        return "ms";
    case SIM_KEY_CHOICE:
        return "choice";
    case SIM_KEY_TEXT:
        return "text";
    case SIM_KEY_PATH:
        return "path";
    case SIM_KEY_CUSTOM:
        return "custom";
    }
    return "";
}
