// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/sweep/design.h"

#include <gsl/gsl_qrng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/kernel/random.h"

enum { MAX_POINTS = 1000000 };

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

sim_status sim_design_add(sim_design *design, const sim_point *point, sim_error *error) {
    const size_t n = design->n_points;
    const bool is_full = (n & (n - 1)) == 0; // room grows by doubling
    if (is_full) {
        sim_point *more = realloc(design->points, (n ? 2 * n : 1) * sizeof *more);
        if (!more) return no_memory(error);
        design->points = more;
    }
    design->points[design->n_points++] = *point;
    return SIM_OK;
}

static sim_status add_at(sim_design *design, sim_space *space, const double *position, sim_error *error) {
    sim_point point;
    sim_status status = sim_space_point(space, position, &point, error);
    if (status) return status;
    status = sim_design_add(design, &point, error);
    if (status) sim_point_clear(&point, sim_space_n_keys(space));
    return status;
}

void sim_design_clear(sim_design *design, const sim_space *space) {
    for (size_t i = 0; i < design->n_points; i++) sim_point_clear(&design->points[i], sim_space_n_keys(space));
    free(design->points);
    *design = (sim_design){ .points = NULL };
}

// --- grid ------------------------------------------------------------------------------------------------------------

static sim_status check_grid(const sim_space *space, sim_error *error) {
    double n_points = 1;
    for (size_t d = 0; d < sim_space_n_dimensions(space); d++) {
        const sim_domain_place at = sim_space_place(space, d);
        const size_t n = sim_space_n_values(space, d);
        if (n == 0)
            return sim_error_set(error, SIM_USAGE, at.file, at.line,
                                 "sweep.%s: a grid needs values, not an interval (write start:stop:step, or choose "
                                 "method = random, lhs, sobol or bayes)",
                                 at.name);
        n_points *= (double)n;
        if (n_points > MAX_POINTS)
            return sim_error_set(error, SIM_USAGE, at.file, at.line,
                                 "the grid has more than %d points (take fewer values, or method = lhs with "
                                 "sweep.samples)",
                                 MAX_POINTS);
    }
    return SIM_OK;
}

// The next combination; false: that was the last one.
static bool advance(const sim_space *space, size_t *at) {
    for (size_t d = sim_space_n_dimensions(space); d-- > 0;) {
        if (++at[d] < sim_space_n_values(space, d)) return true;
        at[d] = 0;
    }
    return false;
}

static sim_status add_grid(sim_design *design, sim_space *space, sim_error *error) {
    const size_t n_dimensions = sim_space_n_dimensions(space);
    sim_status status = check_grid(space, error);
    if (status) return status;
    size_t *at = calloc(n_dimensions, sizeof *at);
    double *position = calloc(n_dimensions, sizeof *position);
    if (!at || !position) status = no_memory(error);
    for (bool goes_on = !status; goes_on && !status; goes_on = advance(space, at)) {
        for (size_t d = 0; d < n_dimensions; d++)
            position[d] = ((double)at[d] + 0.5) / (double)sim_space_n_values(space, d);
        status = add_at(design, space, position, error);
    }
    free(at);
    free(position);
    return status;
}

// --- drawn -----------------------------------------------------------------------------------------------------------

static double below_one(double x) { return x < 1 ? x : nextafter(1, 0); }

static void draw_random(double *out, size_t n, size_t n_dimensions, sim_stream *stream) {
    for (size_t i = 0; i < n * n_dimensions; i++) out[i] = sim_stream_uniform(stream);
}

