// SPDX-License-Identifier: GPL-3.0-or-later
//
// What all backends share: the pool of sequences, the waiting queue, the frame of a pass and the emission of tokens
// (simulation-semantics.md 3.1, step E). The decisions are the scheduler's.
#include "sim/engine/engine.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/engine_state.h"

static const sim_scheduler *const schedulers[] = { &sim_scheduler_vllm }; // in the order of sim_backend_names

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

// Room for one more element of an array that doubles. False: no memory, array unchanged.
static bool make_room(void **array, uint32_t *n_allocated, uint32_t n_used, size_t element_bytes) {
    if (n_used < *n_allocated) return true;
    uint64_t size = *n_allocated ? (uint64_t)*n_allocated * 2 : 64;
    void *grown = size < UINT32_MAX ? realloc(*array, size * element_bytes) : NULL;
    if (!grown) return false;
    *array = grown;
    *n_allocated = (uint32_t)size;
    return true;
}

sim_status sim_engine_new(sim_engine **engine, const sim_engine_config *config, const sim_kv_cache_config *kv_cache,
                          const sim_content_source *content, const sim_engine_events *events, sim_error *error) {
    sim_engine *made = calloc(1, sizeof *made);
    if (!made) return no_memory(error);
    made->config = config;
    made->kv_cache = kv_cache;
    made->content = content;
    made->events = events;
    made->scheduler = schedulers[config->backend];
    made->free_sequence = made->waiting_head = made->waiting_tail = SIM_NO_SEQUENCE;
    made->pool = sim_block_pool_new((uint32_t)kv_cache->num_blocks);
    if (!made->pool) {
        free(made);
        return no_memory(error);
    }
    *engine = made;
    return SIM_OK;
}

void sim_engine_free(sim_engine *engine) {
    if (!engine) return;
    for (uint32_t i = 0; i < engine->n_sequences; i++) free(engine->sequences[i].blocks);
    free(engine->sequences);
    free(engine->running);
    free(engine->rejections);
    sim_block_pool_free(engine->pool);
    free(engine);
}

// --- sequences and the waiting queue ----------------------------------------------------------------------------------

// A free sequence keeps its array of blocks for the next request.
static uint32_t take_sequence(sim_engine *engine) {
    uint32_t index = engine->free_sequence;
    if (index != SIM_NO_SEQUENCE) {
        engine->free_sequence = engine->sequences[index].next;
        return index;
    }
    if (!make_room((void **)&engine->sequences, &engine->n_sequences_allocated, engine->n_sequences,
                   sizeof *engine->sequences))
        return SIM_NO_SEQUENCE;
    index = engine->n_sequences++;
    engine->sequences[index] = (sim_sequence){ .blocks = NULL };
    return index;
}

static void give_back_sequence(sim_engine *engine, uint32_t index) {
    engine->sequences[index].next = engine->free_sequence;
    engine->free_sequence = index;
}

static void count_queued(sim_engine *engine, const sim_sequence *sequence, void (*change)(sim_square_sum *, uint32_t)) {
    if (sequence->is_preempted)
        change(&engine->queued_decodes, sim_sequence_length(sequence));
    else
        change(&engine->queued_prefills, sequence->input_tokens);
}

void sim_waiting_push_back(sim_engine *engine, uint32_t index) {
    engine->sequences[index].next = SIM_NO_SEQUENCE;
    if (engine->waiting_tail == SIM_NO_SEQUENCE)
        engine->waiting_head = index;
    else
        engine->sequences[engine->waiting_tail].next = index;
    engine->waiting_tail = index;
    count_queued(engine, &engine->sequences[index], sim_square_sum_add);
}

void sim_waiting_push_front(sim_engine *engine, uint32_t index) {
    engine->sequences[index].next = engine->waiting_head;
    engine->waiting_head = index;
    if (engine->waiting_tail == SIM_NO_SEQUENCE) engine->waiting_tail = index;
    count_queued(engine, &engine->sequences[index], sim_square_sum_add);
}

