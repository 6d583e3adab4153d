// SPDX-License-Identifier: GPL-3.0-or-later
//
// SGLang: prompts go first, in passes of their own; a radix tree of pages; admission rests on an estimate of how much running requests will still
// generate; what then runs out is made up for by retraction (simulation-semantics.md 3.3).
//
// Decisions where the notes leave room
//
// Words. page = kv_cache.block_size tokens; C = num_blocks x page; ceil(x), floor(x) round to whole pages; known sequence = prompt + tokens generated
// so far, of length len; remaining = n_final - generated, where n_final = output tokens, cut so that prompt + n_final <= max_model_len; computed =
// tokens with a KV entry. max_out of the notes is n_final.
//
// 1. Unservable. Prompt >= max_model_len: exceeds_max_model_len. Else exceeds_kv_cache when the request could not be admitted into an empty pool at
//    some point of its life: for any g in 0 .. max(0, n_final - 1):  ceil(prompt + g) + min(n_final - g, clip) >= C. (So whoever is not rejected can
//    always be run alone, and can be readmitted alone after any retraction.) Both are checked for every new arrival at the start of the next pass,
//    in order of arrival, and independently of what is cached; the event comes at the end of that pass, or at once when no pass starts.
// 2. Queue. An unfinished prompt (at most one) goes back to the front of the waiting queue at the end of its pass, keeps its pages and its lock, and
//    stays in front under every policy. While it is part of a pass it is not queued; else it counts as a queued prefill (or decode, if it has
//    output). A continuation is not an admission: no on_admitted, no second match.
// 3. LPM sorts the queue itself, in place and stably, at the start of every pass (also where prefill is forbidden or no seat is free), behind the
//    unfinished prompt. More than 128 waiting, the unfinished one counted: the queue is left as it is. The matched length is what an admission would
//    match now (whole pages, same cap), without touching or splitting anything. T = ceil(32) tokens. A request is deprioritised when its own
//    match is <= 32 tokens, its known sequence has >= T tokens, and any request in front of it in the queue before sorting (the unfinished one
//    included, however well matched) has >= T known tokens of which the first T are the same. Order: not deprioritised first, then longer match first.
// 4. Admission. Per pass: room = free + evictable tokens at its start; reserved = sum over running of min(remaining, clip), an integer;
//    rem_total = (double)room - ratio * (double)reserved, computed once; used = 0, an integer. For the head, while running + admitted in this pass
//    (an unfinished one counts) < max_num_seqs and rem_chunk > 0:
//      start = tokens matched (cap: len - 1 tokens, or len for a request without output; whole pages), or computed for an unfinished one
//      extend = len - start; chunk = min(extend, floor(rem_chunk)); chunk == 0 with extend > 0: stop
//      charge = ceil(chunk); reserve = chunk == extend ? min(remaining, clip) : 0
//      stop when (double)(used + charge + reserve) >= rem_total, or charge > rem_input
//      stop when charge > free + evictable tokens now, not counting the matched tokens that nobody holds (they are about to be locked): the pages
//      cannot be had. Nothing has been touched, split or evicted by a head that is not admitted.
//      else: match and lock (touches), then evict and take charge tokens; used += charge + reserve; rem_input -= charge; rem_chunk -= charge.
//    A request without output whose whole prompt is cached has extend = 0: it is admitted with charge 0 and the pass is a prefill pass.
//    Budgets must let a prompt through: max_prefill_tokens >= chunked_prefill_size >= block_size, else a configuration error.
// 5. Ratio. initial = 0.7 * schedule_conservativeness, minimum = 0.14 * initial, step = (initial - minimum) / 600.0, in double, not clamped.
//    Decay: ratio = ratio - step, at least minimum. It is decided when the decode pass is scheduled, after the retractions; sums over survivors are
//    taken before the tokens of the pass: ratio = (double)(generated + 20 * n) / (double)(n_final + 1), at most 1.
// 6. A decode pass makes room for the token it will emit: every running request then has ceil(len + 1) tokens of pages, so it needs a new page when
//    len is a multiple of the page. After a prefill pass it has room for ceil(len), the first token included (the slot of the notes), or lacks that one
//    page if nothing could be evicted: then the token is emitted all the same and the next decode pass asks for the lacking page too.
//    need = sum of (ceil(len + 1) - pages held). While need > free + evictable and more than one runs: retract.
// 7. Retraction: fewest generated tokens of all its life, first such in the order of the running list (order of admission, of which a readmission is a
//    new one). It inserts its computed full pages into the tree, as a finished one does, and unlocks; computed = 0; to the back of the queue.
//    One request is left and need is still too high: the unfinished prompt in front of the queue gives up its pages (a retraction that leaves it
//    where it is: preemption counted; it is matched afresh when it is admitted again). It is not part of the survivors, and the ratio is then
//    updated as after any retraction.
// 8. Tree. Only computed tokens are inserted, whole pages of them. Each of these takes one tick of the logical clock and stamps all nodes of its path:
//    match-and-lock; insert. When: prefill: at the end of the pass, for each of its requests in order of admission: insert, emit the token, then
//    finish (insert again, unlock, give back the rest), go back to the queue, or take the slot. Decode: at the end of the pass, for each request
//    in running order: emit; insert its full pages (only a new full page changes anything); if that was the last token: finish (insert, unlock).
//    So a prompt is found by others only from the next pass on, and a page that is unlocked was touched last when its last holder left.
//    Pages found to be in the tree already at insertion are given back, and the request holds the tree's instead.
//    Insert ends at a node N with pages to spare: N extended in place if it is not the root, is a leaf, and has lock 0, or lock 1 and N is where this
//    request's own lock ends; otherwise a new child. A split gives the upper part the lock count and stamp of the node; the holder's lock ends at the
//    lower part. Eviction takes whole leaves, least stamp first, until enough pages are free; two leaves never have the same stamp (all nodes
//    of one stamp lie on one path), so the node id never decides.
//    prefix_caching = false: nothing is matched, inserted or evicted.
// 9. Interval. A round is one scheduling of all ranks of a worker. A round in which any rank scheduled a prefill (a continuation or one of no tokens
//    included) arms a countdown of prefill_decode_interval for the worker; each later round with countdown > 0 forbids prefills in all ranks and
//    lowers it by one. A round in which no rank could start anything is repeated at once while it was a forbidden one and there is work left
//    (after a round that only rejects there is none: no further round passes). What such a round rejects is told before the next one.
// 10. A decode round of a rank without running requests but with waiting ones only decays the ratio. If prefill was not forbidden and the ratio did
//    change, the rank tries again at once; at the minimum it is idle.
//
// How an iteration costs O(1). The batch is kept as in batch.h: a page is needed by a residue class. reserved is a sum with a calendar of clips
// (sglang_reserve.c). The head's match is kept until the tree changes. Generated pages are not inserted one by one: nobody else can look for them while
// their request runs, and what its path was last touched by shows only when it is unlocked, after one more insertion. Only the first page with a
// generated token is inserted when it is full, since by then it is decided whether it extends a node or makes a child; from there on the end of
// the path is a leaf that this request alone locks, and grows in place.
#include <assert.h>
#include <stdlib.h>

