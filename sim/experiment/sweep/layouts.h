// SPDX-License-Identifier: GPL-3.0-or-later
//
// All ways to spread a GPU budget: replicas x tensor x pipeline x data = GPUs, tensor within a node, and for a MoE model every degree of expert parallelism,
// as far as the model's shapes divide (perfmodel/native/layout.c) and the keys go. Whether a layout fits the memory is another question, which its run answers.
#ifndef SIM_EXPERIMENT_SWEEP_LAYOUTS_H
#define SIM_EXPERIMENT_SWEEP_LAYOUTS_H

#include "sim/experiment/sweep/domain.h"

enum { SIM_LAYOUT_KEYS = 5 };
extern const char *const sim_layout_keys[SIM_LAYOUT_KEYS]; // "parallel.tensor", ..., "cluster.replicas"

// The layouts as a domain of these keys. SIM_USAGE, placed at sweep.gpus: no budget, no model to spread, or no layout at all.
sim_status sim_layouts(sim_domain *domain, const sim_config *config, int64_t gpus, sim_error *error);

#endif