static void shuffle(size_t *order, size_t n, sim_stream *stream) {
    for (size_t i = n; i > 1; i--) {
        const size_t other = (size_t)sim_stream_integer(stream, i), kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}

// One point in every n-th part of every dimension.
static bool draw_latin(double *out, size_t n, size_t n_dimensions, sim_stream *stream) {
    size_t *order = malloc(n * sizeof *order);
    if (!order) return false;
    for (size_t d = 0; d < n_dimensions; d++) {
        for (size_t i = 0; i < n; i++) order[i] = i;
        shuffle(order, n, stream);
        for (size_t i = 0; i < n; i++)
            out[i * n_dimensions + d] = below_one(((double)order[i] + sim_stream_uniform(stream)) / (double)n);
    }
    free(order);
    return true;
}

// GSL has the sequence for up to 40 dimensions; the ones beyond are drawn at random.
static bool draw_sobol(double *out, size_t n, size_t n_dimensions, sim_stream *stream) {
    enum { MAX_DIMENSIONS = 40 };
    double shift[MAX_DIMENSIONS], point[MAX_DIMENSIONS];
    const size_t n_sobol = n_dimensions < MAX_DIMENSIONS ? n_dimensions : MAX_DIMENSIONS;
    gsl_qrng *sequence = gsl_qrng_alloc(gsl_qrng_sobol, (unsigned)n_sobol);
    if (!sequence) return false;
    draw_random(out, n, n_dimensions, stream);
    for (size_t d = 0; d < n_sobol; d++) shift[d] = sim_stream_uniform(stream);
    for (size_t i = 0; i < n; i++) {
        gsl_qrng_get(sequence, point);
        for (size_t d = 0; d < n_sobol; d++)
            out[i * n_dimensions + d] = below_one(point[d] + shift[d] - floor(point[d] + shift[d]));
    }
    gsl_qrng_free(sequence);
    return true;
}

double *sim_design_draw(sim_sweep_method method, size_t n, size_t n_dimensions, uint64_t seed) {
    sim_stream *stream = sim_stream_new(seed, "sweep");
    double *out = malloc(n * n_dimensions * sizeof *out);
    bool is_drawn = stream && out;
    if (is_drawn && method == SIM_SWEEP_LHS)
        is_drawn = draw_latin(out, n, n_dimensions, stream);
    else if (is_drawn && method == SIM_SWEEP_SOBOL)
        is_drawn = draw_sobol(out, n, n_dimensions, stream);
    else if (is_drawn)
        draw_random(out, n, n_dimensions, stream);
    sim_stream_free(stream);
    if (is_drawn) return out;
    free(out);
    return NULL;
}

static sim_status add_drawn(sim_design *design, sim_space *space, sim_sweep_method method, size_t n, uint64_t seed,
                            sim_error *error) {
    const size_t n_dimensions = sim_space_n_dimensions(space);
    double *positions = sim_design_draw(method, n, n_dimensions, seed);
    sim_status status = positions ? SIM_OK : no_memory(error);
    for (size_t i = 0; i < n && !status; i++) status = add_at(design, space, &positions[i * n_dimensions], error);
    free(positions);
    return status;
}

// --- all -------------------------------------------------------------------------------------------------------------

typedef struct ranked {
    const char *hash;
    size_t at;
} ranked;

static int by_hash(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    const int order = strcmp(x->hash, y->hash);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

// Of points that mean the same the first stays.
static sim_status merge(sim_design *design, const sim_space *space, sim_error *error) {
    ranked *order = malloc((design->n_points + 1) * sizeof *order);
    bool *is_same = calloc(design->n_points + 1, sizeof *is_same);
    if (!order || !is_same) {
        free(order);
        free(is_same);
        return no_memory(error);
    }
    for (size_t i = 0; i < design->n_points; i++) order[i] = (ranked){ design->points[i].hash.text, i };
    qsort(order, design->n_points, sizeof *order, by_hash);
    for (size_t i = 1; i < design->n_points; i++) is_same[order[i].at] = strcmp(order[i].hash, order[i - 1].hash) == 0;
    size_t n_kept = 0;
    for (size_t i = 0; i < design->n_points; i++) {
        if (is_same[i])
            sim_point_clear(&design->points[i], sim_space_n_keys(space));
        else
            design->points[n_kept++] = design->points[i];
    }
    design->n_same = design->n_points - n_kept;
    design->n_points = n_kept;
    free(order);
    free(is_same);
    return SIM_OK;
}

static sim_status fill(sim_design *design, sim_space *space, const sim_sweep_config *sweep, uint64_t seed,
                       sim_error *error) {
    const size_t n_samples = (size_t)sweep->samples;
    switch ((sim_sweep_method)sweep->method) {
    case SIM_SWEEP_GRID:
        return add_grid(design, space, error);
    case SIM_SWEEP_LIST:
        return sim_design_read_csv(design, space, sweep->points, error);
    case SIM_SWEEP_RANDOM:
    case SIM_SWEEP_LHS:
    case SIM_SWEEP_SOBOL:
        return add_drawn(design, space, (sim_sweep_method)sweep->method, n_samples, seed, error);
    case SIM_SWEEP_HALVING:
        return add_drawn(design, space, SIM_SWEEP_LHS, n_samples, seed, error);
    case SIM_SWEEP_BAYES:
        break; // it makes its points as it goes
    }
    return SIM_OK;
}

sim_status sim_design_new(sim_design *design, sim_space *space, const sim_sweep_config *sweep, uint64_t seed,
                          sim_error *error) {
    *design = (sim_design){ .points = NULL };
    sim_status status = fill(design, space, sweep, seed, error);
    if (!status) status = merge(design, space, error);
    if (status) sim_design_clear(design, space);
    return status;
}