#include "sim/engine/sglang_state.h"

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

// --- state --------------------------------------------------------------------------------------------------------------

static bool init(sim_engine *engine) {
    const sim_engine_config *config = engine->config;
    uint32_t page_tokens = (uint32_t)engine->kv_cache->block_size;
    engine->radix = sim_radix_cache_new((uint32_t)engine->kv_cache->num_blocks, page_tokens, engine->content);
    engine->sglang = calloc(1, sizeof *engine->sglang);
    if (!engine->radix || !engine->sglang) return false;
    sim_sglang *sglang = engine->sglang;
    sglang->ratio = 0.7 * config->schedule_conservativeness;
    sglang->min_ratio = 0.14 * sglang->ratio;
    sglang->ratio_step = (sglang->ratio - sglang->min_ratio) / 600.0;
    int64_t chunk = config->chunked_prefill_size ? config->chunked_prefill_size : config->max_num_batched_tokens;
    sglang->chunk_tokens = (uint32_t)chunk;
    sglang->reserve.clip_tokens = (uint64_t)config->clip_max_new_tokens;
    sglang->head = SIM_NO_SEQUENCE;
    sglang->order_version = UINT64_MAX;
    return true;
}

static void clear(sim_engine *engine) {
    sim_radix_cache_free(engine->radix);
    if (!engine->sglang) return;
    sim_ranked_heap_clear(&engine->sglang->reserve.clipped);
    sim_ranked_heap_clear(&engine->sglang->first_pages);
    free(engine->sglang->lacking.items);
    free(engine->sglang);
}

