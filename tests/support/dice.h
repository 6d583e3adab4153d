// SPDX-License-Identifier: GPL-3.0-or-later
//
// Random numbers for property tests, independent of sim/kernel.
#ifndef TESTS_SUPPORT_DICE_H
#define TESTS_SUPPORT_DICE_H

#include <stdint.h>

static uint64_t dice_state = 20261130; // tests print it with a failure

static inline uint64_t dice(uint64_t n) { // splitmix64, 0 .. n - 1
    uint64_t z = dice_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) % n;
}

#endif
