// SPDX-License-Identifier: GPL-3.0-or-later
//
// Drives one engine by hand: enqueue requests, run passes of 1 ms, and read what happened as a line of text. Prompts are made of one token per
// content run, so that blocks are equal exactly when the test says so.
#ifndef TESTS_SUPPORT_ENGINE_PROBE_H
#define TESTS_SUPPORT_ENGINE_PROBE_H

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/engine/engine.h"

typedef struct probe {
    sim_engine *engine;
    sim_engine_config config;
    sim_kv_cache_config kv_cache;
    sim_content_source content;
    sim_engine_events events;
    int64_t now_ns;
    bool defers_prefills;
    fpm_metrics metrics;
    sim_pass pass;
    char log[4096];
    // tokens of request r that are the same in every request of its family
    uint32_t family[64], n_shared_tokens[64];
} probe;

static inline void probe_log(probe *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void probe_log(probe *p, const char *format, ...) {
    size_t n = strlen(p->log);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->log + n, sizeof p->log - n, format, arguments);
    va_end(arguments);
}

static inline void probe_admitted(void *self, uint32_t request, uint32_t cached, bool is_first, int64_t now_ns) {
    (void)now_ns;
    probe_log(self, "%s%u(%u) ", is_first ? "admit" : "readmit", request, cached);
}
static inline void probe_preempted(void *self, uint32_t request, int64_t now_ns) {
    (void)now_ns;
    probe_log(self, "preempt%u ", request);
}
static inline void probe_rejected(void *self, uint32_t request, sim_reject_reason reason, int64_t now_ns) {
    (void)now_ns;
    probe_log(self, "reject%u:%s ", request, sim_reject_reason_names[reason]);
}
static inline void probe_first(void *self, uint32_t request, int64_t now_ns) {
    (void)now_ns;
    probe_log(self, "first%u ", request);
}
static inline void probe_second(void *self, uint32_t request, int64_t now_ns) {
    (void)now_ns;
    probe_log(self, "second%u ", request);
}
static inline void probe_gaps(void *self, int64_t gap_ns, uint64_t n_tokens, int64_t now_ns) {
    (void)now_ns;
    probe_log(self, "gap%lldx%llu ", (long long)(gap_ns / 1000000), (unsigned long long)n_tokens);
}
static inline void probe_finished(void *self, uint32_t request, uint32_t n_output, int64_t now_ns) {
    (void)now_ns;
    probe_log(self, "finish%u:%u ", request, n_output);
}

static inline sim_content_run probe_run_at(const void *self, uint32_t request, uint32_t token) {
    const probe *p = self;
    if (token < p->n_shared_tokens[request])
        return (sim_content_run){ 1, ((uint64_t)p->family[request] << 32) | token, token + 1 };
    return (sim_content_run){ 2, ((uint64_t)request << 32) | token, token + 1 };
}

// Defaults of the configuration, but a block of 4 tokens and n_blocks of them.
static inline void probe_init(probe *p, int64_t n_blocks) {
    *p = (probe){
        .config = { .max_num_seqs = 256, .max_num_batched_tokens = 8192, .chunked_prefill = true },
        .kv_cache = { .block_size = 4, .prefix_caching = true, .num_blocks = n_blocks },
        .events = { p, probe_admitted, probe_preempted, probe_rejected, probe_first, probe_second, probe_gaps,
                    probe_finished },
    };
    p->content = (sim_content_source){ p, probe_run_at };
    p->metrics = fpm_metrics_idle();
    p->pass.metrics = &p->metrics;
}

static inline void probe_enqueue(probe *p, uint32_t request, uint32_t input_tokens, uint32_t output_tokens) {
    if (!p->engine)
        cr_assert_eq(sim_engine_new(&p->engine, &p->config, &p->kv_cache, &p->content, &p->events, true, NULL), SIM_OK);
    cr_assert_eq(sim_engine_enqueue(p->engine, request, input_tokens, output_tokens, NULL), SIM_OK);
}

// One pass of 1 ms. Returns what happened; "idle " when nothing could start.
static inline const char *probe_pass(probe *p) {
    bool is_started;
    p->log[0] = '\0';
    cr_assert_eq(sim_engine_schedule(p->engine, p->now_ns, p->defers_prefills, &p->pass, &is_started, NULL), SIM_OK);
    const fpm_scheduled_requests *s = &p->metrics.scheduled;
    if (!is_started) {
        probe_log(p, "idle ");
        return p->log;
    }
    if (s->num_prefill_requests)
        probe_log(p, "prefill %u:%u+%u ", s->num_prefill_requests, s->sum_prefill_kv_tokens, s->sum_prefill_tokens);
    if (s->num_decode_requests) probe_log(p, "decode %u:%u ", s->num_decode_requests, s->sum_decode_kv_tokens);
    probe_log(p, "| ");
    p->now_ns += 1000000;
    cr_assert_eq(sim_engine_complete(p->engine, p->now_ns, NULL), SIM_OK);
    return p->log;
}

#define PROBE_EXPECT(p, text) cr_expect_str_eq(probe_pass(p), text)

#endif
