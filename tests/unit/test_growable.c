// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/workload/growable.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

Test(growable, arrays_double_and_sizes_that_do_not_fit_are_refused) {
    size_t capacity = 0;
    uint64_t *array = sim_grown(NULL, &capacity, 1, sizeof *array);
    cr_assert(array && capacity == 16);
    for (uint64_t i = 0; i < 1000; i++) {
        array = sim_grown(array, &capacity, (size_t)i + 1, sizeof *array);
        cr_assert(array);
        array[i] = i;
    }
    cr_expect_eq(capacity, 1024);
    cr_expect_null(sim_grown(array, &capacity, SIZE_MAX / 8 + 1, sizeof *array));
    cr_expect_eq(capacity, 1024, "a refusal changes nothing");
    array = sim_shrunk(array, 1000, sizeof *array);
    for (uint64_t i = 0; i < 1000; i++) cr_assert_eq(array[i], i);
    array = sim_shrunk(array, 0, sizeof *array);
    cr_expect(array, "an empty array is still one to free");
    free(array);
    cr_expect_null(sim_shrunk(NULL, 0, 8));
}

Test(growable, texts_are_formatted_and_cut_at_their_limit) {
    sim_text_list list = { 0 };
    char longer[2000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    cr_assert(sim_text_list_add(&list, "%s:%d", "file", 7));
    cr_assert(sim_text_list_add(&list, "%s", longer));
    cr_expect_str_eq(list.items[0], "file:7");
    cr_expect_eq(strlen(list.items[1]), 767);
    sim_text_list_clear(&list);
    cr_expect(list.n == 0 && list.items == NULL);
}
