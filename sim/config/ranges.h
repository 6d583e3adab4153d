// SPDX-License-Identifier: GPL-3.0-or-later
//
// Inside the room: the bounds of a key (keys.h has how they are told).
#ifndef SIM_CONFIG_RANGES_H
#define SIM_CONFIG_RANGES_H

#include "sim/config/keys.h"

// INT and DURATION, compared exactly beyond 2^53.
bool sim_key_allows_int(const sim_key *key, int64_t value);
// REAL and MS.
bool sim_key_allows_real(const sim_key *key, double value);

#endif
