// SPDX-License-Identifier: GPL-3.0-or-later
//
// Virtual time: a signed 64-bit count of nanoseconds from the start of a run (292 years), so that sums and orders are
// exact. Models speak milliseconds as doubles; sim_ns_from_ms is the only way from one to the other.
#ifndef SIM_KERNEL_CLOCK_H
#define SIM_KERNEL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_NS_PER_US INT64_C(1000)
#define SIM_NS_PER_MS INT64_C(1000000)
#define SIM_NS_PER_S INT64_C(1000000000)
#define SIM_TIME_NEVER INT64_MAX

// Round half up to whole nanoseconds. False for NaN, negative and everything that does not fit.
bool sim_ns_from_ms(double ms, int64_t *ns);

// a + b; false on overflow.
bool sim_ns_add(int64_t a_ns, int64_t b_ns, int64_t *sum_ns);

static inline double sim_ms_from_ns(int64_t ns) { return (double)ns / 1e6; }
static inline double sim_s_from_ns(int64_t ns) { return (double)ns / 1e9; }

#endif
