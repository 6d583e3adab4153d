// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/perfmodel.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

Test(number, prints_the_shortest_digits) {
    const struct {
        double value;
        const char *text;
    } cases[] = {
        { 0.0, "0" },
        { -0.0, "-0" },
        { 1.0, "1" },
        { -20.0, "-20" },
        { 100.0, "100" },
        { 144793823.0, "144793823" },
        { 0.1, "0.1" },
        { 0.3, "0.3" },
        { 0.1 + 0.2, "0.30000000000000004" },
        { 2.385, "2.385" },
        { -41.46, "-41.46" },
        { 0.00015, "0.00015" },
        { 1e-5, "1e-5" },
        { 1.5e-7, "1.5e-7" },
        { 123456789012345.6, "123456789012345.6" },
        { 999999999999999.0, "999999999999999" },
        { 1e15, "1e15" },
        { 9007199254740993.0, "9007199254740992" },
        { 1e22, "1e22" },
        { 1e23, "1e23" },
        { 1.7976931348623157e308, "1.7976931348623157e308" },
        { 5e-324, "5e-324" },
        { 2.2250738585072014e-308, "2.2250738585072014e-308" },
        { 0x1p-44, "5.684341886080802e-14" }, // the nearest 16 digits do not read back, their neighbour does
        { 1.0 / 3.0, "0.3333333333333333" },
        { 16.50142, "16.50142" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[FPM_NUMBER_BYTES];
        const size_t n = fpm_format_number(text, cases[i].value);
        cr_assert_str_eq(text, cases[i].text);
        cr_assert_eq(n, strlen(text));
        cr_assert_eq(strtod(text, NULL), cases[i].value);
    }
}

static uint64_t draw(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state ^ *state >> 29;
}

static size_t count_digits(const char *text) {
    size_t n = 0, n_zeros = 0;
    bool has_begun = false;
    for (; *text && *text != 'e'; text++) {
        if (*text == '-' || *text == '.') continue;
        has_begun |= *text != '0';
        n_zeros = *text == '0' ? n_zeros + 1 : 0;
        n += has_begun;
    }
    return n - (has_begun ? n_zeros : 0);
}

// Any double: reads back, and no shorter %g does.
static void check(double value) {
    char text[FPM_NUMBER_BYTES], rival[64];
    fpm_format_number(text, value);
    cr_assert_eq(strtod(text, NULL), value, "%.17g printed as %s", value, text);
    int digits = 1;
    do snprintf(rival, sizeof rival, "%.*e", digits++ - 1, value);
    while (strtod(rival, NULL) != value);
    cr_assert_leq(count_digits(text), count_digits(rival), "%s has more digits than %s", text, rival);
}

Test(number, reads_back_and_is_never_longer_than_printf) {
    uint64_t state = 7;
    for (int i = 0; i < 40000; i++) {
        const uint64_t bits = draw(&state);
        double any;
        memcpy(&any, &bits, sizeof any);
        if (isfinite(any)) check(any);
        check(0.001 * (double)(draw(&state) % 1000000000));
        check((double)(draw(&state) >> 11) / 16777216.0);
        check((double)(draw(&state) % 4000000000) / 1e9);
    }
    for (int exponent = -1074; exponent < 1024; exponent++) {
        check(ldexp(1.0, exponent));
        check(nextafter(ldexp(1.0, exponent), HUGE_VAL));
    }
}
