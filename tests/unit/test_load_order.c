// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/load_order.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

Test(load_order, keeps_samples_by_load_and_equal_loads_by_age) {
    fpm_load_order order = { 0 };
    const double x[] = { 5, 3, 5, 9, 3 }, ms[] = { 10, 20, 30, 40, (double)INFINITY };
    for (int i = 0; i < 5; i++) {
        cr_assert(fpm_load_order_reserve(&order));
        fpm_load_order_insert(&order, x[i], ms[i]);
    }
    const double wanted_x[] = { 3, 3, 5, 5, 9 }, wanted_ms[] = { 20, (double)INFINITY, 10, 30, 40 };
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(order.samples[i].x, wanted_x[i]);
        cr_assert_eq(order.samples[i].ms, wanted_ms[i]);
    }
    cr_assert_eq(order.samples[0].weight, 1.0 / 25); // the floor
    cr_assert_eq(order.samples[1].weight_sq, 0);
    cr_assert_eq(order.samples[4].weight, 1.0 / 40);
    cr_assert_eq(order.n_distinct, 3);
    for (uint32_t i = 0; i < 3; i++) cr_assert_eq(fpm_load_order_distinct(&order, i), ((double[]){ 3, 5, 9 })[i]);
    fpm_load_order_remove(&order, 3, (double)INFINITY);
    fpm_load_order_remove(&order, 5, 10);
    cr_assert_eq(order.n, 3);
    cr_assert_eq(order.n_distinct, 3);
    cr_assert_eq(order.samples[1].ms, 30);
    fpm_load_order_remove(&order, 5, 30);
    cr_assert_eq(order.n_distinct, 2);
    fpm_load_order_free(&order);
}

// A window over a random series against sorting it anew.
static int by_load(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

Test(load_order, agrees_with_sorting_under_any_insertions_and_removals) {
    enum { N = 600 };
    for (unsigned window = 1; window < 90; window += 11) {
        fpm_load_order order = { 0 };
        double series[N][2];
        srand(window);
        for (unsigned i = 0; i < N; i++) {
            series[i][0] = 1 + rand() % 40;
            series[i][1] = 1 + i;
            cr_assert(fpm_load_order_reserve(&order));
            if (i >= window) fpm_load_order_remove(&order, series[i - window][0], series[i - window][1]);
            fpm_load_order_insert(&order, series[i][0], series[i][1]);
            const unsigned first = i >= window ? i - window + 1 : 0, n = i + 1 - first;
            double sorted[N][2];
            for (unsigned k = 0; k < n; k++) {
                sorted[k][0] = series[first + k][0];
                sorted[k][1] = series[first + k][1];
            }
            qsort(sorted, n, sizeof sorted[0], by_load);
            cr_assert_eq(order.n, n);
            uint32_t n_distinct = 0;
            for (unsigned k = 0; k < n; k++) {
                cr_assert_eq(order.samples[k].x, sorted[k][0]);
                if (k > 0 && order.samples[k - 1].x == order.samples[k].x)
                    cr_assert_lt(order.samples[k - 1].ms, order.samples[k].ms);
                if (k > 0 && sorted[k - 1][0] == sorted[k][0]) continue;
                cr_assert_eq(fpm_load_order_distinct(&order, n_distinct), sorted[k][0]);
                n_distinct++;
            }
            cr_assert_eq(order.n_distinct, n_distinct);
        }
        fpm_load_order_free(&order);
    }
}
