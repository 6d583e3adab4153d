// SPDX-License-Identifier: GPL-3.0-or-later
//
// Section [sla]: which requests are good, and how many of them must be.
#ifndef SIM_REPORT_SLA_H
#define SIM_REPORT_SLA_H

#include "sim/config/config.h"

struct sim_request_record;

// Bounds of a good request, all inclusive; 0 = not given.
typedef struct sim_sla_config { // section [sla]
    int64_t ttft_ns, tpot_ns, itl_ns, e2e_ns;
    double percentile;
} sim_sla_config;

extern const sim_key_table sim_sla_keys;

// tpot and its alias itl given together: SIM_USAGE. Folds the alias into tpot_ns.
sim_status sim_sla_check(const sim_config *config, sim_sla_config *sla, sim_error *error);

// Is any bound given?
bool sim_sla_is_given(const sim_sla_config *sla);
// Does a completed request hold every bound that is given?
bool sim_sla_is_good(const sim_sla_config *sla, const struct sim_request_record *record);
// The most requests of `n` that may miss; one more, and the percentile cannot be met.
uint64_t sim_sla_allowed_misses(const sim_sla_config *sla, uint64_t n);

#endif
