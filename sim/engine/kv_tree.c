// SPDX-License-Identifier: GPL-3.0-or-later
//
// See kv_tree.h. Everything lives in four pools of records that refer to each other by index; freed records are linked and used again.
//
// Why the beginning of a run is always what is resident: whoever holds block k of a run holds 0 .. k-1 too (or a copy of one of them) and releases k
// first, so k is older in the LRU list than what stands in front of it. A block is thus never evicted before those behind it, in its own run and
// in the runs that follow.
#include "sim/engine/kv_tree.h"

#include <assert.h>
#include <stdlib.h>

#define NONE SIM_KV_NONE

// A run of blocks of one content behind one prefix: blocks 0 .. n_resident-1 are known.
typedef struct node {
    uint64_t kind, id;
    uint32_t parent, parent_depth; // the prefix: `parent_depth` blocks of run `parent`; NONE, 0 at the root
    uint32_t next_in_bucket;       // also links free nodes
    uint32_t n_resident;
    uint32_t holders;                 // list, deepest first; the deepest one says how many blocks are active
    uint32_t first_range, last_range; // its cached blocks in the LRU list, shallowest first; without the copies'
    uint32_t copies;                  // list of copies, oldest first
} node;

typedef struct holder {
    uint32_t depth, count; // `count` chains hold `depth` blocks
    uint32_t next;
} holder;

// Cached blocks [begin, end) of a run, released together; or, with `copy`, one copy.
typedef struct range {
    uint32_t node, begin, end, copy;
    uint32_t before, after;     // LRU list; `after` also links free ranges
    uint32_t shallower, deeper; // of the same run
} range;

typedef struct copy {
    uint32_t node, position;
    uint32_t range;        // when cached; NONE: held by its chain
    uint32_t next;         // younger copy of the run, or free list
    uint32_t spare_holder; // so that taking the first one's place never allocates
    bool is_first; // the block it was a copy of is gone: it took its place, and its chain holds it as one of the run's
} copy;

typedef struct pool {
    void *records;
    uint32_t n_used, n_allocated, free_head;
} pool;

struct sim_kv_tree {
    const sim_content_source *source;
    uint32_t block_size, capacity, n_active, n_cached;
    pool nodes, holders, ranges, copies;
    uint32_t lru_head, lru_tail; // head: least recently used
    uint32_t *buckets;
    uint32_t n_buckets, n_nodes;
};

static node *node_at(const sim_kv_tree *tree, uint32_t i) { return (node *)tree->nodes.records + i; }
static holder *holder_at(const sim_kv_tree *tree, uint32_t i) { return (holder *)tree->holders.records + i; }
static range *range_at(const sim_kv_tree *tree, uint32_t i) { return (range *)tree->ranges.records + i; }
static copy *copy_at(const sim_kv_tree *tree, uint32_t i) { return (copy *)tree->copies.records + i; }

// --- pools ------------------------------------------------------------------------------------------------------------

// Make sure that `n` records can be taken without allocating.
static bool reserve(pool *p, uint32_t n, size_t record_bytes) {
    if (p->n_used + n <= p->n_allocated) return true;
    uint64_t size = p->n_allocated ? (uint64_t)p->n_allocated * 2 : 64;
    while (size < (uint64_t)p->n_used + n) size *= 2;
    void *grown = size < NONE ? realloc(p->records, size * record_bytes) : NULL;
    if (!grown) return false;
    p->records = grown;
    p->n_allocated = (uint32_t)size;
    return true;
}

// The free list runs through a member of each type, so its caller reads and writes the link.
static uint32_t take_record(pool *p, uint32_t next_free) {
    uint32_t i = p->free_head;
    if (i == NONE) return p->n_used++;
    p->free_head = next_free;
    return i;
}

