// SPDX-License-Identifier: GPL-3.0-or-later
//
// What tuning did, per kind of pass, as JSON and as a table: how good the estimates were before, while and after the model learned, what it kept, and by how
// much it corrects. Shared by replays (block `tuning` of the summary) and `forepass tune`.
#ifndef SIM_REPORT_TUNING_BLOCK_H
#define SIM_REPORT_TUNING_BLOCK_H

#include <stdio.h>

#include "sim/config/error.h"
#include "sim/tuning/measures.h"

struct cJSON;

typedef struct sim_tuning_result {
    const sim_measures *measures;
    const fpm_model *const *models; // one; or one per worker; or none (nothing was tuned)
    size_t n_models;
} sim_tuning_result;

// Adds the object `kinds` (interface.md "Summary"), of each kind: observations, retained_observations, outliers and unpredicted (where there are any),
//   mape_untuned_pct, mape_tuned_pct, mape_settled_pct (after the first 200 passes), mape_final_pct (last 10 %), the same as mape_*_untuned_pct,
//   mape_floor_pct and mape_without_outliers_pct (where the truth is synthetic), bias_untuned_pct, bias_tuned_pct, bias_final_pct,
//   min_faster_correction_factor_met and max_slower_... = true where a factor stands at the bound of that name,
//   p50_ape_pct, p90_, p99_, max_ (tuned) and p50_ape_untuned_pct ..., min_correction_factor, avg_, max_,
//   grid[] {worker (with a model each), low[], high[], samples, median_factor} and windows[] {passes, from_ms, to_ms, mape_untuned_pct, mape_tuned_pct, bias_tuned_pct}.
// A figure of no passes is null. Without models the tuned figures are missing.
void sim_tuning_add_kinds(struct cJSON *object, const sim_tuning_result *result);

// The same for people, without grid and windows. SIM_IO on a short write.
sim_status sim_tuning_write_table(const sim_tuning_result *result, FILE *out, sim_error *error);

// Correction factors in force in all models: least, largest, mean over buckets. False: there is none.
bool sim_tuning_factors(const sim_tuning_result *result, fpm_kind kind, fpm_factors *factors);
uint64_t sim_tuning_retained(const sim_tuning_result *result, fpm_kind kind);

#endif
