// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/workload/block_census.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { MAX_SIZE_WARNINGS = 8 };

#define ROOT UINT32_MAX // parent of a first block

// The first block seen under an id; its number is the slot's.
typedef struct slot {
    uint32_t parent;
    uint32_t size_tokens; // 0: not seen yet
} slot;

// A further block under an id, with another parent or size.
typedef struct variant {
    uint32_t parent, slot, size_tokens;
    uint32_t block; // its number; 0 = free entry (variants are numbered behind the slots)
} variant;

typedef struct census {
    slot *slots;
    size_t n_slots, slot_capacity;
    // sparse ids only: an open-addressing index of slot + 1, and the id of each slot
    bool is_dense;
    size_t n_clear; // dense ids only: slots in use so far; the ones behind are not even zeroed
    uint32_t *index;
    size_t index_size; // a power of two, at most half full
    uint64_t *ids;
    size_t id_capacity;
    variant *variants; // open addressing, likewise
    size_t n_variants, variants_size;
    uint32_t first_variant; // number of the first one
    sim_block_census found;
    uint64_t n_size_changes;
} census;

static void census_clear(census *state) {
    free(state->slots);
    free(state->index);
    free(state->ids);
    free(state->variants);
}

static size_t mix(uint64_t id) { return (size_t)XXH3_64bits(&id, sizeof id); }

// --- sparse ids ------------------------------------------------------------------------------------------------------

static size_t find_index(const census *state, uint64_t id) {
    size_t mask = state->index_size - 1;
    size_t at = mix(id) & mask;
    while (state->index[at] != 0 && state->ids[state->index[at] - 1] != id) at = (at + 1) & mask;
    return at;
}

static bool widen_index(census *state) {
    if (state->index && state->n_slots < state->index_size / 2) return true;
    size_t size = state->index ? state->index_size * 2 : 1024;
    uint32_t *index = calloc(size, sizeof *index);
    if (!index) return false;
    free(state->index);
    state->index = index;
    state->index_size = size;
    for (size_t i = 0; i < state->n_slots; i++) index[find_index(state, state->ids[i])] = (uint32_t)i + 1;
    return true;
}

static bool find_sparse(census *state, uint64_t id, uint32_t *found) {
    if (!widen_index(state)) return false;
    size_t at = find_index(state, id);
    if (state->index[at] == 0) {
        slot *slots = sim_grown(state->slots, &state->slot_capacity, state->n_slots + 1, sizeof *slots);
        if (!slots) return false;
        state->slots = slots;
        uint64_t *ids = sim_grown(state->ids, &state->id_capacity, state->n_slots + 1, sizeof *ids);
        if (!ids) return false;
        state->ids = ids;
        slots[state->n_slots] = (slot){ 0 };
        ids[state->n_slots] = id;
        state->index[at] = (uint32_t)++state->n_slots;
    }
    *found = state->index[at] - 1;
    return true;
}

// --- blocks that are not the first of their id -----------------------------------------------------------------------

static variant *find_variant(variant *table, size_t size, const variant *wanted) {
    const uint32_t key[3] = { wanted->parent, wanted->slot, wanted->size_tokens };
    size_t mask = size - 1;
    for (size_t at = (size_t)XXH3_64bits(key, sizeof key) & mask;; at = (at + 1) & mask) {
        variant *entry = &table[at];
        if (entry->block == 0) return entry;
        if (entry->parent == wanted->parent && entry->slot == wanted->slot && entry->size_tokens == wanted->size_tokens)
            return entry;
    }
}

static bool widen_variants(census *state) {
    if (state->variants && state->n_variants < state->variants_size / 2) return true;
    size_t size = state->variants ? state->variants_size * 2 : 256;
    variant *table = calloc(size, sizeof *table);
    if (!table) return false;
    for (size_t i = 0; i < state->variants_size; i++)
        if (state->variants[i].block != 0) *find_variant(table, size, &state->variants[i]) = state->variants[i];
    free(state->variants);
    state->variants = table;
    state->variants_size = size;
    return true;
}

// *is_new: no earlier row had this block.
static bool take_variant(census *state, variant wanted, uint32_t *block, bool *is_new) {
    if (!widen_variants(state)) return false;
    variant *entry = find_variant(state->variants, state->variants_size, &wanted);
    *is_new = entry->block == 0;
    if (*is_new) {
        wanted.block = state->first_variant + (uint32_t)state->n_variants++;
        *entry = wanted;
    }
    *block = entry->block;
    return true;
}