static bool reserve(sim_engine *engine, uint32_t n_sequences) {
    sim_sglang *sglang = engine->sglang;
    sim_index_list *lacking = &sglang->lacking;
    if (!sim_reserve_allocate(&sglang->reserve, n_sequences)) return false;
    if (!sim_ranked_heap_reserve(&sglang->first_pages, n_sequences)) return false;
    if (lacking->n_allocated >= n_sequences) return true;
    uint32_t *grown = realloc(lacking->items, n_sequences * sizeof *grown);
    if (!grown) return false;
    lacking->items = grown;
    lacking->n_allocated = n_sequences;
    return true;
}

static sim_room room(const sim_engine *engine) {
    uint32_t capacity = sim_radix_cache_capacity(engine->radix);
    return (sim_room){ capacity, capacity - sim_radix_cache_room(engine->radix) };
}

// --- decode pass ----------------------------------------------------------------------------------------------------------

// Lose all pages; what was generated is kept and will be recomputed.
static bool give_up_pages(sim_engine *engine, sim_sequence *victim, int64_t now_ns) {
    if (!engine->scheduler->release(engine, victim)) return false;
    victim->n_computed = 0;
    engine->n_pass_preemptions++;
    engine->events->on_preempted(engine->events->self, victim->request, now_ns);
    return true;
}

static void leave_batch(sim_engine *engine, uint32_t index) {
    sim_sglang *sglang = engine->sglang;
    sim_sequence *sequence = &engine->sequences[index];
    if (sim_ranked_heap_has(&sglang->first_pages, index)) sim_ranked_heap_remove(&sglang->first_pages, index);
    sim_reserve_leave(&sglang->reserve, sequence, index);
    sim_batch_leave(&engine->batch, engine->sequences, index);
    if (!sequence->lacks_page) return;
    sequence->n_blocks--;
    sequence->lacks_page = false;
    sim_index_list *lacking = &sglang->lacking;
    for (uint32_t i = 0; i < lacking->n; i++)
        if (lacking->items[i] == index) lacking->items[i--] = lacking->items[--lacking->n];
}

// The running request with the fewest generated tokens, the first of equals.
static uint32_t find_victim(const sim_engine *engine) {
    uint32_t victim = SIM_NO_SEQUENCE, fewest = UINT32_MAX;
    for (uint32_t i = engine->running_head; i != SIM_NO_SEQUENCE; i = engine->sequences[i].after) {
        const sim_sequence *sequence = &engine->sequences[i];
        uint32_t n_generated = sim_sequence_length(&engine->batch, sequence) - sequence->input_tokens;
        if (n_generated >= fewest) continue;
        fewest = n_generated;
        victim = i;
    }
    return victim;
}

static sim_status retract(sim_engine *engine, uint32_t index, int64_t now_ns, sim_error *error) {
    sim_sequence *victim = &engine->sequences[index];
    leave_batch(engine, index);
    if (!give_up_pages(engine, victim, now_ns)) return no_memory(error);
    victim->is_preempted = true;
    sim_running_remove(engine, index);
    sim_waiting_push_back(engine, index);
    return SIM_OK;
}

static uint64_t pages_needed(const sim_engine *engine) {
    return (uint64_t)sim_batch_block_need(&engine->batch) + engine->sglang->lacking.n;
}

static bool is_short(const sim_engine *engine) { return pages_needed(engine) > sim_radix_cache_room(engine->radix); }

