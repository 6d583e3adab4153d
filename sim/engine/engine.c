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

static const sim_scheduler *const schedulers[] = { &sim_scheduler_vllm, &sim_scheduler_sglang,
                                                   &sim_scheduler_trtllm }; // in the order of sim_backend_names

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
                          const sim_content_source *content, const sim_engine_events *events, bool wants_variances,
                          sim_error *error) {
    sim_engine *made = calloc(1, sizeof *made);
    if (!made) return no_memory(error);
    made->config = config;
    made->kv_cache = kv_cache;
    made->content = content;
    made->events = events;
    made->scheduler = schedulers[config->backend];
    made->wants_variances = wants_variances;
    made->free_sequence = made->waiting_head = made->waiting_tail = SIM_NO_SEQUENCE;
    made->running_head = made->running_tail = made->partial = SIM_NO_SEQUENCE;
    if (!sim_batch_init(&made->batch, (uint32_t)kv_cache->block_size, made->scheduler->n_ahead) ||
        !made->scheduler->init(made)) {
        sim_engine_free(made);
        return no_memory(error);
    }
    *engine = made;
    return SIM_OK;
}

void sim_engine_free(sim_engine *engine) {
    if (!engine) return;
    free(engine->sequences);
    free(engine->items.items);
    free(engine->rejections);
    free(engine->refusals);
    sim_batch_clear(&engine->batch);
    engine->scheduler->clear(engine);
    free(engine);
}

uint32_t sim_final_tokens(const sim_engine *engine, uint32_t input_tokens, uint32_t output_tokens) {
    int64_t limit = engine->config->max_model_len;
    bool is_limited = limit > input_tokens && limit - input_tokens < output_tokens;
    return is_limited ? (uint32_t)(limit - input_tokens) : output_tokens;
}

// --- sequences and the waiting queue ----------------------------------------------------------------------------------

static uint32_t take_sequence(sim_engine *engine) {
    uint32_t index = engine->free_sequence;
    if (index != SIM_NO_SEQUENCE) {
        engine->free_sequence = engine->sequences[index].after;
        return index;
    }
    if (!make_room((void **)&engine->sequences, &engine->n_sequences_allocated, engine->n_sequences,
                   sizeof *engine->sequences))
        return SIM_NO_SEQUENCE;
    return engine->n_sequences++;
}

static void give_back_sequence(sim_engine *engine, uint32_t index) {
    engine->sequences[index].after = engine->free_sequence;
    engine->free_sequence = index;
}

static void count_queued(sim_engine *engine, const sim_sequence *sequence, void (*change)(sim_square_sum *, uint32_t)) {
    engine->n_queue_changes++;
    if (sequence->is_preempted)
        change(&engine->queued_decodes, sim_sequence_length(&engine->batch, sequence));
    else
        change(&engine->queued_prefills, sequence->input_tokens);
}

void sim_waiting_push_back(sim_engine *engine, uint32_t index) {
    engine->sequences[index].after = SIM_NO_SEQUENCE;
    if (engine->waiting_tail == SIM_NO_SEQUENCE)
        engine->waiting_head = index;
    else
        engine->sequences[engine->waiting_tail].after = index;
    engine->waiting_tail = index;
    count_queued(engine, &engine->sequences[index], sim_square_sum_add);
}

void sim_waiting_push_front(sim_engine *engine, uint32_t index) {
    engine->sequences[index].after = engine->waiting_head;
    engine->waiting_head = index;
    if (engine->waiting_tail == SIM_NO_SEQUENCE) engine->waiting_tail = index;
    count_queued(engine, &engine->sequences[index], sim_square_sum_add);
}

uint32_t sim_waiting_pop(sim_engine *engine) {
    uint32_t index = engine->waiting_head;
    engine->waiting_head = engine->sequences[index].after;
    if (engine->waiting_head == SIM_NO_SEQUENCE) engine->waiting_tail = SIM_NO_SEQUENCE;
    count_queued(engine, &engine->sequences[index], sim_square_sum_remove);
    return index;
}

