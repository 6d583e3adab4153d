// SPDX-License-Identifier: GPL-3.0-or-later
//
// Count, sum and sum of squares of token counts, as exact integers, so that members can come and go without drift. 128 bits hold the squares
// of 2^64 counts of 32 bits.
#ifndef SIM_ENGINE_SQUARE_SUM_H
#define SIM_ENGINE_SQUARE_SUM_H

#include <stdint.h>

__extension__ typedef unsigned __int128 sim_u128;

typedef struct sim_square_sum {
    uint64_t count;
    uint64_t sum;
    sim_u128 squares;
} sim_square_sum;

static inline void sim_square_sum_add(sim_square_sum *total, uint32_t value) {
    total->count++;
    total->sum += value;
    total->squares += (uint64_t)value * value;
}

static inline void sim_square_sum_remove(sim_square_sum *total, uint32_t value) {
    total->count--;
    total->sum -= value;
    total->squares -= (uint64_t)value * value;
}

// Population variance: (n sum(x^2) - (sum x)^2) / n^2, exact up to the one division (interface.md "Definitions").
static inline double sim_square_sum_variance(const sim_square_sum *total) {
    if (total->count == 0) return 0;
    sim_u128 numerator = total->count * total->squares - (sim_u128)total->sum * total->sum;
    return (double)numerator / ((double)total->count * (double)total->count);
}

#endif
