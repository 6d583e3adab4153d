// SPDX-License-Identifier: GPL-3.0-or-later
//
// Distribution of absolute percentage errors without keeping them: 512 buckets per power of two between 2^-24 and 2^16, so a percentile is off by at most
// 0.1 %; smaller errors are one bucket of value 0, larger ones one of the largest error seen. Adding is order-free. Memory: 160 KiB.
#ifndef SIM_TUNING_APE_HISTOGRAM_H
#define SIM_TUNING_APE_HISTOGRAM_H

#include <assert.h>
#include <stdint.h>
#include <string.h>

enum {
    SIM_APE_FRACTION_BITS = 9,
    SIM_APE_LEAST_EXPONENT = -24, // and in sim_ape_bucket
    SIM_APE_MOST_EXPONENT = 16,
    SIM_APE_BUCKETS = ((SIM_APE_MOST_EXPONENT - SIM_APE_LEAST_EXPONENT) << SIM_APE_FRACTION_BITS) + 2
};

typedef struct sim_ape_histogram {
    uint64_t count;
    double max;
    uint64_t buckets[SIM_APE_BUCKETS];
} sim_ape_histogram; // zeroed: empty

// The bits of a double are exponent and fraction in this order, so the upper ones number the buckets.
static inline uint32_t sim_ape_bucket(double ape) {
    if (ape < 0x1p-24) return 0;
    if (!(ape < 0x1p16)) return SIM_APE_BUCKETS - 1;
    uint64_t bits;
    memcpy(&bits, &ape, sizeof bits);
    const uint64_t least = (uint64_t)(1023 + SIM_APE_LEAST_EXPONENT) << SIM_APE_FRACTION_BITS;
    return (uint32_t)((bits >> (52 - SIM_APE_FRACTION_BITS)) - least) + 1;
}

// ape >= 0, possibly infinite. O(1).
static inline void sim_ape_histogram_add(sim_ape_histogram *histogram, double ape) {
    assert(ape >= 0);
    histogram->count++;
    if (ape > histogram->max) histogram->max = ape;
    histogram->buckets[sim_ape_bucket(ape)]++;
}

// The value at index round((count-1) percent / 100) of the sorted errors, `percent` in [0, 100]; 0 when empty. O(buckets).
double sim_ape_histogram_percentile(const sim_ape_histogram *histogram, double percent);

#endif
