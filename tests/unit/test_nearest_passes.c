// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/nearest_passes.h"

#include <criterion/criterion.h>
#include <math.h>

#include "sim/kernel/random.h"

enum { MOST = 600 };

static sim_recorded_pass passes[MOST];
static uint32_t features[MOST * SIM_RANK_FEATURES];

// Random decode passes, many of them equal.
static sim_recorded_log make_log(sim_stream *dice, size_t n, uint64_t n_values) {
    for (size_t i = 0; i < n; i++) {
        uint32_t *f = &features[i * SIM_RANK_FEATURES];
        for (size_t k = 0; k < SIM_RANK_FEATURES; k++) f[k] = 0;
        f[3] = 1 + (uint32_t)sim_stream_integer(dice, n_values);
        f[4] = (uint32_t)sim_stream_integer(dice, n_values * n_values);
        passes[i] = (sim_recorded_pass){ i * SIM_RANK_FEATURES, 1, 0, FPM_DECODE, 1 };
    }
    return (
        sim_recorded_log){ .passes = passes, .n_passes = n, .features = features, .n_features = n * SIM_RANK_FEATURES };
}

static size_t find_naively(const sim_recorded_log *log, const double *place, sim_neighbour *found) {
    size_t n = 0;
    for (uint32_t i = 0; i < log->n_passes; i++) {
        double at[SIM_RANK_FEATURES], square = 0;
        sim_pass_place(&log->features[log->passes[i].first], 1, at);
        for (size_t k = 0; k < SIM_RANK_FEATURES; k++) square += (at[k] - place[k]) * (at[k] - place[k]);
        const double distance = sqrt(square);
        size_t p = n;
        while (p > 0 && distance < found[p - 1].distance) p--;
        if (p >= SIM_NEIGHBOURS) continue;
        if (n < SIM_NEIGHBOURS) n++;
        for (size_t q = n - 1; q > p; q--) found[q] = found[q - 1];
        found[p] = (sim_neighbour){ distance, i };
    }
    return n;
}

Test(nearest_passes, are_those_that_a_look_at_every_pass_finds) {
    const uint64_t seed = 11;
    sim_stream *dice = sim_stream_new(seed, "nearest");
    static const size_t counts[] = { 0, 1, 2, 3, 5, 64, 599, 600 };
    static const uint64_t values[] = { 2, 9, 1000 };
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t v = 0; v < 3; v++) {
            const sim_recorded_log log = make_log(dice, counts[c], values[v]);
            sim_nearest_passes *nearest = sim_nearest_passes_new(&log, FPM_DECODE);
            for (int i = 0; i < 50; i++) {
                const uint32_t asked[] = { 0, 0, 0, (uint32_t)sim_stream_integer(dice, values[v] + 5),
                                           (uint32_t)sim_stream_integer(dice, values[v] * values[v] + 5) };
                double place[SIM_RANK_FEATURES];
                sim_neighbour found[SIM_NEIGHBOURS], expected[SIM_NEIGHBOURS];
                sim_pass_place(asked, 1, place);
                const size_t n = sim_nearest_passes_find(nearest, place, found);
                cr_assert_eq(n, find_naively(&log, place, expected));
                for (size_t k = 0; k < n; k++)
                    cr_assert(found[k].pass == expected[k].pass, "seed %llu, %zu passes of %llu values: %u for %u",
                              (unsigned long long)seed, counts[c], (unsigned long long)values[v], found[k].pass,
                              expected[k].pass);
            }
            sim_nearest_passes_free(nearest);
        }
    sim_stream_free(dice);
}

Test(nearest_passes, know_their_range) {
    sim_stream *dice = sim_stream_new(3, "nearest");
    const sim_recorded_log log = make_log(dice, 100, 50);
    sim_nearest_passes *nearest = sim_nearest_passes_new(&log, FPM_DECODE),
                       *none = sim_nearest_passes_new(&log, FPM_MIXED);
    const double inside[] = { 0, 0, 0, log1p(25), log1p(1000) }, outside[] = { 0, 0, 0, log1p(25), log1p(1e6) };
    cr_expect(sim_nearest_passes_contain(nearest, inside));
    cr_expect_not(sim_nearest_passes_contain(nearest, outside));
    cr_expect_not(sim_nearest_passes_contain(none, inside));
    sim_nearest_passes_free(nearest);
    sim_nearest_passes_free(none);
    sim_stream_free(dice);
}
