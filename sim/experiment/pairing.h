// SPDX-License-Identifier: GPL-3.0-or-later
//
// Are the requests of two runs the same, so that each can be compared with itself?
//
// They are when there are as many, and in table order each has the same prompt length, the same output length (where both completed it), and the same
// arrival. Arrivals in a closed loop, and those of later turns of a session, are made by the run itself and are not looked at.
#ifndef SIM_EXPERIMENT_PAIRING_H
#define SIM_EXPERIMENT_PAIRING_H

#include "sim/report/request_table.h"

typedef struct sim_pairing_rule {
    bool has_given_arrivals;      // in both runs: the load is an open loop
    int64_t arrival_tolerance_ns; // clocks of real servers are written with few digits
} sim_pairing_rule;

typedef struct sim_pairing {
    bool is_paired;
    char reason[160]; // why not; "" when paired
    size_t *order
        [2]; // rows of A and B that count, by time of arrival (where it is known); paired: order[0][i] and order[1][i] are one request
    size_t n[2];
    size_t n_left_out; // paired: requests that have figures in one run only
} sim_pairing;

// `names` are what the reason calls the two.
sim_status sim_pairing_new(sim_pairing *pairing, const sim_request_table *const tables[2], const char *const names[2],
                           const sim_pairing_rule *rule, sim_error *error);
void sim_pairing_clear(sim_pairing *pairing);

#endif
