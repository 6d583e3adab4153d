// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/oracle/random_case.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "sim/engine/engine.h"
#include "tests/oracle/list.h"
#include "tests/support/dice.h"

void random_case_set(random_case *c, const char *format, ...) {
    assert(c->n_sets < CASE_SETS);
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(c->sets[c->n_sets++], CASE_SET_BYTES, format, arguments);
    va_end(arguments);
    if (n < 0 || n >= CASE_SET_BYTES) abort();
}

void random_case_clear(random_case *c) {
    for (uint32_t i = 0; i < c->n_rows; i++) free(c->rows[i]);
}

static bool chance(uint32_t percent) { return dice(100) < percent; }
static uint32_t between(uint32_t a, uint32_t b) { return a + (uint32_t)dice(b - a + UINT64_C(1)); }
// Calls of the dice never stand side by side in one expression, where every compiler has an order of its own.
#define ONE_OF(...) \
    ((const uint32_t[]){ __VA_ARGS__ }[dice(sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))])

// What the choices depend on.
typedef struct scale {
    uint32_t block_size;
    uint32_t most_prompt; // tokens, with the shared head
    uint32_t most_output;
    uint32_t shared_prefix;
    bool is_tight; // short prompts that grow long, many at once: the pool runs out all the time
} scale;

static scale draw_scale(void) {
    scale s = { .is_tight = chance(40) };
    s.block_size = chance(50) ? between(1, 64) : ONE_OF(1, 2, 4, 8, 16, 16, 32, 64, 512);
    if (s.is_tight && chance(70)) s.block_size = between(1, 8);
    s.most_prompt = s.block_size * (s.is_tight ? between(1, 4) : ONE_OF(1, 2, 3, 5, 8, 12));
    if (chance(50)) s.most_prompt += between(1, s.block_size);
    if (!s.is_tight && s.block_size < 8 && chance(70)) s.most_prompt += between(1, 60);
    s.most_output = s.is_tight ? s.block_size * between(1, 6) : ONE_OF(1, 2, 5, 12, 30, 80);
    if (s.most_output > 200) s.most_output = 200;
    if (chance(4)) s.most_output = between(200, 1000); // long stretches in which nothing but tokens happens
    if (chance(60)) s.shared_prefix = chance(50) ? s.block_size * between(1, 4) : between(1, s.most_prompt);
    return s;
}

// ---------------------------------------------------------------------------------------------------------------------
// Traces
// ---------------------------------------------------------------------------------------------------------------------

typedef struct row {
    oracle_list ids;
    uint32_t prompt, output;
} row;

// Ids as a tree grows: a head of an earlier row, then ids of its own, now and then one that stands elsewhere too.
static void draw_ids(row *r, const row *rows, uint32_t n_rows, uint32_t n_ids, uint32_t *next_id) {
    if (n_rows > 0 && chance(65)) {
        const row *parent = &rows[dice(n_rows)];
        uint32_t n_shared = parent->ids.n > 0 ? between(0, parent->ids.n) : 0;
        if (chance(40)) n_shared = parent->ids.n;
        for (uint32_t i = 0; i < n_shared && i < n_ids; i++) oracle_list_append(&r->ids, parent->ids.values[i]);
    }
    while (r->ids.n < n_ids) oracle_list_append(&r->ids, chance(10) ? (uint32_t)dice(4) : (*next_id)++);
}

static uint32_t draw_output(const scale *s) {
    if (chance(12)) return 0;
    return chance(15) ? 1 : between(1, s->most_output);
}

static row draw_row(const scale *s, const row *rows, uint32_t n_rows, uint32_t id_tokens, bool is_floor,
                    uint32_t *next_id) {
    row r = { .output = draw_output(s) };
    if (n_rows > 0 && chance(15)) { // an exact repeat
        const row *twin = &rows[dice(n_rows)];
        r.prompt = twin->prompt;
        if (chance(50)) r.output = twin->output;
        for (uint32_t i = 0; i < twin->ids.n; i++) oracle_list_append(&r.ids, twin->ids.values[i]);
        return r;
    }
    r.prompt = between(1, s->most_prompt);
    if (chance(25)) r.prompt += id_tokens - r.prompt % id_tokens;         // to the end of a trace block
    if (chance(25)) r.prompt += s->block_size - r.prompt % s->block_size; // of an engine block
    if (chance(1)) r.prompt *= 4;
    if (chance(8)) return r; // no identity
    draw_ids(&r, rows, n_rows, is_floor ? r.prompt / id_tokens : (r.prompt + id_tokens - 1) / id_tokens, next_id);
    return r;
}

