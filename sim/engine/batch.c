// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/engine/batch.h"

#include <stdlib.h>

bool sim_batch_init(sim_batch *batch, uint32_t block_size, uint32_t n_ahead) {
    *batch = (sim_batch){ .block_size = block_size,
                          .n_ahead = n_ahead,
                          .boundary_counts = calloc(block_size, sizeof(uint32_t)) };
    return batch->boundary_counts != NULL;
}

void sim_batch_clear(sim_batch *batch) {
    free(batch->boundary_counts);
    free(batch->heap);
    free(batch->fresh);
    free(batch->late);
}

static bool grow(void **array, uint32_t *n_allocated, uint32_t n, size_t element_bytes) {
    if (n <= *n_allocated) return true;
    void *grown = realloc(*array, n * element_bytes);
    if (!grown) return false;
    *array = grown;
    *n_allocated = n;
    return true;
}

bool sim_batch_reserve(sim_batch *batch, uint32_t n_members) {
    return grow((void **)&batch->heap, &batch->n_heap_allocated, n_members, sizeof *batch->heap) &&
           grow((void **)&batch->fresh, &batch->n_fresh_allocated, n_members, sizeof *batch->fresh) &&
           grow((void **)&batch->late, &batch->n_late_allocated, n_members, sizeof *batch->late);
}

// --- heap of finish passes ----------------------------------------------------------------------------------------------

static bool ends_before(const sim_sequence *a, const sim_sequence *b) {
    return a->finish_pass != b->finish_pass ? a->finish_pass < b->finish_pass : a->admission < b->admission;
}

static void place(sim_batch *batch, sim_sequence *sequences, uint32_t at, uint32_t index) {
    batch->heap[at] = index;
    sequences[index].heap_place = at;
}

static void sift_up(sim_batch *batch, sim_sequence *sequences, uint32_t at) {
    uint32_t index = batch->heap[at];
    while (at > 0 && ends_before(&sequences[index], &sequences[batch->heap[(at - 1) / 2]])) {
        place(batch, sequences, at, batch->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    place(batch, sequences, at, index);
}

static void sift_down(sim_batch *batch, sim_sequence *sequences, uint32_t at, uint32_t n) {
    uint32_t index = batch->heap[at];
    for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && ends_before(&sequences[batch->heap[child + 1]], &sequences[batch->heap[child]])) child++;
        if (!ends_before(&sequences[batch->heap[child]], &sequences[index])) break;
        place(batch, sequences, at, batch->heap[child]);
    }
    place(batch, sequences, at, index);
}

// --- members ------------------------------------------------------------------------------------------------------------

// The phase in which the token that a pass makes room for begins a block: length - 1 (+ n_ahead) is a multiple of the block size.
static uint32_t boundary_phase(const sim_batch *batch, uint32_t length) {
    uint32_t filled = (length - 1 + batch->n_ahead) % batch->block_size;
    uint32_t passes_to_go = filled == 0 ? 0 : batch->block_size - filled;
    uint32_t phase = batch->phase + passes_to_go;
    return phase < batch->block_size ? phase : phase - batch->block_size;
}

static void join_late_group(sim_batch *batch, int64_t last_token_ns) {
    if (batch->n_late == 0 || batch->late[batch->n_late - 1].last_token_ns != last_token_ns)
        batch->late[batch->n_late++] = (sim_token_group){ last_token_ns, 0 };
    batch->late[batch->n_late - 1].n_members++;
}

// The time of the newest token stays with the sequence until its first decode pass.
static void leave_group(sim_batch *batch, sim_sequence *sequence) {
    if (sequence->join_pass == batch->n_passes && sequence->last_token_ns != batch->last_token_ns) {
        uint32_t i = 0;
        while (batch->late[i].last_token_ns != sequence->last_token_ns) i++;
        batch->late[i].n_members--;
    } else {
        sequence->last_token_ns = batch->last_token_ns;
    }
}

void sim_batch_join(sim_batch *batch, sim_sequence *sequences, uint32_t index) {
    sim_sequence *sequence = &sequences[index];
    uint32_t length = sim_sequence_length(batch, sequence);
    sequence->is_member = true;
    sequence->join_pass = batch->n_passes;
    sequence->finish_pass = batch->n_passes + (sequence->n_final - sequence->n_generated);
    sim_square_sum_add(&batch->contexts, length);
    batch->boundary_counts[boundary_phase(batch, length)]++;
    batch->heap[batch->n_members] = index;
    sift_up(batch, sequences, batch->n_members++);
    if (sequence->n_generated == 1) batch->fresh[batch->n_fresh++] = index;
    if (sequence->last_token_ns != batch->last_token_ns) join_late_group(batch, sequence->last_token_ns);
}

static void forget_fresh(sim_batch *batch, uint32_t index) {
    uint32_t n_kept = 0;
    for (uint32_t i = 0; i < batch->n_fresh; i++)
        if (batch->fresh[i] != index) batch->fresh[n_kept++] = batch->fresh[i];
    batch->n_fresh = n_kept;
}

void sim_batch_leave(sim_batch *batch, sim_sequence *sequences, uint32_t index) {
    sim_sequence *sequence = &sequences[index];
    uint32_t length = sim_sequence_length(batch, sequence);
    sim_square_sum_remove(&batch->contexts, length);
    batch->boundary_counts[boundary_phase(batch, length)]--;
    uint32_t at = sequence->heap_place, last = batch->heap[--batch->n_members];
    if (last != index) {
        place(batch, sequences, at, last);
        sift_up(batch, sequences, at);
        sift_down(batch, sequences, sequences[last].heap_place, batch->n_members);
    }
    if (batch->n_fresh) forget_fresh(batch, index);
    sequence->n_generated = length - sequence->input_tokens;
    sequence->n_computed = length - 1;
    sequence->n_blocks = (length - 1 + batch->n_ahead + batch->block_size - 1) / batch->block_size;
    leave_group(batch, sequence);
    sequence->is_member = false;
}

void sim_batch_advance(sim_batch *batch, int64_t now_ns) {
    batch->contexts.squares += 2 * (sim_u128)batch->contexts.sum + batch->n_members; // (x + 1)^2 = x^2 + 2 x + 1
    batch->contexts.sum += batch->n_members;
    batch->n_passes++;
    batch->last_token_ns = now_ns;
    batch->n_late = 0;
    if (++batch->phase == batch->block_size) batch->phase = 0;
}

uint32_t sim_batch_finished(const sim_batch *batch, const sim_sequence *sequences) {
    if (batch->n_members == 0 || sequences[batch->heap[0]].finish_pass > batch->n_passes) return SIM_NO_SEQUENCE;
    return batch->heap[0];
}
