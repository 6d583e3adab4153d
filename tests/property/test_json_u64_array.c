// SPDX-License-Identifier: GPL-3.0-or-later
//
// fpm_json_u64_array must take and refuse exactly what reading the array element by element does, with the same values, and stop at the
// same byte.
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/json_scanner.h"
#include "tests/support/dice.h"

enum { CAPACITY = 64, ROUNDS = 200000 };

static bool read_naive(fpm_json *json, uint64_t *values, size_t *n) {
    bool is_first = true;
    *n = 0;
    if (!fpm_json_array_begin(json)) return false;
    while (fpm_json_array_next(json, &is_first)) {
        if (!fpm_json_u64(json, &values[*n])) return false;
        ++*n;
    }
    return !json->failed;
}

static void expect_same(const char *text, size_t n_bytes) {
    // An exact copy, so that reading past the end is seen by the address sanitizer.
    char *copy = malloc(n_bytes ? n_bytes : 1);
    memcpy(copy, text, n_bytes);
    uint64_t wanted[CAPACITY], got[CAPACITY];
    size_t n_wanted, n_got = 0;
    fpm_json naive, quick;
    fpm_json_begin(&naive, copy, n_bytes);
    fpm_json_begin(&quick, copy, n_bytes);
    bool naive_ok = read_naive(&naive, wanted, &n_wanted), quick_ok = fpm_json_u64_array(&quick, got, CAPACITY, &n_got);
    cr_assert_eq(naive_ok, quick_ok, "%.*s", (int)n_bytes, text);
    cr_assert_eq(naive.failed, quick.failed, "%.*s", (int)n_bytes, text);
    cr_assert_eq(naive.at, quick.at, "%.*s: at %td and %td", (int)n_bytes, text, naive.at - copy, quick.at - copy);
    if (naive_ok) {
        cr_assert_eq(n_wanted, n_got, "%.*s", (int)n_bytes, text);
        if (n_got > 0) cr_assert_eq(memcmp(wanted, got, n_got * sizeof *got), 0, "%.*s", (int)n_bytes, text);
    }
    free(copy);
}

static size_t random_array(char *text, size_t capacity) {
    static const char *const separators[] = { ", ", ",", " ,", ",  ", "\t,\t" };
    const char *usual = separators[dice(2)];
    size_t at = (size_t)snprintf(text, capacity, "[%s", dice(8) ? "" : " "), n = dice(30);
    for (size_t i = 0; i < n; i++) {
        uint64_t value = dice(4) ? dice(1000000) : dice(UINT64_MAX) >> dice(64);
        at += (size_t)snprintf(text + at, capacity - at, "%s%" PRIu64,
                               i == 0     ? ""
                               : dice(30) ? usual
                                          : separators[dice(5)],
                               value);
    }
    return at +
           (size_t)snprintf(text + at, capacity - at, "]%s", dice(2) ? "}" : ", \"more\": 12345678901234567890123}");
}

Test(json_u64_array, agrees_with_reading_element_by_element) {
    static const char *const awkward[] = { "[]",
                                           "[ ]",
                                           "[1,]",
                                           "[,1]",
                                           "[1 2]",
                                           "[1,,2]",
                                           "[01, 2, 3, 4, 5, 6, 7, 8, 9, 10]",
                                           "[1.0, 2, 3, 4, 5, 6, 7, 8, 9, 10]",
                                           "[1e3, 2, 3, 4, 5, 6, 7, 8, 9, 10]",
                                           "[-1, 2, 3, 4, 5, 6, 7, 8, 9, 10]",
                                           "[18446744073709551615, 18446744073709551616]",
                                           "[999999999999999999, 1000000000000000000, 0, 1]                  ",
                                           "[1",
                                           "[",
                                           "",
                                           "[\"1\", 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]",
                                           "[null]",
                                           "[[1]]",
                                           "{}",
                                           "[00000000000000000001, 2, 3]         ",
                                           "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0]" };
    for (size_t i = 0; i < sizeof awkward / sizeof *awkward; i++) expect_same(awkward[i], strlen(awkward[i]));
    char text[2048];
    for (int round = 0; round < ROUNDS; round++) {
        size_t n = random_array(text, sizeof text);
        if (dice(3) == 0) n = dice(n + 1);                                         // cut
        if (n > 0 && dice(3) == 0) text[dice(n)] = "0123456789,] .e-\""[dice(17)]; // bent
        expect_same(text, n);
    }
}

Test(json_u64_array, more_elements_than_room_is_an_error) {
    static const char text[] = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]";
    for (size_t capacity = 0; capacity < 14; capacity++) {
        uint64_t values[16];
        size_t n = 99;
        fpm_json json;
        fpm_json_begin(&json, text, sizeof text - 1);
        cr_expect_eq(fpm_json_u64_array(&json, values, capacity, &n), capacity >= 12, "capacity %zu", capacity);
        if (capacity < 12)
            cr_expect_eq(json.failed, FPM_OUT_OF_RANGE);
        else
            cr_expect_eq(n, 12);
    }
}
