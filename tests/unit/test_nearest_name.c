// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/config/config.h"

#include <criterion/criterion.h>

static const char *const names[] = {
    "max_num_seqs", "max_num_batched_tokens", "block_size", "rate", "seed", "cv", "replay", "trace"
};

Test(nearest_name, finds_what_a_slip_of_the_hand_meant) {
    const struct {
        const char *wanted, *found;
    } cases[] = {
        { "max_num_seq", "max_num_seqs" },
        { "max_seqs", "max_num_seqs" },
        { "Block_Size", "block_size" },
        { "block-size", "block_size" },
        { "rtae", "rate" },
        { "sed", "seed" },
        { "replya", "replay" },
        { "trcae", "trace" },
        { "max_batched_tokens", "max_num_batched_tokens" },
        { "vc", "cv" },
        { "cvs", "cv" },
        { "completely_else", NULL },
        { "x", NULL },
        { "", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = sim_nearest_name(cases[i].wanted, names, sizeof names / sizeof *names);
        cr_expect_str_eq(found ? found : "(none)", cases[i].found ? cases[i].found : "(none)", "%s gave %s",
                         cases[i].wanted, found ? found : "(none)");
    }
}

Test(nearest_name, names_of_any_length_are_safe) {
    char longest[300];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    cr_expect_null(sim_nearest_name(longest, names, 8));
    longest[64] = '\0';
    const char *itself[] = { longest };
    cr_expect_eq(sim_nearest_name(longest, itself, 1), longest);
}
