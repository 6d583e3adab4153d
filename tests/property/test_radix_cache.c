// SPDX-License-Identifier: GPL-3.0-or-later
//
// The radix tree of runs against one that is written page by page: a node is an array of pages, a page is its tokens, everything is found by
// linear search and every operation walks from the root. Random requests are admitted, computed in chunks, decode, finish and come again; after
// every step the two must agree on the room there is and on what any request finds. The naive tree gets every page when it is full; the tree
// under test is told of generated pages late, as the engine does.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/radix_cache.h"
#include "sim/engine/ranked_heap.h"
#include "tests/support/dice.h"

enum { MAX_TOKENS = 240, MAX_NODES = 512, N_SLOTS = 6, N_REQUESTS = 64, MAX_PAGE = 7 };

// --- content --------------------------------------------------------------------------------------------------------------

// Request r shares its first n_shared[r] tokens with its family; these come in pieces of one content, sometimes the same one twice running. Then
// its own prompt, in pieces too, then what it generates.
typedef struct world {
    uint32_t piece_tokens;
    uint32_t family[N_REQUESTS], n_shared[N_REQUESTS], input_tokens[N_REQUESTS];
} world;

static sim_content_run run_at(const void *self, uint32_t request, uint32_t token) {
    const world *w = self;
    uint32_t piece = token / w->piece_tokens, end = (piece + 1) * w->piece_tokens;
    bool is_shared = token < w->n_shared[request];
    uint32_t limit = is_shared ? w->n_shared[request] : w->input_tokens[request];
    uint64_t owner = is_shared ? w->family[request] % (piece < 4 ? 1 : piece < 8 ? 2 : 3) : 100 + request;
    return (sim_content_run){ 1, owner * 1000 + piece / 2, end < limit ? end : limit };
}

// The tokens themselves, as values: equal exactly when the runs say so.
static uint64_t token_value(const world *w, uint32_t request, uint32_t token) {
    if (token >= w->input_tokens[request]) return (UINT64_C(1) << 40) + request; // one content, however many tokens
    return run_at(w, request, token).id;
}

// --- the naive tree --------------------------------------------------------------------------------------------------------

typedef struct page {
    uint64_t tokens[MAX_PAGE];
} page;

typedef struct naive_node {
    bool is_live;
    int parent, n_pages, n_locks;
    long touched;
    page pages[MAX_TOKENS];
} naive_node;

typedef struct naive_tree {
    int page_tokens, n_free;
    long clock;
    int n_nodes;
    naive_node nodes[MAX_NODES]; // 0: root
} naive_tree;

static naive_tree naive;

static page page_of(const world *w, uint32_t request, int index, int page_tokens) {
    page p = { { 0 } };
    for (int i = 0; i < page_tokens; i++) p.tokens[i] = token_value(w, request, (uint32_t)(index * page_tokens + i));
    return p;
}

static bool is_same_page(const page *a, const page *b) { return memcmp(a, b, sizeof *a) == 0; }

static bool is_leaf(int node) {
    for (int i = 1; i < naive.n_nodes; i++)
        if (naive.nodes[i].is_live && naive.nodes[i].parent == node) return false;
    return true;
}

static int new_node(int parent) {
    int i = 1;
    while (i < naive.n_nodes && naive.nodes[i].is_live) i++;
    cr_assert_lt(i, MAX_NODES);
    if (i == naive.n_nodes) naive.n_nodes++;
    memset(&naive.nodes[i], 0, sizeof naive.nodes[i]);
    naive.nodes[i].is_live = true;
    naive.nodes[i].parent = parent;
    return i;
}

static int child_with(int parent, const page *first) {
    for (int i = 1; i < naive.n_nodes; i++)
        if (naive.nodes[i].is_live && naive.nodes[i].parent == parent && is_same_page(&naive.nodes[i].pages[0], first))
            return i;
    return -1;
}