void sim_running_append(sim_engine *engine, uint32_t index) {
    sim_sequence *sequence = &engine->sequences[index];
    sequence->admission = engine->n_admissions++;
    sequence->before = engine->running_tail;
    sequence->after = SIM_NO_SEQUENCE;
    if (engine->running_tail == SIM_NO_SEQUENCE)
        engine->running_head = index;
    else
        engine->sequences[engine->running_tail].after = index;
    engine->running_tail = index;
    engine->n_running++;
}

void sim_running_remove(sim_engine *engine, uint32_t index) {
    const sim_sequence *sequence = &engine->sequences[index];
    if (sequence->before == SIM_NO_SEQUENCE)
        engine->running_head = sequence->after;
    else
        engine->sequences[sequence->before].after = sequence->after;
    if (sequence->after == SIM_NO_SEQUENCE)
        engine->running_tail = sequence->before;
    else
        engine->sequences[sequence->after].before = sequence->before;
    engine->n_running--;
}

static sim_status reject(sim_engine *engine, uint32_t request, uint32_t input_tokens, sim_reject_reason reason,
                         sim_error *error) {
    if (engine->config->on_unservable == SIM_UNSERVABLE_FAIL)
        return sim_error_set(error, SIM_DEAD_END, NULL, 0,
                             "request %u with a prompt of %u tokens can never be served: %s "
                             "(engine.on_unservable = reject counts such requests and goes on)",
                             request, input_tokens, sim_reject_reason_names[reason]);
    if (!make_room((void **)&engine->rejections, &engine->n_rejections_allocated, engine->n_rejections,
                   sizeof *engine->rejections))
        return no_memory(error);
    engine->rejections[engine->n_rejections++] = (sim_rejection){ request, reason };
    return SIM_OK;
}

sim_status sim_reject_head(sim_engine *engine, sim_reject_reason reason, sim_error *error) {
    uint32_t index = sim_waiting_pop(engine);
    const sim_sequence *sequence = &engine->sequences[index];
    sim_status status = reject(engine, sequence->request, sequence->input_tokens, reason, error);
    give_back_sequence(engine, index);
    return status;
}

static sim_status reject_refusals(sim_engine *engine, sim_error *error) {
    sim_status status = SIM_OK;
    for (uint32_t i = 0; i < engine->n_refusals && !status; i++) {
        const sim_refusal *r = &engine->refusals[i];
        status = reject(engine, r->request, r->input_tokens, r->reason, error);
    }
    engine->n_refusals = 0;
    return status;
}

// Every list can hold all sequences there are, so that nothing but the KV cache allocates later.
static bool reserve_lists(sim_engine *engine) {
    sim_index_list *items = &engine->items;
    const sim_scheduler *scheduler = engine->scheduler;
    if (!sim_batch_reserve(&engine->batch, engine->n_sequences_allocated)) return false;
    if (scheduler->reserve && !scheduler->reserve(engine, engine->n_sequences_allocated)) return false;
    if (items->n_allocated >= engine->n_sequences_allocated) return true;
    uint32_t *grown = realloc(items->items, engine->n_sequences_allocated * sizeof *grown);
    if (!grown) return false;
    items->items = grown;
    items->n_allocated = engine->n_sequences_allocated;
    return true;
}

static sim_status refuse(sim_engine *engine, uint32_t request, uint32_t input_tokens, sim_reject_reason reason,
                         sim_error *error) {
    if (!make_room((void **)&engine->refusals, &engine->n_refusals_allocated, engine->n_refusals,
                   sizeof *engine->refusals))
        return no_memory(error);
    engine->refusals[engine->n_refusals++] = (sim_refusal){ request, input_tokens, reason };
    return SIM_OK;
}

