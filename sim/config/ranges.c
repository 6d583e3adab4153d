// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/config/ranges.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "sim/config/numbers.h"

// Bounds from here on are as good as none and are not told.
static const double no_bound = 1e18;

static bool has_range(const sim_key *key) { return key->min != 0 || key->max != 0 || key->is_min_exclusive; }

static void format_bound(const sim_key *key, double value, char *text, size_t n) {
    if (key->type == SIM_KEY_DURATION) {
        sim_format_duration(value, text, n);
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
    const bool has_max = key->max < no_bound;
    const bool has_min = -no_bound < key->min;
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

bool sim_key_allows_int(const sim_key *key, int64_t value) {
    if (!has_range(key)) return true;
    if (key->is_min_exclusive && !is_above(value, key->min)) return false;
    return !is_below(value, key->min) && !is_above(value, key->max);
}

bool sim_key_allows_real(const sim_key *key, double value) {
    if (!has_range(key)) return true;
    if (key->is_min_exclusive && !(value > key->min)) return false;
    return value >= key->min && value <= key->max;
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
    case SIM_KEY_NAMED:
        return "name or path";
    case SIM_KEY_CUSTOM:
        return "custom";
    }
    return "";
}