// The node where the first n pages of `pages` end, as far as known; *n_known of them are. With `splits`, an edge that they end in is cut there.
static int walk(const page *pages, int n, bool splits, int *n_known, int *n_unlocked) {
    int at = 0, child;
    *n_known = *n_unlocked = 0;
    while (*n_known < n && (child = child_with(at, &pages[*n_known])) >= 0) {
        naive_node *c = &naive.nodes[child];
        int n_same = 0;
        while (n_same < c->n_pages && *n_known + n_same < n &&
               is_same_page(&c->pages[n_same], &pages[*n_known + n_same]))
            n_same++;
        *n_known += n_same;
        if (c->n_locks == 0) *n_unlocked += n_same;
        if (n_same < c->n_pages) {
            if (!splits) return at;
            int upper = new_node(at);
            naive_node *u = &naive.nodes[upper];
            u->n_locks = c->n_locks;
            u->touched = c->touched;
            u->n_pages = n_same;
            memcpy(u->pages, c->pages, (size_t)n_same * sizeof(page));
            c->n_pages -= n_same;
            memmove(c->pages, c->pages + n_same, (size_t)c->n_pages * sizeof(page));
            c->parent = upper;
            return upper;
        }
        at = child;
    }
    return at;
}

static void change_locks(int node, int by) {
    for (; node != 0; node = naive.nodes[node].parent) naive.nodes[node].n_locks += by;
}

static void touch(int node) {
    for (naive.clock++; node != 0; node = naive.nodes[node].parent) naive.nodes[node].touched = naive.clock;
}

static int naive_evictable(void) {
    int n = 0;
    for (int i = 1; i < naive.n_nodes; i++)
        if (naive.nodes[i].is_live && naive.nodes[i].n_locks == 0) n += naive.nodes[i].n_pages;
    return n;
}

static bool naive_take(int n) {
    if (n > naive.n_free + naive_evictable()) return false;
    while (naive.n_free < n) {
        int victim = -1;
        for (int i = 1; i < naive.n_nodes; i++)
            if (naive.nodes[i].is_live && naive.nodes[i].n_locks == 0 && is_leaf(i) &&
                (victim < 0 || naive.nodes[i].touched < naive.nodes[victim].touched))
                victim = i;
        naive.n_free += naive.nodes[victim].n_pages;
        naive.nodes[victim].is_live = false;
    }
    naive.n_free -= n;
    return true;
}

// --- both, side by side ------------------------------------------------------------------------------------------------------

typedef struct slot {
    bool is_live, is_decoding, has_generated_page;
    uint32_t request;
    int known, computed, n_pages; // tokens; pages held
    int naive_end, naive_pages;   // what the naive request locks
    sim_radix_path path;
} slot;

typedef struct bench {
    world w;
    sim_radix_cache *tree;
    int page_tokens;
    slot slots[N_SLOTS];
    int known_of[N_REQUESTS]; // tokens computed when it left
} bench;

static bench b;

static sim_radix_sequence content_of(uint32_t request) {
    return (sim_radix_sequence){ request, b.w.input_tokens[request] };
}

static page *pages_of(uint32_t request, int n) {
    static page pages[MAX_TOKENS];
    for (int i = 0; i < n; i++) pages[i] = page_of(&b.w, request, i, b.page_tokens);
    return pages;
}

static void naive_insert(slot *s) {
    int n = s->computed / b.page_tokens, n_known, n_unlocked;
    page *pages = pages_of(s->request, n);
    int at = walk(pages, n, true, &n_known, &n_unlocked);
    naive.n_free += n_known - s->naive_pages; // its own copies of what is known
    if (n_known < n) {
        bool extends = at != 0 && is_leaf(at) &&
                       (naive.nodes[at].n_locks == 0 || (naive.nodes[at].n_locks == 1 && at == s->naive_end));
        if (!extends) at = new_node(at);
        naive_node *node = &naive.nodes[at];
        memcpy(node->pages + node->n_pages, pages + n_known, (size_t)(n - n_known) * sizeof(page));
        node->n_pages += n - n_known;
    }
    change_locks(at, 1);
    change_locks(s->naive_end, -1);
    touch(at);
    s->naive_end = at;
    s->naive_pages = n;
}

