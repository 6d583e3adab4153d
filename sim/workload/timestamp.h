// SPDX-License-Identifier: GPL-3.0-or-later
//
// Arrival stamps of traces, from text to whole nanoseconds without a double in between: epoch nanoseconds need 61 bits,
// and a decimal fraction must not depend on the locale or on how a double would round it.
#ifndef SIM_WORKLOAD_TIMESTAMP_H
#define SIM_WORKLOAD_TIMESTAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/workload/workload.h"

typedef struct sim_stamp {
    int64_t ns;
    bool is_fractional; // of its unit: 0.2 ms is, 200 us is not
} sim_stamp;

// Read a stamp of `n_bytes` at `text`, all of it. `unit` is not SIM_UNIT_FORMAT. Returns NULL, or a static complaint.
//   ns us ms s: a decimal number as in JSON ([-]digits[.digits][e[+-]digits], leading zeros allowed); what is below
//               1 ns is rounded half up.
//   calendar:   YYYY-MM-DD, a blank or T, HH:MM:SS, optionally . and 1 to 9 digits, optionally Z or +-HH:MM; without
//               a zone it is UTC. Nanoseconds since 1970. No leap seconds; nothing here asks the operating system about time zones.
const char *sim_stamp_parse(const char *text, size_t n_bytes, sim_time_unit unit, sim_stamp *stamp);

#endif
