// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/sorted_list.h"

#include <criterion/criterion.h>
#include <math.h>

static void check(const fpm_sorted_list *list, const double *expected, uint32_t n) {
    cr_assert_eq(list->n, n);
    cr_assert_eq(list->values[-1], -HUGE_VAL);
    for (uint32_t i = 0; i < n; i++) cr_assert_eq(list->values[i], expected[i], "place %u: %g", i, list->values[i]);
    for (uint32_t i = n; i <= list->capacity; i++) cr_assert_eq(list->values[i], HUGE_VAL, "padding at %u", i);
}

Test(sorted_list, stays_sorted_and_padded_across_blocks) {
    fpm_sorted_list list = { 0 };
    double expected[40];
    for (int i = 0; i < 40; i++) {
        cr_assert(fpm_sorted_list_reserve(&list));
        fpm_sorted_list_insert(&list, (i * 17) % 40); // every value once, in a mixed order
    }
    for (int i = 0; i < 40; i++) expected[i] = i;
    check(&list, expected, 40);
    for (int i = 39; i >= 0; i--) {
        fpm_sorted_list_remove(&list, (i * 23) % 40);
        double left[40];
        uint32_t n = 0;
        for (int v = 0; v < 40; v++) {
            bool is_gone = false;
            for (int j = 39; j >= i; j--) is_gone |= (j * 23) % 40 == v;
            if (!is_gone) left[n++] = v;
        }
        check(&list, left, n);
    }
    fpm_sorted_list_free(&list);
}

Test(sorted_list, equal_and_infinite_values_are_kept_one_by_one) {
    fpm_sorted_list list = { 0 }, copy;
    const double values[] = { HUGE_VAL, 1, 0, 1, HUGE_VAL, 1 };
    for (size_t i = 0; i < 6; i++) {
        fpm_sorted_list_reserve(&list);
        fpm_sorted_list_insert(&list, values[i]);
    }
    check(&list, (const double[]){ 0, 1, 1, 1, HUGE_VAL, HUGE_VAL }, 6);
    fpm_sorted_list_remove(&list, 1);
    fpm_sorted_list_remove(&list, HUGE_VAL);
    cr_assert(fpm_sorted_list_copy(&copy, &list));
    fpm_sorted_list_remove(&list, 0);
    check(&list, (const double[]){ 1, 1, HUGE_VAL }, 3);
    check(&copy, (const double[]){ 0, 1, 1, HUGE_VAL }, 4);
    fpm_sorted_list_clear(&copy);
    check(&copy, NULL, 0);
    fpm_sorted_list_free(&copy);
    fpm_sorted_list_free(&list);
}

// Against removing and inserting, with values that come often, over one block and several.
Test(sorted_list, a_value_takes_the_place_of_another_one) {
    for (uint32_t n = 1; n <= 70; n += n < 10 ? 1 : 12) {
        fpm_sorted_list list = { 0 }, plain = { 0 };
        double in_order[70];
        uint32_t state = n;
        for (uint32_t i = 0; i < n; i++) {
            in_order[i] = (i * 7) % 23;
            cr_assert(fpm_sorted_list_reserve(&list) && fpm_sorted_list_reserve(&plain));
            fpm_sorted_list_insert(&list, in_order[i]);
            fpm_sorted_list_insert(&plain, in_order[i]);
        }
        for (int round = 0; round < 300; round++) {
            state = state * 1664525 + 1013904223;
            double *old = &in_order[(state >> 8) % n];
            const double value = (state >> 20) % 97 == 0 ? HUGE_VAL : (state >> 16) % 29;
            cr_assert(fpm_sorted_list_reserve(&plain));
            fpm_sorted_list_insert(&plain, value);
            fpm_sorted_list_remove(&plain, *old);
            fpm_sorted_list_replace(&list, *old, value);
            *old = value;
            check(&list, plain.values, n);
        }
        fpm_sorted_list_free(&list);
        fpm_sorted_list_free(&plain);
    }
}

Test(sorted_list, an_empty_list_copies_and_frees) {
    fpm_sorted_list list = { 0 }, copy;
    cr_assert(fpm_sorted_list_copy(&copy, &list));
    fpm_sorted_list_free(&copy);
    fpm_sorted_list_free(&list);
}
