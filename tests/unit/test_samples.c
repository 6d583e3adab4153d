// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/samples.h"

#include <criterion/criterion.h>

static fpm_model_options options(uint64_t max_observations, uint64_t bucket_count) {
    fpm_model_options o = fpm_model_options_default();
    o.max_observations = max_observations;
    o.bucket_count = bucket_count;
    return o;
}

static fpm_samples_change insert(fpm_samples *samples, uint32_t x, uint32_t y, double value) {
    fpm_samples_change change;
    cr_assert(fpm_samples_insert(samples, (fpm_load){ { x, y } }, value, &change));
    return change;
}

// The values in the order of insertion.
static void check(const fpm_samples *samples, const char *expected) {
    char text[256] = "";
    for (uint32_t slot = fpm_samples_oldest(samples); slot; slot = samples->slots[slot].newer)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%g ", samples->slots[slot].value);
    cr_assert_str_eq(text, expected);
}

Test(samples, the_fullest_bucket_gives_up_its_oldest) {
    const fpm_model_options o = options(4, 4);
    fpm_samples samples;
    fpm_samples_init(&samples, 1, (const double[]){ 100, 0 }, &o, false);
    insert(&samples, 90, 0, 1);
    insert(&samples, 10, 0, 2);
    insert(&samples, 11, 0, 3);
    insert(&samples, 12, 0, 4);
    check(&samples, "1 2 3 4 ");
    const fpm_samples_change change = insert(&samples, 60, 0, 5);
    check(&samples, "1 3 4 5 ");
    cr_assert(change.is_stored && change.shrunk != FPM_NONE && change.evicted_load.x[0] == 10);
    insert(&samples, 13, 0, 6);
    check(&samples, "1 4 5 6 "); // the new one counts: the bucket at 10 has three
    fpm_samples_free(&samples);
}

Test(samples, of_equally_full_buckets_the_one_with_the_oldest_sample_gives_it_up) {
    const fpm_model_options o = options(3, 4);
    fpm_samples samples;
    fpm_samples_init(&samples, 1, (const double[]){ 100, 0 }, &o, false);
    insert(&samples, 60, 0, 1);
    insert(&samples, 10, 0, 2);
    insert(&samples, 90, 0, 3);
    insert(&samples, 30, 0, 4);
    check(&samples, "2 3 4 "); // four buckets of one
    insert(&samples, 10, 0, 5);
    check(&samples, "3 4 5 ");
    fpm_samples_free(&samples);
}

Test(samples, a_limit_of_one_keeps_the_newest) {
    const fpm_model_options o = options(1, 16);
    fpm_samples samples;
    fpm_samples_init(&samples, 1, NULL, &o, false);
    for (uint32_t i = 1; i <= 9; i++) insert(&samples, i * 7 % 10, 0, i);
    check(&samples, "9 ");
    fpm_samples_free(&samples);
}

