// SPDX-License-Identifier: GPL-3.0-or-later
//
// LPM, longest prefix match: the waiting request that finds most of its known sequence in the tree goes first. Of several that begin alike and
// find little, only the first does: the others wait for what it computes (simulation-semantics.md 3.3, step 2; decision 3 in scheduler_sglang.c).
#include <stdlib.h>
#include <xxhash.h>

#include "sim/engine/sglang_state.h"

typedef struct candidate {
    uint32_t index, place; // in the queue before sorting
    uint32_t n_matched_pages;
    bool has_head;      // at least as long as what is compared, whose content is
    uint64_t head_hash; // this
    bool is_deprioritised;
} candidate;

static uint64_t hash_head(const sim_engine *engine, const sim_sequence *sequence, uint32_t n_pages) {
    uint32_t page_tokens = (uint32_t)engine->kv_cache->block_size;
    uint64_t hash = 0;
    for (uint32_t page = 0; page < n_pages;) {
        sim_block_run run = sim_content_blocks(engine->content, sequence->request, sequence->input_tokens, page_tokens,
                                               page, n_pages - page);
        uint64_t piece[3] = { run.kind, run.id, run.n_blocks };
        hash = XXH3_64bits_withSeed(piece, sizeof piece, hash);
        page += run.n_blocks;
    }
    return hash;
}

static candidate look_at(const sim_engine *engine, uint32_t index, uint32_t place) {
    const sim_sequence *sequence = &engine->sequences[index];
    uint32_t n_pages = sim_blocks_for(engine, SIM_LPM_CHECK_TOKENS);
    uint64_t n_head_tokens = (uint64_t)n_pages * (uint64_t)engine->kv_cache->block_size;
    candidate c = { .index = index, .place = place };
    c.has_head = sim_sequence_length(&engine->batch, sequence) >= n_head_tokens;
    if (c.has_head) c.head_hash = hash_head(engine, sequence, n_pages);
    if (index != engine->partial) c.n_matched_pages = sim_sglang_match(engine, sequence).n_pages;
    return c;
}

static void deprioritise(const sim_engine *engine, candidate *candidates, uint32_t n) {
    uint64_t page_tokens = (uint64_t)engine->kv_cache->block_size;
    for (uint32_t i = 1; i < n; i++) {
        candidate *c = &candidates[i];
        if (!c->has_head || c->n_matched_pages * page_tokens > SIM_LPM_CHECK_TOKENS) continue;
        for (uint32_t k = 0; k < i && !c->is_deprioritised; k++)
            c->is_deprioritised = candidates[k].has_head && candidates[k].head_hash == c->head_hash;
    }
}

static int by_priority(const void *left, const void *right) {
    const candidate *a = left, *b = right;
    if (a->is_deprioritised != b->is_deprioritised) return a->is_deprioritised ? 1 : -1;
    if (a->n_matched_pages != b->n_matched_pages) return a->n_matched_pages > b->n_matched_pages ? -1 : 1;
    return a->place < b->place ? -1 : 1;
}

static void relink(sim_engine *engine, const candidate *candidates, uint32_t n) {
    engine->waiting_head = candidates[0].index;
    for (uint32_t i = 0; i + 1 < n; i++) engine->sequences[candidates[i].index].after = candidates[i + 1].index;
    engine->waiting_tail = candidates[n - 1].index;
    engine->sequences[engine->waiting_tail].after = SIM_NO_SEQUENCE;
}

static bool is_current(const sim_engine *engine) {
    const sim_sglang *sglang = engine->sglang;
    return sglang->order_version == sim_radix_cache_version(engine->radix) &&
           sglang->order_queue_changes == engine->n_queue_changes;
}

void sim_sglang_order(sim_engine *engine) {
    sim_sglang *sglang = engine->sglang;
    uint64_t n_waiting = engine->queued_prefills.count + engine->queued_decodes.count;
    if (engine->config->schedule_policy != SIM_POLICY_LPM || !engine->kv_cache->prefix_caching) return;
    if (n_waiting < 2 || n_waiting > SIM_LPM_MAX_WAITING || is_current(engine)) return;
    candidate candidates[SIM_LPM_MAX_WAITING];
    uint32_t n = 0;
    for (uint32_t i = engine->waiting_head; i != SIM_NO_SEQUENCE; i = engine->sequences[i].after, n++)
        candidates[n] = look_at(engine, i, n);
    deprioritise(engine, candidates, n);
    uint32_t n_fixed = engine->partial != SIM_NO_SEQUENCE; // the unfinished prompt stays in front
    qsort(candidates + n_fixed, n - n_fixed, sizeof *candidates, by_priority);
    bool has_moved = false;
    for (uint32_t i = 0; i < n; i++) has_moved |= candidates[i].place != i;
    relink(engine, candidates, n);
    // Who is deprioritised depends on the order itself: only one that sorting leaves alone will stay.
    if (has_moved) return;
    sglang->order_version = sim_radix_cache_version(engine->radix);
    sglang->order_queue_changes = engine->n_queue_changes;
}
