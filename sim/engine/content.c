// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/engine/content.h"

#include <xxhash.h>

uint64_t sim_block_identity(const sim_content_source *source, uint32_t request, uint32_t input_tokens, uint64_t parent,
                            uint32_t begin, uint32_t end) {
    uint64_t identity = parent;
    uint32_t token = begin;
    while (token < end) {
        sim_content_run run = { SIM_CONTENT_KIND_GENERATED, request, UINT32_MAX };
        if (token < input_tokens) run = source->run_at(source->self, request, token);
        uint32_t stop = run.end_token < end ? run.end_token : end;
        // Neighbouring runs of one content are one run: what counts is the tokens, not how they were told.
        while (stop < end && stop < input_tokens) {
            sim_content_run next = source->run_at(source->self, request, stop);
            if (next.kind != run.kind || next.id != run.id) break;
            stop = next.end_token < end ? next.end_token : end;
        }
        uint64_t piece[3] = { run.kind, run.id, stop - token };
        identity = XXH3_64bits_withSeed(piece, sizeof piece, identity);
        token = stop;
    }
    return identity;
}
