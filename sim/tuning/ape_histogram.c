// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/ape_histogram.h"

#include <math.h>

// Middle of a bucket.
static double value_of(const sim_ape_histogram *histogram, uint32_t bucket) {
    if (bucket == 0) return 0;
    if (bucket == SIM_APE_BUCKETS - 1) return histogram->max;
    const uint32_t place = bucket - 1, fraction = place & ((1u << SIM_APE_FRACTION_BITS) - 1);
    const double value = ldexp(1 + (fraction + 0.5) / (1 << SIM_APE_FRACTION_BITS),
                               (int)(place >> SIM_APE_FRACTION_BITS) + SIM_APE_LEAST_EXPONENT);
    return value < histogram->max ? value : histogram->max;
}

double sim_ape_histogram_percentile(const sim_ape_histogram *histogram, double percent) {
    if (histogram->count == 0) return 0;
    const uint64_t index = (uint64_t)floor((double)(histogram->count - 1) * percent / 100 + 0.5);
    uint64_t seen = 0;
    uint32_t bucket = 0;
    while (bucket < SIM_APE_BUCKETS - 1 && (seen += histogram->buckets[bucket]) <= index) bucket++;
    return value_of(histogram, bucket);
}
