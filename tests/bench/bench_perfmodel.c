// SPDX-License-Identifier: GPL-3.0-or-later
//
// bench-perfmodel [--quick] [NAME...]: cost of one estimate and of learning one pass, on the workload of
// ../shared/fpm/bench.md. One JSON line per case: name, median_ns and min_ns per call over five runs (CPU time of this
// thread), and for estimates the checksum, the sum of the results of one run. With names only the cases whose name
// contains one of them. --quick makes one run instead of five, for the checksums.
#include "tests/support/standin_estimator.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N_POOL 4096
#define N_RUNS 5
#define N_LEARNED 64 // per kind
#define N_RANKS 8

typedef struct pool {
    fpm_metrics *ranks;
    size_t n_iterations;
    size_t n_ranks; // of each iteration
} pool;

enum { PREFILL, DECODE, MIXED, ALL, EIGHT_RANKS, N_POOLS };
static pool pools[N_POOLS];
static int n_runs = N_RUNS;

static void *allocate(size_t n, size_t size) {
    // On cache lines, as the records are two lines long and a scheduler would keep them so.
    const size_t n_bytes = (n * size + 63) / 64 * 64;
    void *memory = aligned_alloc(64, n_bytes);
    if (!memory) {
        fputs("bench-perfmodel: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

// --- workload --------------------------------------------------------------------------------------------------------

static uint32_t draw(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

static fpm_metrics make_rank(int kind, uint64_t *state) {
    fpm_metrics rank = fpm_metrics_idle();
    fpm_scheduled_requests *s = &rank.scheduled;
    if (kind != DECODE) {
        s->sum_prefill_tokens = 1 + draw(state) % 8192;
        s->num_prefill_requests = kind == PREFILL ? 1 + draw(state) % 8 : 1;
        if (kind == PREFILL) s->sum_prefill_kv_tokens = draw(state) % 100000;
    }
    if (kind != PREFILL) {
        s->num_decode_requests = 1 + draw(state) % 512;
        s->sum_decode_kv_tokens = s->num_decode_requests * (draw(state) % 3906);
    }
    rank.wall_time_s = standin_rank_ms(&rank) * (0.75 + (double)(draw(state) % 1000) / 1000.0) / 1000.0;
    return rank;
}

static void make_pools(void) {
    for (int kind = PREFILL; kind <= MIXED; kind++) {
        uint64_t state = 1000 + (uint64_t)kind;
        pools[kind] = (pool){ allocate(N_POOL, sizeof(fpm_metrics)), N_POOL, 1 };
        for (size_t i = 0; i < N_POOL; i++) pools[kind].ranks[i] = make_rank(kind, &state);
    }
    pools[ALL] = (pool){ allocate(3 * N_POOL, sizeof(fpm_metrics)), (size_t)3 * N_POOL, 1 };
    for (size_t i = 0; i < N_POOL; i++)
        for (size_t kind = 0; kind < 3; kind++) pools[ALL].ranks[3 * i + kind] = pools[kind].ranks[i];
    pools[EIGHT_RANKS] = (pool){ pools[ALL].ranks, (size_t)3 * N_POOL / N_RANKS, N_RANKS };
}

static void fail(const char *what, const fpm_error *error) {
    fprintf(stderr, "bench-perfmodel: %s: %s\n", what, error->message);
    exit(1);
}

static fpm_model *make_model(bool is_native) {
    fpm_model *model = NULL;
    fpm_error error = { 0 };
    if (!is_native) {
        if (fpm_model_new_regression(&model, NULL, &error)) fail("model", &error);
        return model;
    }
    fpm_estimator *estimator = NULL;
    if (standin_new(&estimator, &error)) fail("estimator", &error);
    if (fpm_model_new_native(&model, estimator, NULL, &error)) fail("model", &error);
    fpm_estimator_free(estimator);
    return model;
}

static void tune(fpm_model *model, int kind, size_t i) {
    const fpm_iteration iteration = { &pools[kind].ranks[i], 1 };
    fpm_error error;
    if (fpm_model_tune(model, &iteration, 1, &error)) fail("tune", &error);
}

// --- measuring -------------------------------------------------------------------------------------------------------

static double cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static double run_estimates(const fpm_model *model, const pool *from, size_t n_calls) {
    double sum = 0.0;
    size_t i = 0;
    for (size_t call = 0; call < n_calls; call++) {
        double ms = 0.0;
        bool has_estimate;
        fpm_error error;
        if (fpm_model_estimate_ms(model, &from->ranks[i * from->n_ranks], from->n_ranks, &ms, &has_estimate, &error))
            fail("estimate", &error);
        sum += ms;
        i = i + 1 == from->n_iterations ? 0 : i + 1;
    }
    return sum;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *name, double ns[N_RUNS], const double *checksum) {
    char median[FPM_NUMBER_BYTES], least[FPM_NUMBER_BYTES], sum[FPM_NUMBER_BYTES] = "null";
    qsort(ns, (size_t)n_runs, sizeof *ns, by_size);
    fpm_format_number(median, ns[n_runs / 2]);
    fpm_format_number(least, ns[0]);
    if (checksum) fpm_format_number(sum, *checksum);
    printf("{\"name\":\"%s\",\"median_ns\":%s,\"min_ns\":%s,\"checksum\":%s}\n", name, median, least, sum);
    fflush(stdout);
}

static void bench_estimate(const char *name, bool is_native, int from) {
    fpm_model *model = make_model(is_native);
    for (int kind = PREFILL; kind <= MIXED; kind++)
        for (size_t i = 0; i < N_LEARNED; i++) tune(model, kind, i);
    const size_t n_calls = from == EIGHT_RANKS ? 1000000 : 2000000;
    double ns[N_RUNS], sum = run_estimates(model, &pools[from], pools[from].n_iterations); // the warm pass
    for (int run = 0; run < n_runs; run++) {
        const double start = cpu_ns();
        sum = run_estimates(model, &pools[from], n_calls);
        ns[run] = (cpu_ns() - start) / (double)n_calls;
    }
    report(name, ns, &sum);
    fpm_model_free(model);
}

static void bench_tune(const char *name, bool is_native, int kind) {
    const size_t n_calls = is_native ? 200000 : 20000;
    double ns[N_RUNS];
    for (int run = 0; run < n_runs; run++) {
        fpm_model *model = make_model(is_native);
        for (size_t i = 0; i < N_LEARNED; i++) tune(model, kind, i);
        const double start = cpu_ns();
        for (size_t call = 0, i = N_LEARNED; call < n_calls; call++) {
            tune(model, kind, i);
            i = i + 1 == N_POOL ? 0 : i + 1;
        }
        ns[run] = (cpu_ns() - start) / (double)n_calls;
        fpm_model_free(model);
    }
    report(name, ns, NULL);
}

static bool is_wanted(const char *name, int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strstr(name, argv[i])) return true;
    return argc < 2;
}

int main(int argc, char **argv) {
    static const char *const pool_names[N_POOLS] = { "prefill", "decode", "mixed", "roundrobin", "8ranks" };
    char name[64];
    if (argc > 1 && strcmp(argv[1], "--quick") == 0) {
        n_runs = 1;
        argc--;
        argv++;
    }
    make_pools();
    for (int is_native = 1; is_native >= 0; is_native--) {
        for (int from = 0; from < N_POOLS; from++) {
            snprintf(name, sizeof name, "estimate_%s_%s", is_native ? "native" : "regression", pool_names[from]);
            if (is_wanted(name, argc, argv)) bench_estimate(name, is_native, from);
        }
    }
    for (int is_native = 1; is_native >= 0; is_native--) {
        for (int kind = PREFILL; kind <= MIXED; kind++) {
            snprintf(name, sizeof name, "tune_%s_%s", is_native ? "correction" : "regression", pool_names[kind]);
            if (is_wanted(name, argc, argv)) bench_tune(name, is_native, kind);
        }
    }
    for (int i = 0; i < EIGHT_RANKS; i++) free(pools[i].ranks);
    return 0;
}
