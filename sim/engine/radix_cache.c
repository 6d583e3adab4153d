// SPDX-License-Identifier: GPL-3.0-or-later
//
// See radix_cache.h. Nodes and runs live in pools and refer to each other by index; freed ones are linked and used again.
#include "sim/engine/radix_cache.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/engine/ranked_heap.h"

#define NONE UINT32_MAX
enum { ROOT = 0 };

// Pages of one content, part of an edge.
typedef struct run {
    uint64_t kind, id;
    uint32_t n_pages;
    uint32_t next; // of the edge; also links free runs
} run;

typedef struct node {
    uint32_t parent;
    uint32_t first_run, last_run; // the edge from the parent
    uint32_t n_pages;
    uint32_t n_locks, n_children;
    uint32_t next_in_bucket; // also links free nodes
    uint64_t touched;
} node;

struct sim_radix_cache {
    const sim_content_source *source;
    uint32_t page_tokens, capacity, n_free, n_evictable, n_protected;
    node *nodes;
    run *runs;
    uint32_t n_nodes, n_nodes_allocated, free_node;
    uint32_t n_runs, n_runs_allocated, free_run;
    uint32_t *buckets; // children, by parent and the content of the first page
    uint32_t n_buckets, n_live_nodes;
    sim_ranked_heap leaves; // those nobody locks, by time of touch
    uint64_t clock, version;
};

// --- pools ------------------------------------------------------------------------------------------------------------

static bool grow(void **array, uint32_t *n_allocated, uint32_t n, size_t element_bytes) {
    if (n <= *n_allocated) return true;
    uint64_t size = *n_allocated ? (uint64_t)*n_allocated * 2 : 64;
    while (size < n) size *= 2;
    void *grown = size < NONE ? realloc(*array, size * element_bytes) : NULL;
    if (!grown) return false;
    *array = grown;
    *n_allocated = (uint32_t)size;
    return true;
}

static bool grow_buckets(sim_radix_cache *cache);

// Room for what one step along an edge needs at most: a split and a child, each with one run.
static bool reserve_for_one_step(sim_radix_cache *cache) {
    return grow((void **)&cache->nodes, &cache->n_nodes_allocated, cache->n_nodes + 2, sizeof(node)) &&
           grow((void **)&cache->runs, &cache->n_runs_allocated, cache->n_runs + 2, sizeof(run)) &&
           sim_ranked_heap_reserve(&cache->leaves, cache->n_nodes_allocated) && grow_buckets(cache);
}

static uint32_t new_node(sim_radix_cache *cache) {
    uint32_t i = cache->free_node;
    cache->n_live_nodes++;
    if (i == NONE) return cache->n_nodes++;
    cache->free_node = cache->nodes[i].next_in_bucket;
    return i;
}

static uint32_t new_run(sim_radix_cache *cache, run content) {
    uint32_t i = cache->free_run;
    if (i == NONE)
        i = cache->n_runs++;
    else
        cache->free_run = cache->runs[i].next;
    cache->runs[i] = content;
    return i;
}

static void free_node(sim_radix_cache *cache, uint32_t i) {
    node *n = &cache->nodes[i];
    cache->runs[n->last_run].next = cache->free_run;
    cache->free_run = n->first_run;
    n->next_in_bucket = cache->free_node;
    cache->free_node = i;
    cache->n_live_nodes--;
}

sim_radix_cache *sim_radix_cache_new(uint32_t capacity_pages, uint32_t page_tokens, const sim_content_source *source) {
    sim_radix_cache *cache = calloc(1, sizeof *cache);
    if (!cache) return NULL;
    cache->source = source;
    cache->page_tokens = page_tokens;
    cache->capacity = cache->n_free = capacity_pages;
    cache->free_node = cache->free_run = NONE;
    if (!reserve_for_one_step(cache)) {
        sim_radix_cache_free(cache);
        return NULL;
    }
    cache->nodes[new_node(cache)] = (node){ .parent = NONE, .first_run = NONE, .last_run = NONE, .n_locks = 1 };
    return cache;
}

void sim_radix_cache_free(sim_radix_cache *cache) {
    if (!cache) return;
    free(cache->nodes);
    free(cache->runs);
    free(cache->buckets);
    sim_ranked_heap_clear(&cache->leaves);
    free(cache);
}

uint32_t sim_radix_cache_capacity(const sim_radix_cache *cache) { return cache->capacity; }
uint32_t sim_radix_cache_free_pages(const sim_radix_cache *cache) { return cache->n_free; }
uint32_t sim_radix_cache_evictable(const sim_radix_cache *cache) { return cache->n_evictable; }
uint32_t sim_radix_cache_protected(const sim_radix_cache *cache) { return cache->n_protected; }
uint32_t sim_radix_cache_room(const sim_radix_cache *cache) { return cache->n_free + cache->n_evictable; }
uint64_t sim_radix_cache_version(const sim_radix_cache *cache) { return cache->version; }

