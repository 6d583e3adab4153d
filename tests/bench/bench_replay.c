// SPDX-License-Identifier: GPL-3.0-or-later
//
// bench-replay [NAME...]: whole replays, loading and summary included, on one thread. One JSON object per case and line: CPU seconds (median of 5, minimum), requests,
// iterations (one scheduler pass of one worker), and both per CPU second. A case that is set beside another one runs in turn with it, so that a clock that
// drifts does both the same, and says how many ns of CPU an iteration takes more: the median of the differences. With names only the cases whose name contains
// one of them. Cases on real traces are left out, loudly, where ../shared is absent.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim/experiment/run.h"

enum { N_RUNS = 5, MAX_SETS = 16 };

typedef struct bench_case {
    const char *name;
    const char *path; // NULL: synthetic
    const char *sets[MAX_SETS];
    const struct bench_case *beside; // NULL: it stands alone
} bench_case;

#define MOONCAKE FOREPASS_SHARED_DIR "/traces/mooncake/conversation_trace.jsonl"
#define FOUR_WORKERS "cluster.replicas=4", "kv_cache.num_blocks=20000"
#define TRUTH "truth.source=synthetic", "truth.prefill_bias=1.4", "truth.decode_bias=0.8", "truth.noise_cv=0.05"
#define REGRESSION "perfmodel.estimator=regression", "perfmodel.fallback=polynomial", "tuning.mode=online"
static const bench_case untuned = { "untuned", MOONCAKE, { FOUR_WORKERS }, NULL };
static const bench_case cases[] = {
    { "tuning_off", MOONCAKE, { FOUR_WORKERS }, NULL },
    { "tuning_truth_only", MOONCAKE, { FOUR_WORKERS, TRUTH }, &untuned },
    { "tuning_grid", MOONCAKE, { FOUR_WORKERS, TRUTH, "tuning.mode=online" }, &untuned },
    { "tuning_grid_clock_truth",
      MOONCAKE,
      { FOUR_WORKERS, TRUTH, "tuning.mode=online", "tuning.clock=truth" },
      &untuned },
    { "tuning_regression", MOONCAKE, { FOUR_WORKERS, TRUTH, REGRESSION, "tuning.clock=truth" }, &untuned },
    { "tuning_robust",
      MOONCAKE,
      { FOUR_WORKERS, TRUTH, REGRESSION, "tuning.clock=truth", "perfmodel.regression=robust" },
      &untuned },
    { "mooncake_8_workers_block_512",
      MOONCAKE,
      { "cluster.replicas=8", "kv_cache.block_size=512", "kv_cache.num_blocks=16384" },
      NULL },
    { "mooncake_8_workers_block_16",
      MOONCAKE,
      { "cluster.replicas=8", "kv_cache.block_size=16", "kv_cache.num_blocks=524288" },
      NULL },
    { "mooncake_1_worker_saturated", MOONCAKE, { "kv_cache.block_size=512", "kv_cache.num_blocks=16384" }, NULL },
    { "synthetic_1m_512_256_poisson_80_per_s_4_workers",
      NULL,
      { "workload.requests=1000000", "workload.input_tokens=512", "workload.output_tokens=256", "load.mode=poisson",
        "load.rate=80", "cluster.replicas=4", "kv_cache.num_blocks=16384" },
      NULL },
    { "synthetic_100k_under_memory_pressure",
      NULL,
      { "workload.requests=100000", "workload.input_tokens=512", "workload.output_tokens=256", "load.mode=poisson",
        "load.rate=100", "cluster.replicas=4", "kv_cache.num_blocks=4096" },
      NULL },
    { "sessions_100k_closed_loop",
      NULL,
      { "workload.source=sessions", "workload.requests=100000", "workload.turns=5", "workload.input_tokens=200",
        "workload.output_tokens=100", "load.concurrency=64", "cluster.replicas=4", "kv_cache.num_blocks=16384" },
      NULL },
};

static double cpu_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void fail(const char *name, const sim_error *error) {
    fprintf(stderr, "bench-replay: %s: %s\n", name, error->message);
    exit(1);
}

typedef struct result {
    double cpu_s;
    uint64_t requests, iterations;
} result;

static result run_once(const bench_case *c) {
    sim_config *config;
    sim_settings settings;
    sim_error error = { .code = SIM_OK };
    sim_run *run = NULL;
    const sim_run_options options = { .n_threads = 1 };
    double started_s = cpu_s();
    if (sim_config_new(&config, sim_settings_tables, sim_settings_n_tables, &error)) fail(c->name, &error);
    if (sim_config_set(config, "perfmodel.estimator=polynomial", &error)) fail(c->name, &error);
    if (c->path) {
        char set[512];
        snprintf(set, sizeof set, "workload.path=%s", c->path);
        if (sim_config_set(config, "workload.source=trace", &error) || sim_config_set(config, set, &error))
            fail(c->name, &error);
    }
    for (int i = 0; i < MAX_SETS && c->sets[i]; i++)
        if (sim_config_set(config, c->sets[i], &error)) fail(c->name, &error);
    if (sim_settings_read(config, &settings, &error)) fail(c->name, &error);
    if (sim_run_execute(&run, config, &settings, &options, &error)) fail(c->name, &error);
    result r = { .requests = sim_run_summary(run)->completed_requests,
                 .iterations = sim_run_summary(run)->num_iterations };
    sim_run_free(run);
    sim_config_free(config);
    r.cpu_s = cpu_s() - started_s;
    return r;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double ns_per_iteration(result r) { return r.cpu_s / (double)r.iterations * 1e9; }

static void bench(const bench_case *c) {
    double times_s[N_RUNS], added_ns[N_RUNS];
    result r = { .cpu_s = 0 };
    for (int k = 0; k < N_RUNS; k++) {
        const double beside_ns = c->beside ? ns_per_iteration(run_once(c->beside)) : 0;
        r = run_once(c);
        times_s[k] = r.cpu_s;
        added_ns[k] = ns_per_iteration(r) - beside_ns;
    }
    qsort(times_s, N_RUNS, sizeof *times_s, ascending);
    qsort(added_ns, N_RUNS, sizeof *added_ns, ascending);
    const double median_s = times_s[N_RUNS / 2], iterations = (double)r.iterations;
    printf("{\"name\":\"%s\",\"median_cpu_s\":%.4f,\"min_cpu_s\":%.4f,\"requests\":%llu,\"iterations\":%llu,"
           "\"requests_per_s\":%.0f,\"iterations_per_s\":%.0f,\"ns_per_iteration\":%.0f",
           c->name, median_s, times_s[0], (unsigned long long)r.requests, (unsigned long long)r.iterations,
           (double)r.requests / median_s, iterations / median_s, median_s / iterations * 1e9);
    if (c->beside)
        printf(",\"added_ns_per_iteration\":%.0f,\"least_added_ns_per_iteration\":%.0f", added_ns[N_RUNS / 2],
               added_ns[0]);
    puts("}");
    fflush(stdout);
}

static bool is_wanted(const char *name, int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strstr(name, argv[i])) return true;
    return argc < 2;
}

int main(int argc, char **argv) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bench_case *c = &cases[i];
        if (!is_wanted(c->name, argc, argv)) continue;
        if (c->path && access(c->path, R_OK) != 0) {
            fprintf(stderr, "bench-replay: SKIPPED %s: %s is not there\n", c->name, c->path);
            continue;
        }
        bench(c);
    }
    return 0;
}
