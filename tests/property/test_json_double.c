// SPDX-License-Identifier: GPL-3.0-or-later
//
// Doubles of the scanner against strtod, bit for bit: decimals of any length around the limits of the quick path.
#include "perfmodel/json_scanner.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(const char *text) {
    fpm_json json;
    double value = -7;
    fpm_json_begin(&json, text, strlen(text));
    cr_assert(fpm_json_double(&json, &value), "%s", text);
    cr_assert_eq(fpm_json_end(&json, NULL), FPM_OK, "%s", text);
    const double wanted = strtod(text, NULL);
    cr_assert_eq(memcmp(&value, &wanted, sizeof value), 0, "%s: %.17g, not %.17g", text, value, wanted);
}

Test(json_double, reads_what_strtod_reads) {
    const char *const texts[] = { "0",
                                  "-0",
                                  "-0.0",
                                  "1e22",
                                  "1.5E-3",
                                  "9007199254740992",
                                  "9007199254740993",
                                  "18446744073709551615",
                                  "18446744073709551616",
                                  "0.005777288379225196",
                                  "0.30000000000000004",
                                  "123456789012345678901234567890",
                                  "0.0000000000000000000001",
                                  "0.00000000000000000000001",
                                  "1.7976931348623157e308",
                                  "5e-324",
                                  "2.2250738585072011e-308" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) check(texts[i]);
}

Test(json_double, reads_random_decimals_as_strtod_does) {
    srand(5);
    for (int round = 0; round < 300000; round++) {
        char text[64];
        size_t n = 0;
        const int n_whole = 1 + rand() % 20, n_fraction = rand() % 25;
        if (rand() % 4 == 0) text[n++] = '-';
        text[n++] = (char)('0' + (n_whole == 1 ? rand() % 10 : 1 + rand() % 9));
        for (int i = 1; i < n_whole; i++) text[n++] = (char)('0' + rand() % 10);
        if (n_fraction > 0) text[n++] = '.';
        const int n_zeros = rand() % 30; // in front, as in small times
        for (int i = 0; i < n_fraction; i++) text[n++] = (char)(i < n_zeros - 5 ? '0' : '0' + rand() % 10);
        text[n] = '\0';
        check(text);
    }
    for (int round = 0; round < 100000; round++) {
        char text[64];
        snprintf(text, sizeof text, "%.17g", (double)rand() / RAND_MAX / (1 + rand() % 1000));
        check(text);
    }
}