// `seen`: sessions that have a turn already, whose next ones may follow it instead of having a stamp.
static char *row_text(const row *r, double stamp_ms, bool has_session, bool seen[4]) {
    char *text;
    size_t n_bytes;
    FILE *out = open_memstream(&text, &n_bytes);
    if (!out) abort();
    const unsigned session = has_session ? (unsigned)dice(4) : 0;
    const bool follows = has_session && seen[session] && chance(50);
    fprintf(out, "{\"%s\": %.6g, \"input_length\": %" PRIu32 ", \"output_length\": %" PRIu32,
            follows ? "delay" : "timestamp", follows ? (double)ONE_OF(0, 1, 20, 300) : stamp_ms, r->prompt, r->output);
    if (has_session) fprintf(out, ", \"session_id\": \"s,%u\"", session);
    if (has_session && seen[session] && !follows && chance(20)) fprintf(out, ", \"delay\": 7");
    seen[session] = true;
    for (uint32_t i = 0; i < r->ids.n; i++)
        fprintf(out, "%s%" PRIu32, i == 0 ? ", \"hash_ids\": [" : ", ", r->ids.values[i]);
    fprintf(out, "%s}\n", r->ids.n > 0 ? "]" : "");
    if (fclose(out)) abort();
    return text;
}

static void draw_trace(random_case *c, const scale *s) {
    const bool is_like_engine = chance(30), is_floor = chance(10);
    const uint32_t id_tokens = is_like_engine ? s->block_size : ONE_OF(1, 2, 3, 5, 8, 16, 20, 64);
    random_case_set(c, "workload.source=trace");
    random_case_set(c, "workload.format=mooncake");
    random_case_set(c, "workload.block_size=%" PRIu32, id_tokens);
    if (is_floor) random_case_set(c, "workload.block_rounding=floor");
    const uint32_t n_rows = between(1, CASE_ROWS), gap_ms = s->is_tight ? ONE_OF(0, 1, 5) : ONE_OF(1, 5, 20, 60, 300);
    const bool is_fractional = chance(40), has_sessions = chance(30);
    bool seen[4] = { false };
    row rows[CASE_ROWS];
    uint32_t next_id = 4;
    double stamp_ms = 0;
    for (uint32_t i = 0; i < n_rows; i++) {
        rows[i] = draw_row(s, rows, i, id_tokens, is_floor, &next_id);
        c->rows[c->n_rows++] = row_text(&rows[i], stamp_ms, has_sessions, seen);
        if (chance(40)) continue;
        stamp_ms += between(0, gap_ms);
        if (is_fractional) stamp_ms += (double)dice(1000) / 1000;
    }
    for (uint32_t i = 0; i < n_rows; i++) oracle_list_clear(&rows[i].ids);
}

// ---------------------------------------------------------------------------------------------------------------------
// Everything else
// ---------------------------------------------------------------------------------------------------------------------

static void draw_synthetic(random_case *c, scale *s) {
    if (chance(35)) {
        random_case_set(c, "workload.source=sessions");
        random_case_set(c, "workload.turns=%" PRIu32, between(1, 6));
        if (chance(60)) random_case_set(c, "workload.think_time=%" PRIu32 "ms", ONE_OF(0, 1, 7, 50, 1000));
    }
    random_case_set(c, "workload.requests=%" PRIu32, chance(95) ? between(1, 60) : between(60, 400));
    const uint32_t blocks = s->most_prompt / s->block_size;
    if (chance(40))
        random_case_set(c, "workload.input_tokens=%" PRIu32, s->block_size * between(1, blocks));
    else
        random_case_set(c, "workload.input_tokens=uniform(1,%" PRIu32 ")", s->most_prompt);
    if (chance(30))
        random_case_set(c, "workload.output_tokens=%" PRIu32, draw_output(s));
    else
        random_case_set(c, "workload.output_tokens=uniform(%" PRIu32 ",%" PRIu32 ")", between(0, 1), s->most_output);
    if (s->shared_prefix == 0) return;
    random_case_set(c, "workload.shared_prefix_tokens=%" PRIu32, s->shared_prefix);
    s->most_prompt += s->shared_prefix;
    if (chance(60)) random_case_set(c, "workload.prefix_groups=%" PRIu32, between(1, 4));
}

