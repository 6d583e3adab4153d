// SPDX-License-Identifier: GPL-3.0-or-later
//
// Inside of the SGLang scheduler, shared by its files only. The rules are at the top of scheduler_sglang.c.
#ifndef SIM_ENGINE_SGLANG_STATE_H
#define SIM_ENGINE_SGLANG_STATE_H

#include "sim/engine/engine_state.h"
#include "sim/engine/ranked_heap.h"

enum { SIM_LPM_MAX_WAITING = 128, SIM_LPM_CHECK_TOKENS = 32 };

// Sum over members of min(remaining output, clip). A member is clipped until the pass in which its last `clip` tokens begin: a calendar of those.
typedef struct sim_reserve {
    uint64_t clip_tokens;
    sim_ranked_heap clipped;    // by finish pass
    uint64_t n_exact;           // the others, whose sum of remaining tokens is
    uint64_t sum_finish_passes; // this - n_exact x passes done
} sim_reserve;

struct sim_sglang {
    double ratio, min_ratio, ratio_step;
    bool has_ratio_changed; // in this attempt to schedule
    uint32_t chunk_tokens;  // chunked_prefill_size
    sim_reserve reserve;
    // Members by the pass in which the first page that holds a generated token of theirs is full: it must go into the tree then. Later ones
    // can wait for the end.
    sim_ranked_heap first_pages;
    sim_index_list lacking; // members without a page for their newest token
    // What the head of the queue matches, and the order of the queue: good until either changes.
    sim_radix_match head_match;
    uint32_t head;
    uint64_t head_version;
    uint64_t order_version, order_queue_changes;
};

// --- sglang_reserve.c ---
bool sim_reserve_allocate(sim_reserve *reserve, uint32_t n_sequences);
void sim_reserve_join(sim_reserve *reserve, const sim_batch *batch, const sim_sequence *sequence, uint32_t index);
void sim_reserve_leave(sim_reserve *reserve, const sim_sequence *sequence, uint32_t index);
uint64_t sim_reserve_tokens(sim_reserve *reserve, const sim_batch *batch, const sim_sequence *sequences);

// --- sglang_order.c ---
// Longest prefix first, if that is the policy and the queue is short enough.
void sim_sglang_order(sim_engine *engine);

// --- sglang_admission.c ---
static inline sim_radix_sequence sim_sglang_content(const sim_sequence *sequence) {
    return (sim_radix_sequence){ sequence->request, sequence->input_tokens };
}
// Pages of its known sequence that an admission would find.
sim_radix_match sim_sglang_match(const sim_engine *engine, const sim_sequence *sequence);
bool sim_sglang_is_refused(const sim_engine *engine, const sim_sequence *sequence, sim_reject_reason *reason);
// Admit what fits of the waiting queue to the pass that is being scheduled.
sim_status sim_sglang_admit(sim_engine *engine, int64_t now_ns, sim_error *error);

#endif
