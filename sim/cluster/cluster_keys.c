// SPDX-License-Identifier: GPL-3.0-or-later
#include <stddef.h>

#include "sim/cluster/cluster.h"

static const char *const mode_names[] = { "aggregated", NULL };

static const sim_key keys[] = {
    { .name = "mode",
      .type = SIM_KEY_CHOICE,
      .offset = offsetof(sim_cluster_config, mode),
      .default_text = "aggregated",
      .choices = mode_names,
      .help = "every worker prefills and decodes" },
    { .name = "replicas",
      .type = SIM_KEY_INT,
      .offset = offsetof(sim_cluster_config, replicas),
      .default_text = "1",
      .min = 1,
      .max = 1e6,
      .unit = "workers",
      .help = "identical workers" },
    { .name = "gpu_hour_price",
      .type = SIM_KEY_REAL,
      .offset = offsetof(sim_cluster_config, gpu_hour_price),
      .default_text = "0",
      .min = 0,
      .max = 1e9,
      .unit = "money per GPU hour",
      .help = "price of one GPU for one hour; 0 = no cost in the report" },
};
const sim_key_table sim_cluster_keys = { "cluster", "how many workers", keys, sizeof keys / sizeof *keys };
