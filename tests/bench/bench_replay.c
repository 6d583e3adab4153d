// SPDX-License-Identifier: GPL-3.0-or-later
//
// bench-replay: whole replays, loading and summary included, on one thread. One JSON object per case and line: CPU seconds (median of 5, minimum), requests,
// iterations (one scheduler pass of one worker), and both per CPU second. Cases on real traces are left out, loudly, where ../shared is absent.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "sim/experiment/run.h"

enum { N_RUNS = 5, MAX_SETS = 12 };

typedef struct bench_case {
    const char *name;
    const char *path; // NULL: synthetic
    const char *sets[MAX_SETS];
} bench_case;

#define MOONCAKE FOREPASS_SHARED_DIR "/traces/mooncake/conversation_trace.jsonl"
static const bench_case cases[] = {
    { "mooncake_8_workers_block_512",
      MOONCAKE,
      { "cluster.replicas=8", "kv_cache.block_size=512", "kv_cache.num_blocks=16384" } },
    { "mooncake_8_workers_block_16",
      MOONCAKE,
      { "cluster.replicas=8", "kv_cache.block_size=16", "kv_cache.num_blocks=524288" } },
    { "mooncake_1_worker_saturated", MOONCAKE, { "kv_cache.block_size=512", "kv_cache.num_blocks=16384" } },
    { "synthetic_1m_512_256_poisson_80_per_s_4_workers",
      NULL,
      { "workload.requests=1000000", "workload.input_tokens=512", "workload.output_tokens=256", "load.mode=poisson",
        "load.rate=80", "cluster.replicas=4", "kv_cache.num_blocks=16384" } },
    { "synthetic_100k_under_memory_pressure",
      NULL,
      { "workload.requests=100000", "workload.input_tokens=512", "workload.output_tokens=256", "load.mode=poisson",
        "load.rate=100", "cluster.replicas=4", "kv_cache.num_blocks=4096" } },
    { "sessions_100k_closed_loop",
      NULL,
      { "workload.source=sessions", "workload.requests=100000", "workload.turns=5", "workload.input_tokens=200",
        "workload.output_tokens=100", "load.concurrency=64", "cluster.replicas=4", "kv_cache.num_blocks=16384" } },
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

static double run_once(const bench_case *c, uint64_t *requests, uint64_t *iterations) {
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
    *requests = sim_run_summary(run)->completed_requests;
    *iterations = sim_run_summary(run)->num_iterations;
    sim_run_free(run);
    sim_config_free(config);
    return cpu_s() - started_s;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bench_case *c = &cases[i];
        double times_s[N_RUNS];
        uint64_t requests = 0, iterations = 0;
        if (c->path && access(c->path, R_OK) != 0) {
            fprintf(stderr, "bench-replay: SKIPPED %s: %s is not there\n", c->name, c->path);
            continue;
        }
        for (int k = 0; k < N_RUNS; k++) times_s[k] = run_once(c, &requests, &iterations);
        qsort(times_s, N_RUNS, sizeof *times_s, ascending);
        double median_s = times_s[N_RUNS / 2];
        printf("{\"name\":\"%s\",\"median_cpu_s\":%.4f,\"min_cpu_s\":%.4f,\"requests\":%llu,\"iterations\":%llu,"
               "\"requests_per_s\":%.0f,\"iterations_per_s\":%.0f}\n",
               c->name, median_s, times_s[0], (unsigned long long)requests, (unsigned long long)iterations,
               (double)requests / median_s, (double)iterations / median_s);
        fflush(stdout);
    }
    return 0;
}
