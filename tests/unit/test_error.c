// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/config/error.h"

#include <criterion/criterion.h>
#include <string.h>

Test(error, the_exit_status_follows_from_the_status) {
    const struct {
        sim_status status;
        int exit_status;
    } cases[] = {
        { SIM_OK, 0 },       { SIM_NO_MEMORY, 1 },     { SIM_IO, 1 },
        { SIM_INTERNAL, 1 }, { SIM_USAGE, 2 },         { SIM_BAD_DATA, 3 },
        { SIM_DEAD_END, 4 }, { SIM_INTERRUPTED, 130 }, { SIM_TERMINATED, 143 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_eq(sim_status_exit(cases[i].status), cases[i].exit_status);
    }
}

Test(error, an_error_has_a_place_and_a_message_cut_to_their_room) {
    sim_error error = { .column = 7 };
    cr_expect_eq(sim_error_set(&error, SIM_BAD_DATA, "t.jsonl", 3, "%d rows", 2), SIM_BAD_DATA);
    cr_expect_eq(error.code, SIM_BAD_DATA);
    cr_expect_str_eq(error.file, "t.jsonl");
    cr_expect_eq(error.line, 3);
    cr_expect_eq(error.column, 0);
    cr_expect_str_eq(error.message, "2 rows");
    sim_error_set(&error, SIM_IO, error.file, 4, "again");
    cr_expect_str_eq(error.file, "t.jsonl", "the file of this very error may be given");
    sim_error_set(&error, SIM_IO, NULL, 0, "no place");
    cr_expect_str_eq(error.file, "");
    char longest[2000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    sim_error_set(&error, SIM_IO, longest, 0, "%s", longest);
    cr_expect_eq(strlen(error.file), sizeof error.file - 1);
    cr_expect_eq(strlen(error.message), sizeof error.message - 1);
    cr_expect_eq(sim_error_set(NULL, SIM_IO, "x", 1, "nobody listens"), SIM_IO);
}
