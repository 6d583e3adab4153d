// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a tuned run would have come to without tuning, and on the clock of the truth: the same requests, run again (`replay --paired`).
#ifndef SIM_EXPERIMENT_PAIRED_H
#define SIM_EXPERIMENT_PAIRED_H

#include "sim/experiment/run.h"

// Runs the two other clocks and fills all of `paired`; `summary` is that of the run at hand. Statuses of sim_run_execute, a signal's included.
sim_status sim_paired_execute(const sim_config *config, const sim_settings *settings, const sim_run_options *options,
                              const sim_summary *summary, sim_paired *paired, sim_error *error);

#endif
