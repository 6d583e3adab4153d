// SPDX-License-Identifier: GPL-3.0-or-later
//
// forepass estimate --explain: one batch operator by operator.
#ifndef SIM_CLI_ESTIMATE_EXPLAIN_H
#define SIM_CLI_ESTIMATE_EXPLAIN_H

#include "sim/cli/estimate_model.h"

// `estimate_ms` is what the subject's model says of the batch. SIM_USAGE: its prices are not native.
sim_status sim_estimate_explain(const sim_cli *cli, const sim_estimate_subject *subject, const fpm_metrics *batch,
                                bool is_default_batch, double estimate_ms, sim_error *error);

#endif
