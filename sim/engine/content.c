// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/engine/content.h"

#include <xxhash.h>

// The run at `token`, neighbours of the same content joined: what counts is the tokens, not how they were told. Looks no further than `stop`.
static sim_content_run joined_run(const sim_content_source *source, uint32_t request, uint32_t input_tokens,
                                  uint32_t token, uint64_t stop) {
    if (token >= input_tokens) return (sim_content_run){ SIM_CONTENT_KIND_GENERATED, request, UINT32_MAX };
    sim_content_run run = source->run_at(source->self, request, token);
    while (run.end_token < stop && run.end_token < input_tokens) {
        sim_content_run next = source->run_at(source->self, request, run.end_token);
        if (next.kind != run.kind || next.id != run.id) break;
        run.end_token = next.end_token;
    }
    return run;
}

static uint64_t hash_pieces(const sim_content_source *source, uint32_t request, uint32_t input_tokens, uint32_t begin,
                            uint32_t end) {
    uint64_t hash = 0;
    uint32_t token = begin;
    while (token < end) {
        sim_content_run run = joined_run(source, request, input_tokens, token, end);
        uint32_t stop = run.end_token < end ? run.end_token : end;
        uint64_t piece[3] = { run.kind, run.id, stop - token };
        hash = XXH3_64bits_withSeed(piece, sizeof piece, hash);
        token = stop;
    }
    return hash;
}

sim_block_run sim_content_blocks(const sim_content_source *source, uint32_t request, uint32_t input_tokens,
                                 uint32_t block_size, uint32_t block, uint32_t max_blocks) {
    uint64_t begin = (uint64_t)block * block_size;
    uint64_t last = begin + (uint64_t)max_blocks * block_size;
    sim_content_run run = joined_run(source, request, input_tokens, (uint32_t)begin, last);
    uint64_t n_full = (run.end_token - begin) / block_size;
    if (n_full == 0)
        return (sim_block_run){
            SIM_CONTENT_KIND_MIXED,
            hash_pieces(source, request, input_tokens, (uint32_t)begin, (uint32_t)(begin + block_size)), 1
        };
    return (sim_block_run){ run.kind, run.id, (uint32_t)(n_full < max_blocks ? n_full : max_blocks) };
}
