// SPDX-License-Identifier: GPL-3.0-or-later
//
// Random traces against naive models: spans against prompts written out token by token, the census of hash ids against
// a list of all prefixes seen, order and totals against the rows as they were made.
#include "sim/workload/trace_info.h"
#include "tests/support/dice.h"
#include "tests/support/workload_fixture.h"

enum { MAX_ROWS = 40, MAX_IDS = 8, BLOCK = 16, ROUNDS = 1500 };

typedef struct row {
    int64_t stamp_ms;
    uint32_t input;
    bool has_ids;
    uint32_t n_ids;
    uint64_t ids[MAX_IDS];
} row;

typedef struct made_trace {
    row rows[MAX_ROWS];
    uint32_t n;
    char text[MAX_ROWS * 400];
} made_trace;

static void make_trace(made_trace *trace, bool is_floor) {
    trace->n = 1 + (uint32_t)dice(MAX_ROWS);
    const uint64_t far = dice(2) ? 1 : UINT64_C(0x1000003fa1b2c3d); // dense or sparse ids
    const uint64_t variety = 1 + dice(6);
    size_t at = 0;
    for (uint32_t i = 0; i < trace->n; i++) {
        row *r = &trace->rows[i];
        *r = (row){ .stamp_ms = (int64_t)dice(50) - 10,
                    .input = 1 + (uint32_t)dice(MAX_IDS * BLOCK),
                    .has_ids = dice(8) != 0 };
        if (r->has_ids) r->n_ids = is_floor ? r->input / BLOCK : (r->input + BLOCK - 1) / BLOCK;
        at += (size_t)snprintf(trace->text + at, sizeof trace->text - at,
                               "{\"timestamp\":%lld,\"input_length\":%u,\"output_length\":%u", (long long)r->stamp_ms,
                               r->input, i);
        if (r->has_ids) at += (size_t)snprintf(trace->text + at, sizeof trace->text - at, ",\"hash_ids\":[");
        for (uint32_t k = 0; k < r->n_ids; k++) {
            r->ids[k] = (k + dice(variety)) * far;
            at += (size_t)snprintf(trace->text + at, sizeof trace->text - at, "%s%llu", k ? ", " : "",
                                   (unsigned long long)r->ids[k]);
        }
        at += (size_t)snprintf(trace->text + at, sizeof trace->text - at, "%s}\n", r->has_ids ? "]" : "");
    }
}

static uint32_t block_size(const row *r, uint32_t k) {
    uint32_t left = r->input - k * BLOCK;
    return left < BLOCK ? left : BLOCK;
}

// Is block k of row i, with all that stands in front of it, in an earlier row?
static bool seen_before(const made_trace *trace, uint32_t i, uint32_t k) {
    const row *mine = &trace->rows[i];
    for (uint32_t j = 0; j < i; j++) {
        const row *other = &trace->rows[j];
        if (other->n_ids <= k || block_size(other, k) != block_size(mine, k)) continue;
        if (memcmp(other->ids, mine->ids, (k + 1) * sizeof *mine->ids) == 0) return true;
    }
    return false;
}

static void check_census(const made_trace *trace, const sim_workload *workload) {
    uint64_t hit_blocks = 0, hit_tokens = 0, distinct = 0, total = 0;
    for (uint32_t i = 0; i < trace->n; i++)
        for (uint32_t k = 0; k < trace->rows[i].n_ids; k++, total++) {
            bool is_new = true;
            for (uint32_t j = 0; j <= i; j++)
                for (uint32_t m = 0; m < (j < i ? trace->rows[j].n_ids : k); m++)
                    is_new &= trace->rows[j].ids[m] != trace->rows[i].ids[k];
            distinct += is_new;
            if (!seen_before(trace, i, k)) continue;
            hit_blocks++;
            hit_tokens += block_size(&trace->rows[i], k);
        }
    sim_trace_info info;
    cr_assert_eq(sim_trace_info_compute(workload, &info, NULL), SIM_OK);
    cr_assert_eq(info.blocks_total, total);
    cr_assert_eq(info.blocks_distinct, distinct, "%s", trace->text);
    cr_assert_eq(info.infinite_cache_hit_blocks, hit_blocks, "%s", trace->text);
    cr_assert_eq(info.infinite_cache_hit_tokens, hit_tokens, "%s", trace->text);
}

