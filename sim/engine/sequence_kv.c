// SPDX-License-Identifier: GPL-3.0-or-later
//
// A sequence that is no member of the batch, and its KV blocks.
#include "sim/engine/engine_state.h"

bool sim_kv_init(sim_engine *engine) {
    const sim_kv_cache_config *config = engine->kv_cache;
    engine->kv = sim_kv_tree_new((uint32_t)config->num_blocks, (uint32_t)config->block_size, engine->content);
    return engine->kv != NULL;
}

void sim_kv_clear(sim_engine *engine) { sim_kv_tree_free(engine->kv); }

sim_room sim_kv_room(const sim_engine *engine) {
    return (sim_room){ sim_kv_tree_capacity(engine->kv), sim_kv_tree_active(engine->kv) };
}

uint32_t sim_blocks_for(const sim_engine *engine, uint64_t n_tokens) {
    uint64_t block_size = (uint64_t)engine->kv_cache->block_size;
    return (uint32_t)((n_tokens + block_size - 1) / block_size);
}

bool sim_sequence_publish(sim_engine *engine, sim_sequence *sequence) {
    if (!engine->kv_cache->prefix_caching) return true;
    sim_kv_sequence content = { sequence->request, sequence->input_tokens };
    uint32_t n_full = sequence->n_computed / (uint32_t)engine->kv_cache->block_size;
    return sim_kv_tree_publish(engine->kv, &sequence->chain, content, n_full);
}

// Generated blocks are published only here: nobody else could have found them while their sequence was running, since generated tokens are equal to no
// other request's.
bool sim_sequence_release(sim_engine *engine, sim_sequence *sequence) {
    if (!sim_sequence_publish(engine, sequence)) return false;
    sim_kv_tree_give_back(engine->kv, sequence->n_blocks - sequence->chain.n_blocks);
    sequence->n_blocks = 0;
    return sim_kv_tree_release(engine->kv, &sequence->chain);
}
