// SPDX-License-Identifier: GPL-3.0-or-later
//
// Distributions of token counts: N | uniform(a,b) | normal(m,sd) | lognormal(median,sigma) | gamma(shape,mean) |
// zipf(s,n).
//
// uniform: every whole number from a to b, both included. zipf: k in 1..n with probability proportional to k^-s. The
// continuous ones are rounded to the nearest whole number (half up). What falls outside the range the caller names is
// drawn again, so a normal distribution near its minimum is a truncated one.
#ifndef SIM_WORKLOAD_DISTRIBUTION_H
#define SIM_WORKLOAD_DISTRIBUTION_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/kernel/random.h"
#include "sim/workload/workload.h"

// A sim_key_parse_fn: fills a sim_distribution; NULL when well, else a static hint. Blanks between the parts are
// allowed, sizes may have suffixes.
const char *sim_distribution_parse(const char *text, void *out);

// False when 1000 draws all fell outside [minimum, maximum].
bool sim_distribution_draw(const sim_distribution *distribution, sim_stream *stream, uint32_t minimum, uint32_t maximum,
                           uint32_t *value);

// True when a distribution with a stated lower end (a number, uniform) goes below `minimum`: a mistake, unlike a tail
// that is redrawn.
bool sim_distribution_reaches_below(const sim_distribution *distribution, double minimum);

#endif