static void check_order(const made_trace *trace, const sim_workload *workload) {
    int64_t first_ms = INT64_MAX;
    for (uint32_t i = 0; i < trace->n; i++)
        if (trace->rows[i].stamp_ms < first_ms) first_ms = trace->rows[i].stamp_ms;
    cr_assert_eq(workload->n_requests, trace->n);
    for (uint32_t i = 0; i < trace->n; i++) {
        const sim_request *r = &workload->requests[i];
        const row *source = &trace->rows[r->line - 1];
        cr_assert_eq(r->output_tokens, r->line - 1, "every row once");
        cr_assert_eq(r->stamp_ns, (source->stamp_ms - first_ms) * 1000000);
        cr_assert_eq(r->input_tokens, source->input);
        if (i == 0) continue;
        const sim_request *before = r - 1;
        cr_assert(before->stamp_ns < r->stamp_ns || (before->stamp_ns == r->stamp_ns && before->line < r->line));
    }
}

static void check_spans(const made_trace *trace, const sim_workload *workload) {
    for (uint32_t i = 0; i < workload->n_requests; i++) {
        const row *source = &trace->rows[workload->requests[i].line - 1];
        for (uint32_t token = 0; token < source->input; token++) {
            const sim_span span = sim_workload_span(workload, i, token);
            const uint32_t k = token / BLOCK;
            const bool is_traced = k < source->n_ids;
            cr_assert_eq(span.content, is_traced ? SIM_CONTENT_TRACE : SIM_CONTENT_OWN);
            cr_assert_eq(span.id, is_traced ? source->ids[k] : i);
            cr_assert_eq(span.end_token, is_traced ? k * BLOCK + block_size(source, k) : source->input);
        }
    }
}

Test(workload_random, random_traces_agree_with_naive_models) {
    static made_trace trace;
    for (int round = 0; round < ROUNDS; round++) {
        sim_workload_config settings = trace_settings();
        settings.block_size = BLOCK;
        settings.block_rounding = dice(2) ? SIM_ROUNDING_CEIL : SIM_ROUNDING_FLOOR;
        make_trace(&trace, settings.block_rounding == SIM_ROUNDING_FLOOR);
        sim_workload *workload = good_workload(trace.text, &settings);
        check_order(&trace, workload);
        check_spans(&trace, workload);
        check_census(&trace, workload);
        sim_workload_free(workload);
    }
}

Test(workload_random, synthetic_prompts_cover_every_token_once) {
    for (int round = 0; round < 100; round++) {
        sim_workload_config settings = synthetic_settings();
        settings.requests = 20;
        settings.input_tokens = (sim_distribution){ SIM_DIST_UNIFORM, 1, 60 };
        settings.shared_prefix_tokens = (int64_t)dice(50);
        settings.prefix_groups = settings.shared_prefix_tokens ? 1 + (int64_t)dice(5) : 1;
        sim_workload *workload;
        cr_assert_eq(sim_workload_new(&workload, NULL, &settings, dice(1000), NULL), SIM_OK);
        const uint32_t shared = (uint32_t)settings.shared_prefix_tokens;
        for (uint32_t i = 0; i < workload->n_requests; i++)
            for (uint32_t token = 0; token < workload->requests[i].input_tokens; token++) {
                const sim_span span = sim_workload_span(workload, i, token);
                cr_assert_eq(span.content, token < shared ? SIM_CONTENT_GROUP : SIM_CONTENT_OWN);
                cr_assert_eq(span.id, token < shared ? workload->requests[i].group : i);
                cr_assert_eq(span.end_token, token < shared ? shared : workload->requests[i].input_tokens);
            }
        sim_workload_free(workload);
    }
}
