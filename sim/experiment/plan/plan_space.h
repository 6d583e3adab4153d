// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a plan chooses from: outer assignments (layouts, values of all keys but the last), and along each of them the axis of the last key.
#ifndef SIM_EXPERIMENT_PLAN_PLAN_SPACE_H
#define SIM_EXPERIMENT_PLAN_PLAN_SPACE_H

#include "sim/experiment/plan/plan_axis.h"
#include "sim/experiment/plan/plan_settings.h"
#include "sim/workload/load.h"

typedef struct sim_plan_space {
    sim_plan_axis axes[SIM_PLAN_MAX_KEYS]; // of the keys of `over`, in their order
    size_t n_axes;
    const sim_plan_axis *inner; // the last one; NULL: layouts alone
    char **outers;              // at least one, which may be ""
    size_t n_outers;
    bool has_layouts;
    bool counts_gpus; // layouts are compared by GPUs, not by price
    sim_load_mode load_mode;
    double trace_rate; // requests/s of the timestamps, where those are the load; else 0
} sim_plan_space;

// What `plan` says, for the load of `config`. `workload` is the one of `config`: only its requests tell whether they have timestamps. SIM_USAGE, placed at the key
// that is wrong.
sim_status sim_plan_space_init(sim_plan_space *space, const sim_config *config, const sim_plan_config *plan,
                               const sim_workload *workload, sim_error *error);
void sim_plan_space_clear(sim_plan_space *space);

// The axis of the load from `low` to `high` times as much as `config` says.
sim_status sim_plan_load_axis(sim_plan_axis *axis, const sim_plan_space *space, const sim_config *config, double low,
                              double high, double resolution_frac, sim_error *error);

#endif