static void insert(slot *s) {
    cr_assert(
        sim_radix_cache_insert(b.tree, &s->path, content_of(s->request), (uint32_t)(s->computed / b.page_tokens)));
}

static void compare(long step, const char *what) {
    cr_assert_eq((int)sim_radix_cache_room(b.tree), naive.n_free + naive_evictable(), "room after %s, step %ld", what,
                 step);
    cr_assert_eq((int)sim_radix_cache_evictable(b.tree), naive_evictable(), "evictable after %s, step %ld", what, step);
    uint32_t request = (uint32_t)dice(N_REQUESTS);
    int n_known, n_unlocked, most = (int)(b.w.input_tokens[request] + dice(40)) / b.page_tokens;
    for (int i = 0; i < N_SLOTS; i++)
        if (b.slots[i].is_live && b.slots[i].request == request) return; // nobody asks for what is being generated
    walk(pages_of(request, most), most, false, &n_known, &n_unlocked);
    sim_radix_match match = sim_radix_cache_match(b.tree, content_of(request), (uint32_t)most);
    cr_assert_eq((int)match.n_pages, n_known, "request %u finds %u for %d after %s, step %ld", request, match.n_pages,
                 n_known, what, step);
    cr_assert_eq((int)match.n_evictable, n_unlocked, "request %u, unlocked, after %s, step %ld", request, what, step);
}

static int pages_for(int n_tokens) { return (n_tokens + b.page_tokens - 1) / b.page_tokens; }

static void admit(slot *s) {
    uint32_t request = (uint32_t)dice(N_REQUESTS);
    for (int i = 0; i < N_SLOTS; i++)
        if (b.slots[i].is_live && b.slots[i].request == request) return;
    int known = (int)b.w.input_tokens[request];
    if (b.known_of[request] >= known) known = b.known_of[request] + 1; // it comes again, with all it knew
    if (known >= MAX_TOKENS) return;
    int cap = (known - (dice(4) != 0)) / b.page_tokens, n_known, n_unlocked;
    walk(pages_of(request, cap), cap, false, &n_known, &n_unlocked);
    int n_new = pages_for(known) - n_known;
    if (n_new > naive.n_free + naive_evictable() - n_unlocked) return;
    *s = (slot){ .is_live = true, .request = request, .known = known };
    s->naive_end = walk(pages_of(request, n_known), n_known, true, &n_known, &n_unlocked);
    s->naive_pages = n_known;
    change_locks(s->naive_end, 1);
    touch(s->naive_end);
    cr_assert(sim_radix_cache_lock(b.tree, &s->path, content_of(request), (uint32_t)n_known));
    s->n_pages = n_known;
    s->computed = n_known * b.page_tokens;
}

// All that is left of the known sequence, or some whole pages of it.
static void compute(slot *s) {
    int n = s->known - s->computed;
    if (n > b.page_tokens && dice(3) == 0) n = (1 + (int)dice((uint64_t)(n / b.page_tokens))) * b.page_tokens;
    if (s->computed + n > s->known) n = s->known - s->computed;
    int n_new = pages_for(s->computed + n) - s->n_pages;
    bool has_room = naive_take(n_new);
    cr_assert_eq(sim_radix_cache_take(b.tree, (uint32_t)n_new), has_room);
    if (!has_room) return;
    s->n_pages += n_new;
    s->computed += n;
    naive_insert(s);
    insert(s);
    s->is_decoding = s->computed == s->known;
}

