// SPDX-License-Identifier: GPL-3.0-or-later
//
// Two sorted lists over the log: by (features, worker, place) and by (features, place). A group of equal features is the same range in both; a worker's share
// of it is a range of the first. Whoever asks goes on from a cursor at the start of its range, past what was taken through the other list.
#include "sim/tuning/exact_match.h"

#include <stdlib.h>

struct sim_exact_match {
    const sim_recorded_log *log;
    uint32_t *by_worker, *by_place;           // passes
    uint32_t *worker_cursors, *place_cursors; // at the first element of a range: how many of it were looked at
    bool *is_taken;                           // by pass
};

static int compare_features(const uint32_t *a, uint32_t n_ranks_a, const uint32_t *b, uint32_t n_ranks_b) {
    if (n_ranks_a != n_ranks_b) return n_ranks_a < n_ranks_b ? -1 : 1;
    for (size_t i = 0; i < (size_t)n_ranks_a * SIM_RANK_FEATURES; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int compare_passes(const sim_recorded_log *log, uint32_t a, uint32_t b) {
    const sim_recorded_pass *x = &log->passes[a], *y = &log->passes[b];
    return compare_features(&log->features[x->first], x->n_ranks, &log->features[y->first], y->n_ranks);
}

static int in_log_order(const void *a, const void *b, void *log) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const int order = compare_passes(log, x, y);
    return order ? order : (x > y) - (x < y);
}

static int in_worker_order(const void *a, const void *b, void *context) {
    const sim_recorded_log *log = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const uint32_t of_x = log->passes[x].worker, of_y = log->passes[y].worker;
    const int order = compare_passes(log, x, y);
    if (order) return order;
    return of_x != of_y ? (of_x > of_y) - (of_x < of_y) : (x > y) - (x < y);
}

sim_exact_match *sim_exact_match_new(const sim_recorded_log *log) {
    const size_t n = log->n_passes;
    sim_exact_match *match = calloc(1, sizeof *match);
    if (!match) return NULL;
    match->log = log;
    match->by_worker = malloc(n * sizeof *match->by_worker);
    match->by_place = malloc(n * sizeof *match->by_place);
    match->worker_cursors = calloc(n, sizeof *match->worker_cursors);
    match->place_cursors = calloc(n, sizeof *match->place_cursors);
    match->is_taken = calloc(n, sizeof *match->is_taken);
    if (!match->by_worker || !match->by_place || !match->worker_cursors || !match->place_cursors || !match->is_taken) {
        sim_exact_match_free(match);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) match->by_worker[i] = match->by_place[i] = (uint32_t)i;
    qsort_r(match->by_place, n, sizeof *match->by_place, in_log_order, (void *)(uintptr_t)log);
    qsort_r(match->by_worker, n, sizeof *match->by_worker, in_worker_order, (void *)(uintptr_t)log);
    return match;
}

void sim_exact_match_free(sim_exact_match *match) {
    if (!match) return;
    free(match->by_worker);
    free(match->by_place);
    free(match->worker_cursors);
    free(match->place_cursors);
    free(match->is_taken);
    free(match);
}

// --- taking -----------------------------------------------------------------------------------------------------------

typedef struct range {
    size_t begin, end;
} range;

// First place in by_place whose features are not below (`is_after`: are above) the given ones.
static size_t bound(const sim_exact_match *match, const uint32_t *features, uint32_t n_ranks, bool is_after) {
    size_t low = 0, high = match->log->n_passes;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const sim_recorded_pass *pass = &match->log->passes[match->by_place[middle]];
        const int order = compare_features(&match->log->features[pass->first], pass->n_ranks, features, n_ranks);
        if (order < 0 || (is_after && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static range share_of(const sim_exact_match *match, range group, uint32_t worker) {
    range share = group;
    size_t high = group.end;
    while (share.begin < high) {
        const size_t middle = share.begin + (high - share.begin) / 2;
        if (match->log->passes[match->by_worker[middle]].worker < worker)
            share.begin = middle + 1;
        else
            high = middle;
    }
    for (high = group.end, share.end = share.begin; share.end < high;) {
        const size_t middle = share.end + (high - share.end) / 2;
        if (match->log->passes[match->by_worker[middle]].worker <= worker)
            share.end = middle + 1;
        else
            high = middle;
    }
    return share;
}

static bool next_of(sim_exact_match *match, const uint32_t *order, uint32_t *cursors, range r, size_t *pass) {
    if (r.begin == r.end) return false;
    uint32_t *cursor = &cursors[r.begin];
    while (r.begin + *cursor < r.end) {
        const uint32_t at = order[r.begin + (*cursor)++];
        if (match->is_taken[at]) continue;
        match->is_taken[at] = true;
        *pass = at;
        return true;
    }
    return false;
}

static void begin_again(sim_exact_match *match, range group) {
    for (size_t i = group.begin; i < group.end; i++) {
        match->is_taken[match->by_place[i]] = false;
        match->worker_cursors[i] = match->place_cursors[i] = 0;
    }
}

bool sim_exact_match_take(sim_exact_match *match, const uint32_t *features, uint32_t n_ranks, uint32_t worker,
                          size_t *pass) {
    const range group = { bound(match, features, n_ranks, false), bound(match, features, n_ranks, true) };
    if (group.begin == group.end) return false;
    const range own = share_of(match, group, worker);
    for (;;) {
        if (next_of(match, match->by_worker, match->worker_cursors, own, pass)) return true;
        if (next_of(match, match->by_place, match->place_cursors, group, pass)) return true;
        begin_again(match, group);
    }
}