// --- rows ------------------------------------------------------------------------------------------------------------

// Ids are mostly numbered by first appearance, so slots are zeroed as they come into use: pages of calloc would be
// mapped twice, once for the first look and again for the first write, which is a third of the time of a short run.
static void clear_up_to(census *state, size_t at) {
    size_t n = at + 1 + (at + 1) / 8;
    if (n > state->n_slots) n = state->n_slots;
    memset(state->slots + state->n_clear, 0, (n - state->n_clear) * sizeof *state->slots);
    state->n_clear = n;
}

// One row whose ids all fit slots; *changed = the slot of an id that had another size before, when there is one.
static bool take_row(census *state, const sim_request *request, const uint64_t *ids, uint32_t id_tokens,
                     int64_t *changed) {
    uint32_t parent = ROOT, left = request->input_tokens;
    *changed = -1;
    for (uint32_t i = 0; i < request->n_ids; i++) {
        uint32_t size = left < id_tokens ? left : id_tokens;
        uint32_t at = (uint32_t)ids[i];
        left -= size;
        if (!state->is_dense) {
            if (!find_sparse(state, ids[i], &at)) return false;
        } else if (at >= state->n_clear) {
            clear_up_to(state, at);
        }
        slot *first = &state->slots[at];
        if (first->size_tokens == 0) {
            *first = (slot){ parent, size };
            state->found.distinct++;
            parent = at;
            continue;
        }
        bool is_new = false;
        if (first->parent == parent && first->size_tokens == size)
            parent = at;
        else if (!take_variant(state, (variant){ .parent = parent, .slot = at, .size_tokens = size }, &parent, &is_new))
            return false;
        if (is_new && first->size_tokens != size && *changed < 0) *changed = i;
        if (!is_new) {
            state->found.hit_blocks++;
            state->found.hit_tokens += size;
        }
    }
    return true;
}

static bool warn_of_size(census *state, const sim_request *request, uint64_t id, const char *name,
                         sim_text_list *warnings) {
    if (state->n_size_changes++ >= MAX_SIZE_WARNINGS) return true;
    return sim_text_list_add(
        warnings,
        "%s:%" PRIu32 ": hash id %" PRIu64
        " stands for a block of another size than in an earlier row (a hash of content cannot; not counted as reuse)",
        name, request->line, id);
}

static bool take_all(census *state, const sim_workload *workload, const char *name, sim_text_list *warnings) {
    for (size_t i = 0; i < workload->n_requests; i++) {
        const sim_request *request = &workload->requests[i];
        const uint64_t *ids = workload->ids + request->first_id;
        int64_t changed;
        if (!take_row(state, request, ids, workload->id_tokens, &changed)) return false;
        if (changed >= 0 && !warn_of_size(state, request, ids[changed], name, warnings)) return false;
    }
    if (state->n_size_changes <= MAX_SIZE_WARNINGS) return true;
    return sim_text_list_add(warnings, "%s: %" PRIu64 " more rows use a hash id for blocks of different sizes", name,
                             state->n_size_changes - MAX_SIZE_WARNINGS);
}

// Ids numbered without large gaps index the slots themselves.
static bool prepare(census *state, const sim_workload *workload) {
    uint64_t largest = 0;
    for (size_t i = 0; i < workload->n_ids; i++)
        if (workload->ids[i] > largest) largest = workload->ids[i];
    state->is_dense = largest < 2 * (uint64_t)workload->n_ids + 4096;
    state->first_variant = (uint32_t)workload->n_ids + 1;
    if (!state->is_dense) return true;
    state->n_slots = (size_t)largest + 1;
    if (state->n_slots >= state->first_variant) state->first_variant = (uint32_t)state->n_slots;
    state->slots = malloc(state->n_slots * sizeof *state->slots);
    return state->slots != NULL;
}

sim_status sim_block_census_take(sim_workload *workload, const char *name, sim_text_list *warnings, sim_error *error) {
    if (workload->n_ids == 0) return SIM_OK;
    // Block numbers are 32 bits: slots (at most twice the ids) and variants (at most the ids).
    if (workload->n_ids >= UINT32_MAX / 4)
        return sim_error_set(error, SIM_BAD_DATA, name, 0,
                             "more than %" PRIu32 " hash ids (workload.limit takes fewer rows)", UINT32_MAX / 4);
    census state = { 0 };
    bool is_done = prepare(&state, workload) && take_all(&state, workload, name, warnings);
    workload->census = state.found;
    census_clear(&state);
    return is_done ? SIM_OK : sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
}
