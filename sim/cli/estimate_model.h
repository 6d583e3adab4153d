// SPDX-License-Identifier: GPL-3.0-or-later
//
// The forward-pass model that `estimate` asks: an estimator of [perfmodel], what a saved state has learned on top of it, or a saved regression. And what
// `tune` makes models of that learn.
#ifndef SIM_CLI_ESTIMATE_MODEL_H
#define SIM_CLI_ESTIMATE_MODEL_H

#include "perfmodel/perfmodel.h"
#include "sim/cli/command.h"
#include "sim/deployment/pricing.h"

// What is asked, and what its prices are made of.
typedef struct sim_estimate_subject {
    fpm_model *model;
    bool is_native; // of native prices alone, nothing learned on top: the rest is there
    fpm_pricing pricing;
    sim_deployment deployment;
    sim_native_prices prices;    // borrows the deployment and the tables
    fpm_operator_tables *tables; // perfmodel.operator_tables; NULL without
    // To learn from, instead of `model`:
    fpm_estimator *base;       // NULL: a regression without a fallback
    fpm_model_options options; // of [perfmodel]
    bool has_options;          // some of them were given
    bool is_regression;
} sim_estimate_subject;

// SIM_USAGE: options that contradict each other or are out of range; a state that is missing (SIM_IO) or no saved state (SIM_BAD_DATA). NULL: none of these. The
// subject must not move; it goes with sim_estimate_subject_free, which takes NULL.
sim_status sim_estimate_subject_new(sim_estimate_subject **subject, const sim_cli *cli, sim_error *error);
void sim_estimate_subject_free(sim_estimate_subject *subject);
// The same for those who learn: `model` stays NULL, a regression needs no state.
sim_status sim_learning_subject_new(sim_estimate_subject **subject, const sim_cli *cli, sim_error *error);
// Ranks of a pass: attention data-parallel ones where the model knows them, else 1.
size_t sim_estimate_ranks(const sim_estimate_subject *subject);

// A count given as an option. SIM_USAGE.
sim_status sim_cli_parse_count(const char *option, const char *text, int64_t min, int64_t max, int64_t *count,
                               sim_error *error);
// An error of the forward-pass library as ours: FPM_NO_MEMORY and FPM_IO keep their kind, a pass without a price (FPM_UNSUPPORTED) is
// SIM_DEAD_END, all else is bad data. `path` and `line` where it has none.
sim_status sim_cli_from_fpm(const fpm_error *source, const char *path, int64_t line, sim_error *error);
// Line of the first rank of the iteration given out last that is not valid, else that of its first one.
int64_t sim_cli_bad_line(const fpm_log_reader *reader, const fpm_metrics *ranks, size_t n_ranks);

#endif
