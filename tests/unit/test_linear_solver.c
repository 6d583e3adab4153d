// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/linear_solver.h"

#include <criterion/criterion.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdint.h>

Test(linear_solver, solves_what_gsl_solves) {
    const double a[3][3] = { { 2.385, 1.1, 0.7 }, { 1.1, 5.03, -0.4 }, { 0.7, -0.4, 3.9 } },
                 b[3] = { 1.5, -2.25, 0.125 };
    fpm_normal_equations equations = { .n = 3 };
    double flat[9], right[3], solution[3];
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) flat[3 * i + k] = equations.a[i][k] = a[i][k];
        right[i] = equations.b[i] = b[i];
    }
    gsl_matrix_view matrix = gsl_matrix_view_array(flat, 3, 3);
    gsl_vector_view vector = gsl_vector_view_array(right, 3);
    gsl_vector *x = gsl_vector_alloc(3);
    gsl_permutation *p = gsl_permutation_alloc(3);
    int sign;
    gsl_linalg_LU_decomp(&matrix.matrix, p, &sign);
    gsl_linalg_LU_solve(&matrix.matrix, p, &vector.vector, x);
    cr_assert(fpm_normal_equations_solve(&equations, solution));
    for (size_t i = 0; i < 3; i++) cr_assert_float_eq(solution[i], gsl_vector_get(x, i), 1e-14);
    gsl_permutation_free(p);
    gsl_vector_free(x);
}

Test(linear_solver, pivots_below_1e_12_are_singular_and_get_a_ridge) {
    const struct {
        fpm_normal_equations equations;
        bool is_solved;
        double first, tolerance;
    } cases[] = {
        { { 1, { { 2e-12 } }, { 4e-12 } }, true, 2, 1e-15 },
        { { 1, { { 9e-13 } }, { 1 } }, false, 0, 0 },               // the intercept gets no ridge
        { { 2, { { 0, 1 }, { 1, 0 } }, { 3, 4 } }, true, 4, 0 },    // rows change places
        { { 2, { { 4, 8 }, { 8, 16 } }, { 12, 24 } }, true, 3, 3 }, // equal points: the ridge decides
        { { 3, { { 0 } }, { 1, 1, 1 } }, false, 0, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double solution[3] = { 0 };
        cr_assert_eq(fpm_normal_equations_solve(&cases[i].equations, solution), cases[i].is_solved, "case %zu", i);
        if (cases[i].is_solved)
            cr_assert_float_eq(solution[0], cases[i].first, cases[i].tolerance + 1e-300, "case %zu: %g", i,
                               solution[0]);
    }
}

// Bit for bit, also where rows change places, pivots are equal, a ridge is needed or nothing helps.
Test(linear_solver, many_at_once_are_solved_as_one_by_one) {
    uint64_t state = 11;
    for (int round = 0; round < 300; round++) {
        fpm_normal_equations systems[7];
        double solutions[7][3];
        bool is_solved[7];
        for (int i = 0; i < 7; i++) {
            systems[i].n = 3;
            for (int row = 0; row < 3; row++) {
                for (int k = 0; k <= row; k++) {
                    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                    const double scale = round % 3 == 0 ? 1.0 : round % 3 == 1 ? 1e-13 : 1e7;
                    systems[i].a[row][k] = systems[i].a[k][row] = scale * ((double)(state >> 61) - 3.0); // often equal
                }
                systems[i].b[row] = (double)(state >> 50 & 15);
            }
        }
        fpm_normal_equations_solve_many(systems, 7, solutions, is_solved);
        for (int i = 0; i < 7; i++) {
            double solution[3] = { 0 };
            cr_assert_eq(fpm_normal_equations_solve(&systems[i], solution), is_solved[i]);
            for (int k = 0; is_solved[i] && k < 3; k++)
                cr_assert(solution[k] == solutions[i][k] || (isnan(solution[k]) && isnan(solutions[i][k])),
                          "round %d: %.17g, not %.17g", round, solutions[i][k], solution[k]);
        }
    }
}
