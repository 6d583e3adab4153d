// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a plan is asked: section [plan].
#ifndef SIM_EXPERIMENT_PLAN_PLAN_SETTINGS_H
#define SIM_EXPERIMENT_PLAN_PLAN_SETTINGS_H

#include "sim/config/config.h"

typedef enum sim_plan_find {
    SIM_PLAN_MIN_GPUS,       // smallest value of `over` that meets [sla]
    SIM_PLAN_MIN_COST,       // cheapest of layouts or of the values of several keys
    SIM_PLAN_MAX_RATE,       // highest arrival rate
    SIM_PLAN_MAX_CONCURRENCY // most requests in flight
} sim_plan_find;

// How one value of `over` is judged.
typedef enum sim_plan_judge {
    SIM_PLAN_BY_AUTO,   // by seeds; where the seed changes nothing, as the trace
    SIM_PLAN_BY_SEEDS,  // interval over replicates, each of another seed
    SIM_PLAN_BY_TRACE,  // one run, whose attainment is the truth: will this very traffic be served?
    SIM_PLAN_BY_BATCHES // one run, interval over stretches of it: will traffic like this be served?
} sim_plan_judge;
extern const char *const sim_plan_find_names[], *const sim_plan_judge_names[]; // NULL-terminated

enum { SIM_PLAN_MAX_KEYS = 4, SIM_PLAN_MAX_LAYOUTS = 24 };

typedef struct sim_plan_ranges { // both ends inclusive, low <= high
    double low[SIM_PLAN_MAX_KEYS], high[SIM_PLAN_MAX_KEYS];
    size_t n;
} sim_plan_ranges;

typedef struct sim_plan_config {
    int find; // sim_plan_find
    const char *over;
    sim_plan_ranges range;
    double resolution_frac;                              // between neighbouring values of a real key, relative
    double confidence;                                   // of the verdict on one value
    int64_t max_repeats;                                 // seeds per value
    int judge_by;                                        // sim_plan_judge
    double model_error_ttft_frac, model_error_tpot_frac; // < 0: what the calibration states
    const char *layouts[SIM_PLAN_MAX_LAYOUTS];           // "" = not given
} sim_plan_config;

extern const sim_key_table sim_plan_keys; // section [plan]

// Without `over` a plan is over its layouts, or over cluster.replicas where it has none; one that looks for a load stays without.
void sim_plan_choose_over(sim_plan_config *plan);

#endif