static sim_status make_room(sim_engine *engine, int64_t now_ns, sim_error *error) {
    sim_status status = SIM_OK;
    while (!status && is_short(engine) && engine->batch.n_members > 1)
        status = retract(engine, find_victim(engine), now_ns, error);
    if (status || !is_short(engine) || engine->partial == SIM_NO_SEQUENCE) return status;
    sim_sequence *unfinished = &engine->sequences[engine->partial]; // it heads the queue and stays there
    engine->partial = SIM_NO_SEQUENCE;
    engine->n_queue_changes++;
    engine->sglang->head = SIM_NO_SEQUENCE;
    return give_up_pages(engine, unfinished, now_ns) ? SIM_OK : no_memory(error);
}

static void decay_ratio(sim_sglang *sglang) {
    double ratio = sglang->ratio - sglang->ratio_step;
    if (ratio < sglang->min_ratio) ratio = sglang->min_ratio;
    sglang->has_ratio_changed = ratio != sglang->ratio;
    sglang->ratio = ratio;
}

// From what the survivors of a retraction have generated of what they may, 20 passes ahead.
static void estimate_ratio(sim_engine *engine) {
    uint64_t n_generated = 0, n_final = 0;
    for (uint32_t i = engine->running_head; i != SIM_NO_SEQUENCE; i = engine->sequences[i].after) {
        const sim_sequence *sequence = &engine->sequences[i];
        n_generated += sim_sequence_length(&engine->batch, sequence) - sequence->input_tokens;
        n_final += sequence->n_final;
    }
    double ratio = (double)(n_generated + UINT64_C(20) * engine->batch.n_members) / (double)(n_final + 1);
    engine->sglang->ratio = ratio < 1 ? ratio : 1;
}

static sim_status schedule_decode(sim_engine *engine, int64_t now_ns, sim_error *error) {
    sim_sglang *sglang = engine->sglang;
    sim_status status = make_room(engine, now_ns, error);
    if (status) return status;
    if (engine->n_pass_preemptions > 0)
        estimate_ratio(engine);
    else
        decay_ratio(sglang);
    engine->batch_takes_part = sim_radix_cache_take(engine->radix, (uint32_t)pages_needed(engine));
    assert(engine->batch_takes_part); // arrivals that cannot run alone are refused
    for (uint32_t i = 0; i < sglang->lacking.n; i++) engine->sequences[sglang->lacking.items[i]].lacks_page = false;
    sglang->lacking.n = 0;
    return SIM_OK;
}

// Sorting a queue is a decision, and so is where a first page of generated tokens goes.
static bool is_steady(sim_engine *engine) {
    sim_sglang *sglang = engine->sglang;
    const sim_ranked_heap *first_pages = &sglang->first_pages;
    if (sglang->lacking.n > 0) return false;
    if (engine->waiting_head != SIM_NO_SEQUENCE && engine->config->schedule_policy != SIM_POLICY_FIFO) return false;
    if (first_pages->n > 0 && first_pages->items[0].rank <= engine->batch.n_passes + 1) return false;
    uint32_t n_needed = sim_batch_block_need(&engine->batch);
    if (n_needed > 0 && !sim_radix_cache_take(engine->radix, n_needed)) return false;
    decay_ratio(sglang);
    return true;
}

static sim_status schedule(sim_engine *engine, int64_t now_ns, sim_error *error) {
    sim_sglang *sglang = engine->sglang;
    sglang->has_ratio_changed = false;
    sim_sglang_order(engine);
    if (!engine->defers_prefills && engine->waiting_head != SIM_NO_SEQUENCE) {
        sim_status status = sim_sglang_admit(engine, now_ns, error);
        if (status) return status;
    }
    engine->batch_takes_part = engine->items.n == 0;
    if (engine->items.n > 0) return SIM_OK;
    if (engine->batch.n_members > 0) return schedule_decode(engine, now_ns, error);
    if (engine->waiting_head != SIM_NO_SEQUENCE) decay_ratio(sglang);
    return SIM_OK;
}

