// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/workload/session_table.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

Test(session_table, names_are_numbered_in_order_of_first_appearance_and_kept) {
    sim_session_table *table = sim_session_table_new();
    enum { N = 5000 };
    char name[32];
    uint32_t session;
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < N; i++) {
            int n = snprintf(name, sizeof name, "s%u", i * 7919u);
            cr_assert(sim_session_table_find(table, name, (size_t)n, &session));
            cr_assert_eq(session, i);
            cr_assert_str_eq(sim_session_table_name(table, session), name);
        }
    cr_expect_eq(sim_session_table_count(table), N);
    cr_assert(sim_session_table_find(table, "s", 1, &session), "a name that is the head of others");
    cr_expect_eq(session, N);
    sim_session_table_free(table);
    sim_session_table_free(NULL);
}
