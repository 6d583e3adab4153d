// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/synthetic_truth.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "sim/kernel/clock.h"
#include "sim/kernel/random.h"

typedef struct synthetic {
    sim_truth_config config;
    uint64_t seed;
    double noise_sigma;
    double spread[]; // by worker
} synthetic;

static double sigma_of(double cv) { return sqrt(log1p(cv * cv)); }

// Mean 1 whatever sigma.
static double lognormal(double sigma, double uniform) {
    return exp(sigma * gsl_cdf_ugaussian_Pinv(uniform) - sigma * sigma / 2);
}

static double bias_of(const sim_truth_config *config, fpm_kind kind) {
    switch (kind) {
    case FPM_PREFILL:
        return config->prefill_bias;
    case FPM_DECODE:
        return config->decode_bias;
    case FPM_MIXED:
        return config->mixed_bias;
    case FPM_EMPTY:
        break;
    }
    return 1;
}

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

static sim_status ask(void *state, const sim_truth_query *query, sim_truth_answer *answer, sim_error *error) {
    const synthetic *s = state;
    const sim_truth_config *config = &s->config;
    const uint64_t pass = query->ranks[0].counter_id;
    const double hours = sim_s_from_ns(query->now_ns) / 3600, drift = 1 + config->drift_per_hour * hours;
    if (!(drift > 0))
        return sim_error_set(error, SIM_USAGE, NULL, 0,
                             "truth.drift_per_hour = %g leaves no wall time after %g hours of virtual time (nearer to "
                             "0, or a load.max_time)",
                             config->drift_per_hour, hours);
    double ms = query->base_ms * bias_of(config, query->kind) * step_at(&config->steps, query->now_ns) * drift *
                s->spread[query->worker];
    *answer = (sim_truth_answer){ .noiseless_ms = ms };
    if (s->noise_sigma > 0)
        ms *= lognormal(s->noise_sigma, sim_keyed_uniform(s->seed, "truth.noise", query->worker, pass));
    if (config->outlier_probability > 0) {
        const double dice = sim_keyed_uniform(s->seed, "truth.outlier", query->worker, pass);
        answer->is_outlier = dice < config->outlier_probability;
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
    s->config = *config;
    s->seed = config->seed < 0 ? root_seed : (uint64_t)config->seed;
    s->noise_sigma = sigma_of(config->noise_cv);
    const double sigma = sigma_of(config->worker_spread_cv);
    for (uint32_t i = 0; i < n_workers; i++)
        s->spread[i] = sigma > 0 ? lognormal(sigma, sim_keyed_uniform(s->seed, "truth.spread", i, 0)) : 1;
    *truth = (sim_truth){ &ops, s };
    return SIM_OK;
}
