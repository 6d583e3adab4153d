// SPDX-License-Identifier: GPL-3.0-or-later
//
// Block `tuning` of a replay's summary: what its tuner did (sim/tuning/tuner.h), and what the run would have come to without it.
#ifndef SIM_REPORT_TUNING_SUMMARY_H
#define SIM_REPORT_TUNING_SUMMARY_H

#include <stdio.h>

#include "sim/config/error.h"
#include "sim/tuning/tuner.h"

struct cJSON;

// The figures of one run that are put beside those of another.
typedef struct sim_paired_figures {
    bool is_there;
    double mean_ttft_ms, p99_ttft_ms, mean_itl_ms, mean_e2e_latency_ms;
    double request_throughput_rps, output_throughput_tok_s, duration_ms;
    bool has_sla;
    double sla_attainment; // with [sla]
} sim_paired_figures;

// The same requests on three clocks.
typedef struct sim_paired {
    sim_paired_figures as_run;
    sim_paired_figures untuned; // tuning.mode = off, tuning.clock = model: what the estimator alone predicts
    sim_paired_figures
        truth; // tuning.clock = truth: what the predictions are of; not there for a truth that says nothing of the simulated passes
} sim_paired;

// Adds the object `tuning`: mode, scope, clock, truth; with mode = online learned_observations, fallback_passes (of a regression), frozen, drift.KIND {alarms,
// passes, is_on, first_ms, last_ms, newest_passes, newest_mape_pct, newest_bias_pct} of kinds that ever drifted; with a recorded truth
// recorded {passes, unmeasured_passes, with_differing_wall_times (if any), and how the simulated passes were answered (recorded_truth.h): exact, interpolated, nearest, estimated}; kinds (tuning_block.h); and with `paired` (may
// be NULL) paired.as_run|untuned|truth and paired.untuned_difference_pct|truth_difference_pct: how far those runs lie from this one, in per cent of this one.
void sim_tuning_summary_add(struct cJSON *root, const sim_tuner *tuner, const sim_paired *paired);

// The same for people. SIM_IO on a short write.
sim_status sim_tuning_summary_write_table(const sim_tuner *tuner, const sim_paired *paired, FILE *out,
                                          sim_error *error);

#endif
