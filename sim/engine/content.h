// SPDX-License-Identifier: GPL-3.0-or-later
//
// What stands in a KV block, as an identity: two blocks are interchangeable exactly when their tokens and everything in front of them are
// equal. A prompt is seen as runs of tokens of one content (simulation-semantics.md 1.2); the room above supplies them, so that the engine
// need not know where requests come from.
#ifndef SIM_ENGINE_CONTENT_H
#define SIM_ENGINE_CONTENT_H

#include <stdint.h>

typedef struct sim_content_run {
    uint64_t kind;      // name space of `id`; SIM_CONTENT_KIND_GENERATED is the engine's own
    uint64_t id;        // equal kind and id: equal tokens
    uint32_t end_token; // first token of the prompt after the run
} sim_content_run;
#define SIM_CONTENT_KIND_GENERATED UINT64_MAX
#define SIM_CONTENT_KIND_MIXED (UINT64_MAX - 1)

typedef struct sim_content_source {
    const void *self;
    // The run that holds `token` (< the request's input tokens). Thread-safe, O(1).
    sim_content_run (*run_at)(const void *self, uint32_t request, uint32_t token);
} sim_content_source;

// What stands in blocks [block, ...) of a request's sequence (prompt, then its own generated tokens): the content of block `block` and how many
// blocks from there on, at most `max_blocks`, are full of that same content. A block with several contents has the kind SIM_CONTENT_KIND_MIXED, a
// hash of its pieces as id, and stands alone. Blocks behind equal prefixes are equal exactly when kind and id are.
typedef struct sim_block_run {
    uint64_t kind, id;
    uint32_t n_blocks;
} sim_block_run;
sim_block_run sim_content_blocks(const sim_content_source *source, uint32_t request, uint32_t input_tokens,
                                 uint32_t block_size, uint32_t block, uint32_t max_blocks);

#endif