Test(samples, a_fixed_grid_ends_at_its_bounds_inclusive) {
    const fpm_model_options o = options(64, 16);
    const struct {
        uint32_t x, y;
        bool is_stored;
    } cases[] = { { 0, 0, true },        { 512, 2000000, true }, { 513, 0, false },
                  { 1, 2000001, false }, { 512, 0, true },       { UINT32_MAX, UINT32_MAX, false } };
    fpm_samples samples;
    fpm_samples_init(&samples, 2, (const double[]){ 512, 2000000 }, &o, false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_assert_eq(insert(&samples, cases[i].x, cases[i].y, 1).is_stored, cases[i].is_stored, "case %zu", i);
    cr_assert_eq(samples.n, 3);
    fpm_samples_free(&samples);
}

Test(samples, cells_divide_first_and_then_multiply) {
    const fpm_model_options o = options(64, 49);
    fpm_samples samples;
    fpm_samples_init(&samples, 1, (const double[]){ 49, 0 }, &o, false);
    uint64_t n_hit = 0, hit[49] = { 0 };
    for (uint32_t x = 0; x <= 49; x++) hit[fpm_grid_key(&samples.grid, (fpm_load){ { x, 0 } })]++;
    for (int i = 0; i < 49; i++) n_hit += hit[i] > 0;
    cr_assert_eq(n_hit, 43); // six cells are never hit (notes/fpm-behaviour.md section 4)
    fpm_samples_free(&samples);
}

Test(samples, a_growing_grid_spreads_its_samples_anew_in_order) {
    const fpm_model_options o = options(4, 4);
    fpm_samples samples;
    fpm_samples_init(&samples, 1, NULL, &o, false);
    insert(&samples, 10, 0, 1);
    insert(&samples, 20, 0, 2);
    insert(&samples, 30, 0, 3);
    insert(&samples, 40, 0, 4);
    check(&samples, "1 2 3 4 ");
    insert(&samples, 1000, 0, 5); // now 10 to 40 share a bucket
    check(&samples, "2 3 4 5 ");
    insert(&samples, 500, 0, 6);
    check(&samples, "3 4 5 6 ");
    fpm_samples_free(&samples);
}

Test(samples, a_huge_grid_costs_what_its_samples_cost) {
    const fpm_model_options o = options(100, 1000000000000);
    fpm_samples samples, copy;
    fpm_samples_init(&samples, 2, (const double[]){ 4e9, 4e9 }, &o, true);
    for (uint32_t i = 0; i < 5000; i++) insert(&samples, i * 2654435761u % 4000000000u, i * 40503u % 4000000000u, i);
    cr_assert_eq(samples.n, 100);
    cr_assert_leq(samples.bucket_capacity, 512);
    cr_assert(fpm_samples_copy(&copy, &samples));
    for (uint32_t i = 0; i < 500; i++) {
        insert(&samples, i * 77777, i, i);
        insert(&copy, i * 77777, i, i);
    }
    uint32_t a = fpm_samples_oldest(&samples), b = fpm_samples_oldest(&copy);
    for (; a && b; a = samples.slots[a].newer, b = copy.slots[b].newer)
        cr_assert_eq(samples.slots[a].value, copy.slots[b].value);
    cr_assert(!a && !b);
    fpm_samples_free(&copy);
    fpm_samples_free(&samples);
}

Test(samples, insertion_numbers_start_again_without_changing_their_order) {
    const fpm_model_options o = options(3, 4);
    fpm_samples samples;
    fpm_samples_init(&samples, 1, (const double[]){ 100, 0 }, &o, false);
    samples.next_number = UINT32_MAX - 2;
    for (uint32_t i = 1; i <= 6; i++) insert(&samples, i * 30 % 100, 0, i);
    check(&samples, "4 5 6 ");
    cr_assert_lt(samples.next_number, 10);
    fpm_samples_free(&samples);
}

static uint32_t draw(uint64_t *state, uint32_t below) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % below;
}

// Against a plain search over all samples. Packed keys have room for 4096 buckets; the larger set is searched another
// way.
Test(samples, sets_of_any_size_follow_the_same_rule) {
    enum { MOST = 7000 };
    static uint64_t keys[MOST];
    static uint32_t values[MOST], count[1000000];
    const uint32_t limits[] = { 7, 300, 4000, 5000 };
    for (int c = 0; c < 4; c++) {
        const fpm_model_options o = options(limits[c], 1000000);
        fpm_samples samples;
        fpm_samples_init(&samples, 1, (const double[]){ 1e6, 0 }, &o, false);
        uint64_t state = 5;
        uint32_t n = 0;
        memset(count, 0, sizeof count);
        for (uint32_t i = 0; i < limits[c] + 1400; i++) {
            const uint32_t x = i % 8 ? draw(&state, 1000000) : draw(&state, 40); // some crowd
            insert(&samples, x, 0, i);
            keys[n] = fpm_grid_key(&samples.grid, (fpm_load){ { x, 0 } });
            count[keys[n]]++;
            values[n++] = i;
            if (n <= limits[c]) continue;
            uint32_t gone = 0;
            for (uint32_t k = 1; k < n; k++)
                if (count[keys[k]] > count[keys[gone]]) gone = k;
            count[keys[gone]]--;
            n--;
            memmove(keys + gone, keys + gone + 1, (n - gone) * sizeof *keys);
            memmove(values + gone, values + gone + 1, (n - gone) * sizeof *values);
        }
        cr_assert_eq(samples.n, n);
        if (c >= 2) cr_assert_gt(samples.n_buckets, 1u << 12);
        uint32_t k = 0;
        for (uint32_t slot = fpm_samples_oldest(&samples); slot; slot = samples.slots[slot].newer)
            cr_assert_eq(samples.slots[slot].value, values[k++], "limit %u, place %u", limits[c], k);
        fpm_samples_free(&samples);
    }
}
