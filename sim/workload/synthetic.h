// SPDX-License-Identifier: GPL-3.0-or-later
//
// source = synthetic: requests of drawn lengths, optionally with a common head per prefix group.
//
// Lengths and groups come from streams of their own ("input_tokens", "output_tokens", "prefix_group"), so that neither
// the load nor one another's distribution changes them.
#ifndef SIM_WORKLOAD_SYNTHETIC_H
#define SIM_WORKLOAD_SYNTHETIC_H

#include "sim/workload/workload.h"

// Fill the empty `workload`. SIM_NO_MEMORY; SIM_USAGE when a distribution practically never gives a usable length.
sim_status sim_synthetic_generate(sim_workload *workload, const sim_config *config, const sim_workload_config *settings,
                                  uint64_t root_seed, sim_error *error);

#endif
