// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kind of a pass of several ranks: that of the rank which speaks for its load in a tuning model (perfmodel.h "Load of a pass"), so that biases, measures
// and corrections mean the same passes.
#ifndef SIM_TUNING_PASS_KIND_H
#define SIM_TUNING_PASS_KIND_H

#include "perfmodel/perfmodel.h"

// FPM_EMPTY: no rank has work. Ranks are valid. O(n_ranks).
fpm_kind sim_pass_kind(const fpm_metrics *ranks, size_t n_ranks);

#endif
