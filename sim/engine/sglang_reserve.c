// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/engine/sglang_state.h"

bool sim_reserve_allocate(sim_reserve *reserve, uint32_t n_sequences) {
    return sim_ranked_heap_reserve(&reserve->clipped, n_sequences);
}

static void count_exactly(sim_reserve *reserve, const sim_sequence *sequence) {
    reserve->n_exact++;
    reserve->sum_finish_passes += sequence->finish_pass;
}

void sim_reserve_join(sim_reserve *reserve, const sim_batch *batch, const sim_sequence *sequence, uint32_t index) {
    if (sequence->finish_pass - batch->n_passes > reserve->clip_tokens)
        sim_ranked_heap_push(&reserve->clipped, (sim_ranked){ sequence->finish_pass, sequence->admission, index });
    else
        count_exactly(reserve, sequence);
}

void sim_reserve_leave(sim_reserve *reserve, const sim_sequence *sequence, uint32_t index) {
    if (sim_ranked_heap_has(&reserve->clipped, index)) {
        sim_ranked_heap_remove(&reserve->clipped, index);
        return;
    }
    reserve->n_exact--;
    reserve->sum_finish_passes -= sequence->finish_pass;
}

uint64_t sim_reserve_tokens(sim_reserve *reserve, const sim_batch *batch, const sim_sequence *sequences) {
    while (reserve->clipped.n > 0 && reserve->clipped.items[0].rank - batch->n_passes <= reserve->clip_tokens) {
        uint32_t index = reserve->clipped.items[0].id;
        sim_ranked_heap_remove(&reserve->clipped, index);
        count_exactly(reserve, &sequences[index]);
    }
    return reserve->clipped.n * reserve->clip_tokens + reserve->sum_finish_passes - reserve->n_exact * batch->n_passes;
}