// --- children by content ------------------------------------------------------------------------------------------------

static uint32_t *bucket_of(const sim_radix_cache *cache, uint32_t parent, uint64_t kind, uint64_t id) {
    uint64_t h = id * UINT64_C(0x9e3779b97f4a7c15) + kind;
    h = (h ^ (h >> 32)) * UINT64_C(0xd6e8feb86659fd93) + parent;
    h = (h ^ (h >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return &cache->buckets[(h >> 32) & (cache->n_buckets - 1)];
}

static uint32_t *own_bucket(const sim_radix_cache *cache, uint32_t i) {
    const run *first = &cache->runs[cache->nodes[i].first_run];
    return bucket_of(cache, cache->nodes[i].parent, first->kind, first->id);
}

static void index_insert(sim_radix_cache *cache, uint32_t i) {
    uint32_t *bucket = own_bucket(cache, i);
    cache->nodes[i].next_in_bucket = *bucket;
    *bucket = i;
}

static void index_remove(sim_radix_cache *cache, uint32_t i) {
    uint32_t *link = own_bucket(cache, i);
    while (*link != i) link = &cache->nodes[*link].next_in_bucket;
    *link = cache->nodes[i].next_in_bucket;
}

static bool grow_buckets(sim_radix_cache *cache) {
    if (cache->n_live_nodes + 2 < cache->n_buckets) return true;
    uint32_t n_old = cache->n_buckets, n_buckets = n_old ? n_old * 2 : 256;
    uint32_t *old = cache->buckets, *buckets = malloc(n_buckets * sizeof *buckets);
    if (!buckets) return false;
    for (uint32_t b = 0; b < n_buckets; b++) buckets[b] = NONE;
    cache->buckets = buckets;
    cache->n_buckets = n_buckets;
    for (uint32_t b = 0; b < n_old; b++)
        for (uint32_t i = old[b], next; i != NONE; i = next) {
            next = cache->nodes[i].next_in_bucket;
            index_insert(cache, i);
        }
    free(old);
    return true;
}

static uint32_t find_child(const sim_radix_cache *cache, uint32_t parent, const sim_block_run *content) {
    uint32_t i = *bucket_of(cache, parent, content->kind, content->id);
    for (; i != NONE; i = cache->nodes[i].next_in_bucket) {
        const run *first = &cache->runs[cache->nodes[i].first_run];
        if (cache->nodes[i].parent == parent && first->id == content->id && first->kind == content->kind) break;
    }
    return i;
}

// --- walking ------------------------------------------------------------------------------------------------------------

// A sequence's pages, run by run.
typedef struct reader {
    const sim_radix_cache *cache;
    sim_radix_sequence sequence;
    uint32_t page, end; // next page, and the first one not to be read
    sim_block_run rest; // from `page` on; n_blocks = 0: to be asked for
} reader;

static void read_run(reader *r) {
    if (r->rest.n_blocks > 0 || r->page == r->end) return;
    r->rest = sim_content_blocks(r->cache->source, r->sequence.request, r->sequence.input_tokens, r->cache->page_tokens,
                                 r->page, r->end - r->page);
}

static void skip(reader *r, uint32_t n_pages) {
    r->page += n_pages;
    r->rest.n_blocks -= n_pages;
}

// How many pages of the edge to `i` the reader finds; it stands behind them then.
static uint32_t match_edge(const sim_radix_cache *cache, uint32_t i, reader *r) {
    uint32_t n_matched = 0, in_run = 0; // pages of the current run of the edge
    for (uint32_t e = cache->nodes[i].first_run; e != NONE;) {
        const run *edge = &cache->runs[e];
        read_run(r);
        if (r->page == r->end || edge->kind != r->rest.kind || edge->id != r->rest.id) break;
        uint32_t n = edge->n_pages - in_run < r->rest.n_blocks ? edge->n_pages - in_run : r->rest.n_blocks;
        skip(r, n);
        n_matched += n;
        in_run += n;
        if (in_run == edge->n_pages) {
            e = edge->next;
            in_run = 0;
        }
    }
    return n_matched;
}

static uint32_t next_child(const sim_radix_cache *cache, uint32_t parent, reader *r) {
    read_run(r);
    return r->page < r->end ? find_child(cache, parent, &r->rest) : NONE;
}

sim_radix_match sim_radix_cache_match(const sim_radix_cache *cache, sim_radix_sequence sequence, uint32_t max_pages) {
    reader r = { cache, sequence, 0, max_pages, { 0, 0, 0 } };
    sim_radix_match match = { 0, 0 };
    uint32_t at = ROOT;
    while ((at = next_child(cache, at, &r)) != NONE) {
        uint32_t n_matched = match_edge(cache, at, &r);
        match.n_pages += n_matched;
        if (cache->nodes[at].n_locks == 0) match.n_evictable += n_matched;
        if (n_matched < cache->nodes[at].n_pages) break;
    }
    return match;
}

// --- LRU order of leaves ------------------------------------------------------------------------------------------------

static bool is_victim(const node *n) { return n->n_locks == 0 && n->n_children == 0; }

static void update_leaf(sim_radix_cache *cache, uint32_t i) {
    const node *n = &cache->nodes[i];
    if (sim_ranked_heap_has(&cache->leaves, i)) sim_ranked_heap_remove(&cache->leaves, i);
    if (is_victim(n)) sim_ranked_heap_push(&cache->leaves, (sim_ranked){ n->touched, i, i });
}

// --- locks --------------------------------------------------------------------------------------------------------------

static void lock_path(sim_radix_cache *cache, uint32_t i) {
    for (; i != ROOT; i = cache->nodes[i].parent) {
        node *n = &cache->nodes[i];
        if (n->n_locks++ > 0) continue;
        cache->n_evictable -= n->n_pages;
        cache->n_protected += n->n_pages;
        update_leaf(cache, i);
    }
    cache->version++;
}

static void unlock_path(sim_radix_cache *cache, uint32_t i) {
    for (; i != ROOT; i = cache->nodes[i].parent) {
        node *n = &cache->nodes[i];
        if (--n->n_locks > 0) continue;
        cache->n_protected -= n->n_pages;
        cache->n_evictable += n->n_pages;
        update_leaf(cache, i);
    }
    cache->version++;
}

void sim_radix_cache_unlock(sim_radix_cache *cache, sim_radix_path *path) {
    unlock_path(cache, path->node);
    *path = (sim_radix_path){ ROOT, 0 };
}

// While the path is locked, so that no victim changes its place in the LRU order.
static void touch_path(sim_radix_cache *cache, uint32_t i) {
    for (cache->clock++; i != ROOT; i = cache->nodes[i].parent) {
        assert(cache->nodes[i].n_locks > 0);
        cache->nodes[i].touched = cache->clock;
    }
}

// --- edges --------------------------------------------------------------------------------------------------------------

// Cut the runs of edge `lower` behind n_pages; the front goes to `upper`. Needs a reserved run.
static void cut_edge(sim_radix_cache *cache, node *upper, node *lower, uint32_t n_pages) {
    uint32_t e = lower->first_run, n_left = n_pages;
    while (cache->runs[e].n_pages < n_left) {
        n_left -= cache->runs[e].n_pages;
        e = cache->runs[e].next;
    }
    if (cache->runs[e].n_pages > n_left) {
        run rest = cache->runs[e];
        rest.n_pages -= n_left;
        uint32_t i = new_run(cache, rest);
        cache->runs[e].n_pages = n_left;
        cache->runs[e].next = i;
        if (lower->last_run == e) lower->last_run = i;
    }
    upper->first_run = lower->first_run;
    upper->last_run = e;
    lower->first_run = cache->runs[e].next;
    cache->runs[e].next = NONE;
    upper->n_pages = n_pages;
    lower->n_pages -= n_pages;
}

// Returns the new node of the first n_pages of the edge to `i`. Those who lock `i` go on locking it, and so the new one. Needs a reserved step.
static uint32_t split(sim_radix_cache *cache, uint32_t i, uint32_t n_pages) {
    index_remove(cache, i);
    uint32_t above = new_node(cache);
    node *lower = &cache->nodes[i], *upper = &cache->nodes[above];
    *upper = (node){ .parent = lower->parent, .n_locks = lower->n_locks, .n_children = 1, .touched = lower->touched };
    cut_edge(cache, upper, lower, n_pages);
    lower->parent = above;
    index_insert(cache, above);
    index_insert(cache, i);
    return above;
}

// Append to the edge, joining equal neighbours: mixed pages stand alone but compare equal page by page, so joining them would do no harm either.
static void append_run(sim_radix_cache *cache, uint32_t i, const sim_block_run *content) {
    node *n = &cache->nodes[i];
    n->n_pages += content->n_blocks;
    if (n->last_run != NONE) {
        run *last = &cache->runs[n->last_run];
        if (last->kind == content->kind && last->id == content->id) {
            last->n_pages += content->n_blocks;
            return;
        }
    }
    uint32_t e = new_run(cache, (run){ content->kind, content->id, content->n_blocks, NONE });
    *(n->last_run == NONE ? &n->first_run : &cache->runs[n->last_run].next) = e;
    n->last_run = e;
}

static uint32_t add_child(sim_radix_cache *cache, uint32_t parent, const sim_block_run *content) {
    uint32_t i = new_node(cache);
    cache->nodes[i] = (node){ .parent = parent, .first_run = NONE, .last_run = NONE };
    append_run(cache, i, content);
    cache->nodes[parent].n_children++;
    update_leaf(cache, parent);
    index_insert(cache, i);
    return i;
}

// Follow known pages from node `at`, splitting the edge where they end inside one. Returns where they end; NONE: no memory.
static uint32_t follow(sim_radix_cache *cache, uint32_t at, reader *r) {
    uint32_t child;
    while ((child = next_child(cache, at, r)) != NONE) {
        if (!reserve_for_one_step(cache)) return NONE;
        uint32_t n_matched = match_edge(cache, child, r);
        if (n_matched < cache->nodes[child].n_pages) return split(cache, child, n_matched);
        at = child;
    }
    return at;
}

bool sim_radix_cache_lock(sim_radix_cache *cache, sim_radix_path *path, sim_radix_sequence sequence, uint32_t n_pages) {
    assert(path->node == ROOT && path->n_pages == 0);
    reader r = { cache, sequence, 0, n_pages, { 0, 0, 0 } };
    uint32_t end = follow(cache, ROOT, &r);
    if (end == NONE) return false;
    assert(r.page == n_pages);
    lock_path(cache, end);
    touch_path(cache, end);
    *path = (sim_radix_path){ end, n_pages };
    return true;
}

// --- insertion ----------------------------------------------------------------------------------------------------------

// The node that takes new pages behind `at`: itself, if nobody can tell, else a new child.
static bool can_extend(const sim_radix_cache *cache, uint32_t at, uint32_t own) {
    const node *n = &cache->nodes[at];
    return at != ROOT && n->n_children == 0 && (n->n_locks == 0 || (n->n_locks == 1 && at == own));
}

// Returns the node of the last page; NONE: no memory.
static uint32_t append_new(sim_radix_cache *cache, uint32_t at, uint32_t own, reader *r) {
    bool extends = can_extend(cache, at, own);
    uint32_t n_new = r->end - r->page;
    for (read_run(r); r->page < r->end; read_run(r)) {
        if (!reserve_for_one_step(cache)) return NONE;
        if (extends)
            append_run(cache, at, &r->rest);
        else
            at = add_child(cache, at, &r->rest);
        extends = true;
        skip(r, r->rest.n_blocks);
    }
    *(cache->nodes[at].n_locks ? &cache->n_protected : &cache->n_evictable) += n_new;
    return at;
}

bool sim_radix_cache_insert(sim_radix_cache *cache, sim_radix_path *path, sim_radix_sequence sequence,
                            uint32_t n_pages) {
    assert(n_pages >= path->n_pages);
    uint32_t own = path->node, end = own;
    if (n_pages > path->n_pages) {
        reader r = { cache, sequence, path->n_pages, n_pages, { 0, 0, 0 } };
        end = follow(cache, own, &r);
        if (end == NONE) return false;
        cache->n_free += r.page - path->n_pages; // known already: the caller's own pages are not needed
        if (r.page < r.end) end = append_new(cache, end, own, &r);
        if (end == NONE) return false;
        if (end != own) {
            lock_path(cache, end);
            unlock_path(cache, own);
        }
        *path = (sim_radix_path){ end, n_pages };
        cache->version++;
    }
    touch_path(cache, end);
    return true;
}

// --- pages --------------------------------------------------------------------------------------------------------------

static void evict_leaf(sim_radix_cache *cache) {
    assert(cache->leaves.n > 0);
    uint32_t i = cache->leaves.items[0].id, parent = cache->nodes[i].parent;
    sim_ranked_heap_remove(&cache->leaves, i);
    index_remove(cache, i);
    cache->n_evictable -= cache->nodes[i].n_pages;
    cache->n_free += cache->nodes[i].n_pages;
    free_node(cache, i);
    cache->nodes[parent].n_children--;
    update_leaf(cache, parent);
    cache->version++;
}

bool sim_radix_cache_take(sim_radix_cache *cache, uint32_t n_pages) {
    if (n_pages > sim_radix_cache_room(cache)) return false;
    while (cache->n_free < n_pages) evict_leaf(cache);
    cache->n_free -= n_pages;
    return true;
}

void sim_radix_cache_give_back(sim_radix_cache *cache, uint32_t n_pages) {
    cache->n_free += n_pages;
    assert(cache->n_free + cache->n_evictable + cache->n_protected <= cache->capacity);
}
