// SPDX-License-Identifier: GPL-3.0-or-later
//
// KV-cache blocks of one rank (simulation-semantics.md 3.2): a fixed number of physical blocks, each of them
//   free      nobody's, no content
//   active    held by one or more requests
//   cached    held by nobody, but its content has an identity and can be found again; evicted in LRU order
// A block becomes findable when its holder publishes it under the identity of its content. Several blocks may carry the same identity
// (duplicates); the oldest published is the one that is found. active + cached + free = capacity, always.
//
// Blocks are created on first use, so a pool of millions costs memory only as far as it is used.
#ifndef SIM_ENGINE_BLOCK_POOL_H
#define SIM_ENGINE_BLOCK_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_NO_BLOCK UINT32_MAX

typedef struct sim_block_pool sim_block_pool;

sim_block_pool *sim_block_pool_new(uint32_t capacity_blocks); // NULL: no memory
void sim_block_pool_free(sim_block_pool *pool);

uint32_t sim_block_pool_capacity(const sim_block_pool *pool);
uint32_t sim_block_pool_active(const sim_block_pool *pool);
uint32_t sim_block_pool_cached(const sim_block_pool *pool);

// Block with this identity, or SIM_NO_BLOCK. Does not touch the LRU order. O(1).
uint32_t sim_block_pool_find(const sim_block_pool *pool, uint64_t identity);
bool sim_block_pool_is_active(const sim_block_pool *pool, uint32_t block);

// One more holder of a found block.
void sim_block_pool_hold(sim_block_pool *pool, uint32_t block);

typedef enum sim_take { SIM_TAKE_OK, SIM_TAKE_EXHAUSTED, SIM_TAKE_NO_MEMORY } sim_take;
// n fresh blocks with one holder each: free ones first, then the least recently used cached ones lose their content.
// All or nothing.
sim_take sim_block_pool_take(sim_block_pool *pool, uint32_t n, uint32_t *blocks);

// Give an active, unpublished block its identity. False: no memory (unchanged).
bool sim_block_pool_publish(sim_block_pool *pool, uint32_t block, uint64_t identity);

// One holder less. The last holder's block becomes cached (most recently used) if it was published, else free. Requests release their last
// block first, so that leaves of a shared prefix are evicted before its root.
void sim_block_pool_release(sim_block_pool *pool, uint32_t block);

#endif
