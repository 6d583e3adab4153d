// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/cluster/router.h"

#include <stddef.h>

// Requests in order of arrival to workers in order of identity.
static uint32_t place_round_robin(uint64_t *state, uint32_t n_workers, uint32_t request) {
    (void)request;
    return (uint32_t)((*state)++ % n_workers);
}
const sim_router_policy sim_router_round_robin = { "round_robin", place_round_robin };

const sim_router_policy *const sim_router_policies[] = { &sim_router_round_robin };

static const char *const policy_names[] = { "round_robin", NULL };
static const sim_key keys[] = {
    { .name = "policy",
      .type = SIM_KEY_CHOICE,
      .offset = offsetof(sim_router_config, policy),
      .default_text = "round_robin",
      .choices = policy_names,
      .help = "which worker gets a request" },
};
const sim_key_table sim_router_keys = { "router", "how requests find a worker", keys, 1 };
