// SPDX-License-Identifier: GPL-3.0-or-later
//
// The open pass as ForwardPassMetrics (simulation-semantics.md 3.1 "FPM of the pass").
//
// A scheduled item is a decode when it computes the newest token of a sequence that is past its prompt and has everything else; every other
// item is a prefill: prompt chunks, and what a preempted request recomputes, generated tokens included, since the GPU attends to several new
// tokens at once in both cases. In a pass that the batch takes no part in (SGLang's extend) every item is one. `var_prefill_length` is over prompt lengths.
#include "sim/engine/engine_state.h"

typedef struct pass_sums {
    sim_square_sum prefill_lengths; // input_tokens of prefill items
    uint64_t prefill_tokens, prefill_kv_tokens;
    sim_square_sum decode_contexts;
    double attention; // sum of new x (past + new / 2); every term is a multiple of 1/2
    uint32_t max_context, n_finished_prompts;
} pass_sums;

static void add_item(pass_sums *sums, const sim_sequence *sequence, bool is_extend) {
    uint32_t n_new = sequence->n_pass_tokens;
    uint32_t past = sequence->n_computed - n_new;
    uint32_t length = sequence->input_tokens + sequence->n_generated;
    if (sequence->n_computed > sums->max_context) sums->max_context = sequence->n_computed;
    if (!is_extend && past >= sequence->input_tokens && n_new == 1 && sequence->n_computed == length) {
        sim_square_sum_add(&sums->decode_contexts, length);
        return;
    }
    sim_square_sum_add(&sums->prefill_lengths, sequence->input_tokens);
    sums->prefill_tokens += n_new;
    sums->prefill_kv_tokens += past;
    sums->attention += (double)n_new * ((double)past + (double)n_new / 2);
    sums->n_finished_prompts += sequence->n_computed == length;
}

static bool fits_32_bits(uint64_t value) { return value <= UINT32_MAX; }

static void describe_queue(const sim_engine *engine, sim_pass *pass) {
    const sim_square_sum *prefills = &engine->queued_prefills, *decodes = &engine->queued_decodes;
    pass->has_queue_overflow = !fits_32_bits(prefills->sum) || !fits_32_bits(decodes->sum);
    pass->metrics->queued = (fpm_queued_requests){
        .num_prefill_requests = (uint32_t)prefills->count,
        .sum_prefill_tokens = (uint32_t)prefills->sum,
        .var_prefill_length = sim_square_sum_variance(prefills),
        .num_decode_requests = (uint32_t)decodes->count,
        .sum_decode_kv_tokens = (uint32_t)decodes->sum,
        .var_decode_kv_tokens = sim_square_sum_variance(decodes),
    };
}

// The longest context of the batch is not kept, as no sum gives it: only a log asks for it.
static uint32_t longest_member(const sim_engine *engine) {
    uint32_t longest = 0;
    if (!engine->batch_takes_part) return 0;
    for (uint32_t i = 0; i < engine->batch.n_members; i++) {
        uint32_t length = sim_sequence_length(&engine->batch, &engine->sequences[engine->batch.heap[i]]);
        if (length > longest) longest = length;
    }
    return longest;
}

static void describe_in_full(const sim_engine *engine, const pass_sums *sums, sim_pass *pass) {
    uint32_t longest = longest_member(engine);
    pass->metrics->scheduled.var_prefill_length = sim_square_sum_variance(&sums->prefill_lengths);
    pass->metrics->scheduled.var_decode_kv_tokens = sim_square_sum_variance(&sums->decode_contexts);
    if (longest > pass->metrics->moments.max_context_tokens) pass->metrics->moments.max_context_tokens = longest;
    describe_queue(engine, pass);
}

// The batch alone, as most passes are.
static void describe_batch(const pass_sums *sums, sim_pass *pass) {
    pass->metrics->scheduled = (fpm_scheduled_requests){
        .num_decode_requests = (uint32_t)sums->decode_contexts.count,
        .sum_decode_kv_tokens = (uint32_t)sums->decode_contexts.sum,
    };
    pass->metrics->moments = (fpm_moments){ .is_present = true };
}

static void describe_items(const pass_sums *sums, sim_pass *pass) {
    pass->metrics->scheduled = (fpm_scheduled_requests){
        .num_prefill_requests = (uint32_t)sums->prefill_lengths.count,
        .sum_prefill_tokens = (uint32_t)sums->prefill_tokens,
        .sum_prefill_kv_tokens = (uint32_t)sums->prefill_kv_tokens,
        .num_decode_requests = (uint32_t)sums->decode_contexts.count,
        .sum_decode_kv_tokens = (uint32_t)sums->decode_contexts.sum,
    };
    pass->metrics->moments = (fpm_moments){
        .sum_prefill_attention = sums->attention,
        .max_context_tokens = sums->max_context,
        .num_finished_prompts = sums->n_finished_prompts,
        .is_present = true,
    };
}

sim_status sim_pass_describe(const sim_engine *engine, sim_pass *pass, sim_error *error) {
    pass_sums sums = { .prefill_tokens = 0 };
    if (engine->batch_takes_part) sums.decode_contexts = engine->batch.contexts;
    for (uint32_t i = 0; i < engine->items.n; i++) {
        const sim_sequence *sequence = &engine->sequences[engine->items.items[i]];
        if (sequence->n_pass_tokens > 0) add_item(&sums, sequence, !engine->batch_takes_part);
    }
    if (!fits_32_bits(sums.prefill_kv_tokens) || !fits_32_bits(sums.decode_contexts.sum))
        return sim_error_set(error, SIM_INTERNAL, NULL, 0,
                             "the KV tokens of one pass exceed 2^32-1, the range of ForwardPassMetrics "
                             "(lower engine.max_num_seqs)");
    if (engine->items.n == 0)
        describe_batch(&sums, pass);
    else
        describe_items(&sums, pass);
    if (engine->wants_variances) describe_in_full(engine, &sums, pass);
    return SIM_OK;
}
