// SPDX-License-Identifier: GPL-3.0-or-later
//
// bench-native [NAME...]: cost of native prices. One JSON object per case and line, CPU time of this thread, median and minimum of five runs: estimate_KIND_MODEL,
// ns per pass (and its ranks) over 512 random passes that stay in the caches, with the sum of one round as checksum; plan_MODEL, ns per plan; replay, ns per
// iteration (one scheduler pass of one worker) of a closed loop with native and with polynomial prices. With names only the cases whose name contains one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/experiment/run.h"
#include "tests/support/dice.h"
#include "tests/support/native_deployment.h"

enum { N_RUNS = 5, N_PASSES = 512, N_ROUNDS = 2000, MAX_RANKS = 8, N_PLANS = 40, MAX_MODEL_SETS = 8 };

typedef struct model_case {
    const char *name;
    const char *sets[MAX_MODEL_SETS];
} model_case;
static const model_case models[] = {
    { "llama-3.1-8b_tp1", { NATIVE_CONFIGS, "model.name=llama-3.1-8b", "system.name=h100_sxm" } },
    { "qwen3-235b-a22b_tp4_ep4",
      { NATIVE_CONFIGS, "model.name=qwen3-235b-a22b", "system.name=h200_sxm", "parallel.tensor=4", "parallel.expert=4",
        "model.weights=fp8_block" } },
    { "gpt-oss-20b_tp1",
      { NATIVE_CONFIGS, "model.name=gpt-oss-20b", "system.name=h100_sxm", "model.moe_weights=mxfp4" } },
    { "deepseek-v3_dp8_ep8",
      { NATIVE_CONFIGS, "model.name=deepseek-v3", "system.name=h200_sxm", "parallel.data=8", "parallel.expert=8",
        "model.weights=fp8_block", "engine.backend=sglang" } },
};
enum { N_MODELS = sizeof models / sizeof *models };

static int n_names;
static char **names;

static bool is_wanted(const char *name) {
    for (int i = 0; i < n_names; i++)
        if (strstr(name, names[i])) return true;
    return n_names == 0;
}

static void fail(const char *name, const char *message) {
    fprintf(stderr, "bench-native: %s: %s\n", name, message);
    exit(1);
}

static double cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// `more` begins with a comma or is empty.
static void report(const char *name, double ns[N_RUNS], const char *more) {
    qsort(ns, N_RUNS, sizeof *ns, ascending);
    printf("{\"name\":\"%s\",\"median_ns\":%.2f,\"min_ns\":%.2f%s}\n", name, ns[N_RUNS / 2], ns[0], more);
    fflush(stdout);
}

// ---------------------------------------------------------------------------------------------------------------------
// Estimates
// ---------------------------------------------------------------------------------------------------------------------

typedef enum pass_kind { DECODE, MIXED, PREFILL } pass_kind;
static const char *const kind_names[] = { "decode", "mixed", "prefill" };

// Up to 512 decodes with up to 8192 tokens of context, up to 8192 prompt tokens; moments as the simulator gives them.
static void draw_passes(fpm_metrics *passes, size_t n_ranks, pass_kind kind) {
    dice_state = 1000 + (uint64_t)kind;
    for (size_t i = 0; i < n_ranks * N_PASSES; i++) {
        const uint32_t decodes = kind == PREFILL ? 0 : 1 + (uint32_t)dice(512);
        const uint32_t tokens = kind == DECODE ? 0 : 1 + (uint32_t)dice(8192);
        const uint32_t past = kind == PREFILL ? (uint32_t)dice(10000) : 0, context = (uint32_t)dice(8192);
        passes[i] = native_pass(kind != DECODE, tokens, past, decodes, decodes * context);
        passes[i].moments = (fpm_moments){ .sum_prefill_attention = 0.5 * (double)tokens * (double)tokens,
                                           .num_finished_prompts = kind != DECODE,
                                           .is_present = true };
    }
}

static double round_ms(const fpm_estimator *estimator, const fpm_metrics *passes, size_t n_ranks) {
    double sum = 0;
    for (size_t i = 0; i < N_PASSES; i++) {
        double ms = 0;
        if (fpm_estimate_valid_ms(estimator, &passes[i * n_ranks], n_ranks, &ms, NULL)) fail("estimate", "refused");
        sum += ms;
    }
    return sum;
}

