// SPDX-License-Identifier: GPL-3.0-or-later
//
// Runs one experiment through the product and through the oracle and compares what they write, byte for byte, and how they end. That
// happens in a process of its own, so that a crash or a run without end is a difference like any other, and can be made smaller.
#ifndef TESTS_ORACLE_DIFFERENTIAL_H
#define TESTS_ORACLE_DIFFERENTIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/oracle/random_case.h"

// What a number of comparisons met, to see that they are worth something.
typedef struct differential_census {
    uint32_t n_cases, n_differences;
    uint32_t n_dead_ends, n_with_preemptions, n_with_hits, n_with_rejections, n_with_incomplete;
    uint64_t n_requests, n_passes;
} differential_census;

// True when both agree. Otherwise the smallest case that could be found from this one is told on stderr, and stays in a directory.
bool differential_agrees(const random_case *c, differential_census *census);
void differential_end(void); // removes what is left of comparisons without a difference

// The cases of seeds first_seed, first_seed + 1, ... Stops after 5 differences.
differential_census differential_run_all(void (*draw)(random_case *c, uint64_t seed), uint64_t first_seed,
                                         uint32_t n_cases);
// The same for random cases: FOREPASS_SEED and FOREPASS_CASES in the environment override the first seed and the count.
differential_census differential_run(void (*draw)(random_case *c, uint64_t seed), uint64_t first_seed,
                                     uint32_t n_cases);

#endif
