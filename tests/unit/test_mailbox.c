// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/engine/mailbox.h"

#include <criterion/criterion.h>

#include "tests/support/dice.h"
#include "tests/support/failing_malloc.h"

Test(mailbox, is_first_in_first_out_through_any_growth) {
    sim_mailbox mailbox = { 0 };
    uint32_t n_put = 0, n_taken = 0;
    for (int step = 0; step < 20000; step++) {
        if (dice(100) < (step < 10000 ? 55u : 45u)) {
            const sim_letter letter = { n_put, n_put % 3, n_put + 1, n_put + 2, n_put / 2 };
            cr_assert(sim_mailbox_put(&mailbox, &letter));
            n_put++;
        }
        const sim_letter *first = sim_mailbox_first(&mailbox);
        cr_assert_eq(mailbox.n, n_put - n_taken);
        cr_assert_eq(first == NULL, n_put == n_taken);
        if (!first) continue;
        cr_assert(first->request == n_taken && first->rank == n_taken % 3 && first->input_tokens == n_taken + 1 &&
                  first->output_tokens == n_taken + 2 && first->due_pass == n_taken / 2);
        if (dice(2)) {
            sim_mailbox_drop_first(&mailbox);
            n_taken++;
        }
    }
    cr_expect_gt(n_taken, 1000);
    sim_mailbox_clear(&mailbox);
}

Test(mailbox, all_letters_are_made_due_at_once_and_later_ones_wait) {
    sim_mailbox mailbox = { 0 };
    for (uint32_t i = 0; i < 20; i++) { // beyond a first ring, which begins in its middle
        cr_assert(sim_mailbox_put(&mailbox, &(sim_letter){ .request = i, .due_pass = 100 + i }));
        if (i == 9)
            for (int k = 0; k < 10; k++) sim_mailbox_drop_first(&mailbox);
    }
    sim_mailbox_make_due(&mailbox);
    cr_assert(sim_mailbox_put(&mailbox, &(sim_letter){ .request = 20, .due_pass = 7 }));
    for (uint32_t i = 10; i <= 20; i++) {
        const sim_letter *first = sim_mailbox_first(&mailbox);
        cr_expect_eq(first->request, i);
        cr_expect_eq(first->due_pass, i == 20 ? 7 : 0);
        sim_mailbox_drop_first(&mailbox);
    }
    sim_mailbox_clear(&mailbox);
}

Test(mailbox, without_memory_nothing_changes) {
    sim_mailbox mailbox = { 0 };
    n_left = 0;
    cr_expect_not(sim_mailbox_put(&mailbox, &(sim_letter){ .request = 1 }));
    cr_expect_null(sim_mailbox_first(&mailbox));
    n_left = -1;
    for (uint32_t i = 0; i < 16; i++) cr_assert(sim_mailbox_put(&mailbox, &(sim_letter){ .request = i }));
    n_left = 0;
    cr_expect_not(sim_mailbox_put(&mailbox, &(sim_letter){ .request = 16 }));
    n_left = -1;
    cr_expect_eq(mailbox.n, 16);
    cr_expect_eq(sim_mailbox_first(&mailbox)->request, 0);
    sim_mailbox_clear(&mailbox);
    cr_expect_eq(n_live, 0);
}
