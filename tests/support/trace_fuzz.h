// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the fuzz targets of trace formats share: any bytes as a trace, in both modes, and what must hold of whatever
// comes out.
#ifndef TESTS_SUPPORT_TRACE_FUZZ_H
#define TESTS_SUPPORT_TRACE_FUZZ_H

#include <stdlib.h>
#include <string.h>

#include "perfmodel/line_reader.h"
#include "sim/kernel/clock.h"
#include "sim/workload/load.h"
#include "sim/workload/trace_info.h"
#include "sim/workload/trace_reader.h"

static inline void must(bool condition) {
    if (!condition) abort();
}

static inline void check_request(const sim_workload *workload, const sim_workload_config *settings, uint32_t i) {
    const sim_request *r = &workload->requests[i];
    must(r->input_tokens >= 1 && r->input_tokens <= SIM_MAX_TOKENS && r->output_tokens <= SIM_MAX_TOKENS);
    must(r->first_id + r->n_ids <= workload->n_ids);
    must(r->line >= 1);
    must(r->session == SIM_NO_SESSION || r->session < workload->n_sessions);
    if (workload->has_stamps && (settings->rebase || r->stamp_ns >= 0)) must(r->stamp_ns >= 0);
    if (i > 0) must(r[-1].stamp_ns <= r->stamp_ns);
    if (i == 0 && settings->rebase) must(r->stamp_ns == 0);
    // Spans tile the prompt.
    uint32_t token = 0;
    for (int n = 0; token < r->input_tokens && n < 50; n++) {
        const sim_span span = sim_workload_span(workload, i, token);
        must(span.end_token > token && span.end_token <= r->input_tokens);
        token = span.end_token;
    }
}

static inline void check_workload(const sim_workload *workload, const sim_workload_config *settings) {
    uint64_t n_dropped = 0, input = 0;
    for (int i = 0; i < SIM_DROP_REASONS; i++) n_dropped += workload->dropped[i];
    must(workload->n_requests > 0);
    must(workload->rows_kept == workload->n_requests && workload->rows_read == workload->rows_kept + n_dropped);
    must(settings->on_bad_record == SIM_BAD_RECORD_SKIP || n_dropped == 0);
    must(settings->limit == 0 || workload->n_requests <= (uint64_t)settings->limit);
    must((n_dropped == 0) || workload->n_warnings > 0);
    for (uint32_t i = 0; i < workload->n_requests; i++) {
        check_request(workload, settings, i);
        input += workload->requests[i].input_tokens;
    }
    sim_trace_info info;
    must(sim_trace_info_compute(workload, &info, NULL) == SIM_OK);
    must(info.input_tokens.sum == input && info.input_tokens.min <= info.input_tokens.p50);
    must(info.input_tokens.p50 <= info.input_tokens.p90 && info.input_tokens.p90 <= info.input_tokens.p99);
    must(info.input_tokens.p99 <= info.input_tokens.max && info.infinite_cache_hit_tokens <= input);
    must(info.blocks_distinct + info.infinite_cache_hit_blocks <= info.blocks_total);
}

// Give every request out once, in order of time.
static inline void check_load(const sim_workload *workload) {
    const sim_load_config settings = { .speedup = 1, .concurrency = 10, .seed = 42 };
    sim_load *load;
    must(sim_load_new(&load, NULL, &settings, workload, NULL) == SIM_OK);
    int64_t now_ns = 0;
    for (uint32_t i = 0; i < workload->n_requests; i++) {
        const int64_t time_ns = sim_load_next_time(load, now_ns);
        must(time_ns >= now_ns && time_ns != SIM_TIME_NEVER);
        must(sim_load_take(load, time_ns) == i);
        sim_load_on_terminal(load, i, time_ns);
        now_ns = time_ns;
    }
    must(sim_load_remaining(load) == 0);
    sim_load_free(load);
}

static inline sim_workload *fuzz_read(const char *text, size_t n_bytes, const sim_workload_config *settings,
                                      sim_error *error) {
    fpm_line_reader *lines;
    fpm_error fault;
    *error = (sim_error){ 0 };
    if (fpm_line_reader_open_memory(&lines, text, n_bytes, "fuzz", 0, &fault)) {
        must(sim_error_from_fpm(error, &fault) != SIM_OK && error->message[0]);
        return NULL;
    }
    sim_workload *workload;
    const sim_status status = sim_workload_from_lines(&workload, lines, NULL, settings, error);
    must((status == SIM_OK) == (workload != NULL));
    must(status == SIM_OK || (status == error->code && error->message[0]));
    fpm_line_reader_free(lines);
    return workload;
}

// A text under some settings, which fail on bad records, and what must hold.
static inline void fuzz_text(const char *text, size_t n_bytes, sim_workload_config settings) {
    sim_error strict_error, skip_error;
    sim_workload *strict = fuzz_read(text, n_bytes, &settings, &strict_error);
    if (strict) check_workload(strict, &settings);
    if (strict) check_load(strict);
    settings.on_bad_record = SIM_BAD_RECORD_SKIP;
    sim_workload *skipping = fuzz_read(text, n_bytes, &settings, &skip_error);
    if (skipping) check_workload(skipping, &settings);
    // What is good as a whole is the same with and without skipping.
    must(!strict || skipping);
    if (strict) must(skipping->n_requests == strict->n_requests && skipping->n_ids == strict->n_ids);
    sim_workload_free(strict);
    sim_workload_free(skipping);
}

// The first two bytes choose the settings, the rest is the trace.
static inline int fuzz_trace(const uint8_t *data, size_t n_bytes, int format) {
    if (n_bytes < 2) return 0;
    sim_workload_config settings = { .source = SIM_SOURCE_TRACE, .path = "fuzz", .format = data[0] & 1 ? format : 0 };
    settings.rebase = data[0] >> 1 & 1;
    settings.time_unit = (data[0] >> 2 & 7) % 6;
    settings.block_size = format == 1 ? (int64_t[]){ 0, 1, 16, 512 }[data[0] >> 5 & 3] : 0;
    settings.block_rounding = format == 1 ? data[1] % 3 : 0;
    settings.limit = data[1] >> 2 & 3;
    fuzz_text((const char *)data + 2, n_bytes - 2, settings);
    return 0;
}

#endif
