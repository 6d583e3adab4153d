// SPDX-License-Identifier: GPL-3.0-or-later
//
// The tree of runs against a pool of single blocks: every block has an identity chained over all tokens in front of it, an LRU stamp and a time of
// publication, and everything is found by linear search. Random sequences are admitted, grow, publish and are released; after every step the two must
// agree on what is found, what fits, and how many blocks are active and cached.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/kv_tree.h"

enum { MAX_BLOCKS = 64, MAX_SEQUENCES = 6, MAX_TOKENS = 400, N_REQUESTS = 4000 };

// --- content: families with long common heads told in pieces, then the request's own tokens --------------------------------

typedef struct world {
    unsigned seed;
    uint32_t piece_tokens;
    uint32_t family[N_REQUESTS], shared_tokens[N_REQUESTS], input_tokens[N_REQUESTS];
} world;

static sim_content_run run_at(const void *self, uint32_t request, uint32_t token) {
    const world *w = self;
    if (token >= w->shared_tokens[request]) return (sim_content_run){ 2, request, w->input_tokens[request] };
    uint32_t piece = token / w->piece_tokens, end = (piece + 1) * w->piece_tokens;
    uint64_t id = piece < 2
                      ? piece / 2
                      : (uint64_t)w->family[request] % (piece < 5 ? 2 : 4) * 100 + piece / 2; // repeats: runs join
    if (end > w->shared_tokens[request]) end = w->shared_tokens[request];
    return (sim_content_run){ 1, id, end };
}

static uint64_t token_value(const world *w, uint32_t request, uint32_t token) {
    if (token >= w->input_tokens[request]) return ((uint64_t)3 << 60) + ((uint64_t)request << 20) + token;
    sim_content_run run = run_at(w, request, token);
    return run.kind == 1 ? ((uint64_t)1 << 60) + run.id : ((uint64_t)2 << 60) + ((uint64_t)request << 20) + token;
}

// --- the naive pool -----------------------------------------------------------------------------------------------------

typedef struct naive_block {
    uint64_t identity; // 0: none
    int n_holders;
    long released_at, published_at;
} naive_block;

typedef struct naive_pool {
    int capacity;
    naive_block blocks[MAX_BLOCKS];
    long clock;
} naive_pool;

static uint64_t identity_of(const world *w, uint32_t request, uint32_t block, uint32_t block_size) {
    uint64_t h = 1469598103934665603u;
    for (uint32_t token = 0; token < (block + 1) * block_size; token++)
        h = (h ^ token_value(w, request, token)) * 1099511628211u + (h >> 29);
    return h | 1;
}

static int naive_find(const naive_pool *p, uint64_t identity) {
    int found = -1;
    for (int i = 0; i < p->capacity; i++)
        if (p->blocks[i].identity == identity &&
            (found < 0 || p->blocks[i].published_at < p->blocks[found].published_at))
            found = i;
    return found;
}

static int naive_count(const naive_pool *p, bool active) {
    int n = 0;
    for (int i = 0; i < p->capacity; i++)
        n += active ? p->blocks[i].n_holders > 0 : p->blocks[i].n_holders == 0 && p->blocks[i].identity;
    return n;
}

static int naive_take_one(naive_pool *p) {
    int victim = -1;
    for (int i = 0; i < p->capacity; i++) {
        const naive_block *b = &p->blocks[i];
        if (b->n_holders > 0) continue;
        if (!b->identity) {
            victim = i;
            break;
        }
        if (victim < 0 || b->released_at < p->blocks[victim].released_at) victim = i;
    }
    p->blocks[victim] = (naive_block){ .n_holders = 1 };
    return victim;
}

// --- both, side by side -------------------------------------------------------------------------------------------------

typedef struct sequence {
    bool is_live;
    uint32_t request, computed, length;
    int blocks[MAX_BLOCKS], n_blocks, n_published;
    sim_kv_chain chain;
} sequence;

typedef struct bench {
    world *w;
    sim_kv_tree *tree;
    naive_pool naive;
    uint32_t block_size;
    sequence sequences[MAX_SEQUENCES];
    bool lazy_generated;
} bench;

static sim_kv_sequence of(const bench *b, const sequence *s) {
    return (sim_kv_sequence){ s->request, b->w->input_tokens[s->request] };
}

static void compare(const bench *b, const char *what, long step) {
    cr_assert_eq((int)sim_kv_tree_active(b->tree), naive_count(&b->naive, true), "active after %s, step %ld", what,
                 step);
    cr_assert_eq((int)sim_kv_tree_cached(b->tree), naive_count(&b->naive, false), "cached after %s, step %ld", what,
                 step);
}

// The tree is told of generated blocks late, as the engine does: nobody else could have found them.
static void publish(bench *b, sequence *s, bool is_ending) {
    uint32_t n_full = s->computed / b->block_size;
    for (; s->n_published < (int)n_full; s->n_published++) {
        naive_block *block = &b->naive.blocks[s->blocks[s->n_published]];
        block->identity = identity_of(b->w, s->request, (uint32_t)s->n_published, b->block_size);
        block->published_at = ++b->naive.clock;
    }
    uint32_t n_prompt = b->w->input_tokens[s->request] / b->block_size;
    if (!is_ending && n_full > n_prompt) n_full = n_prompt > s->chain.n_blocks ? n_prompt : s->chain.n_blocks;
    cr_assert(sim_kv_tree_publish(b->tree, &s->chain, of(b, s), n_full));
}

