// SPDX-License-Identifier: GPL-3.0-or-later
//
// The points stand in a k-d tree without pointers: the root of a range is its middle, the dimension that it splits is its depth modulo their number.
// Nearness is that of logarithms, log(1 + x), since a step of 100 tokens is much at 100 and little at 100 000; weights are of x itself, in which the
// time of a pass is nearly linear.
#include "perfmodel/scatter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/max_entropy.h"

enum { ORTHANTS = 1 << FPM_SCATTER_DIMENSIONS, WIDTH = 8 }; // WIDTH: most points taken from an orthant
_Static_assert(ORTHANTS *WIDTH <= FPM_ENTROPY_POINTS, "all of them can be weighed");
_Static_assert((int)FPM_SCATTER_DIMENSIONS == (int)FPM_ENTROPY_DIMENSIONS, "both count alike");

typedef struct node {
    double x[FPM_SCATTER_DIMENSIONS], u[FPM_SCATTER_DIMENSIONS]; // u = log(1 + x)
    double value;
    double least[FPM_SCATTER_DIMENSIONS], most[FPM_SCATTER_DIMENSIONS]; // u of all points in its range
} node;

struct fpm_scatter {
    unsigned n_dimensions;
    size_t n;
    double min[FPM_SCATTER_DIMENSIONS], max[FPM_SCATTER_DIMENSIONS];
    node nodes[];
};

// ---------------------------------------------------------------------------------------------------------------------
// Building
// ---------------------------------------------------------------------------------------------------------------------

static int by_place(const fpm_scatter_point *a, const fpm_scatter_point *b) {
    for (unsigned d = 0; d < FPM_SCATTER_DIMENSIONS; d++)
        if (a->x[d] != b->x[d]) return a->x[d] < b->x[d] ? -1 : 1;
    return 0;
}

static int by_place_and_value(const void *a, const void *b) {
    const fpm_scatter_point *left = a, *right = b;
    const int order = by_place(left, right);
    return order ? order : (left->value > right->value) - (left->value < right->value);
}

static double median(const fpm_scatter_point *sorted, size_t n) {
    const double lower = sorted[(n - 1) / 2].value;
    return lower + (sorted[n / 2].value - lower) / 2;
}

// One point for each place, at the front. Returns how many.
static size_t join_places(fpm_scatter_point *points, size_t n, unsigned n_dimensions) {
    for (size_t i = 0; i < n; i++)
        for (unsigned d = n_dimensions; d < FPM_SCATTER_DIMENSIONS; d++) points[i].x[d] = 0;
    if (n > 0) qsort(points, n, sizeof *points, by_place_and_value);
    size_t n_places = 0;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && by_place(&points[i], &points[end]) == 0;) end++;
        const double value = median(&points[i], end - i);
        points[n_places] = points[i];
        points[n_places++].value = value;
    }
    return n_places;
}

static void swap(node *a, node *b) {
    const node held = *a;
    *a = *b;
    *b = held;
}

// Put the k-th smallest of [begin, end) by x[d] at k, smaller or equal ones before it, larger or equal ones behind.
static void select_kth(node *nodes, size_t begin, size_t end, size_t k, unsigned d) {
    while (end - begin > 1) {
        const double pivot = nodes[begin + (end - begin) / 2].x[d];
        size_t low = begin, high = end - 1;
        for (;;) {
            while (nodes[low].x[d] < pivot) low++;
            while (nodes[high].x[d] > pivot) high--;
            if (low >= high) break;
            swap(&nodes[low++], &nodes[high--]);
        }
        const size_t cut = low > begin ? low : begin + 1; // [begin, cut) <= pivot <= [cut, end)
        if (k < cut)
            end = cut;
        else
            begin = cut;
    }
}

static void widen(node *root, const node *part) {
    for (unsigned d = 0; d < FPM_SCATTER_DIMENSIONS; d++) {
        root->least[d] = fmin(root->least[d], part->least[d]);
        root->most[d] = fmax(root->most[d], part->most[d]);
    }
}

