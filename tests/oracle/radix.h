// SPDX-License-Identifier: GPL-3.0-or-later
//
// SGLang's prefix cache, page by page (simulation-semantics.md 3.3, "Radix tree").
//
// The tree of the description has edges of several pages. Here every page is an entry of its own that knows its parent, and an edge is a chain of
// pages that are joined. To split an edge is to part two pages. All pages of an edge have the same locks and the same stamp. Which page of
// memory an entry stands for makes no difference to anybody, so pages that are not in the tree are only counted.
#ifndef TESTS_ORACLE_RADIX_H
#define TESTS_ORACLE_RADIX_H

#include <stdbool.h>
#include <stdint.h>

#define ORACLE_NO_PAGE UINT32_MAX // also the parent of a first page

typedef struct oracle_page {
    bool is_there;
    uint32_t parent;
    uint64_t identity; // of its content and everything in front of it
    bool is_joined;    // to its parent
    uint32_t n_locks;
    uint64_t stamp; // of the last access
} oracle_page;

typedef struct oracle_radix {
    oracle_page *pages;
    uint32_t n_pages;   // of the pool
    uint32_t n_private; // pages of requests, not in the tree
    uint64_t clock;
} oracle_radix;

void oracle_radix_init(oracle_radix *radix, uint32_t n_pages);
void oracle_radix_clear(oracle_radix *radix);
uint32_t oracle_radix_free(const oracle_radix *radix);      // pages that are nobody's
uint32_t oracle_radix_evictable(const oracle_radix *radix); // pages in the tree that are not locked
uint32_t oracle_radix_child(const oracle_radix *radix, uint32_t parent, uint64_t identity);
bool oracle_radix_is_leaf(const oracle_radix *radix, uint32_t page);
void oracle_radix_split_below(oracle_radix *radix, uint32_t page); // an edge ends with this page
// A new page in the tree, out of the private ones; with one lock.
uint32_t oracle_radix_add(oracle_radix *radix, uint32_t parent, uint64_t identity, bool is_joined);
// Take n pages, if need be from leaves that are not locked, least stamp first. False, and nothing changed: there are not so many.
bool oracle_radix_take(oracle_radix *radix, uint32_t n);

#endif