static uint32_t new_node(sim_kv_tree *tree) {
    uint32_t head = tree->nodes.free_head;
    return take_record(&tree->nodes, head == NONE ? NONE : node_at(tree, head)->next_in_bucket);
}
static uint32_t new_holder(sim_kv_tree *tree) {
    uint32_t head = tree->holders.free_head;
    return take_record(&tree->holders, head == NONE ? NONE : holder_at(tree, head)->next);
}
static uint32_t new_range(sim_kv_tree *tree) {
    uint32_t head = tree->ranges.free_head;
    return take_record(&tree->ranges, head == NONE ? NONE : range_at(tree, head)->after);
}
static uint32_t new_copy(sim_kv_tree *tree) {
    uint32_t head = tree->copies.free_head;
    return take_record(&tree->copies, head == NONE ? NONE : copy_at(tree, head)->next);
}
static void free_holder(sim_kv_tree *tree, uint32_t i) {
    holder_at(tree, i)->next = tree->holders.free_head;
    tree->holders.free_head = i;
}
static void free_range(sim_kv_tree *tree, uint32_t i) {
    range_at(tree, i)->after = tree->ranges.free_head;
    tree->ranges.free_head = i;
}
static void free_copy(sim_kv_tree *tree, uint32_t i) {
    copy_at(tree, i)->next = tree->copies.free_head;
    tree->copies.free_head = i;
}

// One run visited needs at most one record of each kind.
static bool reserve_for_one_run(sim_kv_tree *tree) {
    return reserve(&tree->nodes, 1, sizeof(node)) && reserve(&tree->holders, 2, sizeof(holder)) &&
           reserve(&tree->ranges, 1, sizeof(range)) && reserve(&tree->copies, 1, sizeof(copy));
}

sim_kv_tree *sim_kv_tree_new(uint32_t capacity_blocks, uint32_t block_size, const sim_content_source *source) {
    sim_kv_tree *tree = calloc(1, sizeof *tree);
    if (!tree) return NULL;
    tree->source = source;
    tree->block_size = block_size;
    tree->capacity = capacity_blocks;
    tree->lru_head = tree->lru_tail = NONE;
    tree->nodes.free_head = tree->holders.free_head = tree->ranges.free_head = tree->copies.free_head = NONE;
    return tree;
}

void sim_kv_tree_free(sim_kv_tree *tree) {
    if (!tree) return;
    free(tree->nodes.records);
    free(tree->holders.records);
    free(tree->ranges.records);
    free(tree->copies.records);
    free(tree->buckets);
    free(tree);
}

uint32_t sim_kv_tree_capacity(const sim_kv_tree *tree) { return tree->capacity; }
uint32_t sim_kv_tree_active(const sim_kv_tree *tree) { return tree->n_active; }
uint32_t sim_kv_tree_cached(const sim_kv_tree *tree) { return tree->n_cached; }

// --- index of runs by prefix and content -------------------------------------------------------------------------------

