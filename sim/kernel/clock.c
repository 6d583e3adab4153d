// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/kernel/clock.h"

#include <math.h>

bool sim_ns_from_ms(double ms, int64_t *ns) {
    if (!(ms >= 0)) return false;
    double exact = floor(ms * 1e6 + 0.5);
    if (!(exact < 9223372036854775808.0)) return false;
    *ns = (int64_t)exact;
    return true;
}

bool sim_ns_add(int64_t a_ns, int64_t b_ns, int64_t *sum_ns) { return !__builtin_add_overflow(a_ns, b_ns, sum_ns); }
