// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/scatter.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "perfmodel/max_entropy.h"

enum { D = FPM_SCATTER_DIMENSIONS };

static uint64_t dice = 88172645463325252u;
static double draw(double below) {
    dice ^= dice << 13, dice ^= dice >> 7, dice ^= dice << 17;
    return below * (double)(dice >> 11) * 0x1p-53;
}

static double affine(const double *x, unsigned n) {
    double sum = 3;
    for (unsigned d = 0; d < n; d++) sum += (d + 1) * x[d];
    return sum;
}

// Steps of an octave, as a person measures them.
static size_t make_grid(fpm_scatter_point *points, unsigned n_dimensions, unsigned n_steps,
                        double (*f)(const double *, unsigned)) {
    size_t n = 1;
    for (unsigned d = 0; d < n_dimensions; d++) n *= n_steps;
    for (size_t i = 0; i < n; i++) {
        size_t rest = i;
        for (unsigned d = 0; d < n_dimensions; d++, rest /= n_steps)
            points[i].x[d] = (double)(1u << rest % n_steps) - 1;
        points[i].value = f(points[i].x, n_dimensions);
    }
    return n;
}

static double product(const double *x, unsigned n) {
    double value = 1;
    for (unsigned d = 0; d < n; d++) value *= 1 + x[d];
    return value;
}

Test(scatter, an_affine_function_comes_out_on_grids_and_scattered_points) {
    static fpm_scatter_point points[1296];
    for (unsigned n_dimensions = 1; n_dimensions <= 4; n_dimensions++) {
        for (int is_grid = 0; is_grid < 2; is_grid++) {
            size_t n = 1000;
            if (is_grid) n = make_grid(points, n_dimensions, 6, affine);
            for (size_t i = 0; !is_grid && i < n; i++) {
                for (unsigned d = 0; d < n_dimensions; d++) points[i].x[d] = floor(draw(32));
                points[i].value = affine(points[i].x, n_dimensions);
            }
            fpm_scatter *scatter = fpm_scatter_new(points, n, n_dimensions);
            int n_answers = 0;
            for (int i = 0; i < 500; i++) {
                double x[D] = { 0 }, value;
                for (unsigned d = 0; d < n_dimensions; d++) x[d] = draw(31);
                if (!fpm_scatter_value(scatter, x, &value)) continue;
                n_answers++;
                cr_assert_float_eq(value, affine(x, n_dimensions), 1e-5, "%u: %g for %g", n_dimensions, value,
                                   affine(x, n_dimensions));
            }
            cr_expect_geq(n_answers, is_grid ? 500 : 300, "%u dimensions, grid %d: %d answers", n_dimensions, is_grid,
                          n_answers);
            fpm_scatter_free(scatter);
        }
    }
}

Test(scatter, on_a_grid_it_is_multilinear) {
    static fpm_scatter_point points[1296];
    for (unsigned n_dimensions = 1; n_dimensions <= 4; n_dimensions++) {
        fpm_scatter *scatter = fpm_scatter_new(points, make_grid(points, n_dimensions, 6, product), n_dimensions);
        for (int i = 0; i < 200; i++) {
            double x[D] = { 0 }, value;
            for (unsigned d = 0; d < n_dimensions; d++) x[d] = i % 3 == 0 ? floor(draw(31)) : draw(31);
            cr_assert(fpm_scatter_value(scatter, x, &value));
            // a product is multilinear itself
            cr_assert_float_eq(value / product(x, n_dimensions), 1, 1e-6, "%g %g %g %g: %.9g", x[0], x[1], x[2], x[3],
                               value / product(x, n_dimensions));
        }
        fpm_scatter_free(scatter);
    }
}

Test(scatter, a_place_has_the_median_of_its_points) {
    fpm_scatter_point points[] = { { { 4, 1 }, 7 }, { { 4, 1 }, 100 }, { { 4, 1 }, 5 },
                                   { { 2, 1 }, 1 }, { { 2, 1 }, 2 },   { { 8, 3 }, 9 } };
    fpm_scatter *scatter = fpm_scatter_new(points, 6, 2);
    double value;
    cr_expect_eq(fpm_scatter_size(scatter), 3);
    cr_expect(fpm_scatter_value(scatter, (double[D]){ 4, 1 }, &value) && value == 7);
    cr_expect(fpm_scatter_value(scatter, (double[D]){ 2, 1 }, &value) && value == 1.5);
    cr_expect_eq(fpm_scatter_min(scatter, 0), 2);
    cr_expect_eq(fpm_scatter_max(scatter, 1), 3);
    fpm_scatter_free(scatter);
}