static void draw_load(random_case *c, const scale *s) {
    const uint32_t mode = (uint32_t)dice(c->n_rows > 0 ? 6 : 3);
    const uint32_t rate = s->is_tight ? ONE_OF(100, 1000, 100000) : ONE_OF(2, 10, 20, 50, 100, 1000, 100000);
    if (mode == 0) {
        random_case_set(c, "load.mode=concurrency");
        random_case_set(c, "load.concurrency=%" PRIu32, chance(s->is_tight ? 20 : 60) ? between(1, 8) : between(8, 70));
    } else if (mode <= 2) {
        random_case_set(c, "load.mode=%s", mode == 1 ? "poisson" : "constant");
        random_case_set(c, "load.rate=%" PRIu32, rate);
    } else if (chance(30)) {
        random_case_set(c, "load.speedup=%" PRIu32, ONE_OF(2, 3, 10));
    }
    random_case_set(c, "load.seed=%u", (unsigned)dice(1000000));
    if (chance(10)) random_case_set(c, "load.admit_until=%" PRIu32 "ms", between(1, 1000));
    if (chance(10)) random_case_set(c, "load.max_time=%" PRIu32 "ms", between(1, 1500));
}

// A queue about as long as the longest that SGLang sorts.
static void draw_long_queue(random_case *c) {
    random_case_set(c, "workload.requests=%" PRIu32, between(130, 300)); // the last value counts
    random_case_set(c, "load.mode=concurrency");
    random_case_set(c, "load.concurrency=%" PRIu32, between(120, 200));
    random_case_set(c, "load.seed=%u", (unsigned)dice(1000000));
}

static void draw_engine(random_case *c, const scale *s, sim_backend backend) {
    const bool is_chunked = chance(70) || backend == SIM_BACKEND_SGLANG;
    uint32_t max_num_seqs = chance(s->is_tight ? 20 : 50) ? between(1, 8) : between(4, 64);
    if (chance(8)) max_num_seqs = between(65, 300);
    uint32_t budget = max_num_seqs;
    if (chance(40))
        budget += between(0, s->is_tight ? 4 : 20);
    else if (chance(60))
        budget += between(0, 2 * s->most_prompt);
    else if (chance(80))
        budget = 8192;
    if (!is_chunked && budget < s->most_prompt && chance(75)) budget = s->most_prompt + between(0, s->most_prompt);
    random_case_set(c, "engine.max_num_seqs=%" PRIu32, max_num_seqs);
    random_case_set(c, "engine.max_num_batched_tokens=%" PRIu32, budget);
    if (!is_chunked) random_case_set(c, "engine.chunked_prefill=false");
    if (backend == SIM_BACKEND_VLLM && chance(50)) random_case_set(c, "engine.preemption=fifo");
    if (chance(20)) {
        const uint32_t longest = s->most_prompt + s->most_output;
        random_case_set(c, "engine.max_model_len=%" PRIu32, between((longest + 1) / 2, longest + 1));
    }
    if (chance(2)) random_case_set(c, "engine.on_unservable=fail");
}

static void draw_sglang(random_case *c, const scale *s) {
    uint32_t chunk = s->block_size * between(1, 4) + (chance(50) ? (uint32_t)dice(s->block_size) : 0);
    if (chance(40)) chunk += between(0, 2 * s->most_prompt);
    if (chance(20)) chunk = 8192;
    random_case_set(c, "engine.chunked_prefill_size=%" PRIu32, chunk);
    if (chance(50)) random_case_set(c, "engine.max_prefill_tokens=%" PRIu32, chunk + ONE_OF(0, 0, 1, 7, 64));
    if (chance(60)) random_case_set(c, "engine.schedule_policy=lpm");
    if (chance(60)) random_case_set(c, "engine.clip_max_new_tokens=%" PRIu32, ONE_OF(1, 2, 4, 7, 16, 60));
    static const char *const conservativeness[] = { "0", "0", "0.1", "0.3", "0.7", "1.5", "2.5" };
    if (chance(60)) random_case_set(c, "engine.schedule_conservativeness=%s", conservativeness[dice(7)]);
    if (chance(30)) random_case_set(c, "engine.prefill_decode_interval=%" PRIu32, ONE_OF(1, 1, 2, 3, 5, 20));
    if (chance(25)) random_case_set(c, "parallel.data=%" PRIu32, between(2, 4));
}

