// SPDX-License-Identifier: GPL-3.0-or-later
//
// One request: its sequence of tokens and its end.
#include "tests/oracle/oracle.h"

uint32_t oracle_known_tokens(const oracle_request *request) {
    return request->prompt_tokens + request->generated_tokens;
}

// What a token is. A prompt token is named by its span (simulation-semantics.md 1.2: tokens of one hash id are all the same); a generated
// one belongs to its request alone.
typedef struct token {
    uint64_t kind, id;
} token;
enum { GENERATED = 1000 }; // beyond the kinds of spans

static token token_at(const oracle *o, const oracle_request *request, uint32_t position) {
    if (position >= request->prompt_tokens) return (token){ .kind = GENERATED, .id = request->index };
    sim_span span = sim_workload_span(o->workload, request->index, position);
    const bool is_answer =
        span.content == SIM_CONTENT_GENERATED; // of an earlier turn: the very tokens that request generated
    return (token){ .kind = is_answer ? GENERATED : span.content, .id = span.id };
}

// A 64-bit hash of a row of numbers, made one by one (the finaliser of splitmix64).
static uint64_t hash_in(uint64_t hash, uint64_t value) {
    uint64_t z = hash * UINT64_C(0x9e3779b97f4a7c15) + value + UINT64_C(0x632be59bd9b4e019);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// The hash of every token from the first of the sequence to the last of the block.
uint64_t oracle_block_identity(oracle *o, oracle_request *request, uint32_t block) {
    const uint32_t block_size = (uint32_t)o->settings->kv_cache.block_size;
    while (request->n_identities <= block) {
        const uint32_t k = request->n_identities;
        uint64_t hash = k == 0 ? 0 : request->identities[k - 1];
        for (uint32_t i = 0; i < block_size; i++) {
            token t = token_at(o, request, k * block_size + i);
            hash = hash_in(hash_in(hash, t.kind), t.id);
        }
        request->identities = oracle_memory(request->identities, k + (size_t)1, sizeof hash);
        request->identities[k] = hash;
        request->n_identities++;
    }
    return request->identities[block];
}

void oracle_end_request(oracle *o, oracle_request *request, oracle_state state) {
    request->state = state;
    request->finish_ns = o->now_ns;
    sim_load_on_terminal(o->load, request->index, o->now_ns);
}
