// SPDX-License-Identifier: GPL-3.0-or-later
//
// What ranks points: numbers of the summary, larger or smaller being better, as they are, per GPU, or per dollar an hour (number of GPUs x
// cluster.gpu_hour_price).
#ifndef SIM_EXPERIMENT_SWEEP_OBJECTIVE_H
#define SIM_EXPERIMENT_SWEEP_OBJECTIVE_H

#include "sim/config/config.h"

struct cJSON;

typedef enum sim_per { SIM_PER_RUN, SIM_PER_GPU, SIM_PER_DOLLAR } sim_per;

typedef struct sim_objective {
    char figure[80]; // of the summary, "block.key" inside a block
    char name[96];   // of its column: total_cost, output_throughput_tok_s_per_gpu
    bool is_smaller_better;
    sim_per per;
} sim_objective;

enum { SIM_OBJECTIVES = 8 };
typedef struct sim_objectives {
    sim_objective list[SIM_OBJECTIVES];
    size_t n;
} sim_objectives;

// Read sweep.objective. `example` is the summary of any run of this configuration (sim_trial_example): what it does not have cannot be an objective. SIM_USAGE, at
// the key.
sim_status sim_objectives_read(sim_objectives *objectives, const sim_config *config, const char *text,
                               const struct cJSON *example, sim_error *error);

// NAN where the summary does not have it (NULL among them).
double sim_objective_value(const sim_objective *objective, const struct cJSON *summary);
// The same of a figure at hand.
double sim_objective_per(const sim_objective *objective, double figure, double gpus, double gpu_hour_price);
// Is `a` better than `b`? What is no number is worse than any.
bool sim_objective_is_better(const sim_objective *objective, double a, double b);

#endif
