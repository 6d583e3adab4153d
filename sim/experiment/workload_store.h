// SPDX-License-Identifier: GPL-3.0-or-later
//
// Workloads that runs of a command share: loaded once for all configurations whose [workload], [csv] and, where requests are drawn, seed say the same,
// and read-only. For several threads. What nobody uses is kept for the next one up to a small number, so that a sweep over seeds does not keep them all.
#ifndef SIM_EXPERIMENT_WORKLOAD_STORE_H
#define SIM_EXPERIMENT_WORKLOAD_STORE_H

#include "sim/workload/workload.h"

typedef struct sim_workload_store sim_workload_store;

// `n_idle`: how many workloads are kept that nobody uses.
sim_status sim_workload_store_new(sim_workload_store **store, size_t n_idle, sim_error *error);
void sim_workload_store_free(sim_workload_store *store); // nothing may be in use

// As sim_workload_new, for the workload of `config`, of which `settings` and `root_seed` are part. Give it back.
sim_status sim_workload_store_take(sim_workload_store *store, const sim_config *config,
                                   const sim_workload_config *settings, uint64_t root_seed,
                                   const sim_workload **workload, sim_error *error);
void sim_workload_store_give_back(sim_workload_store *store, const sim_workload *workload);

#endif
