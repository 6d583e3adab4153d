// SPDX-License-Identifier: GPL-3.0-or-later
//
// KV blocks of one sequence: growth, identities, release, and the search for a cached prefix.
#include "sim/engine/engine_state.h"

#include <assert.h>
#include <stdlib.h>

static uint32_t block_size(const sim_engine *engine) { return (uint32_t)engine->kv_cache->block_size; }

static bool reserve_blocks(sim_sequence *sequence, uint32_t n_blocks) {
    if (n_blocks <= sequence->n_blocks_allocated) return true;
    uint64_t size = sequence->n_blocks_allocated ? sequence->n_blocks_allocated : 16;
    while (size < n_blocks) size *= 2;
    uint32_t *blocks = realloc(sequence->blocks, size * sizeof *blocks);
    if (!blocks) return false;
    sequence->blocks = blocks;
    sequence->n_blocks_allocated = (uint32_t)size;
    return true;
}

sim_take sim_sequence_grow(sim_engine *engine, sim_sequence *sequence, uint32_t n_tokens) {
    uint32_t wanted = (uint32_t)(((uint64_t)n_tokens + block_size(engine) - 1) / block_size(engine));
    if (wanted <= sequence->n_blocks) return SIM_TAKE_OK;
    if (!reserve_blocks(sequence, wanted)) return SIM_TAKE_NO_MEMORY;
    sim_take outcome =
        sim_block_pool_take(engine->pool, wanted - sequence->n_blocks, sequence->blocks + sequence->n_blocks);
    if (outcome == SIM_TAKE_OK) sequence->n_blocks = wanted;
    return outcome;
}

static uint64_t next_identity(const sim_engine *engine, const sim_sequence *sequence, uint64_t parent, uint32_t block) {
    uint32_t begin = block * block_size(engine);
    return sim_block_identity(engine->content, sequence->request, sequence->input_tokens, parent, begin,
                              begin + block_size(engine));
}

bool sim_sequence_publish(sim_engine *engine, sim_sequence *sequence) {
    if (!engine->kv_cache->prefix_caching) return true;
    uint32_t n_full = sequence->n_computed / block_size(engine);
    while (sequence->n_published < n_full) {
        uint64_t identity = next_identity(engine, sequence, sequence->tail_identity, sequence->n_published);
        if (!sim_block_pool_publish(engine->pool, sequence->blocks[sequence->n_published], identity)) return false;
        sequence->tail_identity = identity;
        sequence->n_published++;
    }
    return true;
}

void sim_sequence_release(sim_engine *engine, sim_sequence *sequence) {
    while (sequence->n_blocks > 0) sim_block_pool_release(engine->pool, sequence->blocks[--sequence->n_blocks]);
    sequence->n_published = 0;
    sequence->tail_identity = 0;
}

sim_prefix_hit sim_sequence_find_prefix(const sim_engine *engine, const sim_sequence *sequence, uint32_t max_blocks) {
    sim_prefix_hit hit = { 0, 0 };
    uint64_t identity = 0;
    if (!engine->kv_cache->prefix_caching) return hit;
    while (hit.n_blocks < max_blocks) {
        identity = next_identity(engine, sequence, identity, hit.n_blocks);
        uint32_t block = sim_block_pool_find(engine->pool, identity);
        if (block == SIM_NO_BLOCK) break;
        hit.n_active += sim_block_pool_is_active(engine->pool, block);
        hit.n_blocks++;
    }
    return hit;
}

bool sim_sequence_hold_prefix(sim_engine *engine, sim_sequence *sequence, uint32_t n_blocks) {
    assert(sequence->n_blocks == 0 && sequence->n_published == 0);
    if (!reserve_blocks(sequence, n_blocks)) return false;
    for (uint32_t i = 0; i < n_blocks; i++) {
        sequence->tail_identity = next_identity(engine, sequence, sequence->tail_identity, i);
        sequence->blocks[i] = sim_block_pool_find(engine->pool, sequence->tail_identity);
        sim_block_pool_hold(engine->pool, sequence->blocks[i]);
    }
    sequence->n_blocks = sequence->n_published = n_blocks;
    sequence->n_computed = n_blocks * block_size(engine);
    return true;
}
