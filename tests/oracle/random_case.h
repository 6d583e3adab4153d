// SPDX-License-Identifier: GPL-3.0-or-later
//
// Random small experiments, made to be awkward: pools that are too small, prompts that end with their blocks, arrivals at the very instant a
// pass ends, prompts that share heads, repeat each other or are never alike.
#ifndef TESTS_ORACLE_RANDOM_CASE_H
#define TESTS_ORACLE_RANDOM_CASE_H

#include <stdint.h>

enum { CASE_SETS = 40, CASE_SET_BYTES = 300, CASE_ROWS = 64 };

typedef struct random_case {
    uint64_t seed;
    char sets[CASE_SETS][CASE_SET_BYTES]; // section.key=value
    uint32_t n_sets;
    char *rows[CASE_ROWS]; // of a Mooncake trace; a case with rows has no workload.path yet
    uint32_t n_rows;
} random_case;

// One line `section.key=value`.
void random_case_set(random_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The same seed gives the same case.
void random_case_vllm(random_case *c, uint64_t seed);
void random_case_sglang(random_case *c, uint64_t seed); // some with several ranks
void random_case_trtllm(random_case *c, uint64_t seed);
void random_case_dp(random_case *c, uint64_t seed); // several attention-DP ranks
void random_case_clear(random_case *c);

// For cases in a grid: the next choice, 0 to n - 1, of a point, which is a number in some mixed base.
uint32_t grid_choice(uint64_t *point, uint32_t n);

#endif
