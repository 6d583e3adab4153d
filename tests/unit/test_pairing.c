// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/pairing.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { N = 3 };

typedef struct fixture {
    sim_request_outcome rows[2][N];
    sim_request_table tables[2];
    sim_pairing pairing;
} fixture;

static void set_up(fixture *f) {
    memset(f, 0, sizeof *f);
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < N; i++)
            f->rows[side][i] = (sim_request_outcome){ .arrival_ns = 1000 * (N - i), // from the last row to the first
                                                      .input_tokens = 10 + (uint32_t)i,
                                                      .output_tokens = 5,
                                                      .status = SIM_REQUEST_COMPLETED,
                                                      .is_measured = true };
        f->tables[side] = (sim_request_table){ .rows = f->rows[side],
                                               .n_rows = N,
                                               .has_arrivals = true,
                                               .has_input_tokens = true,
                                               .has_output_tokens = true };
    }
}

static bool is_paired(fixture *f, sim_pairing_rule rule) {
    sim_pairing_clear(&f->pairing);
    cr_assert_eq(sim_pairing_new(&f->pairing, (const sim_request_table *[]){ &f->tables[0], &f->tables[1] },
                                 (const char *[]){ "A", "B" }, &rule, NULL),
                 SIM_OK);
    return f->pairing.is_paired;
}

static const sim_pairing_rule open_loop = { .has_given_arrivals = true }, closed_loop = { .has_given_arrivals = false };

Test(pairing, the_same_requests_are_paired_in_order_of_arrival) {
    fixture f;
    set_up(&f);
    cr_assert(is_paired(&f, open_loop));
    for (size_t i = 0; i < N; i++) {
        cr_expect_eq(f.pairing.order[0][i], N - 1 - i);
        cr_expect_eq(f.pairing.order[1][i], N - 1 - i);
    }
    sim_pairing_clear(&f.pairing);
}

Test(pairing, another_length_or_number_is_another_request) {
    fixture f;
    set_up(&f);
    f.rows[1][1].input_tokens++;
    cr_expect_not(is_paired(&f, open_loop));
    cr_expect_str_eq(f.pairing.reason, "request 1 has input tokens 11 in A and 12 in B");
    f.rows[1][1].input_tokens--;
    f.rows[1][2].output_tokens--;
    cr_expect_not(is_paired(&f, closed_loop));
    f.rows[1][2].status = SIM_REQUEST_REJECTED; // it never came to an output
    cr_expect(is_paired(&f, closed_loop));
    cr_expect_eq(f.pairing.n_left_out, 1);
    f.tables[1].n_rows = 2;
    cr_expect_not(is_paired(&f, open_loop));
    sim_pairing_clear(&f.pairing);
}

Test(pairing, arrivals_count_where_the_load_gives_them) {
    fixture f;
    set_up(&f);
    f.rows[1][0].arrival_ns++;
    cr_expect_not(is_paired(&f, open_loop));
    cr_expect(strstr(f.pairing.reason, "its arrival"), "%s", f.pairing.reason);
    cr_expect(is_paired(&f, closed_loop));
    cr_expect(is_paired(&f, (sim_pairing_rule){ .has_given_arrivals = true, .arrival_tolerance_ns = 1 }));
    f.rows[0][0].turn = f.rows[1][0].turn = 2; // a later turn comes when the one before has ended
    cr_expect(is_paired(&f, open_loop));
    sim_pairing_clear(&f.pairing);
}

Test(pairing, requests_that_nothing_tells_apart_are_not_taken_for_the_same) {
    fixture f;
    set_up(&f);
    f.tables[1].has_input_tokens = f.tables[1].has_arrivals = false;
    cr_expect_not(is_paired(&f, open_loop));
    sim_pairing_clear(&f.pairing);
}

Test(pairing, the_warm_up_of_either_run_does_not_count) {
    fixture f;
    set_up(&f);
    f.rows[1][2].is_measured = false;
    cr_assert(is_paired(&f, open_loop));
    cr_expect_eq(f.pairing.n[0], N - 1);
    cr_expect_eq(f.pairing.order[0][0], 1);
    sim_pairing_clear(&f.pairing);
}
