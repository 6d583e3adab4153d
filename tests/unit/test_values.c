// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/config/values.h"

#include <criterion/criterion.h>
#include <math.h>

#define EACH(cases)                      \
    size_t i = 0;                        \
    i < sizeof(cases) / sizeof *(cases); \
    i++

Test(values, a_value_out_of_range_is_told_the_range) {
    const double max = HUGE_VAL;
    const struct {
        sim_key key;
        const char *text, *problem;
    } cases[] = {
        { { .type = SIM_KEY_INT, .min = 1, .max = max }, "0", "0 is out of range (1 or more)" },
        { { .type = SIM_KEY_INT, .min = 1, .max = 64 }, "65", "65 is out of range (1 to 64)" },
        { { .type = SIM_KEY_INT, .min = -max, .max = 4 }, "5", "5 is out of range (at most 4)" },
        { { .type = SIM_KEY_REAL, .min = 0, .max = 1, .is_min_exclusive = true },
          "0",
          "0 is out of range (above 0, at most 1)" },
        { { .type = SIM_KEY_REAL, .min = 0, .max = max, .is_min_exclusive = true },
          "-1.5",
          "-1.5 is out of range (above 0)" },
        { { .type = SIM_KEY_REAL, .min = 0.25, .max = 1.5 }, "0.2", "0.2 is out of range (0.25 to 1.5)" },
        { { .type = SIM_KEY_DURATION, .min = 1e6, .max = 3.6e12 }, "2h", "2h is out of range (1ms to 1h)" },
        { { .type = SIM_KEY_INT, .min = 1, .max = max, .word = "auto" },
          "0",
          "0 is out of range (auto, or 1 or more)" },
        { { .type = SIM_KEY_INT, .min = 0, .max = 9223372036854775807.0 }, "-1", "-1 is out of range (0 or more)" },
    };
    for (EACH(cases)) {
        union {
            int64_t integer;
            double real;
        } value;
        char problem[200] = "";
        cr_expect_not(sim_value_parse(&cases[i].key, cases[i].text, &value, problem, sizeof problem), "%s",
                      cases[i].text);
        cr_expect_str_eq(problem, cases[i].problem);
    }
}

static const char *parse_even(const char *text, void *out) {
    *(int *)out = atoi(text);
    return *(int *)out % 2 ? "an even number" : NULL;
}

Test(values, a_key_with_a_parser_of_its_own_passes_its_hint_on) {
    const sim_key key = { .type = SIM_KEY_CUSTOM, .parse = parse_even };
    int value = 0;
    char problem[200] = "";
    cr_expect(sim_value_parse(&key, "4", &value, problem, sizeof problem) && value == 4);
    cr_expect_not(sim_value_parse(&key, "5", &value, problem, sizeof problem));
    cr_expect_str_eq(problem, "\"5\" is not valid (an even number)");
}

Test(values, a_comment_in_the_manner_of_another_dialect_is_explained) {
    const sim_key key = { .type = SIM_KEY_INT };
    int64_t value;
    char problem[200] = "";
    cr_expect_not(sim_value_parse(&key, "3 # three", &value, problem, sizeof problem));
    cr_expect_str_eq(problem, "\"3 # three\" is not a whole number (a comment behind a value begins with ;)");
    cr_expect_not(sim_value_parse(&key, "3; three", &value, problem, sizeof problem));
    cr_expect_str_eq(problem, "\"3; three\" is not a whole number (a comment needs a blank in front of ;)");
}

Test(values, a_word_is_stored_as_its_value_whatever_the_range) {
    const sim_key number = { .type = SIM_KEY_REAL, .min = 0, .max = 1, .word = "none", .word_value = -7 };
    const sim_key count = { .type = SIM_KEY_INT, .min = 1, .max = 9, .word = "auto", .word_value = -1 };
    double real = 0;
    int64_t integer = 0;
    char problem[200];
    cr_expect(sim_value_parse(&number, "none", &real, problem, sizeof problem) && real == -7);
    cr_expect(sim_value_parse(&count, "auto", &integer, problem, sizeof problem) && integer == -1);
    cr_expect_not(sim_value_parse(&count, "Auto", &integer, problem, sizeof problem));
}
