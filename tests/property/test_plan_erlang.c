// SPDX-License-Identifier: GPL-3.0-or-later
//
// Plans of a queue whose answer is known; all twenty are in the slow suite.
#include "tests/support/erlang.h"

Test(plan_erlang, answers_the_servers_of_an_m_m_c_queue) {
    static const erlang_case cases[] = { { 4, 500, 95 }, { 10, 500, 90 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool is_exact;
        erlang_expect(&cases[i], "workload.requests=3000", &is_exact);
        cr_expect(is_exact);
    }
}
