// SPDX-License-Identifier: GPL-3.0-or-later
//
// An answer as text for people, as JSON and as CSV.
#ifndef SIM_EXPERIMENT_PLAN_PLAN_REPORT_H
#define SIM_EXPERIMENT_PLAN_PLAN_REPORT_H

#include <stdio.h>

#include "sim/experiment/plan/plan_answer.h"

// SIM_IO on a short write.
sim_status sim_plan_write_table(const sim_plan_answer *answer, FILE *out, sim_error *error);
// {"schema": "forepass.plan", "version": 1, "plan": {...}}; fields that do not apply are left out, an answer that there is not is null.
sim_status sim_plan_write_json(const sim_plan_answer *answer, FILE *out, sim_error *error);
// The margin curve: value, assignments, gpus, cost_per_hour, verdict, replicates, attainment, attainment_low, attainment_high, and p99_ttft_ms, ..._low, ..._high and the like
// of each bound of [sla].
sim_status sim_plan_write_csv(const sim_plan_answer *answer, FILE *out, sim_error *error);

// "p99_ttft_ms".
void sim_plan_bound_key(const sim_sla_config *sla, sim_plan_bound bound, char *text, size_t size);
// How the verdicts of the answer were come to: "seeds", "trace", "batches", or "run" with max_repeats = 1.
const char *sim_plan_judged_by(const sim_plan_answer *answer);

#endif
