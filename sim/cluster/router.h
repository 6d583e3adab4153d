// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which worker gets a request. A policy is a const table of functions plus its state; the registry is sim_router_policies.
#ifndef SIM_CLUSTER_ROUTER_H
#define SIM_CLUSTER_ROUTER_H

#include <stdint.h>

#include "sim/config/keys.h"

typedef struct sim_router_policy {
    const char *name;
    // Worker for the next request, < n_workers. `state` is the policy's own word, 0 at the start.
    uint32_t (*place)(uint64_t *state, uint32_t n_workers, uint32_t request);
} sim_router_policy;

extern const sim_router_policy sim_router_round_robin;

typedef struct sim_router_config { // section [router]
    int policy;                    // index into sim_router_policies
} sim_router_config;

extern const sim_key_table sim_router_keys;
extern const sim_router_policy *const sim_router_policies[];

#endif