sim_status sim_engine_enqueue(sim_engine *engine, uint32_t request, uint32_t input_tokens, uint32_t output_tokens,
                              sim_error *error) {
    engine->n_steady_left = 0; // it may be admitted
    uint32_t index = take_sequence(engine);
    if (index == SIM_NO_SEQUENCE) return no_memory(error);
    if (!reserve_lists(engine)) {
        give_back_sequence(engine, index);
        return no_memory(error);
    }
    engine->sequences[index] = (sim_sequence){
        .request = request,
        .input_tokens = input_tokens,
        .output_tokens = output_tokens,
        .n_final = engine->scheduler->final_tokens(engine, input_tokens, output_tokens),
        .chain = sim_kv_chain_empty(),
    };
    sim_reject_reason reason;
    if (engine->scheduler->is_refused && engine->scheduler->is_refused(engine, &engine->sequences[index], &reason)) {
        give_back_sequence(engine, index);
        return refuse(engine, request, input_tokens, reason, error);
    }
    sim_waiting_push_back(engine, index);
    return SIM_OK;
}

bool sim_engine_has_work(const sim_engine *engine) {
    return engine->n_running > 0 || engine->waiting_head != SIM_NO_SEQUENCE || engine->n_refusals > 0;
}

bool sim_engine_is_settled(const sim_engine *engine) {
    return !engine->scheduler->is_settled || engine->scheduler->is_settled(engine);
}
bool sim_engine_has_waiting(const sim_engine *engine) { return engine->waiting_head != SIM_NO_SEQUENCE; }
bool sim_engine_has_decodes(const sim_engine *engine) { return engine->batch.n_members > 0; }
bool sim_engine_has_prefills(const sim_engine *engine) { return engine->is_pass_open && engine->items.n > 0; }

// --- a pass -----------------------------------------------------------------------------------------------------------

static void tell_rejections(sim_engine *engine, int64_t now_ns) {
    for (uint32_t i = 0; i < engine->n_rejections; i++)
        engine->events->on_rejected(engine->events->self, engine->rejections[i].request, engine->rejections[i].reason,
                                    now_ns);
    engine->n_rejections = 0;
}

sim_status sim_engine_schedule(sim_engine *engine, int64_t now_ns, bool defers_prefills, sim_pass *pass,
                               bool *is_started, sim_error *error) {
    assert(!engine->is_pass_open);
    engine->defers_prefills = defers_prefills;
    *is_started = false;
    sim_status status = reject_refusals(engine, error);
    bool retries = true;
    while (!status && retries) {
        engine->n_pass_preemptions = 0;
        engine->items.n = 0;
        engine->batch_takes_part = true;
        status = engine->scheduler->schedule(engine, now_ns, error);
        if (status) return status;
        // An item may have nothing to compute: a request without output whose whole prompt is cached. It ends with the pass.
        if (engine->items.n > 0 || (engine->batch_takes_part && engine->batch.n_members > 0)) {
            engine->is_pass_open = *is_started = true;
            return sim_pass_describe(engine, pass, error);
        }
        retries = engine->scheduler->is_worth_retrying(engine) && sim_engine_has_work(engine);
        tell_rejections(engine, now_ns);
    }
    return status ? status : sim_pass_describe(engine, pass, error);
}

static sim_status finish(sim_engine *engine, uint32_t index, int64_t now_ns, sim_error *error) {
    sim_sequence *sequence = &engine->sequences[index];
    if (engine->scheduler->on_finish) engine->scheduler->on_finish(engine, sequence);
    if (!engine->scheduler->release(engine, sequence)) return no_memory(error);
    sim_running_remove(engine, index);
    engine->is_head_blocked = false;
    engine->events->on_finished(engine->events->self, sequence->request, sequence->n_generated, now_ns);
    give_back_sequence(engine, index);
    return SIM_OK;
}

// The token of every member, told in as few calls as there are times of the one before.
static void tell_batch_gaps(const sim_engine *engine, int64_t now_ns) {
    const sim_engine_events *events = engine->events;
    const sim_batch *batch = &engine->batch;
    uint32_t n_others = batch->n_members;
    for (uint32_t i = 0; i < batch->n_late; i++) {
        const sim_token_group *group = &batch->late[i];
        if (group->n_members)
            events->on_token_gaps(events->self, now_ns - group->last_token_ns, group->n_members, now_ns);
        n_others -= group->n_members;
    }
    if (n_others) events->on_token_gaps(events->self, now_ns - batch->last_token_ns, n_others, now_ns);
}

