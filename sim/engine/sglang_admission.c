// SPDX-License-Identifier: GPL-3.0-or-later
//
// Who may come in: SGLang's estimate of what the pool will hold (simulation-semantics.md 3.3, step 3; decisions 1 and 4 in scheduler_sglang.c).
#include <assert.h>

#include "sim/engine/sglang_state.h"

static uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

static uint64_t page_tokens(const sim_engine *engine) { return (uint64_t)engine->kv_cache->block_size; }

static uint64_t whole_pages(const sim_engine *engine, uint64_t n_tokens) {
    return sim_blocks_for(engine, n_tokens) * page_tokens(engine);
}

static uint32_t clipped(const sim_engine *engine, uint32_t remaining_tokens) {
    return min_u32(remaining_tokens, (uint32_t)engine->config->clip_max_new_tokens);
}

// The most that admission can ask for, over all the tokens g it may know by then: ceil(prompt + g) + min(n_final - g, clip). It grows with g
// while the output is clipped; from there on ceil jumps up where the known sequence begins a page, and falls in between.
static uint64_t largest_demand(const sim_engine *engine, const sim_sequence *sequence) {
    uint64_t input = sequence->input_tokens, n_final = sequence->n_final;
    uint64_t clip = (uint64_t)engine->config->clip_max_new_tokens;
    uint64_t last = n_final > 0 ? n_final - 1 : 0;
    uint64_t first = n_final > clip ? n_final - clip : 0;
    if (first > last) first = last;
    uint64_t into_page = (input + first - 1) % page_tokens(engine);
    uint64_t next = into_page == 0 ? first : first + page_tokens(engine) - into_page;
    uint64_t g = next <= last ? next : first;
    uint64_t demand = whole_pages(engine, input + first) + clipped(engine, (uint32_t)(n_final - first));
    uint64_t at_page = whole_pages(engine, input + g) + clipped(engine, (uint32_t)(n_final - g));
    return at_page > demand ? at_page : demand;
}

bool sim_sglang_is_refused(const sim_engine *engine, const sim_sequence *sequence, sim_reject_reason *reason) {
    int64_t limit = engine->config->max_model_len;
    uint64_t capacity_tokens = sim_radix_cache_capacity(engine->radix) * page_tokens(engine);
    *reason = SIM_REJECT_MODEL_LENGTH;
    if (limit > 0 && sequence->input_tokens >= limit) return true;
    *reason = SIM_REJECT_KV_CACHE;
    return largest_demand(engine, sequence) >= capacity_tokens;
}

// --- prefill pass -------------------------------------------------------------------------------------------------------

typedef struct budget {
    double total_tokens; // what may be used of the pool
    uint64_t used_tokens;
    uint32_t input_tokens, chunk_tokens; // left
} budget;

typedef struct extent {
    uint32_t n_matched_pages; // in the tree, to be locked or locked already
    uint32_t n_tokens, n_pages;
} extent;

sim_radix_match sim_sglang_match(const sim_engine *engine, const sim_sequence *sequence) {
    if (!engine->kv_cache->prefix_caching) return (sim_radix_match){ 0, 0 };
    uint32_t known = sim_sequence_length(&engine->batch, sequence);
    uint32_t most = sequence->output_tokens == 0 ? known : known - 1; // the logits come from computing the last token
    return sim_radix_cache_match(engine->radix, sim_sglang_content(sequence), most / (uint32_t)page_tokens(engine));
}

static sim_radix_match match_head(sim_engine *engine) {
    sim_sglang *sglang = engine->sglang;
    uint64_t version = sim_radix_cache_version(engine->radix);
    if (sglang->head != engine->waiting_head || sglang->head_version != version) {
        sglang->head_match = sim_sglang_match(engine, &engine->sequences[engine->waiting_head]);
        sglang->head = engine->waiting_head;
        sglang->head_version = version;
    }
    return sglang->head_match;
}

// What of the head fits this pass (decision 4). False: nothing, and the queue waits behind it.
static bool fits(sim_engine *engine, budget *left, extent *taken) {
    const sim_sequence *head = &engine->sequences[engine->waiting_head];
    bool is_unfinished = engine->waiting_head == engine->partial;
    uint32_t page = (uint32_t)page_tokens(engine);
    sim_radix_match match = { head->n_computed / page, 0 };
    if (!is_unfinished) match = match_head(engine);
    uint32_t to_compute = sim_sequence_length(&engine->batch, head) - match.n_pages * page;
    uint32_t n_tokens = min_u32(to_compute, left->chunk_tokens / page * page);
    if (n_tokens == 0 && to_compute > 0) return false;
    uint32_t n_pages = sim_blocks_for(engine, n_tokens), charge = n_pages * page;
    uint32_t output = n_tokens == to_compute ? clipped(engine, head->n_final - head->n_generated) : 0;
    if ((double)(left->used_tokens + charge + output) >= left->total_tokens || charge > left->input_tokens)
        return false;
    if (n_pages > sim_radix_cache_room(engine->radix) - match.n_evictable) return false;
    left->used_tokens += charge + output;
    left->input_tokens -= charge;
    left->chunk_tokens -= charge;
    *taken = (extent){ match.n_pages, n_tokens, n_pages };
    return true;
}

static sim_status admit_head(sim_engine *engine, extent taken, int64_t now_ns, sim_error *error) {
    bool is_unfinished = engine->waiting_head == engine->partial;
    uint32_t index = sim_waiting_pop(engine), n_matched = taken.n_matched_pages * (uint32_t)page_tokens(engine);
    sim_sequence *sequence = &engine->sequences[index];
    sim_radix_sequence content = sim_sglang_content(sequence);
    if (!is_unfinished && engine->kv_cache->prefix_caching &&
        !sim_radix_cache_lock(engine->radix, &sequence->path, content, taken.n_matched_pages))
        return no_memory(error);
    bool has_room = sim_radix_cache_take(engine->radix, taken.n_pages);
    assert(has_room);
    (void)has_room;
    sequence->n_computed = n_matched + taken.n_tokens;
    sequence->n_pass_tokens = taken.n_tokens;
    sequence->n_blocks = taken.n_matched_pages + taken.n_pages;
    sim_running_append(engine, index);
    engine->items.items[engine->items.n++] = index;
    if (is_unfinished) return SIM_OK;
    engine->events->on_admitted(engine->events->self, sequence->request, n_matched, !sequence->was_admitted, now_ns);
    sequence->was_admitted = true;
    return SIM_OK;
}

sim_status sim_sglang_admit(sim_engine *engine, int64_t now_ns, sim_error *error) {
    sim_sglang *sglang = engine->sglang;
    uint64_t reserved = sim_reserve_tokens(&sglang->reserve, &engine->batch, engine->sequences);
    uint64_t room_tokens = sim_radix_cache_room(engine->radix) * page_tokens(engine);
    budget left = { .total_tokens = (double)room_tokens - sglang->ratio * (double)reserved,
                    .input_tokens = (uint32_t)engine->config->max_prefill_tokens,
                    .chunk_tokens = sglang->chunk_tokens };
    sim_status status = SIM_OK;
    extent taken;
    while (!status && engine->waiting_head != SIM_NO_SEQUENCE && left.chunk_tokens > 0 &&
           engine->n_running < engine->config->max_num_seqs && fits(engine, &left, &taken))
        status = admit_head(engine, taken, now_ns, error);
    return status;
}
