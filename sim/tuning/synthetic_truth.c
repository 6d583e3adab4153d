// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/synthetic_truth.h"

#include <math.h>
#include <stdlib.h>

#include "sim/kernel/clock.h"
#include "sim/kernel/random.h"

typedef struct synthetic {
    sim_truth_config config;
    double biases[FPM_MIXED + 1]; // by kind
    sim_dice noise, outlier;
    double noise_sigma;
    double spread[]; // by worker
} synthetic;

static double sigma_of(double cv) { return sqrt(log1p(cv * cv)); }

// Mean 1 whatever sigma.
static double lognormal(double sigma, double normal) { return exp(sigma * normal - sigma * sigma / 2); }

static double step_at(const sim_truth_steps *steps, int64_t now_ns) {
    double factor = 1;
    for (uint64_t i = 0; i < steps->n && steps->steps[i].time_ns <= now_ns; i++) factor = steps->steps[i].factor;
    return factor;
}

static double quantise(double ms, int64_t quantum_ns) {
    const double quantum_ms = (double)quantum_ns / 1e6;
    const double n = floor(ms / quantum_ms + 0.5);
    return (n < 1 ? 1 : n) * quantum_ms;
}

// What slow drift has made of a wall time of 1; <= 0: nothing is left of it.
static double drift_at(const sim_truth_config *config, int64_t now_ns) {
    if (config->drift_per_hour == 0) return 1;
    return 1 + config->drift_per_hour * (sim_s_from_ns(now_ns) / 3600);
}

static sim_status ask(void *state, const sim_truth_query *query, sim_truth_answer *answer, sim_error *error) {
    const synthetic *s = state;
    const sim_truth_config *config = &s->config;
    const uint64_t pass = query->ranks[0].counter_id;
    const double drift = drift_at(config, query->now_ns);
    if (!(drift > 0))
        return sim_error_set(error, SIM_USAGE, NULL, 0,
                             "truth.drift_per_hour = %g leaves no wall time after %g hours of virtual time (nearer to "
                             "0, or a load.max_time)",
                             config->drift_per_hour, sim_s_from_ns(query->now_ns) / 3600);
    double ms = query->base_ms * s->biases[query->kind] * step_at(&config->steps, query->now_ns) * drift *
                s->spread[query->worker];
    *answer = (sim_truth_answer){ .noiseless_ms = ms };
    if (s->noise_sigma > 0) ms *= lognormal(s->noise_sigma, sim_dice_gaussian(&s->noise, query->worker, pass));
    if (config->outlier_probability > 0) {
        answer->is_outlier = sim_dice_uniform(&s->outlier, query->worker, pass) < config->outlier_probability;
        if (answer->is_outlier) ms *= config->outlier_factor;
    }
    if (config->quantum_ns > 0) ms = quantise(ms, config->quantum_ns);
    answer->wall_s = ms / 1e3;
    return SIM_OK;
}

sim_status sim_synthetic_truth_new(sim_truth *truth, const sim_truth_config *config, uint64_t root_seed,
                                   uint32_t n_workers, sim_error *error) {
    static const sim_truth_ops ops = { ask, free };
    synthetic *s = malloc(sizeof *s + n_workers * sizeof s->spread[0]);
    if (!s) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    const uint64_t seed = config->seed < 0 ? root_seed : (uint64_t)config->seed;
    *s = (synthetic){
        .config = *config,
        .biases = { [FPM_PREFILL] = config->prefill_bias,
                    [FPM_DECODE] = config->decode_bias,
                    [FPM_MIXED] = config->mixed_bias },
        .noise = sim_dice_of(seed, "truth.noise"),
        .outlier = sim_dice_of(seed, "truth.outlier"),
        .noise_sigma = sigma_of(config->noise_cv),
    };
    const sim_dice spread = sim_dice_of(seed, "truth.spread");
    const double sigma = sigma_of(config->worker_spread_cv);
    for (uint32_t i = 0; i < n_workers; i++)
        s->spread[i] = sigma > 0 ? lognormal(sigma, sim_dice_gaussian(&spread, i, 0)) : 1;
    *truth = (sim_truth){ &ops, s };
    return SIM_OK;
}
