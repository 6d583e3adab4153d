// SPDX-License-Identifier: GPL-3.0-or-later
//
// Distribution of absolute percentage errors without keeping them: 512 buckets per power of two between 2^-24 and 2^16, so a percentile is off by at most
// 0.1 %; smaller errors are one bucket of value 0, larger ones one of the largest error seen. Adding is order-free. Memory: 160 KiB.
#ifndef SIM_TUNING_APE_HISTOGRAM_H
#define SIM_TUNING_APE_HISTOGRAM_H

#include <stdint.h>

enum {
    SIM_APE_FRACTION_BITS = 9,
    SIM_APE_LEAST_EXPONENT = -24,
    SIM_APE_MOST_EXPONENT = 16,
    SIM_APE_BUCKETS = ((SIM_APE_MOST_EXPONENT - SIM_APE_LEAST_EXPONENT) << SIM_APE_FRACTION_BITS) + 2
};

typedef struct sim_ape_histogram {
    uint64_t count;
    double max;
    uint64_t buckets[SIM_APE_BUCKETS];
} sim_ape_histogram; // zeroed: empty

// ape >= 0, possibly infinite. O(1).
void sim_ape_histogram_add(sim_ape_histogram *histogram, double ape);

// The value at index round((count-1) percent / 100) of the sorted errors, `percent` in [0, 100]; 0 when empty. O(buckets).
double sim_ape_histogram_percentile(const sim_ape_histogram *histogram, double percent);

#endif
