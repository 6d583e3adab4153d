// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/workload/timestamp.h"

#include "sim/kernel/clock.h"

static const char not_a_number[] = "the timestamp is not a number";
static const char out_of_range[] = "the timestamp does not fit 64 bits of nanoseconds (is workload.time_unit right?)";
static const char not_a_date[] = "the timestamp is not a date (YYYY-MM-DD HH:MM:SS[.fraction][Z|+HH:MM])";

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// --- decimal numbers -------------------------------------------------------------------------------------------------

// The digits of a number without its point: `n_digits` of them, the first `point` in front of the point (which may lie
// outside).
typedef struct decimal {
    const char *whole, *fraction;
    int64_t n_whole, n_digits, point;
    bool is_negative;
} decimal;

static int decimal_digit(const decimal *number, int64_t i) {
    return (i < number->n_whole ? number->whole[i] : number->fraction[i - number->n_whole]) - '0';
}

// Exponent digits in [*at, end), saturated far beyond anything that can matter.
static int64_t read_exponent(const char **at, const char *end) {
    enum { LIMIT = 100000 };
    bool is_negative = *at < end && **at == '-';
    if (*at < end && (**at == '-' || **at == '+')) (*at)++;
    int64_t exponent = 0;
    for (; *at < end && is_digit(**at); (*at)++)
        if (exponent < LIMIT) exponent = exponent * 10 + (**at - '0');
    return is_negative ? -exponent : exponent;
}

static bool split_decimal(const char *text, size_t n_bytes, decimal *number) {
    const char *at = text, *end = text + n_bytes;
    *number = (decimal){ .is_negative = at < end && *at == '-' };
    at += number->is_negative;
    number->whole = at;
    while (at < end && is_digit(*at)) at++;
    number->n_whole = at - number->whole;
    if (number->n_whole == 0) return false;
    number->n_digits = number->point = number->n_whole;
    if (at < end && *at == '.') {
        number->fraction = ++at;
        while (at < end && is_digit(*at)) at++;
        if (at == number->fraction) return false;
        number->n_digits += at - number->fraction;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at == end || !is_digit(end[-1])) return false;
        number->point += read_exponent(&at, end);
    }
    return at == end;
}

// How what stands behind digit `point` compares with one half: -1, 0 or 1.
static int compare_rest_with_half(const decimal *number, int64_t point) {
    if (point < 0 || point >= number->n_digits) return -1;
    int first = decimal_digit(number, point);
    if (first != 5) return first < 5 ? -1 : 1;
    for (int64_t i = point + 1; i < number->n_digits; i++)
        if (decimal_digit(number, i) != 0) return 1;
    return 0;
}

static bool has_rest(const decimal *number, int64_t point) {
    for (int64_t i = point < 0 ? 0 : point; i < number->n_digits; i++)
        if (decimal_digit(number, i) != 0) return true;
    return false;
}

static const char *parse_decimal(const char *text, size_t n_bytes, int ns_exponent, sim_stamp *stamp) {
    decimal number;
    if (!split_decimal(text, n_bytes, &number)) return not_a_number;
    stamp->is_fractional = has_rest(&number, number.point);
    int64_t point = number.point + ns_exponent, ns = 0;
    for (int64_t i = 0; i < point && (i < number.n_digits || ns != 0); i++) {
        int digit = i < number.n_digits ? decimal_digit(&number, i) : 0;
        if (__builtin_mul_overflow(ns, 10, &ns) || __builtin_add_overflow(ns, digit, &ns)) return out_of_range;
    }
    int rest = compare_rest_with_half(&number, point);
    if (rest > 0 || (rest == 0 && !number.is_negative)) // half up: -0.5 becomes 0
        if (__builtin_add_overflow(ns, 1, &ns)) return out_of_range;
    stamp->ns = number.is_negative ? -ns : ns;
    return NULL;
}

// The usual case: up to 9 digits and nothing else. False: take the long way.
static bool parse_small_integer(const char *text, size_t n_bytes, int64_t scale, int64_t *ns) {
    if (n_bytes == 0 || n_bytes > 9) return false;
    int64_t value = 0;
    for (size_t i = 0; i < n_bytes; i++) {
        if (!is_digit(text[i])) return false;
        value = value * 10 + (text[i] - '0');
    }
    *ns = value * scale;
    return true;
}

// --- calendar --------------------------------------------------------------------------------------------------------