uint32_t sim_waiting_pop(sim_engine *engine) {
    uint32_t index = engine->waiting_head;
    engine->waiting_head = engine->sequences[index].next;
    if (engine->waiting_head == SIM_NO_SEQUENCE) engine->waiting_tail = SIM_NO_SEQUENCE;
    count_queued(engine, &engine->sequences[index], sim_square_sum_remove);
    return index;
}

sim_status sim_reject_head(sim_engine *engine, sim_reject_reason reason, sim_error *error) {
    uint32_t index = sim_waiting_pop(engine);
    const sim_sequence *sequence = &engine->sequences[index];
    if (engine->config->on_unservable == SIM_UNSERVABLE_FAIL)
        return sim_error_set(error, SIM_DEAD_END, NULL, 0,
                             "request %u with a prompt of %u tokens can never be served: %s "
                             "(engine.on_unservable = reject counts such requests and goes on)",
                             sequence->request, sequence->input_tokens, sim_reject_reason_names[reason]);
    if (!make_room((void **)&engine->rejections, &engine->n_rejections_allocated, engine->n_rejections,
                   sizeof *engine->rejections))
        return no_memory(error);
    engine->rejections[engine->n_rejections++] = (sim_rejection){ sequence->request, reason };
    give_back_sequence(engine, index);
    return SIM_OK;
}

sim_status sim_engine_enqueue(sim_engine *engine, uint32_t request, uint32_t input_tokens, uint32_t output_tokens,
                              sim_error *error) {
    // The running list can hold every sequence there is, so that admission never allocates.
    uint32_t index = take_sequence(engine);
    if (index == SIM_NO_SEQUENCE) return no_memory(error);
    if (engine->n_running_allocated < engine->n_sequences_allocated) {
        uint32_t *running = realloc(engine->running, engine->n_sequences_allocated * sizeof *running);
        if (!running) return no_memory(error);
        engine->running = running;
        engine->n_running_allocated = engine->n_sequences_allocated;
    }
    sim_sequence *sequence = &engine->sequences[index];
    *sequence = (sim_sequence){
        .request = request,
        .input_tokens = input_tokens,
        .output_tokens = output_tokens,
        .blocks = sequence->blocks,
        .n_blocks_allocated = sequence->n_blocks_allocated,
    };
    sim_waiting_push_back(engine, index);
    return SIM_OK;
}

bool sim_engine_has_work(const sim_engine *engine) {
    return engine->n_running > 0 || engine->waiting_head != SIM_NO_SEQUENCE;
}

// --- a pass -----------------------------------------------------------------------------------------------------------

static void tell_rejections(sim_engine *engine, int64_t now_ns) {
    for (uint32_t i = 0; i < engine->n_rejections; i++)
        engine->events->on_rejected(engine->events->self, engine->rejections[i].request, engine->rejections[i].reason,
                                    now_ns);
    engine->n_rejections = 0;
}

// A request without output whose whole prompt is cached runs for one pass without computing anything.
static bool has_pass_content(const sim_engine *engine, const sim_pass *pass) {
    if (pass->n_items > 0) return true;
    for (uint32_t i = 0; i < engine->n_running; i++) {
        const sim_sequence *sequence = &engine->sequences[engine->running[i]];
        if (sequence->n_computed == sim_sequence_length(sequence)) return true;
    }
    return false;
}

sim_status sim_engine_schedule(sim_engine *engine, int64_t now_ns, sim_pass *pass, bool *is_started, sim_error *error) {
    assert(!engine->is_pass_open);
    *is_started = false;
    bool has_changed;
    do {
        engine->n_pass_preemptions = 0;
        sim_status status = engine->scheduler->schedule(engine, now_ns, error);
        if (!status) status = sim_pass_describe(engine, pass, error);
        if (status) return status;
        if (has_pass_content(engine, pass)) {
            engine->is_pass_open = *is_started = true;
            return SIM_OK;
        }
        // Nothing to compute, but preemptions and rejections may have made room: try again at once. Each round removes a running or a
        // waiting request, so this ends.
        has_changed = engine->n_pass_preemptions > 0 || engine->n_rejections > 0;
        tell_rejections(engine, now_ns);
    } while (has_changed && sim_engine_has_work(engine));
    return SIM_OK;
}

