// SPDX-License-Identifier: GPL-3.0-or-later
//
// The decode batch: running sequences that know everything but their newest token. Between two scheduling decisions nothing about it changes but
// arithmetic: every member gains one token per decode pass. So a pass costs O(1) (architecture.md, principle 2): sums are kept instead of counters, a
// member's own state follows from the pass in which it joined, who needs a new KV block is a residue class of pass numbers, and who finishes is a heap
// ordered by pass.
#ifndef SIM_ENGINE_BATCH_H
#define SIM_ENGINE_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/engine/kv_tree.h"
#include "sim/engine/radix_cache.h"
#include "sim/engine/square_sum.h"

#define SIM_NO_SEQUENCE UINT32_MAX

// One request inside the engine. Its sequence is the prompt followed by the tokens generated so far. The newest generated token has no KV
// entry yet: it is computed by the next pass (the "dangling token").
typedef struct sim_sequence {
    uint32_t request;
    uint32_t input_tokens;
    uint32_t output_tokens; // asked for
    uint32_t n_final;       // tokens it will generate at most: output_tokens, or less under max_model_len
    uint32_t n_generated;   // of a member: when it joined
    uint32_t n_computed;    // tokens with a KV entry, the open pass included; not kept up for members
    uint32_t n_pass_tokens; // of these, computed by the open pass; not for members
    uint32_t n_blocks;      // KV blocks held; not kept up for members
    sim_kv_chain chain;     // those of them whose content is known
    int64_t last_token_ns;  // not kept up for members
    uint64_t admission;     // running order
    uint64_t join_pass;     // members: number of decode passes done when it joined
    uint64_t finish_pass;   // members: number of decode passes done when its last token is out
    uint32_t heap_place;
    uint32_t before, after; // in the running list; `after` also links the waiting queue and the free list
    sim_radix_path path;    // sglang: pages in the radix tree, instead of `chain`
    bool is_member;
    bool was_admitted;
    bool is_preempted;
    bool lacks_page; // sglang: none could be had for its newest token
} sim_sequence;

// Members that emitted their newest token at one time.
typedef struct sim_token_group {
    int64_t last_token_ns;
    uint32_t n_members;
} sim_token_group;

typedef struct sim_batch {
    uint64_t n_passes;          // decode passes done
    uint32_t block_size, phase; // phase = n_passes mod block_size
    uint32_t n_ahead;           // tokens beyond the newest one that a decode pass makes room for
    uint32_t n_members;
    sim_square_sum contexts;   // sequence lengths at the time of the next decode pass
    uint32_t *boundary_counts; // by phase: members that need a new block in a pass of that phase
    uint32_t *heap;            // members by (finish_pass, admission)
    uint32_t n_heap_allocated;
    uint32_t *fresh; // members whose newest token is their first
    uint32_t n_fresh, n_fresh_allocated;
    int64_t last_token_ns; // of the last decode pass: all members emitted their newest token then, but for
    sim_token_group *late; // those that joined after passes in which the batch took no part
    uint32_t n_late, n_late_allocated;
} sim_batch;

// n_ahead 0: blocks are taken for a token when it is computed; 1: for the token that the pass emits, too.
bool sim_batch_init(sim_batch *batch, uint32_t block_size, uint32_t n_ahead);
void sim_batch_clear(sim_batch *batch);
// Room for n members, so that joining never allocates. False: no memory.
bool sim_batch_reserve(sim_batch *batch, uint32_t n_members);

// Sequence length now, of a member or not.
static inline uint32_t sim_sequence_length(const sim_batch *batch, const sim_sequence *sequence) {
    uint32_t length = sequence->input_tokens + sequence->n_generated;
    return sequence->is_member ? length + (uint32_t)(batch->n_passes - sequence->join_pass) : length;
}

// A sequence that has computed everything but its newest token, emitted at last_token_ns, joins; of two that join, the later one has the later token.
// O(log members).
void sim_batch_join(sim_batch *batch, sim_sequence *sequences, uint32_t index);
// It leaves, finished or preempted; its counters are those of now: n_generated, n_computed = length - 1, n_blocks, last_token_ns.
// O(log members + fresh + late groups).
void sim_batch_leave(sim_batch *batch, sim_sequence *sequences, uint32_t index);

// Members that need one more block in the next decode pass.
static inline uint32_t sim_batch_block_need(const sim_batch *batch) { return batch->boundary_counts[batch->phase]; }
static inline bool sim_batch_needs_block(const sim_batch *batch, const sim_sequence *sequence) {
    return (sim_sequence_length(batch, sequence) - 1 + batch->n_ahead) % batch->block_size == 0;
}

// A decode pass is over: every member has one more token, emitted at now_ns.
void sim_batch_advance(sim_batch *batch, int64_t now_ns);
// The next member that is finished by now, in running order; SIM_NO_SEQUENCE for none. It must leave before the next call.
uint32_t sim_batch_finished(const sim_batch *batch, const sim_sequence *sequences);

#endif