// The root of [begin, end); NULL when it is empty. Depth of the recursion: log2 of the number of points.
static const node *build(fpm_scatter *scatter, size_t begin, size_t end, unsigned d) {
    if (begin == end) return NULL;
    const size_t middle = begin + (end - begin) / 2;
    select_kth(scatter->nodes, begin, end, middle, d);
    d = (d + 1) % scatter->n_dimensions;
    node *root = &scatter->nodes[middle];
    const node *low = build(scatter, begin, middle, d), *high = build(scatter, middle + 1, end, d);
    memcpy(root->least, root->u, sizeof root->u);
    memcpy(root->most, root->u, sizeof root->u);
    if (low) widen(root, low);
    if (high) widen(root, high);
    return root;
}

fpm_scatter *fpm_scatter_new(fpm_scatter_point *points, size_t n_points, unsigned n_dimensions) {
    const size_t n = join_places(points, n_points, n_dimensions);
    size_t n_bytes;
    if (__builtin_mul_overflow(n, sizeof(node), &n_bytes) || n_bytes > SIZE_MAX - sizeof(fpm_scatter)) return NULL;
    fpm_scatter *scatter = malloc(sizeof *scatter + n_bytes);
    if (!scatter) return NULL;
    *scatter = (fpm_scatter){ .n_dimensions = n_dimensions, .n = n };
    for (size_t i = 0; i < n; i++) {
        node *made = &scatter->nodes[i];
        made->value = points[i].value;
        for (unsigned d = 0; d < FPM_SCATTER_DIMENSIONS; d++) {
            const double x = points[i].x[d];
            made->x[d] = x;
            made->u[d] = log1p(x);
            if (i == 0 || x < scatter->min[d]) scatter->min[d] = x;
            if (i == 0 || x > scatter->max[d]) scatter->max[d] = x;
        }
    }
    build(scatter, 0, n, 0);
    return scatter;
}

void fpm_scatter_free(fpm_scatter *scatter) { free(scatter); }
size_t fpm_scatter_size(const fpm_scatter *scatter) { return scatter->n; }
double fpm_scatter_min(const fpm_scatter *scatter, unsigned dimension) { return scatter->min[dimension]; }
double fpm_scatter_max(const fpm_scatter *scatter, unsigned dimension) { return scatter->max[dimension]; }

// ---------------------------------------------------------------------------------------------------------------------
// The nearest points of an orthant
// ---------------------------------------------------------------------------------------------------------------------

typedef struct search {
    const fpm_scatter *scatter;
    const double *x;
    double u[FPM_SCATTER_DIMENSIONS];
    unsigned orthant; // bit d: at or above x[d]; else at or below
    unsigned width, n_found;
    size_t found[WIDTH]; // nearest first; of equally near ones the first in the tree
    double distance[WIDTH];
} search;

static bool is_in_orthant(const search *s, const node *at) {
    for (unsigned d = 0; d < s->scatter->n_dimensions; d++)
        if (s->orthant >> d & 1 ? at->x[d] < s->x[d] : at->x[d] > s->x[d]) return false;
    return true;
}

static void keep(search *s, size_t index, double distance) {
    unsigned place = s->n_found < s->width ? s->n_found++ : s->width - 1;
    for (; place > 0; place--) {
        const bool is_before =
            s->distance[place - 1] < distance || (!(s->distance[place - 1] > distance) && s->found[place - 1] < index);
        if (is_before) break;
        s->found[place] = s->found[place - 1];
        s->distance[place] = s->distance[place - 1];
    }
    s->found[place] = index;
    s->distance[place] = distance;
}

static void look_at(search *s, size_t index) {
    const node *at = &s->scatter->nodes[index];
    if (!is_in_orthant(s, at)) return;
    double distance = 0;
    for (unsigned d = 0; d < s->scatter->n_dimensions; d++) distance += (at->u[d] - s->u[d]) * (at->u[d] - s->u[d]);
    if (s->n_found == s->width) {
        const double worst = s->distance[s->width - 1];
        if (distance > worst || (!(distance < worst) && index > s->found[s->width - 1])) return;
    }
    keep(s, index, distance);
}

// From the query to the part of a node's box that lies in the orthant; infinite without one.
static double distance_to_box(const search *s, const node *root) {
    double distance = 0;
    for (unsigned d = 0; d < s->scatter->n_dimensions; d++) {
        const bool is_upper = s->orthant >> d & 1;
        if (is_upper ? root->most[d] < s->u[d] : root->least[d] > s->u[d]) return HUGE_VAL;
        const double gap = is_upper ? root->least[d] - s->u[d] : s->u[d] - root->most[d];
        if (gap > 0) distance += gap * gap;
    }
    return distance;
}

