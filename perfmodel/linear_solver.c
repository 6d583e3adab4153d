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
