// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/sweep/domain.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/perfmodel.h"

typedef struct slice {
    const char *text;
    size_t n;
} slice;

typedef struct parser {
    sim_domain *domain;
    const sim_domain_place *place;
    sim_error *error;
} parser;

static sim_status refuse(const parser *in, const char *format, ...) __attribute__((format(printf, 2, 3)));
static sim_status refuse(const parser *in, const char *format, ...) {
    char message[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return sim_error_set(in->error, SIM_USAGE, in->place->file, in->place->line, "sweep.%s: %s", in->place->name,
                         message);
}

// --- text ------------------------------------------------------------------------------------------------------------

static slice trim(slice s) {
    while (s.n && isspace((unsigned char)*s.text)) s.text++, s.n--;
    while (s.n && isspace((unsigned char)s.text[s.n - 1])) s.n--;
    return s;
}

// What stands before the next separator outside quotes and parentheses; `rest` goes behind it, to NULL at the end.
static slice cut(const char **rest, const char *end, char separator) {
    const char *from = *rest;
    int depth = 0;
    bool is_quoted = false;
    for (const char *at = from; at < end; at++) {
        if (*at == '"') is_quoted = !is_quoted;
        if (is_quoted) continue;
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        if (*at != separator || depth > 0) continue;
        *rest = at + 1;
        return trim((slice){ from, (size_t)(at - from) });
    }
    *rest = NULL;
    return trim((slice){ from, (size_t)(end - from) });
}

// The inside of "NAME(...)", the whole text; an empty text when it is none.
static slice inside_of(slice s, const char *name) {
    const size_t n = strlen(name);
    const bool is_call = s.n > n + 2 && memcmp(s.text, name, n) == 0 && s.text[n] == '(' && s.text[s.n - 1] == ')';
    return is_call ? trim((slice){ s.text + n + 1, s.n - n - 2 }) : (slice){ s.text, 0 };
}

static const char *find_dots(slice s) {
    for (size_t i = 0; i + 2 < s.n; i++)
        if (s.text[i] == '.' && s.text[i + 1] == '.') return s.text + i;
    return NULL;
}

// --- numbers ---------------------------------------------------------------------------------------------------------

// A number, a size (4k) or a duration (10ms, in nanoseconds).
typedef struct number {
    double value;
    bool is_duration;
} number;

static bool read_number(slice s, number *out) {
    char text[64];
    int64_t whole;
    if (s.n == 0 || s.n >= sizeof text) return false;
    memcpy(text, s.text, s.n);
    text[s.n] = '\0';
    *out = (number){ 0, false };
    if (!sim_parse_real(text, &out->value)) return isfinite(out->value);
    if (!sim_parse_size(text, &whole)) {
        out->value = (double)whole;
        return true;
    }
    out->is_duration = !sim_parse_duration(text, false, &whole);
    out->value = (double)whole;
    return out->is_duration;
}

// All of them numbers, all durations or none.
static bool read_numbers(const slice *texts, size_t n, number *out) {
    for (size_t i = 0; i < n; i++) {
        if (!read_number(texts[i], &out[i])) return false;
        const bool is_zero = out[i].value == 0 || out[0].value == 0; // which needs no unit
        if (i > 0 && out[i].is_duration != out[0].is_duration && !is_zero) return false;
        out[0].is_duration |= out[i].is_duration;
    }
    return true;
}

// A duration, which is in nanoseconds, gets the largest unit that shows it as a whole number.
static void write_number(double value, const char *unit, char text[SIM_DOMAIN_BYTES]) {
    static const char *const units[] = { "ns", "us", "ms", "s" };
    char digits[FPM_NUMBER_BYTES];
    size_t i = 0;
    if (*unit) value = round(value);
    while (*unit && i < 3 && value != 0 && fmod(value, 1000) == 0) {
        value /= 1000;
        i++;
    }
    fpm_format_number(digits, value);
    snprintf(text, SIM_DOMAIN_BYTES, "%s%s", digits, *unit ? units[i] : "");
}

// As a person would write it: steps of 0.1 add up to 0.3, not to 0.30000000000000004.
static double round_digits(double value, int n_digits) {
    char text[64];
    snprintf(text, sizeof text, "%.*g", n_digits, value);
    return strtod(text, NULL);
}

// --- lists -----------------------------------------------------------------------------------------------------------

// For one value more; room grows by doubling.
static bool make_room(sim_domain *domain) {
    const size_t n = domain->n_values;
    if (n & (n - 1)) return true;
    char **more = realloc(domain->values, (n ? 2 * n : 1) * domain->n_keys * sizeof *more);
    if (more) domain->values = more;
    return more;
}

static sim_status add_value(const parser *in, slice s) {
    sim_domain *domain = in->domain;
    const bool is_quoted = s.n >= 2 && s.text[0] == '"' && s.text[s.n - 1] == '"';
    if (is_quoted) s = (slice){ s.text + 1, s.n - 2 };
    if (s.n >= SIM_DOMAIN_BYTES) return refuse(in, "a value is too long");
    if (domain->n_values == SIM_DOMAIN_VALUES) return refuse(in, "there are more than %d values", SIM_DOMAIN_VALUES);
    if (!make_room(domain)) return sim_error_set(in->error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    const size_t n_texts = domain->n_values * domain->n_keys;
    char **more = domain->values;
    const char *rest = s.text, *end = s.text + s.n;
    size_t n_found = 0;
    while (rest) {
        const slice part = domain->n_keys > 1 ? cut(&rest, end, '&') : s;
        if (domain->n_keys == 1) rest = NULL;
        if (n_found < domain->n_keys) more[n_texts + n_found] = strndup(part.text, part.n);
        n_found++;
    }
    if (n_found != domain->n_keys) {
        for (size_t i = 0; i < n_found && i < domain->n_keys; i++) free(more[n_texts + i]);
        return refuse(in, "\"%.*s\" has %zu value%s for %zu keys (write one for each, with & between)", (int)s.n,
                      s.text, n_found, n_found == 1 ? "" : "s", domain->n_keys);
    }
    domain->n_values++;
    return SIM_OK;
}

static sim_status add_number(const parser *in, double value, const char *unit) {
    char text[SIM_DOMAIN_BYTES];
    write_number(value, unit, text);
    return add_value(in, (slice){ text, strlen(text) });
}

static sim_status add_range(const parser *in, slice s, const number *numbers) {
    const double start = numbers[0].value, stop = numbers[1].value, step = numbers[2].value;
    const double n_steps = floor((stop - start) / step * (1 + 1e-12) + 1e-9);
    if (step == 0 || !(n_steps >= 0))
        return refuse(in, "the range %.*s is empty (start:stop:step, the step leads from start to stop)", (int)s.n,
                      s.text);
    if (n_steps >= SIM_DOMAIN_VALUES)
        return refuse(in, "the range %.*s has more than %d values (take a larger step)", (int)s.n, s.text,
                      SIM_DOMAIN_VALUES);
    sim_status status = SIM_OK;
    for (double i = 0; i <= n_steps && !status; i++)
        status = add_number(in, round_digits(start + i * step, 14), numbers[0].is_duration ? "ns" : "");
    return status;
}

static sim_status add_ratios(const parser *in, slice s, const number *numbers) {
    const double low = numbers[0].value, high = numbers[1].value, n = numbers[2].value;
    if (!(low > 0) || !(high > 0) || n != floor(n) || n < 2 || n > SIM_DOMAIN_VALUES)
        return refuse(in,
                      "log(%.*s) is none (write log(first, last, number of values): both above 0, at least 2 values)",
                      (int)s.n, s.text);
    double before = (double)NAN;
    sim_status status = SIM_OK;
    for (double i = 0; i < n && !status; i++) {
        double value = i == 0 ? low : i == n - 1 ? high : round_digits(low * pow(high / low, i / (n - 1)), 6);
        if (in->place->is_whole || numbers[0].is_duration) value = round(value);
        if (value != before) status = add_number(in, value, numbers[0].is_duration ? "ns" : "");
        before = value;
    }
    return status;
}

// start:stop:step is three numbers; what is not may be a value that has colons of its own.
static bool is_range(slice s, number numbers[3]) {
    const char *rest = s.text, *end = s.text + s.n;
    slice parts[3] = { { 0 } };
    size_t n = 0;
    while (rest) {
        const slice part = cut(&rest, end, ':');
        if (n < 3) parts[n] = part;
        n++;
    }
    return n == 3 && read_numbers(parts, 3, numbers);
}

static sim_status add_log(const parser *in, slice inside) {
    const char *rest = inside.text, *end = inside.text + inside.n;
    slice parts[3] = { { 0 } };
    number numbers[3] = { { 0 } };
    size_t n = 0;
    while (rest) {
        const slice part = cut(&rest, end, ',');
        if (n < 3) parts[n] = part;
        n++;
    }
    const slice bounds[2] = { parts[0], parts[1] };
    const bool is_well = n == 3 && read_numbers(bounds, 2, numbers) && read_number(parts[2], &numbers[2]);
    if (!is_well) numbers[2].value = 0;
    return add_ratios(in, inside, numbers);
}

static sim_status add_item(const parser *in, slice item) {
    number numbers[3];
    if (item.n == 0) return refuse(in, "a value is missing (write values with commas between)");
    const bool is_single = in->domain->n_keys == 1;
    const slice ratio = is_single ? inside_of(item, "log") : (slice){ item.text, 0 };
    if (ratio.n) return add_log(in, ratio);
    if (is_single && is_range(item, numbers)) return add_range(in, item, numbers);
    return add_value(in, item);
}

// --- continuous ------------------------------------------------------------------------------------------------------

static sim_status take_interval(const parser *in, slice s, const char *dots, bool is_log) {
    sim_domain *domain = in->domain;
    const slice bounds[2] = { trim((slice){ s.text, (size_t)(dots - s.text) }),
                              trim((slice){ dots + 2, s.n - (size_t)(dots + 2 - s.text) }) };
    number numbers[2];
    if (!read_numbers(bounds, 2, numbers) || !(numbers[0].value < numbers[1].value))
        return refuse(in, "%.*s is no interval (write low..high)", (int)s.n, s.text);
    if (is_log && !(numbers[0].value > 0)) return refuse(in, "log(%.*s) begins at or below 0", (int)s.n, s.text);
    if (in->place->is_whole &&
        (numbers[0].value != floor(numbers[0].value) || numbers[1].value != floor(numbers[1].value)))
        return refuse(in, "%.*s does not begin and end at whole numbers, which the key counts in", (int)s.n, s.text);
    domain->is_continuous = true;
    domain->is_log = is_log;
    domain->unit = numbers[0].is_duration ? "ns" : "";
    domain->is_whole = in->place->is_whole || numbers[0].is_duration;
    domain->low = numbers[0].value;
    domain->high = numbers[1].value;
    return SIM_OK;
}

// --- all -------------------------------------------------------------------------------------------------------------

sim_status sim_domain_parse(sim_domain *domain, const char *text, size_t n_keys, const sim_domain_place *place,
                            sim_error *error) {
    *domain = (sim_domain){ .n_keys = n_keys, .unit = "" };
    const parser in = { domain, place, error };
    const slice all = trim((slice){ text, strlen(text) });
    if (all.n == 0) return refuse(&in, "the domain is empty (write values with commas between, or start:stop:step)");
    const slice logarithm = inside_of(all, "log");
    const slice interval = logarithm.n ? logarithm : all;
    const char *dots = n_keys == 1 && !memchr(all.text, '"', all.n) && !memchr(interval.text, ',', interval.n)
                           ? find_dots(interval)
                           : NULL;
    number probe;
    if (dots && read_number(trim((slice){ interval.text, (size_t)(dots - interval.text) }), &probe))
        return take_interval(&in, interval, dots, logarithm.n > 0);
    const char *rest = all.text, *end = all.text + all.n;
    sim_status status = SIM_OK;
    while (rest && !status) status = add_item(&in, cut(&rest, end, ','));
    if (status) sim_domain_clear(domain);
    return status;
}

void sim_domain_clear(sim_domain *domain) {
    for (size_t i = 0; i < domain->n_values * domain->n_keys; i++) free(domain->values[i]);
    free(domain->values);
    domain->values = NULL;
    domain->n_values = 0;
}

static double interval_value(const sim_domain *domain, double position) {
    // A whole number has as much room as any other: from half below the first to half above the last.
    const double margin = domain->is_whole ? 0.5 : 0;
    const double low = domain->low - (domain->is_log ? 0 : margin), high = domain->high + (domain->is_log ? 0 : margin);
    const double value = domain->is_log ? low * pow(high / low, position) : low + (high - low) * position;
    const double rounded = domain->is_whole ? round(value) : round_digits(value, 6);
    return fmin(fmax(rounded, domain->low), domain->high);
}

size_t sim_domain_n_different(const sim_domain *domain) {
    if (!domain->is_continuous) return domain->n_values;
    const double n = domain->high - domain->low + 1;
    return domain->is_whole && n <= SIM_DOMAIN_VALUES ? (size_t)n : 0;
}

size_t sim_domain_index(const sim_domain *domain, double position) {
    if (domain->is_continuous) return (size_t)(interval_value(domain, position) - domain->low);
    const size_t at = (size_t)(position * (double)domain->n_values);
    return at < domain->n_values ? at : domain->n_values - 1;
}

double sim_domain_position(const sim_domain *domain, size_t index) {
    const double n = (double)sim_domain_n_different(domain);
    if (!domain->is_log || !domain->is_continuous) return ((double)index + 0.5) / n;
    const double share = log((domain->low + (double)index) / domain->low) / log(domain->high / domain->low);
    return fmin(share, nextafter(1, 0));
}

void sim_domain_value(const sim_domain *domain, size_t key, double position, char text[SIM_DOMAIN_BYTES]) {
    if (domain->is_continuous) {
        write_number(interval_value(domain, position), domain->unit, text);
        return;
    }
    const size_t index = sim_domain_index(domain, position);
    snprintf(text, SIM_DOMAIN_BYTES, "%s", domain->values[index * domain->n_keys + key]);
}