// Runs of equal gaps, as most of a decode batch emits at one pace.
typedef struct gap_run {
    int64_t gap_ns;
    uint64_t n_tokens;
} gap_run;

static void flush_gaps(const sim_engine *engine, gap_run *gaps, int64_t now_ns) {
    if (gaps->n_tokens > 0) engine->events->on_token_gaps(engine->events->self, gaps->gap_ns, gaps->n_tokens, now_ns);
    gaps->n_tokens = 0;
}

static void emit_token(const sim_engine *engine, sim_sequence *sequence, gap_run *gaps, int64_t now_ns) {
    const sim_engine_events *events = engine->events;
    sequence->n_generated++;
    if (sequence->n_generated == 1) {
        events->on_first_token(events->self, sequence->request, now_ns);
    } else {
        int64_t gap_ns = now_ns - sequence->last_token_ns;
        if (gap_ns != gaps->gap_ns) flush_gaps(engine, gaps, now_ns);
        gaps->gap_ns = gap_ns;
        gaps->n_tokens++;
        if (sequence->n_generated == 2) events->on_second_token(events->self, sequence->request, now_ns);
    }
    sequence->last_token_ns = now_ns;
}

static bool is_finished(const sim_engine *engine, const sim_sequence *sequence) {
    return sequence->n_generated == sequence->output_tokens ||
           (int64_t)sim_sequence_length(sequence) == engine->config->max_model_len;
}

void sim_engine_complete(sim_engine *engine, int64_t now_ns) {
    assert(engine->is_pass_open);
    gap_run gaps = { 0, 0 };
    uint32_t n_kept = 0;
    for (uint32_t i = 0; i < engine->n_running; i++) {
        uint32_t index = engine->running[i];
        sim_sequence *sequence = &engine->sequences[index];
        bool is_ready = sequence->n_computed == sim_sequence_length(sequence);
        sequence->n_pass_tokens = 0;
        if (is_ready && sequence->output_tokens > 0) emit_token(engine, sequence, &gaps, now_ns);
        if (is_ready && is_finished(engine, sequence)) {
            sim_sequence_release(engine, sequence);
            engine->events->on_finished(engine->events->self, sequence->request, sequence->n_generated, now_ns);
            give_back_sequence(engine, index);
        } else {
            engine->running[n_kept++] = index;
        }
    }
    flush_gaps(engine, &gaps, now_ns);
    engine->n_running = n_kept;
    tell_rejections(engine, now_ns);
    engine->is_pass_open = false;
}

void sim_engine_explain_stuck(const sim_engine *engine, char *text, size_t capacity) {
    uint32_t index = engine->waiting_head != SIM_NO_SEQUENCE ? engine->waiting_head : engine->running[0];
    const sim_sequence *sequence = &engine->sequences[index];
    uint64_t block_size = (uint64_t)engine->kv_cache->block_size;
    uint64_t wanted = (sim_sequence_length(sequence) + block_size - 1) / block_size;
    uint64_t n_waiting = engine->queued_prefills.count + engine->queued_decodes.count;
    snprintf(
        text, capacity,
        "request %u (%u prompt + %u generated tokens) needs %llu KV blocks, the pool has %u, %u of them held by %u "
        "running requests; %llu requests wait",
        sequence->request, sequence->input_tokens, sequence->n_generated, (unsigned long long)wanted,
        sim_block_pool_capacity(engine->pool), sim_block_pool_active(engine->pool), engine->n_running,
        (unsigned long long)n_waiting);
}