static bool compute(bench *b, sequence *s, uint32_t n_tokens) {
    uint32_t wanted = (s->computed + n_tokens + b->block_size - 1) / b->block_size - (uint32_t)s->n_blocks;
    bool fits = (int)wanted <= b->naive.capacity - naive_count(&b->naive, true);
    cr_assert_eq(sim_kv_tree_take(b->tree, wanted), fits);
    if (!fits) return false;
    for (uint32_t i = 0; i < wanted; i++) s->blocks[s->n_blocks++] = naive_take_one(&b->naive);
    s->computed += n_tokens;
    publish(b, s, false);
    return true;
}

static void admit(bench *b, sequence *s, uint32_t request, uint32_t length) {
    *s = (sequence){ .request = request, .length = length, .chain = sim_kv_chain_empty() };
    uint32_t cap = (length - (uint32_t)(rand_r(&b->w->seed) % 4 != 0)) / b->block_size, n_hit = 0, n_active = 0;
    for (; n_hit < cap; n_hit++) {
        int found = naive_find(&b->naive, identity_of(b->w, request, n_hit, b->block_size));
        if (found < 0) break;
        n_active += b->naive.blocks[found].n_holders > 0;
        s->blocks[n_hit] = found;
    }
    sim_prefix_hit hit = sim_kv_tree_find(b->tree, of(b, s), cap);
    cr_assert_eq(hit.n_blocks, n_hit, "request %u: found %u for %u", request, hit.n_blocks, n_hit);
    cr_assert_eq(hit.n_active, n_active);
    if ((int)((length + b->block_size - 1) / b->block_size - n_active) >
        b->naive.capacity - naive_count(&b->naive, true))
        return;
    for (uint32_t i = 0; i < n_hit; i++) b->naive.blocks[s->blocks[i]].n_holders++;
    cr_assert(sim_kv_tree_hold(b->tree, &s->chain, of(b, s), n_hit));
    s->n_blocks = s->n_published = (int)n_hit;
    s->computed = n_hit * b->block_size;
    s->is_live = true;
    if (s->computed < length) cr_assert(compute(b, s, 1 + (uint32_t)rand_r(&b->w->seed) % (length - s->computed)));
}

static void release(bench *b, sequence *s) {
    publish(b, s, true);
    sim_kv_tree_give_back(b->tree, (uint32_t)s->n_blocks - s->chain.n_blocks);
    cr_assert(sim_kv_tree_release(b->tree, &s->chain));
    for (int i = s->n_blocks - 1; i >= 0; i--) {
        naive_block *block = &b->naive.blocks[s->blocks[i]];
        if (--block->n_holders == 0) block->released_at = ++b->naive.clock;
    }
    s->is_live = false;
}

static void run_world(unsigned seed) {
    static world w;
    memset(&w, 0, sizeof w);
    w.seed = seed;
    w.piece_tokens = 1 + seed % 13;
    bench b = { .w = &w, .block_size = 1 + (unsigned)rand_r(&w.seed) % 8 };
    b.naive.capacity = 4 + rand_r(&w.seed) % (MAX_BLOCKS - 4);
    sim_content_source source = { &w, run_at };
    b.tree = sim_kv_tree_new((uint32_t)b.naive.capacity, b.block_size, &source);
    uint32_t n_requests = 0;
    uint32_t max_tokens = (uint32_t)b.naive.capacity * b.block_size * 2 / 3 + 1;
    for (long step = 0; step < 1500; step++) {
        sequence *s = &b.sequences[rand_r(&w.seed) % MAX_SEQUENCES];
        // While a prompt is partly computed nobody else is admitted, as in the scheduler: the budget is used up.
        for (int i = 0; i < MAX_SEQUENCES; i++)
            if (b.sequences[i].is_live && b.sequences[i].computed < b.sequences[i].length && !s->is_live)
                s = &b.sequences[i];
        if (!s->is_live) {
            // Sometimes the request that stood here comes again, knowing what it generated.
            bool is_again = n_requests > 0 && s->length > 0 && rand_r(&w.seed) % 3 == 0;
            uint32_t request = is_again ? s->request : n_requests++;
            if (request >= N_REQUESTS) break;
            if (!is_again) {
                w.family[request] = (uint32_t)rand_r(&w.seed) % 8;
                // Exact block ends and repeats of whole prompts are likely.
                uint32_t blocks = 1 + (uint32_t)rand_r(&w.seed) % (max_tokens / b.block_size + 1);
                w.shared_tokens[request] = blocks * b.block_size;
                w.input_tokens[request] =
                    w.shared_tokens[request] + (rand_r(&w.seed) % 2 ? 0 : (uint32_t)rand_r(&w.seed) % 9);
            }
            admit(&b, s, request, is_again ? s->length : w.input_tokens[request]);
            compare(&b, "admission", step);
        } else if (s->computed < s->length) {
            if (!compute(&b, s, 1 + (uint32_t)rand_r(&w.seed) % (s->length - s->computed))) release(&b, s);
            compare(&b, "a chunk", step);
        } else if (rand_r(&w.seed) % 4 == 0) {
            release(&b, s);
            compare(&b, "release", step);
        } else {
            s->length++;
            if (!compute(&b, s, 1)) release(&b, s);
            compare(&b, "a token", step);
        }
    }
    sim_kv_tree_free(b.tree);
}

Test(kv_tree, behaves_like_a_pool_of_single_blocks_with_chained_identities) {
    for (unsigned seed = 1; seed <= 400; seed++) {
        if (seed % 100 == 0) fprintf(stderr, "kv_tree: seed %u\n", seed);
        run_world(seed);
    }
}
