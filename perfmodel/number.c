// SPDX-License-Identifier: GPL-3.0-or-later
//
// Doubles to text: the fewest digits that read back as the same number.
//
// Why not only printf: %.15g and a strtod to check it cost about half a microsecond, and the FPM log of a long replay
// is mostly numbers. Any decimal n / 10^k with n < 10^15 and k <= 22 reads back as the double n / 10^k (both are exact,
// and one division rounds correctly), so whether 15 digits do is answered by one division; whole numbers need not even
// that. Only numbers that need 16 or 17 digits, or lie far from 1, go through printf.
#include "perfmodel/perfmodel.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double power_of_ten[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

static size_t put_digits(char *buffer, uint64_t value) {
    char digits[20];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    for (size_t i = 0; i < n; i++) buffer[i] = digits[n - 1 - i];
    return n;
}

// n / 10^k, k >= 1, last digit of n not 0.
static size_t put_decimal(char *buffer, uint64_t n, unsigned k) {
    char digits[20];
    const size_t n_digits = put_digits(digits, n);
    size_t at = 0;
    if (n_digits <= k) {
        buffer[at++] = '0';
        buffer[at++] = '.';
        for (size_t i = n_digits; i < k; i++) buffer[at++] = '0';
        memcpy(buffer + at, digits, n_digits);
        return at + n_digits;
    }
    const size_t n_whole = n_digits - k;
    memcpy(buffer, digits, n_whole);
    buffer[n_whole] = '.';
    memcpy(buffer + n_whole + 1, digits + n_whole, k);
    return n_digits + 1;
}

// 1e-4 <= value < 1e15, not whole: written with 15 digits or fewer if that reads back; otherwise 0.
static size_t put_short(char *buffer, double value) {
    unsigned k = 0;
    while (k < 18 && value * power_of_ten[k + 1] < 1e15) k++;
    uint64_t n = (uint64_t)nearbyint(value * power_of_ten[k]);
    if ((double)n / power_of_ten[k] != value) return 0;
    while (n % 10 == 0) {
        n /= 10;
        k--;
    }
    return put_decimal(buffer, n, k);
}

// "1.5e+07" -> "1.5e7", "1e-05" -> "1e-5"
static size_t trim_exponent(char *text) {
    char *e = strchr(text, 'e');
    if (!e) return strlen(text);
    const char *from = e + 1;
    char *to = e + 1;
    if (*from == '-') *to++ = '-';
    if (*from == '-' || *from == '+') from++;
    while (*from == '0' && from[1]) from++;
    while (*from) *to++ = *from++;
    *to = '\0';
    return (size_t)(to - text);
}

// Add one unit to the last digit of a mantissa "d.ddd" or "d".
static void bump_last_digit(char *mantissa_end, const char *mantissa) {
    for (char *at = mantissa_end - 1; at >= mantissa; at--) {
        if (*at == '.') continue;
        if (*at != '9') {
            ++*at;
            return;
        }
        *at = '0';
    }
}

static bool reads_back(const char *text, double value) { return strtod(text, NULL) == value; }

// Below a power of two doubles lie twice as dense as above it, so the nearest short decimal may fail on the near side
// while its upper neighbour reads back (2^-44 = 5.684341886080802e-14).
static bool try_upper_neighbour(char buffer[FPM_NUMBER_BYTES], double value, int digits) {
    int exponent;
    if (frexp(value, &exponent) != 0.5) return false;
    snprintf(buffer, FPM_NUMBER_BYTES, "%.*e", digits - 1, value);
    bump_last_digit(strchr(buffer, 'e'), buffer);
    return reads_back(buffer, value);
}

static size_t put_long(char buffer[FPM_NUMBER_BYTES], double value, int first_digits) {
    for (int digits = first_digits; digits < 17; digits++) {
        snprintf(buffer, FPM_NUMBER_BYTES, "%.*g", digits, value);
        if (reads_back(buffer, value) || try_upper_neighbour(buffer, value, digits)) return trim_exponent(buffer);
    }
    snprintf(buffer, FPM_NUMBER_BYTES, "%.17g", value);
    return trim_exponent(buffer);
}

size_t fpm_format_number(char buffer[FPM_NUMBER_BYTES], double value) {
    assert(isfinite(value));
    size_t n_sign = 0;
    if (signbit(value)) {
        buffer[n_sign++] = '-';
        value = -value;
    }
    char *digits = buffer + n_sign;
    size_t n = 0;
    int first_digits = DBL_DIG; // 15 always suffice for a decimal of 15 digits or fewer, except below the normal range
    if (value < 1e15) {
        const uint64_t whole = (uint64_t)value;
        if ((double)whole == value) {
            n = put_digits(digits, whole);
        } else if (value >= 1e-4) {
            n = put_short(digits, value);
            first_digits = DBL_DIG + 1;
        } else if (value < 1e-290) {
            first_digits = 1;
        }
    }
    if (n == 0) {
        char text[FPM_NUMBER_BYTES];
        n = put_long(text, value, first_digits);
        memcpy(digits, text, n);
    }
    digits[n] = '\0';
    return n_sign + n;
}
