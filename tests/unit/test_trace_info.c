// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/workload/trace_info.h"

#include <unistd.h>

#include "tests/support/workload_fixture.h"

static sim_trace_info describe(const sim_workload *workload) {
    sim_trace_info info;
    cr_assert_eq(sim_trace_info_compute(workload, &info, NULL), SIM_OK);
    return info;
}

static int compare(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

Test(trace_info, percentiles_are_the_values_at_the_rounded_index) {
    static const uint32_t tops[] = { 1, 7, 2000, 70000, 5000000, SIM_MAX_TOKENS };
    for (size_t t = 0; t < sizeof tops / sizeof *tops; t++) {
        for (int64_t n = 1; n < 300; n += n < 12 ? 1 : 37) {
            sim_workload_config settings = synthetic_settings();
            settings.requests = n;
            settings.input_tokens = (sim_distribution){ SIM_DIST_UNIFORM, 1, tops[t] };
            sim_workload *workload;
            cr_assert_eq(sim_workload_new(&workload, NULL, &settings, (uint64_t)n, NULL), SIM_OK);
            uint32_t sorted[300];
            uint64_t sum = 0;
            for (int64_t i = 0; i < n; i++) sum += sorted[i] = workload->requests[i].input_tokens;
            qsort(sorted, (size_t)n, sizeof *sorted, compare);
            const sim_length_stats stats = describe(workload).input_tokens;
            cr_assert_eq(stats.sum, sum);
            cr_assert_eq(stats.mean, (double)sum / (double)n);
            cr_assert_eq(stats.min, sorted[0]);
            cr_assert_eq(stats.max, sorted[n - 1]);
            cr_assert_eq(stats.p50, sorted[((n - 1) * 50 + 50) / 100]);
            cr_assert_eq(stats.p90, sorted[((n - 1) * 90 + 50) / 100]);
            cr_assert_eq(stats.p99, sorted[((n - 1) * 99 + 50) / 100]);
            sim_workload_free(workload);
        }
    }
}

typedef struct oracle {
    const char *file;
    uint64_t rows, input, output, distinct_arrivals, blocks, distinct, hit_blocks, hit_tokens;
    int64_t span_ms;
} oracle;

// The workload of the file, whose figures are in *info and as expected; NULL = the file is not here.
static sim_workload *expect_figures(const oracle *o, sim_trace_info *info) {
    if (access(o->file, R_OK)) {
        fprintf(stderr, "SKIPPED: %s is not here\n", o->file);
        return NULL;
    }
    sim_workload_config settings = trace_settings();
    settings.path = o->file;
    sim_workload *workload;
    cr_assert_eq(sim_workload_new(&workload, NULL, &settings, 1, NULL), SIM_OK);
    *info = describe(workload);
    cr_expect_eq(workload->rows_kept, o->rows);
    cr_expect_eq(info->input_tokens.sum, o->input);
    cr_expect_eq(info->output_tokens.sum, o->output);
    cr_expect_eq(info->distinct_arrivals, o->distinct_arrivals);
    cr_expect_eq(info->blocks_total, o->blocks);
    return workload;
}

Test(trace_info, the_published_mooncake_traces_give_their_measured_figures) {
    // notes/trace-formats.md section 1
    static const oracle oracles[] = {
        { SHARED_DIR "/traces/mooncake/conversation_trace.jsonl", 12031, 144793823, 4122048, 1180, 288500, 182790,
          105710, 54098411, 3536999 },
        { SHARED_DIR "/traces/mooncake/synthetic_trace.jsonl", 3993, 61194628, 595432, 3982, 121877, 43924, 77953,
          39852661, 1022025 },
    };
    for (size_t i = 0; i < sizeof oracles / sizeof *oracles; i++) {
        const oracle *o = &oracles[i];
        sim_trace_info info;
        sim_workload *workload = expect_figures(o, &info);
        if (!workload) continue;
        cr_expect_eq(info.blocks_distinct, o->distinct);
        cr_expect_eq(info.infinite_cache_hit_blocks, o->hit_blocks);
        cr_expect_eq(info.infinite_cache_hit_tokens, o->hit_tokens);
        cr_expect_eq(info.span_ns, o->span_ms * 1000000);
        cr_expect_eq(workload->n_warnings, 0, "%s", workload->n_warnings ? workload->warnings[0] : "");
        sim_workload_free(workload);
    }
}

Test(trace_info, the_published_azure_traces_give_their_measured_figures) {
    static const oracle oracles[] = {
        { .file = SHARED_DIR "/traces/azure/AzureLLMInferenceTrace_code.csv",
          .rows = 8819,
          .input = 18059974,
          .output = 245896,
          .distinct_arrivals = 8819,
          .span_ms = 3435948 },
        { .file = SHARED_DIR "/traces/azure/AzureLLMInferenceTrace_conv.csv",
          .rows = 19366,
          .input = 22361870,
          .output = 4088665,
          .distinct_arrivals = 19366,
          .span_ms = 3501721 },
    };
    for (size_t i = 0; i < sizeof oracles / sizeof *oracles; i++) {
        const oracle *o = &oracles[i];
        sim_trace_info info;
        sim_workload *workload = expect_figures(o, &info);
        if (!workload) continue;
        cr_expect_eq(info.span_ns / 1000000, o->span_ms);
        sim_workload_free(workload);
    }
}