// Days from 1970-01-01 to the given day of the Gregorian calendar, year >= 1.
static int64_t days_since_1970(int year, int month, int day) {
    static const int days_before_month[12] = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334 };
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    int64_t before = year - 1; // whole years since year 1
    int64_t days = before * 365 + before / 4 - before / 100 + before / 400;
    days += days_before_month[month - 1] + (is_leap && month > 2) + day - 1;
    return days - 719162; // 1970-01-01 by the same count
}

static int days_in_month(int year, int month) {
    static const int days[12] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && is_leap);
}

// `n` digits at *at as a number, or -1. Moves *at.
static int read_digits(const char **at, const char *end, int n) {
    if (end - *at < n) return -1;
    int value = 0;
    for (int i = 0; i < n; i++, (*at)++) {
        if (!is_digit(**at)) return -1;
        value = value * 10 + (**at - '0');
    }
    return value;
}

static bool take(const char **at, const char *end, char wanted) {
    if (*at >= end || **at != wanted) return false;
    (*at)++;
    return true;
}

// "HH:MM" of a clock or a zone, in minutes; -1 when it is none.
static int read_hours_and_minutes(const char **at, const char *end) {
    int hour = read_digits(at, end, 2);
    if (hour < 0 || hour > 23 || !take(at, end, ':')) return -1;
    int minute = read_digits(at, end, 2);
    return minute < 0 || minute > 59 ? -1 : hour * 60 + minute;
}

// Digits behind the point as nanoseconds, 1 to 9 of them; -1 when there are fewer or more.
static int64_t read_fraction_ns(const char **at, const char *end) {
    int64_t ns = 0;
    int n = 0;
    for (; *at < end && is_digit(**at); (*at)++, n++)
        if (n < 9) ns = ns * 10 + (**at - '0');
    if (n < 1 || n > 9) return -1;
    for (; n < 9; n++) ns *= 10;
    return ns;
}

static const char *parse_calendar(const char *text, size_t n_bytes, sim_stamp *stamp) {
    const char *at = text, *end = text + n_bytes;
    int year = read_digits(&at, end, 4);
    if (year < 1 || !take(&at, end, '-')) return not_a_date;
    int month = read_digits(&at, end, 2);
    if (month < 1 || month > 12 || !take(&at, end, '-')) return not_a_date;
    int day = read_digits(&at, end, 2);
    if (day < 1 || day > days_in_month(year, month)) return not_a_date;
    if (!take(&at, end, ' ') && !take(&at, end, 'T')) return not_a_date;
    int minutes = read_hours_and_minutes(&at, end);
    if (minutes < 0 || !take(&at, end, ':')) return not_a_date;
    int second = read_digits(&at, end, 2);
    if (second < 0 || second > 59) return not_a_date;
    int64_t fraction_ns = 0;
    if (take(&at, end, '.') && (fraction_ns = read_fraction_ns(&at, end)) < 0) return not_a_date;
    int zone_minutes = 0;
    if (at < end && (*at == '+' || *at == '-')) {
        int sign = *at++ == '+' ? 1 : -1;
        int offset = read_hours_and_minutes(&at, end);
        if (offset < 0) return not_a_date;
        zone_minutes = sign * offset;
    } else {
        take(&at, end, 'Z');
    }
    if (at != end) return not_a_date;
    int64_t seconds = days_since_1970(year, month, day) * 86400 + (int64_t)(minutes - zone_minutes) * 60 + second;
    stamp->is_fractional = fraction_ns != 0;
    if (__builtin_mul_overflow(seconds, SIM_NS_PER_S, &stamp->ns) ||
        __builtin_add_overflow(stamp->ns, fraction_ns, &stamp->ns))
        return "the date does not fit 64 bits of nanoseconds since 1970 (1678 to 2261 do)";
    return NULL;
}

const char *sim_stamp_parse(const char *text, size_t n_bytes, sim_time_unit unit, sim_stamp *stamp) {
    static const int ns_exponent[] = { [SIM_UNIT_NS] = 0, [SIM_UNIT_US] = 3, [SIM_UNIT_MS] = 6, [SIM_UNIT_S] = 9 };
    static const int64_t scale[] = {
        [SIM_UNIT_NS] = 1, [SIM_UNIT_US] = SIM_NS_PER_US, [SIM_UNIT_MS] = SIM_NS_PER_MS, [SIM_UNIT_S] = SIM_NS_PER_S
    };
    if (unit == SIM_UNIT_CALENDAR) return parse_calendar(text, n_bytes, stamp);
    stamp->is_fractional = false;
    if (parse_small_integer(text, n_bytes, scale[unit], &stamp->ns)) return NULL;
    return parse_decimal(text, n_bytes, ns_exponent[unit], stamp);
}
