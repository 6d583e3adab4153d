// SPDX-License-Identifier: GPL-3.0-or-later
//
// Means of a closed loop as weighted sums over its passes: for any prices that are linear in the sums of the batch, they are the means of a replay.
#include "sim/experiment/pass_weights.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "sim/experiment/accuracy.h"
#include "tests/support/dice.h"

typedef struct linear_prices {
    double pass, token, prefill_token, pair, row, prompt, prefill_kv, decode_kv, shared_token;
} linear_prices;

static double linear_ms(const linear_prices *p, const fpm_batch *b) {
    return p->pass + p->token * b->tokens + p->prefill_token * b->prefill_tokens + p->pair * b->prefill_pairs +
           p->row * b->rows + p->prompt * b->n_prefills + p->prefill_kv * b->prefill_kv_tokens +
           p->decode_kv * b->decode_kv_tokens + p->shared_token * b->shared_tokens;
}

// The rank that speaks for the pass, as pass_weights.h says.
static fpm_status estimate(const void *state, const fpm_metrics *ranks, size_t n_ranks, double *ms, fpm_error *error) {
    (void)error;
    fpm_batch busiest = { 0 };
    double shared = 0;
    for (size_t i = 0; i < n_ranks; i++) {
        const fpm_batch b = fpm_batch_of(&ranks[i]);
        shared += b.tokens;
        if (b.tokens > busiest.tokens || (b.tokens == busiest.tokens && b.decode_kv_tokens > busiest.decode_kv_tokens))
            busiest = b;
    }
    busiest.shared_tokens = shared;
    *ms = linear_ms(state, &busiest);
    return FPM_OK;
}
static const fpm_estimator_ops ops = { .name = "linear", .estimate_ms = estimate, .free_state = free };

static double coefficient(double scale) { return scale * (double)dice(1000) / 1000; }

static linear_prices draw_prices(void) {
    return (linear_prices){ 1 + coefficient(20), coefficient(0.1),  coefficient(0.05),
                            coefficient(1e-5),   coefficient(0.2),  coefficient(2),
                            coefficient(1e-3),   coefficient(1e-3), coefficient(0.01) };
}

static void assign(sim_config *config, const char *assignment) {
    sim_error error;
    cr_assert_eq(sim_config_set(config, assignment, &error), SIM_OK, "%s: %s", assignment, error.message);
}

static void set_count(sim_config *config, const char *name, uint64_t count) {
    char assignment[128];
    snprintf(assignment, sizeof assignment, "%s=%llu", name, (unsigned long long)count);
    assign(config, assignment);
}

static void set_range(sim_config *config, const char *name, uint64_t from, uint64_t to) {
    char assignment[128];
    snprintf(assignment, sizeof assignment, "%s=uniform(%llu,%llu)", name, (unsigned long long)from,
             (unsigned long long)to);
    assign(config, assignment);
}

static void draw_loop(sim_config *config) {
    static const char *const backends[] = { "engine.backend=vllm", "engine.backend=sglang", "engine.backend=trtllm" };
    const uint64_t slots = 1 + dice(24), input = 1 + dice(3000), output = 1 + dice(80);
    assign(config, backends[dice(3)]);
    assign(config, "perfmodel.estimator=fixed");
    assign(config, "perfmodel.prefill_ms=1");
    assign(config, "perfmodel.decode_ms=1");
    assign(config, "kv_cache.prefix_caching=false");
    assign(config, "load.mode=concurrency");
    set_count(config, "load.concurrency", slots);
    set_count(config, "workload.requests", slots * (2 + dice(6)));
    set_range(config, "workload.input_tokens", input, input + dice(2000));
    set_range(config, "workload.output_tokens", output, output + dice(40));
    set_count(config, "load.warmup_requests", dice(2) * dice(slots + 1));
    set_count(config, "load.seed", dice(1000));
    set_count(config, "engine.max_num_batched_tokens", 256u << dice(6));
    set_count(config, "engine.admission_passes", dice(3) * dice(12));
    set_count(config, "parallel.data", 1 + dice(3));
    // Room for all, or, now and then, for two of the longest.
    set_count(config, "kv_cache.num_blocks", dice(3) ? 1000000 : 2 * (input + output + 4000));
}

static double weighed(const sim_pass_weights *weights, const linear_prices *prices, bool is_ttft) {
    double sum = 0;
    for (size_t i = 0; i < weights->n_passes; i++)
        sum += linear_ms(prices, &weights->passes[i].batch) *
               (is_ttft ? weights->passes[i].ttft_weight : weights->passes[i].tpot_weight);
    return sum;
}

static void expect_mean(double predicted, double summed, const char *what, uint64_t seed) {
    if (isnan(predicted)) {
        cr_expect_eq(summed, 0, "%s, seed %llu", what, (unsigned long long)seed);
        return;
    }
    cr_expect(fabs(summed - predicted) <= 2e-6 * predicted, "%s: %.12g is not %.12g, seed %llu", what, summed,
              predicted,
              (unsigned long long)seed); // the clock is in whole nanoseconds
}

static void run_one(uint64_t seed) {
    dice_state = seed;
    sim_config *config;
    sim_settings settings;
    sim_error error = { .code = SIM_OK };
    cr_assert_eq(sim_config_new(&config, sim_settings_tables, sim_settings_n_tables, &error), SIM_OK);
    draw_loop(config);
    cr_assert_eq(sim_settings_read(config, &settings, &error), SIM_OK, "%s", error.message);
    sim_pass_weights weights;
    cr_assert_eq(sim_pass_weights_find(&weights, config, &settings, &error), SIM_OK, "seed %llu: %s",
                 (unsigned long long)seed, error.message);
    for (int k = 0; k < 3; k++) {
        linear_prices *prices = malloc(sizeof *prices);
        *prices = draw_prices();
        const linear_prices kept = *prices;
        fpm_estimator *estimator;
        cr_assert_eq(fpm_estimator_new(&estimator, &ops, prices, NULL), FPM_OK);
        sim_prediction prediction;
        cr_assert_eq(sim_accuracy_predict(config, &settings, estimator, NULL, &prediction, &error), SIM_OK, "%s",
                     error.message);
        expect_mean(prediction.values[SIM_TARGET_TTFT], weighed(&weights, &kept, true), "TTFT", seed);
        expect_mean(prediction.values[SIM_TARGET_TPOT], weighed(&weights, &kept, false), "TPOT", seed);
        fpm_estimator_free(estimator);
    }
    sim_pass_weights_clear(&weights);
    sim_config_free(config);
}

Test(pass_weights, times_any_linear_prices_are_the_means_of_a_replay, .timeout = 120) {
    const char *first = getenv("FOREPASS_SEED"), *n = getenv("FOREPASS_CASES");
    const uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
    const uint64_t n_cases = n ? strtoull(n, NULL, 10) : 150;
    for (uint64_t i = 0; i < n_cases; i++) run_one(seed + i);
}
