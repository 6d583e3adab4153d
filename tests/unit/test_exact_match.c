// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/exact_match.h"

#include <criterion/criterion.h>

// Eight passes of one rank: load (decode requests) and worker by turns.
static const uint32_t loads[] = { 7, 3, 7, 7, 3, 7, 9, 7 };
static const uint32_t workers[] = { 0, 0, 1, 0, 1, SIM_FOREIGN_WORKER, 0, 1 };

static sim_recorded_log make_log(void) {
    static sim_recorded_pass passes[8];
    static uint32_t features[8 * SIM_RANK_FEATURES];
    for (size_t i = 0; i < 8; i++) {
        features[i * SIM_RANK_FEATURES + 3] = loads[i];
        passes[i] = (sim_recorded_pass){ i * SIM_RANK_FEATURES, 1, workers[i], FPM_DECODE, 1 };
    }
    return (
        sim_recorded_log){ .passes = passes, .n_passes = 8, .features = features, .n_features = sizeof features / 4 };
}

static long take(sim_exact_match *match, uint32_t load, uint32_t worker) {
    const uint32_t features[SIM_RANK_FEATURES] = { 0, 0, 0, load, 0 };
    size_t pass;
    return sim_exact_match_take(match, features, 1, worker, &pass) ? (long)pass : -1;
}

Test(exact_match, gives_out_a_worker_s_own_passes_in_order_then_those_of_others_then_all_again) {
    const sim_recorded_log log = make_log();
    sim_exact_match *match = sim_exact_match_new(&log);
    static const struct {
        uint32_t load, worker;
        long pass;
    } steps[] = { { 7, 1, 2 }, { 7, 0, 0 }, { 7, 1, 7 }, { 7, 1, 3 }, // 3 is worker 0's, and the first left
                  { 7, 0, 5 }, { 7, 0, 0 }, { 7, 5, 2 },              // all again
                  { 3, 1, 4 }, { 3, 1, 1 }, { 3, 1, 4 }, { 9, 2, 6 }, { 8, 0, -1 }, { 10, 0, -1 }, { 0, 0, -1 } };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        cr_expect_eq(take(match, steps[i].load, steps[i].worker), steps[i].pass, "step %zu", i);
    sim_exact_match_free(match);
}

Test(exact_match, compares_every_rank_and_how_many_there_are) {
    const sim_recorded_log log = make_log();
    sim_exact_match *match = sim_exact_match_new(&log);
    const uint32_t two[2 * SIM_RANK_FEATURES] = { 0, 0, 0, 7, 0, 0, 0, 0, 3, 0 };
    size_t pass;
    cr_expect_not(sim_exact_match_take(match, two, 2, 0, &pass));
    sim_exact_match_free(match);
}