static bool is_settled(const sim_engine *engine) { return !engine->sglang->has_ratio_changed; }

// The ratio has a minimum, so this ends. While prompts are forbidden the next round is the worker's to begin.
static bool is_worth_retrying(const sim_engine *engine) {
    return engine->sglang->has_ratio_changed && !engine->defers_prefills;
}

// --- end of a pass --------------------------------------------------------------------------------------------------------

// What is computed goes into the tree, in whole pages.
static bool insert(sim_engine *engine, sim_sequence *sequence, uint32_t n_computed) {
    if (!engine->kv_cache->prefix_caching) return true;
    uint32_t n_pages = n_computed / (uint32_t)engine->kv_cache->block_size;
    return sim_radix_cache_insert(engine->radix, &sequence->path, sim_sglang_content(sequence), n_pages);
}

static bool release(sim_engine *engine, sim_sequence *sequence) {
    if (!insert(engine, sequence, sequence->n_computed)) return false;
    sim_radix_cache_give_back(engine->radix, sequence->n_blocks - sequence->path.n_pages);
    sim_radix_cache_unlock(engine->radix, &sequence->path);
    sequence->n_blocks = 0;
    return true;
}

static bool on_computed(sim_engine *engine, sim_sequence *sequence) {
    return insert(engine, sequence, sequence->n_computed);
}

static void on_unfinished(sim_engine *engine, uint32_t index) {
    sim_running_remove(engine, index);
    sim_waiting_push_front(engine, index);
    engine->partial = index;
}

static bool on_joined(sim_engine *engine, uint32_t index) {
    sim_sglang *sglang = engine->sglang;
    sim_sequence *sequence = &engine->sequences[index];
    uint64_t page = (uint64_t)engine->kv_cache->block_size, to_page_end = page - sequence->n_computed % page;
    uint64_t n_remaining = sequence->n_final - sequence->n_generated;
    sim_reserve_join(&sglang->reserve, &engine->batch, sequence, index);
    if (engine->kv_cache->prefix_caching && to_page_end < n_remaining)
        sim_ranked_heap_push(&sglang->first_pages,
                             (sim_ranked){ engine->batch.n_passes + to_page_end, sequence->admission, index });
    // Its newest token may begin a page.
    sequence->is_preempted = false;
    if (sequence->n_computed % page != 0 || sim_radix_cache_take(engine->radix, 1)) return true;
    sequence->lacks_page = true;
    sglang->lacking.items[sglang->lacking.n++] = index;
    return true;
}

static bool on_member_tokens(sim_engine *engine, uint64_t admission) {
    sim_ranked_heap *first_pages = &engine->sglang->first_pages;
    const sim_batch *batch = &engine->batch;
    while (first_pages->n > 0 && first_pages->items[0].rank <= batch->n_passes &&
           first_pages->items[0].tie < admission) {
        uint32_t index = first_pages->items[0].id;
        sim_sequence *sequence = &engine->sequences[index];
        sim_ranked_heap_remove(first_pages, index);
        if (!insert(engine, sequence, sim_sequence_length(batch, sequence) - 1)) return false;
    }
    return true;
}

// In a decode pass it is members that finish; the items of a prefill pass never joined.
static void on_finish(sim_engine *engine, const sim_sequence *sequence) {
    if (engine->batch_takes_part)
        sim_reserve_leave(&engine->sglang->reserve, sequence, (uint32_t)(sequence - engine->sequences));
}

const sim_scheduler sim_scheduler_sglang = {
    .name = "sglang",
    .n_ahead = 1,
    .init = init,
    .clear = clear,
    .reserve = reserve,
    .room = room,
    .final_tokens = sim_final_tokens,
    .is_refused = sim_sglang_is_refused,
    .is_steady = is_steady,
    .schedule = schedule,
    .is_worth_retrying = is_worth_retrying,
    .is_settled = is_settled,
    .on_member_tokens = on_member_tokens,
    .on_computed = on_computed,
    .on_unfinished = on_unfinished,
    .on_joined = on_joined,
    .on_finish = on_finish,
    .release = release,
};