// On the edges of a triangle there is an answer, beyond them none, although the box goes further.
Test(scatter, what_is_not_surrounded_is_refused) {
    fpm_scatter_point points[] = { { { 0, 0 }, 1 }, { { 8, 0 }, 2 }, { { 0, 8 }, 3 } };
    fpm_scatter *scatter = fpm_scatter_new(points, 3, 2);
    double value;
    cr_expect(fpm_scatter_value(scatter, (double[D]){ 4, 4 }, &value));
    cr_expect_float_eq(value, 2.5, 1e-8);
    cr_expect(fpm_scatter_value(scatter, (double[D]){ 4, 0 }, &value));
    cr_expect_float_eq(value, 1.5, 1e-8);
    cr_expect_not(fpm_scatter_value(scatter, (double[D]){ 5, 4 }, &value));
    cr_expect_not(fpm_scatter_value(scatter, (double[D]){ 9, 0 }, &value));
    cr_expect_not(fpm_scatter_value(scatter, (double[D]){ (double)NAN, 0 }, &value));
    fpm_scatter_free(scatter);
    scatter = fpm_scatter_new(points, 0, 2);
    cr_expect_not(fpm_scatter_value(scatter, (double[D]){ 0, 0 }, &value));
    fpm_scatter_free(scatter);
}

// Chunks fill a budget: fresh tokens and decodes add up to it, so that all points lie on a line.
Test(scatter, points_in_a_subspace_answer_within_it) {
    fpm_scatter_point points[20];
    for (int i = 0; i < 20; i++) points[i] = (fpm_scatter_point){ { 8192 - 13 * i, 0, 13 * i, 500 }, 10 + i };
    fpm_scatter *scatter = fpm_scatter_new(points, 20, 4);
    double value;
    cr_expect(fpm_scatter_value(scatter, (double[D]){ 8192 - 20, 0, 20, 500 }, &value));
    cr_expect_float_eq(value, 10 + 20.0 / 13, 1e-6);
    cr_expect_not(fpm_scatter_value(scatter, (double[D]){ 8192 - 21, 0, 20, 500 }, &value));
    fpm_scatter_free(scatter);
}

// The nearest points of an orthant are those of a search through all: with one dimension, the neighbours.
Test(scatter, neighbours_are_found_whatever_the_order) {
    static fpm_scatter_point points[500];
    for (int i = 0; i < 500; i++) points[i] = (fpm_scatter_point){ .x = { floor(draw(100000)) }, .value = draw(10) };
    fpm_scatter *scatter = fpm_scatter_new(points, 500, 1); // which sorts the points
    const size_t n = fpm_scatter_size(scatter);
    for (size_t i = 0; i + 1 < n; i++) {
        const double x[D] = { (points[i].x[0] + points[i + 1].x[0]) / 2 };
        double value;
        cr_assert(fpm_scatter_value(scatter, x, &value));
        cr_assert_float_eq(value, (points[i].value + points[i + 1].value) / 2, 1e-7);
    }
    fpm_scatter_free(scatter);
}

Test(max_entropy, weights_are_a_centred_mean_of_the_points_or_there_are_none) {
    int n_inside = 0;
    for (int i = 0; i < 3000; i++) {
        fpm_entropy_problem problem = { .n = 1 + (size_t)draw(30), .n_dimensions = 1 + (unsigned)draw(4) };
        for (size_t k = 0; k < problem.n; k++) {
            problem.prior[k] = 0.01 + draw(1);
            for (unsigned d = 0; d < problem.n_dimensions; d++) problem.offset[k][d] = floor(draw(21)) - 10;
        }
        double weights[FPM_ENTROPY_POINTS], sum = 0, centre[4] = { 0 };
        if (!fpm_entropy_weights(&problem, weights)) continue;
        n_inside++;
        for (size_t k = 0; k < problem.n; k++) {
            cr_assert(weights[k] >= 0 && weights[k] <= 1);
            sum += weights[k];
            for (unsigned d = 0; d < problem.n_dimensions; d++) centre[d] += weights[k] * problem.offset[k][d];
        }
        cr_assert_float_eq(sum, 1, 1e-12);
        for (unsigned d = 0; d < 4; d++) cr_assert_float_eq(centre[d], 0, 1e-7);
    }
    cr_expect_gt(n_inside, 1500);
}