static void bench_estimate(const model_case *m, const native_case *c, pass_kind kind) {
    static fpm_metrics passes[MAX_RANKS * N_PASSES];
    const size_t n_ranks = (size_t)c->native.layout.data;
    char name[80], more[160], sum[FPM_NUMBER_BYTES];
    snprintf(name, sizeof name, "estimate_%s_%s", kind_names[kind], m->name);
    if (!is_wanted(name)) return;
    draw_passes(passes, n_ranks, kind);
    fpm_format_number(sum, round_ms(c->estimator, passes, n_ranks)); // warms up, too
    double ns[N_RUNS];
    for (int run = 0; run < N_RUNS; run++) {
        const double start = cpu_ns();
        for (int round = 0; round < N_ROUNDS; round++) round_ms(c->estimator, passes, n_ranks);
        ns[run] = (cpu_ns() - start) / N_ROUNDS / N_PASSES;
    }
    snprintf(more, sizeof more, ",\"ranks\":%zu,\"checksum\":%s", n_ranks, sum);
    report(name, ns, more);
}

// From a deployment to an estimator: checks, graph, tables.
static void bench_plan(const model_case *m, const native_case *c) {
    char name[80];
    snprintf(name, sizeof name, "plan_%s", m->name);
    if (!is_wanted(name)) return;
    double ns[N_RUNS];
    for (int run = 0; run < N_RUNS; run++) {
        const double start = cpu_ns();
        for (int i = 0; i < N_PLANS; i++) {
            fpm_estimator *estimator;
            fpm_error error;
            if (fpm_estimator_new_native(&estimator, &c->native, &c->prices.operators, &c->calibration,
                                         FPM_PRICING_FUSED, &error))
                fail(name, error.message);
            fpm_estimator_free(estimator);
        }
        ns[run] = (cpu_ns() - start) / N_PLANS;
    }
    report(name, ns, "");
}

static void bench_model(const model_case *m) {
    sim_error error;
    native_case *c = native_case_new(m->sets, &error);
    if (!c) fail(m->name, error.message);
    for (int kind = DECODE; kind <= PREFILL; kind++) bench_estimate(m, c, (pass_kind)kind);
    bench_plan(m, c);
    native_case_free(c);
}

// ---------------------------------------------------------------------------------------------------------------------
// Replays
// ---------------------------------------------------------------------------------------------------------------------

static double replay_ns(const char *const *sets, size_t n, uint64_t *iterations) {
    sim_config *config;
    sim_settings *settings = malloc(sizeof *settings);
    sim_error error;
    sim_run *run;
    const sim_run_options options = { .n_threads = 1 };
    if (!settings || sim_config_new(&config, sim_settings_tables, sim_settings_n_tables, &error))
        fail("replay", "out of memory");
    for (size_t i = 0; i < n; i++)
        if (sim_config_set(config, sets[i], &error)) fail("replay", error.message);
    if (sim_settings_read(config, settings, &error)) fail("replay", error.message);
    const double start = cpu_ns();
    if (sim_run_execute(&run, config, settings, &options, &error)) fail("replay", error.message);
    const double ns = cpu_ns() - start;
    *iterations = sim_run_summary(run)->num_iterations;
    sim_run_free(run);
    sim_config_free(config);
    free(settings);
    return ns;
}

// The same passes either way: a closed loop does not depend on prices. Long answers, so that passes are what takes the time.
static void bench_replays(void) {
    static const char *const estimators[] = { "polynomial", "native" };
    double per_pass[2] = { 0, 0 };
    for (int e = 0; e < 2; e++) {
        char name[80], more[80], estimator[64];
        snprintf(name, sizeof name, "replay_%s", estimators[e]);
        snprintf(estimator, sizeof estimator, "perfmodel.estimator=%s", estimators[e]);
        if (!is_wanted(name)) continue;
        const char *const sets[] = { NATIVE_CONFIGS,
                                     "model.name=llama-3.1-8b",
                                     "system.name=h100_sxm",
                                     estimator,
                                     "load.mode=concurrency",
                                     "load.concurrency=64",
                                     "workload.requests=2000",
                                     "workload.input_tokens=200",
                                     "workload.output_tokens=uniform(10000,40000)",
                                     "engine.admission_passes=0",
                                     "kv_cache.num_blocks=400000" };
        double ns[N_RUNS];
        uint64_t iterations = 0;
        for (int run = 0; run < N_RUNS; run++) {
            ns[run] = replay_ns(sets, sizeof sets / sizeof *sets, &iterations);
            ns[run] /= (double)iterations;
        }
        snprintf(more, sizeof more, ",\"iterations\":%llu", (unsigned long long)iterations);
        report(name, ns, more);
        per_pass[e] = ns[N_RUNS / 2];
    }
    if (per_pass[0] > 0 && per_pass[1] > 0)
        printf("{\"name\":\"replay_native_over_polynomial\",\"median_ns\":%.2f}\n", per_pass[1] - per_pass[0]);
}

int main(int argc, char **argv) {
    n_names = argc - 1;
    names = argv + 1;
    for (size_t i = 0; i < N_MODELS; i++) bench_model(&models[i]);
    bench_replays();
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