// Among [begin, end), which is split at d: the side of the query first, since what it gives spares most of the other one.
static void find(search *s, size_t begin, size_t end, unsigned d) {
    if (begin == end) return;
    const size_t middle = begin + (end - begin) / 2;
    const node *root = &s->scatter->nodes[middle];
    const double distance = distance_to_box(s, root);
    if (isinf(distance) || (s->n_found == s->width && distance > s->distance[s->width - 1])) return;
    look_at(s, middle);
    const unsigned next = (d + 1) % s->scatter->n_dimensions;
    const bool is_above = root->x[d] > s->x[d];
    if (is_above) find(s, begin, middle, next);
    find(s, middle + 1, end, next);
    if (!is_above) find(s, begin, middle, next);
}

// ---------------------------------------------------------------------------------------------------------------------
// A value
// ---------------------------------------------------------------------------------------------------------------------

static bool is_within(const fpm_scatter *scatter, const double *x) {
    for (unsigned d = 0; d < scatter->n_dimensions; d++)
        if (!(x[d] >= scatter->min[d] && x[d] <= scatter->max[d])) return false;
    return scatter->n > 0;
}

typedef struct selection {
    size_t n;
    size_t nodes[ORTHANTS * WIDTH];
    double distance[ORTHANTS * WIDTH];
} selection;

// A point on a border between orthants is found in each of them.
static void add(selection *chosen, size_t index, double distance) {
    for (size_t i = 0; i < chosen->n; i++)
        if (chosen->nodes[i] == index) return;
    chosen->nodes[chosen->n] = index;
    chosen->distance[chosen->n++] = distance;
}

static void select_around(const fpm_scatter *scatter, const double *x, unsigned width, selection *chosen) {
    search s = { .scatter = scatter, .x = x, .width = width };
    for (unsigned d = 0; d < scatter->n_dimensions; d++) s.u[d] = log1p(x[d]);
    chosen->n = 0;
    for (s.orthant = 0; s.orthant < 1u << scatter->n_dimensions; s.orthant++) {
        s.n_found = 0;
        find(&s, 0, scatter->n, 0);
        for (unsigned i = 0; i < s.n_found; i++) add(chosen, s.found[i], s.distance[i]);
    }
}

static bool is_at(const fpm_scatter *scatter, const node *at, const double *x) {
    for (unsigned d = 0; d < scatter->n_dimensions; d++)
        if (at->x[d] != x[d]) return false;
    return true;
}

// The mean over the chosen points around x.
static bool mean_of(const fpm_scatter *scatter, const double *x, const selection *chosen, bool favours_near,
                    double *value) {
    fpm_entropy_problem problem; // 5 KiB: filled as far as it is read
    problem.n = chosen->n;
    problem.n_dimensions = scatter->n_dimensions;
    for (size_t i = 0; i < chosen->n; i++) {
        const node *at = &scatter->nodes[chosen->nodes[i]];
        for (unsigned d = 0; d < scatter->n_dimensions; d++) problem.offset[i][d] = at->x[d] - x[d];
        problem.prior[i] = favours_near ? 1 / chosen->distance[i] : 1;
    }
    double weights[FPM_ENTROPY_POINTS];
    if (!fpm_entropy_weights(&problem, weights)) return false;
    *value = 0;
    for (size_t i = 0; i < chosen->n; i++) *value += weights[i] * scatter->nodes[chosen->nodes[i]].value;
    return true;
}

bool fpm_scatter_value(const fpm_scatter *scatter, const double x[FPM_SCATTER_DIMENSIONS], double *value) {
    if (!is_within(scatter, x)) return false;
    selection chosen;
    select_around(scatter, x, 1, &chosen);
    for (size_t i = 0; i < chosen.n; i++) {
        if (!is_at(scatter, &scatter->nodes[chosen.nodes[i]], x)) continue;
        *value = scatter->nodes[chosen.nodes[i]].value;
        return true;
    }
    if (mean_of(scatter, x, &chosen, false, value)) return true;
    select_around(scatter, x, WIDTH, &chosen);
    return mean_of(scatter, x, &chosen, true, value);
}
