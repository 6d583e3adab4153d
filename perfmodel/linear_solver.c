// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/linear_solver.h"

#include <math.h>
#include <string.h>

#define LEAST_PIVOT 1e-12

static void swap_rows(double m[3][4], unsigned i, unsigned k) {
    double row[4];
    if (i == k) return;
    memcpy(row, m[i], sizeof row);
    memcpy(m[i], m[k], sizeof row);
    memcpy(m[k], row, sizeof row);
}

// m: n rows of n coefficients and, in column 3, the right-hand side, which ends as the solution.
static bool eliminate(double m[3][4], unsigned n) {
    for (unsigned column = 0; column < n; column++) {
        unsigned pivot = column;
        for (unsigned row = column + 1; row < n; row++)
            if (fabs(m[row][column]) >= fabs(m[pivot][column])) pivot = row;
        if (fabs(m[pivot][column]) < LEAST_PIVOT) return false;
        swap_rows(m, column, pivot);
        const double divisor = m[column][column];
        for (unsigned k = column; k < 4; k++) m[column][k] /= divisor;
        for (unsigned row = 0; row < n; row++) {
            if (row == column) continue;
            const double factor = m[row][column];
            for (unsigned k = column; k < 4; k++) m[row][k] -= factor * m[column][k];
        }
    }
    return true;
}

static bool solve_with_ridge(const fpm_normal_equations *equations, double ridge, double solution[3]) {
    double m[3][4] = { 0 };
    for (unsigned i = 0; i < equations->n; i++) {
        for (unsigned k = 0; k < equations->n; k++) m[i][k] = equations->a[i][k];
        if (i > 0) m[i][i] += ridge;
        m[i][3] = equations->b[i];
    }
    if (!eliminate(m, equations->n)) return false;
    for (unsigned i = 0; i < equations->n; i++) solution[i] = m[i][3];
    return true;
}

bool fpm_normal_equations_solve(const fpm_normal_equations *equations, double solution[3]) {
    if (solve_with_ridge(equations, 0.0, solution)) return true;
    double trace = 0.0;
    for (unsigned i = 0; i < equations->n; i++) trace += fabs(equations->a[i][i]);
    return solve_with_ridge(equations, 1e-9 * fmax(1.0, trace), solution);
}

// --- several systems -------------------------------------------------------------------------------------------------

#define LANES 4

// m[row][column][lane], as in eliminate.
typedef struct lanes {
    double m[3][4][LANES];
    double least_pivot[LANES]; // absolute
} lanes;

// Row `column` changes places with the row below or at it that has the largest entry in this column, the last of equals.
static inline void pivot_first(lanes *all) {
    for (unsigned lane = 0; lane < LANES; lane++) {
        const double a0 = fabs(all->m[0][0][lane]), a1 = fabs(all->m[1][0][lane]), a2 = fabs(all->m[2][0][lane]);
        const double most = a1 >= a0 ? a1 : a0;
        all->least_pivot[lane] = a2 >= most ? a2 : most;
        for (unsigned k = 0; k < 4; k++) {
            const double r0 = all->m[0][k][lane], r1 = all->m[1][k][lane], r2 = all->m[2][k][lane];
            const double upper = a1 >= a0 ? r1 : r0, rest = a1 >= a0 ? r0 : r1;
            all->m[0][k][lane] = a2 >= most ? r2 : upper;
            all->m[1][k][lane] = a2 >= most ? r1 : rest;
            all->m[2][k][lane] = a2 >= most ? r0 : r2;
        }
    }
}

static inline void pivot_second(lanes *all) {
    for (unsigned lane = 0; lane < LANES; lane++) {
        const double a1 = fabs(all->m[1][1][lane]), a2 = fabs(all->m[2][1][lane]);
        const double most = a2 >= a1 ? a2 : a1, least = all->least_pivot[lane];
        all->least_pivot[lane] = most < least ? most : least;
        for (unsigned k = 1; k < 4; k++) {
            const double r1 = all->m[1][k][lane], r2 = all->m[2][k][lane];
            all->m[1][k][lane] = a2 >= a1 ? r2 : r1;
            all->m[2][k][lane] = a2 >= a1 ? r1 : r2;
        }
    }
}

static inline void eliminate_column(lanes *all, unsigned column) {
    for (unsigned lane = 0; lane < LANES; lane++) {
        const double divisor = all->m[column][column][lane];
        for (unsigned k = column + 1; k < 4; k++) all->m[column][k][lane] /= divisor;
        for (unsigned row = 0; row < 3; row++) {
            if (row == column) continue;
            const double factor = all->m[row][column][lane];
            for (unsigned k = column + 1; k < 4; k++) all->m[row][k][lane] -= factor * all->m[column][k][lane];
        }
    }
}

static void solve_lanes(lanes *all) {
    pivot_first(all);
    eliminate_column(all, 0);
    pivot_second(all);
    eliminate_column(all, 1);
    for (unsigned lane = 0; lane < LANES; lane++) {
        const double last = fabs(all->m[2][2][lane]), least = all->least_pivot[lane];
        all->least_pivot[lane] = last < least ? last : least;
    }
    eliminate_column(all, 2);
}

void fpm_normal_equations_solve_many(const fpm_normal_equations *equations, unsigned n_systems, double solutions[][3],
                                     bool *is_solved) {
    for (unsigned first = 0; first < n_systems; first += LANES) {
        lanes all;
        const unsigned n = n_systems - first < LANES ? n_systems - first : LANES;
        for (unsigned lane = 0; lane < LANES; lane++) {
            const fpm_normal_equations *system = &equations[first + (lane < n ? lane : 0)];
            for (unsigned row = 0; row < 3; row++) {
                for (unsigned k = 0; k < 3; k++) all.m[row][k][lane] = system->a[row][k];
                all.m[row][3][lane] = system->b[row];
            }
        }
        solve_lanes(&all);
        for (unsigned lane = 0; lane < n; lane++) {
            double *solution = solutions[first + lane];
            for (unsigned row = 0; row < 3; row++) solution[row] = all.m[row][3][lane];
            // A singular one is tried with the ridge, on its own.
            is_solved[first + lane] = !(all.least_pivot[lane] < LEAST_PIVOT) ||
                                      fpm_normal_equations_solve(&equations[first + lane], solution);
        }
    }
}
