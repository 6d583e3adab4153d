// SPDX-License-Identifier: GPL-3.0-or-later
//
// The tree is the array: the node of a range is its middle, which splits the axis on which the range is widest; smaller ones lie before it, larger ones behind.
#include "sim/tuning/nearest_passes.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

typedef struct node {
    double place[SIM_RANK_FEATURES];
    uint32_t pass;
    uint32_t axis;
} node;

struct sim_nearest_passes {
    double low[SIM_RANK_FEATURES], high[SIM_RANK_FEATURES];
    size_t n;
    node nodes[];
};

// --- building ---------------------------------------------------------------------------------------------------------

typedef struct range {
    size_t begin, end;
} range;

static void bound(const node *nodes, range r, double low[SIM_RANK_FEATURES], double high[SIM_RANK_FEATURES]) {
    for (size_t k = 0; k < SIM_RANK_FEATURES; k++) {
        low[k] = DBL_MAX;
        high[k] = -DBL_MAX;
        for (size_t i = r.begin; i < r.end; i++) {
            low[k] = fmin(low[k], nodes[i].place[k]);
            high[k] = fmax(high[k], nodes[i].place[k]);
        }
    }
}

// No two nodes are equal.
static bool is_before(const node *a, const node *b, size_t axis) {
    if (a->place[axis] < b->place[axis]) return true;
    return a->place[axis] <= b->place[axis] && a->pass < b->pass;
}

static void swap(node *a, node *b) {
    const node kept = *a;
    *a = *b;
    *b = kept;
}

// Puts the node that belongs at `middle` there, and the others on their sides of it (Hoare's selection; the pivot is the median of three).
static void select_middle(node *nodes, range r, size_t middle, size_t axis) {
    while (r.end - r.begin > 1) {
        // The lower middle: never the last one, which is larger then, so that both parts are smaller than the range.
        node *first = &nodes[r.begin], *half = &nodes[r.begin + (r.end - r.begin - 1) / 2], *last = &nodes[r.end - 1];
        if (is_before(half, first, axis)) swap(half, first);
        if (is_before(last, half, axis)) swap(last, half);
        if (is_before(half, first, axis)) swap(half, first);
        const node pivot = *half;
        size_t i = r.begin, j = r.end - 1;
        for (;;) {
            while (is_before(&nodes[i], &pivot, axis)) i++;
            while (is_before(&pivot, &nodes[j], axis)) j--;
            if (i >= j) break;
            swap(&nodes[i++], &nodes[j--]);
        }
        if (middle <= j)
            r.end = j + 1;
        else
            r.begin = j + 1;
    }
}

enum { MOST_DEPTH = 64 }; // ranges halve

static void build(node *nodes, size_t n) {
    range todo[MOST_DEPTH + 2] = { { 0, n } };
    for (size_t n_todo = 1; n_todo > 0;) {
        const range r = todo[--n_todo];
        if (r.begin == r.end) continue;
        double low[SIM_RANK_FEATURES], high[SIM_RANK_FEATURES];
        bound(nodes, r, low, high);
        size_t axis = 0;
        for (size_t k = 1; k < SIM_RANK_FEATURES; k++)
            if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
        const size_t middle = r.begin + (r.end - r.begin) / 2;
        select_middle(nodes, r, middle, axis);
        nodes[middle].axis = (uint32_t)axis;
        todo[n_todo++] = (range){ r.begin, middle };
        todo[n_todo++] = (range){ middle + 1, r.end };
    }
}

sim_nearest_passes *sim_nearest_passes_new(const sim_recorded_log *log, fpm_kind kind) {
    size_t n = 0;
    for (size_t i = 0; i < log->n_passes; i++) n += log->passes[i].kind == kind;
    sim_nearest_passes *made = malloc(sizeof *made + n * sizeof made->nodes[0]);
    if (!made) return NULL;
    made->n = 0;
    for (size_t i = 0; i < log->n_passes; i++) {
        if (log->passes[i].kind != kind) continue;
        node *at = &made->nodes[made->n++];
        at->pass = (uint32_t)i;
        sim_pass_place(&log->features[log->passes[i].first], log->passes[i].n_ranks, at->place);
    }
    bound(made->nodes, (range){ 0, n }, made->low, made->high);
    build(made->nodes, n);
    return made;
}

void sim_nearest_passes_free(sim_nearest_passes *nearest) { free(nearest); }

// --- asking -----------------------------------------------------------------------------------------------------------

bool sim_nearest_passes_contain(const sim_nearest_passes *nearest, const double place[SIM_RANK_FEATURES]) {
    for (size_t k = 0; k < SIM_RANK_FEATURES; k++)
        if (place[k] < nearest->low[k] || place[k] > nearest->high[k]) return false;
    return nearest->n > 0;
}

typedef struct search {
    const double *place;
    sim_neighbour *found; // `distance` is squared until the end
    size_t n_found;
} search;

static bool is_nearer(double distance, uint32_t pass, const sim_neighbour *than) {
    return distance < than->distance || (distance <= than->distance && pass < than->pass);
}

static void consider(search *s, const node *at) {
    double distance = 0;
    for (size_t k = 0; k < SIM_RANK_FEATURES; k++) {
        const double d = at->place[k] - s->place[k];
        distance += d * d;
    }
    if (s->n_found == SIM_NEIGHBOURS && !is_nearer(distance, at->pass, &s->found[SIM_NEIGHBOURS - 1])) return;
    size_t i = s->n_found < SIM_NEIGHBOURS ? s->n_found++ : SIM_NEIGHBOURS - 1;
    for (; i > 0 && is_nearer(distance, at->pass, &s->found[i - 1]); i--) s->found[i] = s->found[i - 1];
    s->found[i] = (sim_neighbour){ distance, at->pass };
}

size_t sim_nearest_passes_find(const sim_nearest_passes *nearest, const double place[SIM_RANK_FEATURES],
                               sim_neighbour found[SIM_NEIGHBOURS]) {
    struct {
        range r;
        double gap; // squared distance of the place to the plane that parts it from the range; 0: it lies on that side
    } todo[MOST_DEPTH + 2] = { { { 0, nearest->n }, 0 } };
    search s = { place, found, 0 };
    for (size_t n_todo = 1; n_todo > 0;) {
        const range r = todo[--n_todo].r;
        const double gap = todo[n_todo].gap;
        // Of equally near passes the lowest counts, so a range just as far is looked into.
        const bool is_far = s.n_found == SIM_NEIGHBOURS && gap > found[SIM_NEIGHBOURS - 1].distance;
        if (r.begin == r.end || is_far) continue;
        const size_t middle = r.begin + (r.end - r.begin) / 2;
        const node *at = &nearest->nodes[middle];
        consider(&s, at);
        const double offset = place[at->axis] - at->place[at->axis];
        const range before = { r.begin, middle }, behind = { middle + 1, r.end };
        todo[n_todo].r = offset < 0 ? behind : before;
        todo[n_todo++].gap = fmax(gap, offset * offset);
        todo[n_todo].r = offset < 0 ? before : behind; // first
        todo[n_todo++].gap = gap;
    }
    for (size_t i = 0; i < s.n_found; i++) found[i].distance = sqrt(found[i].distance);
    return s.n_found;
}
