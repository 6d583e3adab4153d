// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/huber.h"

#include <criterion/criterion.h>
#include <gsl/gsl_linalg.h>
#include <stdlib.h>

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

Test(huber, the_median_is_that_of_sorting) {
    double values[80], sorted[80];
    srand(3);
    for (int round = 0; round < 2000; round++) {
        const size_t n = 1 + (size_t)rand() % 80;
        const int range = round % 3 == 0 ? 3 : 1000; // many equal ones, or few
        for (size_t i = 0; i < n; i++) values[i] = round % 5 == 0 ? (double)i : rand() % range;
        memcpy(sorted, values, sizeof sorted);
        qsort(sorted, n, sizeof *sorted, by_size);
        cr_assert_eq(fpm_select_median(values, n), sorted[(n - 1) / 2]);
        qsort(values, n, sizeof *values, by_size);
        cr_assert_eq(memcmp(values, sorted, n * sizeof *values), 0); // none is lost
    }
}

Test(huber, weights_fall_off_beyond_the_bend_and_with_age) {
    cr_assert_eq(fpm_huber_weight(-1.3, 1), 1);
    cr_assert_float_eq(fpm_huber_weight(-13.45, 1), 0.1, 1e-15);
    double weights[5];
    fpm_fading_weights(weights, 5, 2);
    cr_assert_eq(weights[4], 1);
    cr_assert_float_eq(weights[2], 0.5, 1e-15);
    cr_assert_float_eq(weights[0], 0.25, 1e-15);
}

Test(huber, definite_equations_are_solved_as_gsl_solves_them) {
    const double full[16] = { 9, 2.385, 1, 0.5, 2.385, 7, 0.3, 1, 1, 0.3, 5, 2, 0.5, 1, 2, 4 };
    double a[4][4], b[4] = { 1.5, -2.25, 0.125, 3 }, flat[16], right[4];
    for (int i = 0; i < 16; i++) a[i / 4][i % 4] = flat[i] = full[i];
    for (int i = 0; i < 4; i++) right[i] = b[i];
    gsl_matrix_view matrix = gsl_matrix_view_array(flat, 4, 4);
    gsl_vector_view x = gsl_vector_view_array(right, 4);
    gsl_linalg_cholesky_decomp1(&matrix.matrix);
    gsl_linalg_cholesky_svx(&matrix.matrix, &x.vector);
    cr_assert(fpm_cholesky_solve(a, b, 4));
    for (int i = 0; i < 4; i++) cr_assert_float_eq(b[i], right[i], 1e-14);
    double singular[4][4] = { { 1 }, { 1, 1 } }, any[4] = { 1, 2 };
    cr_assert_not(fpm_cholesky_solve(singular, any, 2));
}
