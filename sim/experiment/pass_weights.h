// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the mean latencies of a closed loop are made of: mean TTFT and mean TPOT as weighted sums over the passes of a run.
//
// In a closed loop on one worker nothing happens but at the end of a pass, so which passes follow which does not depend on how long they take. A run whose
// passes all last one unit therefore shows them as they are under any prices, and
//     mean TTFT = sum over passes of duration x (share of requests that wait for their first token during it),
//     mean TPOT = sum over passes of duration x (mean over requests of 1 / (tokens - 1), where they are decoding during it).
// With prices that are linear in the terms of the calibration, both are linear in the terms.
#ifndef SIM_EXPERIMENT_PASS_WEIGHTS_H
#define SIM_EXPERIMENT_PASS_WEIGHTS_H

#include "perfmodel/native/graph.h"
#include "sim/experiment/settings.h"

// Passes alike: the batch of the busiest rank, and what they weigh together.
typedef struct sim_weighted_pass {
    fpm_batch batch;
    double ttft_weight, tpot_weight;
} sim_weighted_pass;

typedef struct sim_pass_weights {
    sim_weighted_pass *passes;
    size_t n_passes;
} sim_pass_weights;

// Run the experiment with passes of one unit. Decode passes in a row with the same batch are put together, at most SIM_PASSES_TOGETHER, at their mean context.
// SIM_USAGE: not a closed loop on one worker.
enum { SIM_PASSES_TOGETHER = 32 };
sim_status sim_pass_weights_find(sim_pass_weights *weights, const sim_config *config, const sim_settings *settings,
                                 sim_error *error);
void sim_pass_weights_clear(sim_pass_weights *weights);

#endif
