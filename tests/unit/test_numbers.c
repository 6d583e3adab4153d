// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/config/config.h"
#include "sim/config/numbers.h"

#include <criterion/criterion.h>
#include <math.h>

#define EACH(cases)                      \
    size_t i = 0;                        \
    i < sizeof(cases) / sizeof *(cases); \
    i++

Test(numbers, durations_are_exact_nanoseconds) {
    const struct {
        const char *text;
        int64_t ns;
    } cases[] = {
        { "0", 0 },
        { "0.0", 0 },
        { "-0", 0 },
        { "250ms", 250000000 },
        { "0.1ms", 100000 },
        { "1.5s", 1500000000 },
        { "2h", INT64_C(7200000000000) },
        { "3d", INT64_C(259200000000000) },
        { "0.25m", INT64_C(15000000000) },
        { "7us", 7000 },
        { "9ns", 9 },
        { "0.000000001s", 1 },
        { "1.100000000000000000000000s", 1100000000 },
        { "9223372036854775807ns", INT64_MAX },
        { "0.123456789s", 123456789 },
    };
    for (EACH(cases)) {
        int64_t ns = -1;
        const char *hint = sim_parse_duration(cases[i].text, false, &ns);
        cr_expect_null(hint, "%s: %s", cases[i].text, hint);
        cr_expect_eq(ns, cases[i].ns, "%s gave %ld", cases[i].text, (long)ns);
    }
}

Test(numbers, what_is_no_duration_is_refused) {
    const char *const cases[] = { "",
                                  "10",
                                  "1.5",
                                  "s",
                                  "ms",
                                  "-1s",
                                  "1 s",
                                  " 1s",
                                  "1S",
                                  "1sec",
                                  "1e3s",
                                  "0x1s",
                                  ".5s",
                                  "1.s",
                                  "0.5ns",
                                  "infs",
                                  "nan",
                                  "1.0000000001s",
                                  "9223372036854775808ns",
                                  "99999999999999999999s",
                                  "106752d",
                                  "+1s",
                                  "1,5s" };
    for (EACH(cases)) {
        int64_t ns;
        cr_expect_not_null(sim_parse_duration(cases[i], false, &ns), "%s", cases[i]);
    }
    int64_t ns;
    cr_expect(!sim_parse_duration("10", true, &ns) && ns == 10000000, "a bare number may be milliseconds");
}

Test(numbers, sizes_are_exact_whole_numbers) {
    const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        { "0", 0 },
        { "256", 256 },
        { "-5", -5 },
        { "2k", 2000 },
        { "1.5k", 1500 },
        { "3M", 3000000 },
        { "2G", 2000000000 },
        { "4Ki", 4096 },
        { "0.5Mi", 524288 },
        { "1Gi", 1073741824 },
        { "2.0", 2 },
        { "9223372036854775807", INT64_MAX },
        { "-9223372036854775808", INT64_MIN },
        { "9007199254740993", INT64_C(9007199254740993) },
    };
    for (EACH(cases)) {
        int64_t value = -1;
        const char *hint = sim_parse_size(cases[i].text, &value);
        cr_expect_null(hint, "%s: %s", cases[i].text, hint);
        cr_expect_eq(value, cases[i].value, "%s gave %ld", cases[i].text, (long)value);
    }
}

Test(numbers, what_is_no_size_is_refused) {
    const char *const cases[] = { "",
                                  "k",
                                  "1.5",
                                  "1.0001k",
                                  "1K",
                                  "1kB",
                                  "1 k",
                                  "0x10",
                                  "1e3",
                                  "--1",
                                  "1..",
                                  "nan",
                                  "ten",
                                  "9223372036854775808",
                                  "-9223372036854775809",
                                  "9223372036854775808k" };
    for (EACH(cases)) {
        int64_t value;
        cr_expect_not_null(sim_parse_size(cases[i], &value), "%s", cases[i]);
    }
}

Test(numbers, reals_are_finite_decimal_numbers) {
    double value;
    cr_expect(!sim_parse_real("2.385", &value) && value == 2.385);
    cr_expect(!sim_parse_real("-1e-3", &value) && value == -1e-3);
    cr_expect(!sim_parse_real(".5", &value) && value == 0.5);
    const char *const cases[] = { "", "inf", "nan", "0x1p3", "1e999", "1e", "1,5", " 1", "1 ", "one", "-" };
    for (EACH(cases)) cr_expect_not_null(sim_parse_real(cases[i], &value), "%s", cases[i]);
}

static double ms_of(const char *text) {
    double value;
    return sim_parse_ms(text, &value) ? nan("") : value;
}

Test(numbers, milliseconds_take_a_bare_number_or_a_unit) {
    cr_expect_eq(ms_of("20"), 20);
    cr_expect_eq(ms_of("2.385"), 2.385);
    cr_expect_eq(ms_of("2.385ms"), 2.385);
    cr_expect_eq(ms_of("1.5s"), 1500);
    cr_expect_eq(ms_of("3us"), 0.003);
    cr_expect_eq(ms_of("1e-9"), 1e-9);
    cr_expect(isnan(ms_of("")) && isnan(ms_of("fast")) && isnan(ms_of("ms")));
}

Test(numbers, durations_are_shown_in_the_largest_unit_that_is_whole) {
    const struct {
        double ns;
        const char *text;
    } cases[] = { { 0, "0" },      { 1, "1ns" },     { 1500, "1500ns" }, { 2e6, "2ms" },
                  { 9e10, "90s" }, { 3.6e12, "1h" }, { 8.64e13, "1d" } };
    for (EACH(cases)) {
        char text[40];
        sim_format_duration(cases[i].ns, text, sizeof text);
        cr_expect_str_eq(text, cases[i].text);
    }
}
