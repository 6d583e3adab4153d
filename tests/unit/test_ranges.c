// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/config/ranges.h"

#include <criterion/criterion.h>

Test(ranges, bounds_of_integers_are_exact_beyond_two_to_the_53) {
    const sim_key key = { .type = SIM_KEY_INT, .min = 0, .max = 9007199254740992.0 };
    cr_expect(sim_key_allows_int(&key, INT64_C(9007199254740992)));
    cr_expect_not(sim_key_allows_int(&key, INT64_C(9007199254740993)));
    cr_expect_not(sim_key_allows_int(&key, INT64_MAX));
    cr_expect_not(sim_key_allows_int(&key, INT64_MIN));
}

Test(ranges, both_bounds_zero_means_no_bounds) {
    const sim_key key = { .type = SIM_KEY_INT };
    cr_expect(sim_key_allows_int(&key, INT64_MAX) && sim_key_allows_int(&key, INT64_MIN));
    cr_expect(sim_key_allows_real(&key, -1e300));
}

Test(ranges, an_exclusive_minimum_is_not_allowed_itself) {
    const sim_key key = { .type = SIM_KEY_REAL, .min = 0, .max = 1, .is_min_exclusive = true };
    cr_expect_not(sim_key_allows_real(&key, 0));
    cr_expect(sim_key_allows_real(&key, 1e-300) && sim_key_allows_real(&key, 1));
}

Test(ranges, what_a_key_takes_is_told_in_words) {
    static const char *const names[] = { "lifo", "fifo", NULL };
    const struct {
        sim_key key;
        const char *text;
    } cases[] = {
        { { .type = SIM_KEY_BOOL }, "true | false" },
        { { .type = SIM_KEY_CHOICE, .choices = names }, "lifo | fifo" },
        { { .type = SIM_KEY_TEXT }, "" },
        { { .type = SIM_KEY_INT }, "" },
        { { .type = SIM_KEY_INT, .min = 1, .max = 1e300 }, "1 or more" },
        { { .type = SIM_KEY_INT, .min = 1, .max = 1e300, .word = "auto" }, "auto, or 1 or more" },
        { { .type = SIM_KEY_INT, .word = "auto" }, "auto" },
        { { .type = SIM_KEY_MS, .min = 0, .max = 10, .word = "" }, "empty, or 0 to 10" },
        { { .type = SIM_KEY_DURATION, .min = 0, .max = 9e18, .is_min_exclusive = true }, "above 0" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[100];
        sim_key_range(&cases[i].key, text, sizeof text);
        cr_expect_str_eq(text, cases[i].text);
        char small[5];
        sim_key_range(&cases[i].key, small, sizeof small);
        cr_expect_lt(strlen(small), sizeof small, "cut to its room");
    }
}
