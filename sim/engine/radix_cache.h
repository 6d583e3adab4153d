// SPDX-License-Identifier: GPL-3.0-or-later
//
// The radix tree of SGLang: KV pages of one rank (simulation-semantics.md 3.3). Every page is
//   free       nobody's, no content
//   private    held by one sequence, its content unknown to others; a mere count here
//   protected  in the tree, in a node that somebody locks
//   evictable  in the tree, in a node that nobody locks
// and these add up to the capacity, always.
//
// A node is an edge of one or more pages. An edge is kept as runs of pages of one content (sim_content_blocks), so that cost does not grow with
// the number of pages: at one token a page a prompt of 12,000 tokens is 24 runs. A sequence locks the path from the root to one node; a match
// that ends inside an edge splits it. Only whole leaves are evicted, the one touched least recently first. When a node was touched is a count of
// operations: all nodes an operation passes get the same number, and they lie on one path, so that two leaves never tie.
#ifndef SIM_ENGINE_RADIX_CACHE_H
#define SIM_ENGINE_RADIX_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/engine/content.h"

typedef struct sim_radix_cache sim_radix_cache;

// What a sequence locks: its first n_pages pages, the path from the root to `node`.
typedef struct sim_radix_path {
    uint32_t node;
    uint32_t n_pages;
} sim_radix_path; // {0} is empty: node 0 is the root

// The sequence whose pages are meant: prompt, then its own generated tokens.
typedef struct sim_radix_sequence {
    uint32_t request;
    uint32_t input_tokens;
} sim_radix_sequence;

typedef struct sim_radix_match {
    uint32_t n_pages;     // leading pages found
    uint32_t n_evictable; // of these, locked by nobody
} sim_radix_match;

// NULL: no memory.
sim_radix_cache *sim_radix_cache_new(uint32_t capacity_pages, uint32_t page_tokens, const sim_content_source *source);
void sim_radix_cache_free(sim_radix_cache *cache);

uint32_t sim_radix_cache_capacity(const sim_radix_cache *cache);
uint32_t sim_radix_cache_free_pages(const sim_radix_cache *cache);
uint32_t sim_radix_cache_evictable(const sim_radix_cache *cache);
uint32_t sim_radix_cache_protected(const sim_radix_cache *cache);
// Pages that can be taken: free and evictable.
uint32_t sim_radix_cache_room(const sim_radix_cache *cache);
// Changes whenever a match may come out differently.
uint64_t sim_radix_cache_version(const sim_radix_cache *cache);

// Longest known prefix of at most max_pages pages. Touches and splits nothing. O(runs).
sim_radix_match sim_radix_cache_match(const sim_radix_cache *cache, sim_radix_sequence sequence, uint32_t max_pages);

// Lock the first n_pages of what match found into an empty path; touches it. False: no memory. O(runs + nodes of the path).
bool sim_radix_cache_lock(sim_radix_cache *cache, sim_radix_path *path, sim_radix_sequence sequence, uint32_t n_pages);

// n private pages for the caller: free ones first, then least recently used leaves are evicted. All or nothing: false when fewer than n can be taken.
bool sim_radix_cache_take(sim_radix_cache *cache, uint32_t n_pages);
// The caller gives back n private pages.
void sim_radix_cache_give_back(sim_radix_cache *cache, uint32_t n_pages);

// The first n_pages of the sequence are computed: those beyond path->n_pages, private until now, become known, or are given back where the tree has
// them already. The path is touched and locked to its new end. False: no memory.
bool sim_radix_cache_insert(sim_radix_cache *cache, sim_radix_path *path, sim_radix_sequence sequence,
                            uint32_t n_pages);

// The path is empty afterwards. O(nodes of the path).
void sim_radix_cache_unlock(sim_radix_cache *cache, sim_radix_path *path);

#endif