static void decode(slot *s) {
    if (s->known + 1 >= MAX_TOKENS) return;
    int n_new = pages_for(s->known + 1) - s->n_pages;
    bool has_room = naive_take(n_new);
    cr_assert_eq(sim_radix_cache_take(b.tree, (uint32_t)n_new), has_room);
    if (!has_room) return;
    s->n_pages += n_new;
    s->known++;
    s->computed++;
    naive_insert(s);
    if (s->has_generated_page || s->computed % b.page_tokens != 0) return;
    insert(s);
    s->has_generated_page = true;
}

static void leave(slot *s) {
    naive_insert(s);
    naive.n_free += s->n_pages - s->naive_pages;
    change_locks(s->naive_end, -1);
    insert(s);
    sim_radix_cache_give_back(b.tree, (uint32_t)s->n_pages - s->path.n_pages);
    sim_radix_cache_unlock(b.tree, &s->path);
    b.known_of[s->request] = s->computed;
    s->is_live = false;
}

static const char *step_slot(slot *s) {
    if (!s->is_live) {
        admit(s);
        return "an admission";
    }
    if (dice(12) == 0) {
        leave(s);
        return "a departure";
    }
    if (s->computed < s->known) {
        compute(s);
        return "a chunk";
    }
    decode(s);
    return "a token";
}

static void make_world(void) {
    memset(&b, 0, sizeof b);
    b.page_tokens = 1 + (int)dice(MAX_PAGE);
    b.w.piece_tokens = 1 + (uint32_t)dice(12);
    for (uint32_t r = 0; r < N_REQUESTS; r++) {
        b.w.family[r] = (uint32_t)dice(6);
        b.w.input_tokens[r] = 1 + (uint32_t)dice(100);
        b.w.n_shared[r] = (uint32_t)dice(b.w.input_tokens[r] + 1);
        if (dice(6) == 0) b.w.n_shared[r] = b.w.input_tokens[r];
    }
}

static void run_world(uint64_t seed) {
    dice_state = seed;
    make_world();
    uint32_t capacity = 100 / (uint32_t)b.page_tokens + (uint32_t)dice(300 / (uint64_t)b.page_tokens);
    naive.page_tokens = b.page_tokens;
    naive.n_free = (int)capacity;
    naive.n_nodes = 1;
    naive.clock = 0;
    sim_content_source source = { &b.w, run_at };
    b.tree = sim_radix_cache_new(capacity, (uint32_t)b.page_tokens, &source);
    for (long step = 0; step < 1500; step++) {
        const char *what = step_slot(&b.slots[dice(N_SLOTS)]);
        compare(step, what);
    }
    sim_radix_cache_free(b.tree);
}

Test(radix_cache, agrees_with_a_tree_written_page_by_page) {
    for (uint64_t seed = 1; seed <= 150; seed++) {
        fprintf(stderr, "\rseed %llu ", (unsigned long long)seed);
        run_world(seed);
    }
    fprintf(stderr, "\r            \r");
}

Test(ranked_heap, gives_the_least_first_whatever_is_taken_out_in_between) {
    sim_ranked_heap heap = { .n = 0 };
    cr_assert(sim_ranked_heap_reserve(&heap, 50));
    uint64_t rank[50] = { 0 }; // 0: absent
    for (int step = 0; step < 20000; step++) {
        uint32_t id = (uint32_t)dice(50);
        if (rank[id]) {
            sim_ranked_heap_remove(&heap, id);
            rank[id] = 0;
        } else {
            rank[id] = 1 + dice(20);
            sim_ranked_heap_push(&heap, (sim_ranked){ rank[id], id, id });
        }
        uint32_t least = 50;
        for (uint32_t i = 0; i < 50; i++) {
            cr_assert_eq(sim_ranked_heap_has(&heap, i), rank[i] != 0);
            if (rank[i] && (least == 50 || rank[i] < rank[least])) least = i;
        }
        if (least < 50) cr_assert_eq(heap.items[0].id, least);
    }
    sim_ranked_heap_clear(&heap);
}
