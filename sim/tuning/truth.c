// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/truth.h"

void sim_truth_free(sim_truth *truth) {
    if (truth->ops) truth->ops->free_state(truth->state);
    *truth = (sim_truth){ .ops = NULL };
}
