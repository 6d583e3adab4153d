// SPDX-License-Identifier: GPL-3.0-or-later
//
// KV-cache blocks of one rank (simulation-semantics.md 3.2). Every block is
//   free      nobody's, no content
//   active    held by one or more sequences
//   cached    held by nobody, but its content is known and can be found again; evicted in LRU order
// active + cached + free = capacity, always.
//
// The cost must not grow with the number of blocks but with the number of distinct pieces of content: at 16 tokens a block a prompt of 12,000 tokens
// has 750 blocks and 24 pieces of 512 equal-fated tokens. So known content is a tree whose nodes are runs: consecutive blocks of one content behind one
// prefix. What is resident of a run is always its beginning, and what is held of it is the beginning of that, because sequences hold prefixes and
// release their last block first; the LRU list is made of ranges of runs. A pool of single blocks with chained hashes behaves the same, block by block;
// it is what tests/property/test_kv_tree.c compares against.
//
// One thing does not fit runs: a sequence whose known tokens are cached to their exact end computes its last block again
// (vLLM needs the logits) and then holds a block of its own beside the one that is found. That is a `copy`: found only after the first one is gone. A
// chain holds at most one copy.
#ifndef SIM_ENGINE_KV_TREE_H
#define SIM_ENGINE_KV_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/engine/content.h"

typedef struct sim_kv_tree sim_kv_tree;

#define SIM_KV_NONE UINT32_MAX

// The known blocks that one sequence holds. Blocks it holds without known content (partly filled, or not published yet) are mere counts and its own
// business.
typedef struct sim_kv_chain {
    uint32_t node;     // run of the last block; SIM_KV_NONE when there is none
    uint32_t depth;    // blocks of that run
    uint32_t n_blocks; // blocks of the whole chain
    uint32_t copy;     // the copy in it, SIM_KV_NONE for none
} sim_kv_chain;
static inline sim_kv_chain sim_kv_chain_empty(void) { return (sim_kv_chain){ SIM_KV_NONE, 0, 0, SIM_KV_NONE }; }

sim_kv_tree *sim_kv_tree_new(uint32_t capacity_blocks, uint32_t block_size, const sim_content_source *source);
void sim_kv_tree_free(sim_kv_tree *tree);

uint32_t sim_kv_tree_capacity(const sim_kv_tree *tree);
uint32_t sim_kv_tree_active(const sim_kv_tree *tree);
uint32_t sim_kv_tree_cached(const sim_kv_tree *tree);

// The sequence whose blocks are meant: prompt, then its own generated tokens.
typedef struct sim_kv_sequence {
    uint32_t request;
    uint32_t input_tokens;
} sim_kv_sequence;

typedef struct sim_prefix_hit {
    uint32_t n_blocks; // leading blocks found
    uint32_t n_active; // of these, held by somebody
} sim_prefix_hit;
// Longest chain of known blocks, at most max_blocks. Does not touch the LRU order. O(runs).
sim_prefix_hit sim_kv_tree_find(const sim_kv_tree *tree, sim_kv_sequence sequence, uint32_t max_blocks);

// Hold the first n_blocks of what find found, into an empty chain. False: no memory.
bool sim_kv_tree_hold(sim_kv_tree *tree, sim_kv_chain *chain, sim_kv_sequence sequence, uint32_t n_blocks);

// n more blocks without content, held by the caller: free ones first, then the least recently used cached ones lose their content. All or nothing:
// false when fewer than n are not active. O(runs evicted).
bool sim_kv_tree_take(sim_kv_tree *tree, uint32_t n_blocks);
// The caller gives back n of them.
void sim_kv_tree_give_back(sim_kv_tree *tree, uint32_t n_blocks);

// Blocks chain->n_blocks .. n_full-1, taken before, are full: they become known. False: no memory.
bool sim_kv_tree_publish(sim_kv_tree *tree, sim_kv_chain *chain, sim_kv_sequence sequence, uint32_t n_full);

// Release the chain, last block first. It is empty afterwards. False: no memory.
bool sim_kv_tree_release(sim_kv_tree *tree, sim_kv_chain *chain);

#endif
