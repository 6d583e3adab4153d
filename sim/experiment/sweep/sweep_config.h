// SPDX-License-Identifier: GPL-3.0-or-later
//
// Section [sweep]: which configurations are run, and what is looked for. Beside its keys it takes names with a dot: a key of another section with the values it
// shall have (domain.h), or constraint.NAME with an expression that points must fulfil (expressions.h).
#ifndef SIM_EXPERIMENT_SWEEP_CONFIG_H
#define SIM_EXPERIMENT_SWEEP_CONFIG_H

#include "sim/config/config.h"

typedef enum sim_sweep_method {
    SIM_SWEEP_GRID,
    SIM_SWEEP_RANDOM,
    SIM_SWEEP_LIST,
    SIM_SWEEP_LHS,
    SIM_SWEEP_SOBOL,
    SIM_SWEEP_BAYES,
    SIM_SWEEP_HALVING
} sim_sweep_method;
extern const char *const sim_sweep_method_names[];

typedef enum sim_early_stop { SIM_EARLY_STOP_OFF, SIM_EARLY_STOP_SLA, SIM_EARLY_STOP_DOMINATED } sim_early_stop;

typedef struct sim_sweep_config {
    int method;         // sim_sweep_method
    const char *points; // list: a CSV file, "" = none
    int64_t samples;    // points of a drawn design, runs of a search
    int64_t repeat;     // seeds per point: load.seed, load.seed + 1, ...
    int64_t seed;       // of the design; -1 = load.seed
    const char *objective;
    double confidence;   // of the intervals over repeats
    bool layouts;        // enumerate parallel layouts
    int64_t gpus;        // their budget; 0 = not given
    int early_stop;      // sim_early_stop
    int64_t round;       // dominated: points of a round
    double first_share;  // halving: share of the requests in the first round
    int64_t keep_one_of; // halving: of how many points one goes on
    const char *others;  // unused: the key that opens the section
} sim_sweep_config;

extern const sim_key_table sim_sweep_keys;

// Does the method choose points by what earlier ones gave?
bool sim_sweep_is_search(const sim_sweep_config *settings);

#endif