static sim_status complete_batch(sim_engine *engine, int64_t now_ns, sim_error *error) {
    const sim_engine_events *events = engine->events;
    const sim_scheduler *scheduler = engine->scheduler;
    sim_batch *batch = &engine->batch;
    if (batch->n_members == 0) return SIM_OK;
    tell_batch_gaps(engine, now_ns);
    for (uint32_t i = 0; i < batch->n_fresh; i++)
        events->on_second_token(events->self, engine->sequences[batch->fresh[i]].request, now_ns);
    batch->n_fresh = 0;
    sim_batch_advance(batch, now_ns);
    uint32_t index;
    while ((index = sim_batch_finished(batch, engine->sequences)) != SIM_NO_SEQUENCE) {
        if (scheduler->on_member_tokens && !scheduler->on_member_tokens(engine, engine->sequences[index].admission))
            return no_memory(error);
        sim_batch_leave(batch, engine->sequences, index);
        sim_status status = finish(engine, index, now_ns, error);
        if (status) return status;
    }
    if (scheduler->on_member_tokens && !scheduler->on_member_tokens(engine, UINT64_MAX)) return no_memory(error);
    return SIM_OK;
}

static void emit_token(const sim_engine *engine, sim_sequence *sequence, int64_t now_ns) {
    const sim_engine_events *events = engine->events;
    sequence->n_generated++;
    if (sequence->n_generated == 1) {
        events->on_first_token(events->self, sequence->request, now_ns);
    } else { // it was preempted in between
        events->on_token_gaps(events->self, now_ns - sequence->last_token_ns, 1, now_ns);
        if (sequence->n_generated == 2) events->on_second_token(events->self, sequence->request, now_ns);
    }
    sequence->last_token_ns = now_ns;
}

static sim_status complete_item(sim_engine *engine, uint32_t index, int64_t now_ns, sim_error *error) {
    sim_sequence *sequence = &engine->sequences[index];
    const sim_scheduler *scheduler = engine->scheduler;
    sequence->n_pass_tokens = 0;
    if (scheduler->on_computed && !scheduler->on_computed(engine, sequence)) return no_memory(error);
    if (sequence->n_computed < sequence->input_tokens + sequence->n_generated) {
        scheduler->on_unfinished(engine, index);
        return SIM_OK;
    }
    if (engine->partial == index) engine->partial = SIM_NO_SEQUENCE;
    if (sequence->output_tokens > 0) emit_token(engine, sequence, now_ns);
    if (sequence->n_generated == sequence->n_final) return finish(engine, index, now_ns, error);
    sim_batch_join(&engine->batch, engine->sequences, index);
    return scheduler->on_joined && !scheduler->on_joined(engine, index) ? no_memory(error) : SIM_OK;
}

sim_status sim_engine_complete(sim_engine *engine, int64_t now_ns, sim_error *error) {
    assert(engine->is_pass_open);
    engine->is_pass_open = false;
    sim_status status = engine->batch_takes_part ? complete_batch(engine, now_ns, error) : SIM_OK;
    if (engine->items.n > 0) engine->is_head_blocked = false; // what they computed may be what the head shares
    for (uint32_t i = 0; i < engine->items.n && !status; i++)
        status = complete_item(engine, engine->items.items[i], now_ns, error);
    tell_rejections(engine, now_ns);
    return status;
}

void sim_engine_explain_stuck(const sim_engine *engine, char *text, size_t capacity) {
    uint32_t index = engine->waiting_head != SIM_NO_SEQUENCE ? engine->waiting_head : engine->running_head;
    const sim_sequence *sequence = &engine->sequences[index];
    sim_room room = engine->scheduler->room(engine);
    uint32_t wanted = sim_blocks_for(engine, sim_sequence_length(&engine->batch, sequence));
    uint64_t n_waiting = engine->queued_prefills.count + engine->queued_decodes.count;
    snprintf(text, capacity,
             "request %u (%u prompt + %u generated tokens) needs %u KV blocks, the pool has %u, %u held by %u running "
             "requests; %llu wait",
             sequence->request, sequence->input_tokens, sequence->n_generated, wanted, room.capacity, room.held,
             engine->n_running, (unsigned long long)n_waiting);
}