static uint32_t *bucket_of(const sim_kv_tree *tree, uint32_t parent, uint32_t parent_depth, uint64_t kind,
                           uint64_t id) {
    uint64_t h = id * UINT64_C(0x9e3779b97f4a7c15) + kind;
    h = (h ^ (h >> 32)) * UINT64_C(0xd6e8feb86659fd93) + ((uint64_t)parent << 32 | parent_depth);
    h = (h ^ (h >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return &tree->buckets[(h >> 32) & (tree->n_buckets - 1)];
}

static uint32_t find_child(const sim_kv_tree *tree, uint32_t parent, uint32_t parent_depth, const sim_block_run *run) {
    if (!tree->n_buckets) return NONE;
    uint32_t i = *bucket_of(tree, parent, parent_depth, run->kind, run->id);
    for (; i != NONE; i = node_at(tree, i)->next_in_bucket) {
        const node *n = node_at(tree, i);
        if (n->id == run->id && n->kind == run->kind && n->parent == parent && n->parent_depth == parent_depth) break;
    }
    return i;
}

static void index_insert(sim_kv_tree *tree, uint32_t i) {
    node *n = node_at(tree, i);
    uint32_t *bucket = bucket_of(tree, n->parent, n->parent_depth, n->kind, n->id);
    n->next_in_bucket = *bucket;
    *bucket = i;
}

static bool index_reserve(sim_kv_tree *tree) {
    if (tree->n_nodes < tree->n_buckets) return true;
    uint32_t n_buckets = tree->n_buckets ? tree->n_buckets * 2 : 256;
    uint32_t *buckets = malloc(n_buckets * sizeof *buckets), *old = tree->buckets;
    if (!buckets) return false;
    for (uint32_t b = 0; b < n_buckets; b++) buckets[b] = NONE;
    uint32_t n_old = tree->n_buckets;
    tree->buckets = buckets;
    tree->n_buckets = n_buckets;
    for (uint32_t b = 0; b < n_old; b++)
        for (uint32_t i = old[b], next; i != NONE; i = next) {
            next = node_at(tree, i)->next_in_bucket;
            index_insert(tree, i);
        }
    free(old);
    return true;
}

// Needs index_reserve and a reserved node.
static uint32_t add_child(sim_kv_tree *tree, uint32_t parent, uint32_t parent_depth, const sim_block_run *run) {
    uint32_t i = new_node(tree);
    *node_at(tree, i) = (node){ .kind = run->kind,
                                .id = run->id,
                                .parent = parent,
                                .parent_depth = parent_depth,
                                .holders = NONE,
                                .first_range = NONE,
                                .last_range = NONE,
                                .copies = NONE };
    index_insert(tree, i);
    tree->n_nodes++;
    return i;
}

static void remove_node(sim_kv_tree *tree, uint32_t i) {
    node *n = node_at(tree, i);
    assert(n->n_resident == 0 && n->holders == NONE && n->copies == NONE && n->first_range == NONE);
    uint32_t *link = bucket_of(tree, n->parent, n->parent_depth, n->kind, n->id);
    while (*link != i) link = &node_at(tree, *link)->next_in_bucket;
    *link = n->next_in_bucket;
    n->next_in_bucket = tree->nodes.free_head;
    tree->nodes.free_head = i;
    tree->n_nodes--;
}

// --- LRU list ---------------------------------------------------------------------------------------------------------

static void lru_append(sim_kv_tree *tree, uint32_t i) {
    range *r = range_at(tree, i);
    r->before = tree->lru_tail;
    r->after = NONE;
    if (tree->lru_tail == NONE)
        tree->lru_head = i;
    else
        range_at(tree, tree->lru_tail)->after = i;
    tree->lru_tail = i;
}

static void lru_remove(sim_kv_tree *tree, const range *r) {
    if (r->before == NONE)
        tree->lru_head = r->after;
    else
        range_at(tree, r->before)->after = r->after;
    if (r->after == NONE)
        tree->lru_tail = r->before;
    else
        range_at(tree, r->after)->before = r->before;
}

// Blocks [begin, end) of the run, in front of all its cached ones, become cached, most recently used.
static void cache_range(sim_kv_tree *tree, uint32_t node_index, uint32_t begin, uint32_t end) {
    node *n = node_at(tree, node_index);
    uint32_t i = new_range(tree);
    *range_at(tree, i) = (range){
        .node = node_index, .begin = begin, .end = end, .copy = NONE, .shallower = NONE, .deeper = n->first_range
    };
    if (n->first_range == NONE)
        n->last_range = i;
    else
        range_at(tree, n->first_range)->shallower = i;
    n->first_range = i;
    lru_append(tree, i);
    tree->n_cached += end - begin;
    tree->n_active -= end - begin;
}

static void drop_first_range(sim_kv_tree *tree, node *n) {
    uint32_t i = n->first_range;
    range *r = range_at(tree, i);
    n->first_range = r->deeper;
    if (r->deeper == NONE)
        n->last_range = NONE;
    else
        range_at(tree, r->deeper)->shallower = NONE;
    lru_remove(tree, r);
    free_range(tree, i);
}

static void drop_last_range(sim_kv_tree *tree, node *n) {
    uint32_t i = n->last_range;
    range *r = range_at(tree, i);
    n->last_range = r->shallower;
    if (r->shallower == NONE)
        n->first_range = NONE;
    else
        range_at(tree, r->shallower)->deeper = NONE;
    lru_remove(tree, r);
    free_range(tree, i);
}

// --- holders ----------------------------------------------------------------------------------------------------------

static uint32_t active_depth(const sim_kv_tree *tree, const node *n) {
    return n->holders == NONE ? 0 : holder_at(tree, n->holders)->depth;
}

static void add_holder(sim_kv_tree *tree, node *n, uint32_t depth) {
    uint32_t *link = &n->holders;
    while (*link != NONE && holder_at(tree, *link)->depth > depth) link = &holder_at(tree, *link)->next;
    if (*link != NONE && holder_at(tree, *link)->depth == depth) {
        holder_at(tree, *link)->count++;
        return;
    }
    uint32_t i = new_holder(tree);
    *holder_at(tree, i) = (holder){ .depth = depth, .count = 1, .next = *link };
    *link = i;
}

static void remove_holder(sim_kv_tree *tree, node *n, uint32_t depth) {
    uint32_t *link = &n->holders;
    while (holder_at(tree, *link)->depth != depth) link = &holder_at(tree, *link)->next;
    uint32_t i = *link;
    if (--holder_at(tree, i)->count > 0) return;
    *link = holder_at(tree, i)->next;
    free_holder(tree, i);
}

// One more chain holds the first `depth` blocks, all of them resident; cached ones among them become active.
static void hold_run(sim_kv_tree *tree, uint32_t node_index, uint32_t depth) {
    node *n = node_at(tree, node_index);
    uint32_t was_active = active_depth(tree, n);
    add_holder(tree, n, depth);
    if (depth <= was_active) return;
    tree->n_active += depth - was_active;
    tree->n_cached -= depth - was_active;
    while (n->first_range != NONE && range_at(tree, n->first_range)->end <= depth) drop_first_range(tree, n);
    if (n->first_range != NONE && range_at(tree, n->first_range)->begin < depth)
        range_at(tree, n->first_range)->begin = depth;
}

// Needs a reserved range.
static void release_run(sim_kv_tree *tree, uint32_t node_index, uint32_t depth) {
    node *n = node_at(tree, node_index);
    uint32_t was_active = active_depth(tree, n);
    remove_holder(tree, n, depth);
    uint32_t is_active = active_depth(tree, n);
    if (is_active < was_active) cache_range(tree, node_index, is_active, was_active);
}

// --- copies -----------------------------------------------------------------------------------------------------------

static void unlink_copy(sim_kv_tree *tree, uint32_t i) {
    uint32_t *link = &node_at(tree, copy_at(tree, i)->node)->copies;
    while (*link != i) link = &copy_at(tree, *link)->next;
    *link = copy_at(tree, i)->next;
}

static uint32_t oldest_copy_of(const sim_kv_tree *tree, const node *n, uint32_t position) {
    uint32_t i = n->copies;
    while (i != NONE && copy_at(tree, i)->position != position) i = copy_at(tree, i)->next;
    return i;
}

// The last resident block of the run is gone, copy `i` of it takes its place: with its place in the LRU list, or with its holder.
static void promote_copy(sim_kv_tree *tree, node *n, uint32_t i) {
    copy *c = copy_at(tree, i);
    unlink_copy(tree, i);
    free_holder(tree, c->spare_holder);
    c->is_first = true;
    if (c->range == NONE) { // its chain holds everything in front of it already
        if (c->position > 0) remove_holder(tree, n, c->position);
        add_holder(tree, n, c->position + 1);
        return;
    }
    range *r = range_at(tree, c->range);
    *r = (range){ .node = c->node,
                  .begin = c->position,
                  .end = c->position + 1,
                  .copy = NONE,
                  .before = r->before,
                  .after = r->after,
                  .shallower = n->last_range,
                  .deeper = NONE };
    if (n->last_range == NONE)
        n->first_range = c->range;
    else
        range_at(tree, n->last_range)->deeper = c->range;
    n->last_range = c->range;
    free_copy(tree, i);
}

// The copy is held by its chain no more. Needs a reserved range.
static void release_copy(sim_kv_tree *tree, uint32_t i) {
    copy *c = copy_at(tree, i);
    c->range = new_range(tree);
    *range_at(tree, c->range) = (range){ .node = c->node, .copy = i, .shallower = NONE, .deeper = NONE };
    lru_append(tree, c->range);
    tree->n_cached++;
    tree->n_active--;
}

// --- eviction ---------------------------------------------------------------------------------------------------------

static void evict_copy(sim_kv_tree *tree, uint32_t range_index) {
    uint32_t i = range_at(tree, range_index)->copy;
    unlink_copy(tree, i);
    free_holder(tree, copy_at(tree, i)->spare_holder);
    free_copy(tree, i);
    lru_remove(tree, range_at(tree, range_index));
    free_range(tree, range_index);
    tree->n_cached--;
}

// Evict up to n blocks of the range at the head of the list; returns how many.
static uint32_t evict_from_range(sim_kv_tree *tree, uint32_t range_index, uint32_t n_wanted) {
    range *r = range_at(tree, range_index);
    uint32_t node_index = r->node;
    node *n = node_at(tree, node_index);
    assert(range_index == n->last_range && r->end == n->n_resident);
    uint32_t n_evicted = r->end - r->begin < n_wanted ? r->end - r->begin : n_wanted;
    if (n->copies != NONE) n_evicted = 1; // a copy may take the place of each
    uint32_t promoted = n->copies != NONE ? oldest_copy_of(tree, n, r->end - 1) : NONE;
    r->end -= n_evicted;
    if (r->begin == r->end) drop_last_range(tree, n);
    n->n_resident -= n_evicted;
    tree->n_cached -= n_evicted;
    if (promoted != NONE) {
        n->n_resident++;
        promote_copy(tree, n, promoted);
    }
    if (n->n_resident == 0) remove_node(tree, node_index);
    return n_evicted;
}

static void evict(sim_kv_tree *tree, uint32_t n_blocks) {
    while (n_blocks > 0) {
        uint32_t head = tree->lru_head;
        assert(head != NONE);
        if (range_at(tree, head)->copy == NONE) {
            n_blocks -= evict_from_range(tree, head, n_blocks);
        } else {
            evict_copy(tree, head);
            n_blocks--;
        }
    }
}

bool sim_kv_tree_take(sim_kv_tree *tree, uint32_t n_blocks) {
    if (n_blocks > tree->capacity - tree->n_active) return false;
    uint32_t n_free = tree->capacity - tree->n_active - tree->n_cached;
    if (n_blocks > n_free) evict(tree, n_blocks - n_free);
    tree->n_active += n_blocks;
    return true;
}

void sim_kv_tree_give_back(sim_kv_tree *tree, uint32_t n_blocks) {
    assert(n_blocks <= tree->n_active);
    tree->n_active -= n_blocks;
}

// --- chains -----------------------------------------------------------------------------------------------------------

static sim_block_run run_at(const sim_kv_tree *tree, sim_kv_sequence sequence, uint32_t block, uint32_t max_blocks) {
    return sim_content_blocks(tree->source, sequence.request, sequence.input_tokens, tree->block_size, block,
                              max_blocks);
}

static bool is_same_content(const node *n, const sim_block_run *run) {
    return n->kind == run->kind && n->id == run->id && run->kind != SIM_CONTENT_KIND_MIXED;
}

// Where a chain that ends at (node, depth) finds its next blocks, of content `run`: *begin blocks into the run returned; NONE when unknown.
static uint32_t next_run(const sim_kv_tree *tree, uint32_t node_index, uint32_t depth, const sim_block_run *run,
                         uint32_t *begin) {
    *begin = 0;
    if (node_index != NONE) {
        const node *n = node_at(tree, node_index);
        if (is_same_content(n, run) && depth < n->n_resident) {
            *begin = depth;
            return node_index;
        }
    }
    return find_child(tree, node_index, depth, run);
}

// Step from (*node, *depth) over known blocks: how many, at most run->n_blocks.
static uint32_t step(const sim_kv_tree *tree, uint32_t *node_index, uint32_t *depth, const sim_block_run *run,
                     uint32_t *begin) {
    uint32_t next = next_run(tree, *node_index, *depth, run, begin);
    if (next == NONE) return 0;
    uint32_t n_known = node_at(tree, next)->n_resident - *begin;
    if (n_known > run->n_blocks) n_known = run->n_blocks;
    *node_index = next;
    *depth = *begin + n_known;
    return n_known;
}

sim_prefix_hit sim_kv_tree_find(const sim_kv_tree *tree, sim_kv_sequence sequence, uint32_t max_blocks) {
    sim_prefix_hit hit = { 0, 0 };
    uint32_t node_index = NONE, depth = 0, begin;
    while (hit.n_blocks < max_blocks) {
        sim_block_run run = run_at(tree, sequence, hit.n_blocks, max_blocks - hit.n_blocks);
        uint32_t n_known = step(tree, &node_index, &depth, &run, &begin);
        if (n_known == 0) break;
        uint32_t n_active = active_depth(tree, node_at(tree, node_index));
        if (n_active > begin) hit.n_active += n_active < depth ? n_active - begin : depth - begin;
        hit.n_blocks += n_known;
    }
    return hit;
}

bool sim_kv_tree_hold(sim_kv_tree *tree, sim_kv_chain *chain, sim_kv_sequence sequence, uint32_t n_blocks) {
    assert(chain->n_blocks == 0);
    while (chain->n_blocks < n_blocks) {
        if (!reserve_for_one_run(tree)) return false;
        uint32_t begin;
        sim_block_run run = run_at(tree, sequence, chain->n_blocks, n_blocks - chain->n_blocks);
        uint32_t n_known = step(tree, &chain->node, &chain->depth, &run, &begin);
        assert(n_known > 0);
        if (begin > 0) remove_holder(tree, node_at(tree, chain->node), begin); // the same run, held deeper from now on
        hold_run(tree, chain->node, chain->depth);
        chain->n_blocks += n_known;
    }
    return true;
}

static bool has_copy_at_end(const sim_kv_tree *tree, const sim_kv_chain *chain) {
    if (chain->copy == NONE) return false;
    const copy *c = copy_at(tree, chain->copy);
    return !c->is_first && c->node == chain->node && c->position + 1 == chain->depth;
}

// The block at `position` of the run is known already: the chain's own one is a copy.
static void publish_copy(sim_kv_tree *tree, sim_kv_chain *chain, uint32_t node_index, uint32_t position) {
    if (chain->copy != NONE) {
        assert(copy_at(tree, chain->copy)->is_first);
        free_copy(tree, chain->copy);
    }
    uint32_t i = new_copy(tree);
    *copy_at(tree, i) = (copy){
        .node = node_index, .position = position, .range = NONE, .next = NONE, .spare_holder = new_holder(tree)
    };
    uint32_t *link = &node_at(tree, node_index)->copies;
    while (*link != NONE) link = &copy_at(tree, *link)->next;
    *link = i;
    chain->copy = i;
    chain->node = node_index;
    chain->depth = position + 1;
    chain->n_blocks++;
}

// New blocks at the end of the chain's run, or of a new run.
static void publish_new(sim_kv_tree *tree, sim_kv_chain *chain, const sim_block_run *run) {
    node *n = chain->node == NONE ? NULL : node_at(tree, chain->node);
    if (n && is_same_content(n, run) && !has_copy_at_end(tree, chain)) {
        remove_holder(tree, n, chain->depth);
    } else {
        chain->node = add_child(tree, chain->node, chain->depth, run);
        chain->depth = 0;
        n = node_at(tree, chain->node);
    }
    assert(n->n_resident == chain->depth);
    n->n_resident += run->n_blocks;
    chain->depth += run->n_blocks;
    chain->n_blocks += run->n_blocks;
    add_holder(tree, n, chain->depth);
}

bool sim_kv_tree_publish(sim_kv_tree *tree, sim_kv_chain *chain, sim_kv_sequence sequence, uint32_t n_full) {
    while (chain->n_blocks < n_full) {
        if (!reserve_for_one_run(tree) || !index_reserve(tree)) return false;
        uint32_t begin;
        sim_block_run run = run_at(tree, sequence, chain->n_blocks, n_full - chain->n_blocks);
        uint32_t known = next_run(tree, chain->node, chain->depth, &run, &begin);
        if (known != NONE)
            publish_copy(tree, chain, known, begin);
        else
            publish_new(tree, chain, &run);
    }
    return true;
}

bool sim_kv_tree_release(sim_kv_tree *tree, sim_kv_chain *chain) {
    while (chain->node != NONE) {
        if (!reserve(&tree->ranges, 2, sizeof(range))) return false;
        uint32_t parent = node_at(tree, chain->node)->parent, parent_depth = node_at(tree, chain->node)->parent_depth;
        uint32_t depth = chain->depth;
        if (has_copy_at_end(tree, chain)) {
            release_copy(tree, chain->copy);
            chain->copy = NONE;
            depth--;
        }
        if (depth > 0) release_run(tree, chain->node, depth);
        chain->node = parent;
        chain->depth = parent_depth;
    }
    if (chain->copy != NONE) free_copy(tree, chain->copy); // promoted: released as a block of its run
    *chain = sim_kv_chain_empty();
    return true;
}
