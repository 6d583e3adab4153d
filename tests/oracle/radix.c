// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/oracle/radix.h"

#include "tests/oracle/list.h"

void oracle_radix_init(oracle_radix *radix, uint32_t n_pages) {
    *radix = (oracle_radix){ .n_pages = n_pages };
    radix->pages = oracle_memory(NULL, n_pages, sizeof *radix->pages);
    for (uint32_t i = 0; i < n_pages; i++) radix->pages[i] = (oracle_page){ .is_there = false };
}

void oracle_radix_clear(oracle_radix *radix) { free(radix->pages); }

uint32_t oracle_radix_free(const oracle_radix *radix) {
    uint32_t n = radix->n_pages - radix->n_private;
    for (uint32_t i = 0; i < radix->n_pages; i++) n -= radix->pages[i].is_there;
    return n;
}

uint32_t oracle_radix_evictable(const oracle_radix *radix) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < radix->n_pages; i++) n += radix->pages[i].is_there && radix->pages[i].n_locks == 0;
    return n;
}

uint32_t oracle_radix_child(const oracle_radix *radix, uint32_t parent, uint64_t identity) {
    for (uint32_t i = 0; i < radix->n_pages; i++) {
        const oracle_page *page = &radix->pages[i];
        if (page->is_there && page->parent == parent && page->identity == identity) return i;
    }
    return ORACLE_NO_PAGE;
}

bool oracle_radix_is_leaf(const oracle_radix *radix, uint32_t page) {
    for (uint32_t i = 0; i < radix->n_pages; i++)
        if (radix->pages[i].is_there && radix->pages[i].parent == page) return false;
    return true;
}

void oracle_radix_split_below(oracle_radix *radix, uint32_t page) {
    for (uint32_t i = 0; i < radix->n_pages; i++)
        if (radix->pages[i].is_there && radix->pages[i].parent == page) radix->pages[i].is_joined = false;
}

uint32_t oracle_radix_add(oracle_radix *radix, uint32_t parent, uint64_t identity, bool is_joined) {
    uint32_t page = 0;
    while (radix->pages[page].is_there) page++;
    assert(radix->n_private > 0);
    radix->n_private--;
    radix->pages[page] =
        (oracle_page){ .is_there = true, .parent = parent, .identity = identity, .is_joined = is_joined, .n_locks = 1 };
    return page;
}

static void evict_leaf(oracle_radix *radix) {
    uint32_t victim = ORACLE_NO_PAGE;
    for (uint32_t i = 0; i < radix->n_pages; i++) {
        const oracle_page *page = &radix->pages[i];
        if (!page->is_there || page->n_locks > 0) continue;
        if (victim != ORACLE_NO_PAGE && page->stamp >= radix->pages[victim].stamp) continue;
        if (oracle_radix_is_leaf(radix, i)) victim = i;
    }
    assert(victim != ORACLE_NO_PAGE);
    for (bool is_joined = true; is_joined; victim = radix->pages[victim].parent) { // up to the start of its edge
        is_joined = radix->pages[victim].is_joined;
        assert(radix->pages[victim].n_locks == 0);
        radix->pages[victim].is_there = false;
    }
}

bool oracle_radix_take(oracle_radix *radix, uint32_t n) {
    if (n == 0) return true;
    if (n > oracle_radix_free(radix) + oracle_radix_evictable(radix)) return false;
    while (oracle_radix_free(radix) < n) evict_leaf(radix);
    radix->n_private += n;
    return true;
}
