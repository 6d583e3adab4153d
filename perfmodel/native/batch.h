// SPDX-License-Identifier: GPL-3.0-or-later
//
// Batch sums of one rank: what the native price of a pass depends on.
#ifndef PERFMODEL_NATIVE_BATCH_H
#define PERFMODEL_NATIVE_BATCH_H

#include "perfmodel/perfmodel.h"

typedef struct fpm_batch {
    double tokens;         // rows of the projections: fresh prompt tokens and one per decode
    double prefill_tokens; // fresh prompt tokens
    double shared_tokens;  // `tokens` of all ranks that share the experts; 0 until somebody knows them
    double rows;           // sequences that sample a token: decodes and prompts that end
    double n_prefills, prefill_pairs, prefill_kv_tokens; // pairs: sum new x (past + new / 2); kv: sum past + new
    double n_decodes, decode_kv_tokens;
    double
        decode_steps; // sum of squared contexts / sum of contexts: the context of the request that holds a typical key
} fpm_batch;

// From a record; without moments with those that follow from the schema: items of equal past, new tokens as unequal as the prompt lengths, every
// prompt ending in this pass.
fpm_batch fpm_batch_of(const fpm_metrics *rank);

#endif