static void draw_kv_cache(random_case *c, const scale *s) {
    const uint32_t n_longest = (s->most_prompt + s->most_output) / s->block_size + 1; // blocks of one request
    uint32_t n_blocks = n_longest * between(2, 30);
    if (chance(6))
        n_blocks = between(1, n_longest);
    else if (s->is_tight || chance(40))
        n_blocks = n_longest + between(0, s->is_tight ? n_longest : 4);
    random_case_set(c, "kv_cache.block_size=%" PRIu32, s->block_size);
    random_case_set(c, "kv_cache.num_blocks=%" PRIu32, n_blocks < 1500 ? n_blocks : 1500);
    if (chance(25)) random_case_set(c, "kv_cache.prefix_caching=false");
}

static void draw_perfmodel(random_case *c) {
    random_case_set(c, "perfmodel.pricing=%s", chance(50) ? "fused" : "serial");
    if (chance(40)) {
        random_case_set(c, "perfmodel.estimator=polynomial");
        return;
    }
    // Whole milliseconds, so that passes of several workers end at one instant, and when requests arrive.
    random_case_set(c, "perfmodel.estimator=fixed");
    const char *prefill_rest = chance(20) ? ".37" : "", *decode_rest = chance(20) ? ".0000004" : "";
    random_case_set(c, "perfmodel.prefill_ms=%" PRIu32 "%s", ONE_OF(0, 1, 2, 5, 10, 20), prefill_rest);
    random_case_set(c, "perfmodel.decode_ms=%" PRIu32 "%s", ONE_OF(0, 1, 1, 2, 5, 10), decode_rest);
    if (chance(30)) random_case_set(c, "perfmodel.mixed_ms=%" PRIu32, ONE_OF(0, 1, 3, 12));
}

// The choices of the vLLM cases come in the order they always had, so that a seed stays the case it was.
static void draw(random_case *c, uint64_t seed, sim_backend backend) {
    *c = (random_case){ .seed = seed };
    dice_state = seed * UINT64_C(0x2545f4914f6cdd1d); // far from its neighbours
    scale s = draw_scale();
    if (backend == SIM_BACKEND_SGLANG && s.most_prompt < 300 && chance(30)) s.block_size = 1; // its default
    if (chance(60))
        draw_trace(c, &s);
    else
        draw_synthetic(c, &s);
    if (backend == SIM_BACKEND_SGLANG && c->n_rows == 0 && chance(8))
        draw_long_queue(c);
    else
        draw_load(c, &s);
    if (backend != SIM_BACKEND_VLLM) random_case_set(c, "engine.backend=%s", sim_backend_names[backend]);
    draw_engine(c, &s, backend);
    if (backend == SIM_BACKEND_SGLANG) draw_sglang(c, &s);
    draw_kv_cache(c, &s);
    draw_perfmodel(c);
    random_case_set(c, "cluster.replicas=%" PRIu32, chance(40) ? 1 : between(1, 4));
}

// Drawn last, like everything that came later.
static void draw_admission(random_case *c) {
    if (chance(25)) random_case_set(c, "engine.admission_passes=%" PRIu32, ONE_OF(1, 1, 2, 3, 5, 11, 40));
}

static void draw_one_rank(random_case *c, uint64_t seed, sim_backend backend) {
    draw(c, seed, backend);
    draw_admission(c);
}
void random_case_vllm(random_case *c, uint64_t seed) { draw_one_rank(c, seed, SIM_BACKEND_VLLM); }
void random_case_sglang(random_case *c, uint64_t seed) { draw_one_rank(c, seed, SIM_BACKEND_SGLANG); }
void random_case_trtllm(random_case *c, uint64_t seed) { draw_one_rank(c, seed, SIM_BACKEND_TRTLLM); }

// Three of four with vLLM, which alone can make prompts wait.
void random_case_dp(random_case *c, uint64_t seed) {
    const sim_backend backend = seed % 4 == 0 ? SIM_BACKEND_TRTLLM : SIM_BACKEND_VLLM;
    draw(c, seed, backend);
    random_case_set(c, "parallel.data=%" PRIu32, chance(10) ? 1 : between(2, 4));
    if (backend == SIM_BACKEND_VLLM && chance(70))
        random_case_set(c, "engine.prefill_schedule_interval=%" PRIu32, between(2, 6));
    draw_admission(c);
}

uint32_t grid_choice(uint64_t *point, uint32_t n) {
    const uint32_t digit = (uint32_t)(*point % n);
    *point /= n;
    return digit;
}
