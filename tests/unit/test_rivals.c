// SPDX-License-Identifier: GPL-3.0-or-later
//
// early_stop = dominated: who counts as a rival, and when a run is given up for one.
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/experiment/sweep/rivals.h"

static const sim_objectives two = { .n = 2,
                                    .list = { { "sla_attainment", "sla_attainment", false, SIM_PER_RUN },
                                              { "num_gpus", "num_gpus", true, SIM_PER_RUN } } };

static sim_results *begun(void) {
    const sim_experiment experiment = { "[sweep]\n", "grid", "1.0", NULL, 0, &two };
    sim_results *results;
    sim_error error;
    cr_assert_eq(sim_results_open(&results, NULL, &error), SIM_OK, "%s", error.message);
    cr_assert_eq(sim_results_begin(results, &experiment, &error), SIM_OK, "%s", error.message);
    return results;
}

static void put(sim_results *results, const char *hash, uint32_t repeat, const char *status, double attainment,
                int gpus) {
    char summary[128];
    sim_error error;
    const bool is_done = strcmp(status, "done") == 0;
    snprintf(summary, sizeof summary, "{\"sla_attainment\":%g,\"num_gpus\":%d}", attainment, gpus);
    const sim_result result = { .point = hash,
                                .repeat = repeat,
                                .trace_hash = "",
                                .status = status,
                                .reason = "",
                                .summary = is_done ? summary : NULL };
    cr_assert_eq(sim_results_put(results, &result, "1.0", &error), SIM_OK, "%s", error.message);
}

// A point with two runs.
static void add(sim_results *results, size_t position, const char *hash, double first, double second, int gpus) {
    sim_error error;
    cr_assert_eq(sim_results_add_point(results, position, hash, "{}", &error), SIM_OK, "%s", error.message);
    put(results, hash, 0, "done", first, gpus);
    put(results, hash, 1, second < 0 ? "stopped" : "done", second, gpus);
}

static const sim_rival *find(const sim_rivals *rivals, const char *hash) {
    for (size_t i = 0; i < rivals->n; i++)
        if (strcmp(rivals->list[i].point, hash) == 0) return &rivals->list[i];
    return NULL;
}

static void add_round(sim_rivals *rivals, sim_results *results, size_t first, size_t end) {
    sim_error error;
    cr_assert_eq(sim_rivals_add_round(rivals, results, first, end, 2, &error), SIM_OK, "%s", error.message);
}

Test(rivals, are_the_points_that_none_beats_each_as_good_as_its_worst_run) {
    sim_results *results = begun();
    sim_rivals rivals;
    add(results, 0, "aa", 0.9, 0.5, 2);   // 0.5 with 2 GPUs
    add(results, 1, "bb", 0.6, 0.7, 2);   // 0.6 with 2: beats aa
    add(results, 2, "cc", 0.6, 0.6, 3);   // beaten by bb
    add(results, 3, "dd", 0.99, -1, 1);   // not all of it is done
    add(results, 4, "ee", 0.99, 0.95, 4); // of the next round
    sim_rivals_init(&rivals, &two);
    add_round(&rivals, results, 0, 4);
    cr_expect_eq(rivals.n, 1);
    cr_assert(find(&rivals, "bb"));
    cr_expect_eq(find(&rivals, "bb")->values[0], 0.6);
    add_round(&rivals, results, 4, 5);
    cr_expect_eq(rivals.n, 2);
    cr_assert(find(&rivals, "ee"));
    cr_expect_eq(find(&rivals, "ee")->values[0], 0.95);

    // the same to another rank
    sim_rivals there;
    size_t n_bytes;
    char *bytes = sim_rivals_pack(&rivals, &n_bytes);
    sim_rivals_unpack(&there, bytes);
    cr_expect_eq(there.n, 2);
    cr_expect_eq(there.objectives.n, 2);
    cr_expect_eq(find(&there, "ee")->values[1], 4);
    free(bytes);
    sim_rivals_clear(&rivals);
    sim_results_close(results);
}

// A run of four requests on `gpus` GPUs, of which the first two have ended, the first within its bound and the second not: 75 % are good at best.
static bool goes_on(const sim_rivals *rivals, uint64_t gpus, sim_rivals_watch *watch) {
    sim_request requests[4] = {
        { .output_tokens = 1 }, { .output_tokens = 1 }, { .output_tokens = 1 }, { .output_tokens = 1 }
    };
    sim_request_record records[4] = {
        { .status = SIM_REQUEST_COMPLETED, .first_token_ns = 5, .finish_ns = 5, .n_output_tokens = 1 },
        { .status = SIM_REQUEST_COMPLETED, .first_token_ns = 50, .finish_ns = 50, .n_output_tokens = 1 },
    };
    sim_collector_lane lane = { .n_completed = 2, .last_terminal_ns = 50 };
    sim_collector collector = { .records = records, .n_records = 4, .lanes = &lane };
    const sim_workload workload = { .requests = requests, .n_requests = 4 };
    const sim_cluster_config cluster = { .replicas = (int64_t)gpus };
    const sim_sla_config sla = { .ttft_ns = 10 };
    const sim_run_facts facts = { .workload = &workload,
                                  .collector = &collector,
                                  .counts = &lane,
                                  .cluster_config = &cluster,
                                  .num_gpus = gpus,
                                  .sla = &sla };
    double values[4];
    sim_rivals_watch_init(watch, rivals);
    return watch->watch.is_worthwhile(watch->watch.self, &facts, values);
}

Test(rivals, a_run_is_given_up_for_one_that_is_as_good_in_all_and_better_in_one) {
    sim_rival list[] = { { "bb", { 0.75, 2 } }, { "ee", { 0.95, 4 } } };
    sim_rivals rivals = { .objectives = two, .list = list, .n = 2 };
    sim_rivals_watch watch;
    cr_expect(goes_on(&rivals, 1, &watch), "nobody else has one GPU");
    cr_expect(goes_on(&rivals, 2, &watch), "as good as bb at best");
    cr_expect_not(goes_on(&rivals, 3, &watch), "bb is as good with fewer GPUs");
    cr_expect_str_eq(watch.reason, "dominated: num_gpus is 3 at best, 2 at point bb");
    cr_expect_not(goes_on(&rivals, 4, &watch));
    rivals.n = 0;
    cr_expect(goes_on(&rivals, 9, &watch), "the first round has no rivals");
}
