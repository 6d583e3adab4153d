// SPDX-License-Identifier: GPL-3.0-or-later
//
// Runs among many: what they share, and what becomes of those that cannot run.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "sim/experiment/fingerprint.h"
#include "sim/experiment/settings.h"
#include "sim/experiment/trial.h"
#include "sim/experiment/workload_store.h"

static const char base[] = "[workload]\nrequests = 40\ninput_tokens = 100\noutput_tokens = 20\n"
                           "[load]\nmode = poisson\nrate = 5\n"
                           "[kv_cache]\nnum_blocks = 1Ki\n"
                           "[perfmodel]\nestimator = fixed\nprefill_ms = 20\ndecode_ms = 10\n";

static sim_config *configured(const char *set) {
    sim_config *config;
    sim_error error;
    cr_assert_eq(sim_config_new(&config, sim_settings_tables, sim_settings_n_tables, &error), SIM_OK);
    cr_assert_eq(sim_config_load_text(config, base, sizeof base - 1, "base", &error), SIM_OK, "%s", error.message);
    if (*set) cr_assert_eq(sim_config_set(config, set, &error), SIM_OK, "%s", error.message);
    return config;
}

static sim_fingerprint print_of(const char *set, const char *except) {
    sim_file_hashes *hashes;
    sim_error error;
    cr_assert_eq(sim_file_hashes_new(&hashes, &error), SIM_OK);
    sim_config *config = configured(set);
    const sim_fingerprint print =
        sim_fingerprint_of(config, sim_settings_tables, sim_settings_n_tables, except, hashes);
    sim_config_free(config);
    sim_file_hashes_free(hashes);
    cr_assert_eq(strlen(print.text), SIM_FINGERPRINT_BYTES - 1);
    return print;
}

#define same(a, b) (strcmp((a).text, (b).text) == 0)

Test(fingerprint, is_of_the_meaning_not_of_the_spelling) {
    const sim_fingerprint plain = print_of("", NULL);
    cr_expect(same(plain, print_of("kv_cache.num_blocks=1024", NULL)));
    cr_expect(same(plain, print_of("cluster.replicas=1", NULL)), "a default written down");
    cr_expect(same(plain, print_of("load.rate=5.0", NULL)));
    cr_expect(same(plain, print_of("workload.input_tokens= 100", NULL)));
    cr_expect_not(same(plain, print_of("load.rate=5.000001", NULL)));
    cr_expect_not(same(plain, print_of("load.seed=43", NULL)));
    cr_expect(same(print_of("", "load.seed"), print_of("load.seed=43", "load.seed")));
}

static void write_text(const char *path, const char *text) {
    FILE *out = fopen(path, "w");
    cr_assert(out && fputs(text, out) >= 0 && fclose(out) == 0);
}

Test(fingerprint, counts_a_file_by_its_content_wherever_it_lies) {
    write_text("/tmp/fp_a.jsonl", "one\n");
    write_text("/tmp/fp_b.jsonl", "one\n");
    const sim_fingerprint a = print_of("workload.path=/tmp/fp_a.jsonl", NULL);
    cr_expect(same(a, print_of("workload.path=/tmp/fp_b.jsonl", NULL)));
    write_text("/tmp/fp_b.jsonl", "two\n");
    cr_expect_not(same(a, print_of("workload.path=/tmp/fp_b.jsonl", NULL)));
    cr_expect_not(same(a, print_of("workload.path=/tmp/fp_there_is_none.jsonl", NULL)));
    remove("/tmp/fp_a.jsonl");
    remove("/tmp/fp_b.jsonl");
}

static sim_trial run(sim_trials *trials, const char *set) {
    sim_trial trial;
    sim_error error;
    sim_config *config = configured(set);
    cr_assert_eq(sim_trial_run(trials, config, &trial, &error), SIM_OK, "%s", error.message);
    sim_config_free(config);
    return trial;
}

static sim_trials *new_trials(void) {
    sim_trials *trials;
    sim_error error;
    cr_assert_eq(sim_trials_new(&trials, 1, NULL, &error), SIM_OK);
    return trials;
}

Test(trial, gives_the_figures_of_a_run_by_their_keys) {
    sim_trials *trials = new_trials();
    sim_trial trial = run(trials, "cluster.gpu_hour_price=2");
    double value;
    cr_expect_eq(trial.outcome, SIM_TRIAL_DONE);
    cr_expect(sim_trial_figure(&trial, "completed_requests", &value));
    cr_expect_eq(value, 40);
    cr_expect(sim_trial_figure(&trial, "cost.gpu_hour_price", &value));
    cr_expect_eq(value, 2);
    cr_expect_not(sim_trial_figure(&trial, "no_such_figure", &value));
    cr_expect_not(sim_trial_figure(&trial, "cost.nothing", &value));
    cr_expect_not(sim_trial_figure(&trial, "schema", &value), "a text is no figure");
    sim_trial_clear(&trial);
    sim_trials_free(trials);
}

Test(trial, that_cannot_run_says_why_and_the_next_goes_on) {
    sim_trials *trials = new_trials();
    sim_trial trial = run(trials, "engine.max_num_batched_tokens=8");
    cr_expect_eq(trial.outcome, SIM_TRIAL_INFEASIBLE);
    cr_expect(strstr(trial.reason, "max_num_batched_tokens"), "%s", trial.reason);
    cr_expect_null(trial.summary);
    double value;
    cr_expect_not(sim_trial_figure(&trial, "completed_requests", &value));
    sim_trial_clear(&trial);
    trial = run(trials, "");
    cr_expect_eq(trial.outcome, SIM_TRIAL_DONE);
    sim_trial_clear(&trial);
    sim_trials_free(trials);
}

Test(trial, whose_input_is_missing_ends_all) {
    sim_trials *trials = new_trials();
    sim_config *config = configured("workload.path=/tmp/there_is_none.jsonl");
    sim_trial trial;
    sim_error error;
    static const char *const sets[] = { "workload.source=trace", "workload.requests=100", "workload.input_tokens=1024",
                                        "workload.output_tokens=128" };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        cr_assert_eq(sim_config_set(config, sets[i], &error), SIM_OK, "%s", error.message);
    cr_expect_eq(sim_trial_run(trials, config, &trial, &error), SIM_IO, "%s", trial.reason);
    sim_config_free(config);
    sim_trials_free(trials);
}

static const sim_workload *take(sim_workload_store *store, const char *set) {
    sim_settings settings;
    sim_error error;
    const sim_workload *workload;
    sim_config *config = configured(set);
    cr_assert_eq(sim_settings_read(config, &settings, &error), SIM_OK);
    cr_assert_eq(
        sim_workload_store_take(store, config, &settings.workload, (uint64_t)settings.load.seed, &workload, &error),
        SIM_OK);
    sim_config_free(config);
    return workload;
}

Test(workload_store, gives_the_same_requests_to_all_that_ask_for_them) {
    sim_workload_store *store;
    sim_error error;
    cr_assert_eq(sim_workload_store_new(&store, 1, &error), SIM_OK);
    const sim_workload *first = take(store, ""), *second = take(store, "cluster.replicas=3");
    const sim_workload *other_seed = take(store, "load.seed=7"), *longer = take(store, "workload.input_tokens=101");
    cr_expect_eq(first, second);
    cr_expect_neq(first, other_seed);
    cr_expect_neq(first, longer);
    cr_expect_eq(longer->requests[0].input_tokens, 101);
    sim_workload_store_give_back(store, first);
    sim_workload_store_give_back(store, other_seed);
    sim_workload_store_give_back(store, longer); // one of the two unused ones goes; `second` still holds its own
    cr_expect_eq(second->requests[0].input_tokens, 100);
    cr_expect_eq(take(store, ""), second);
    sim_workload_store_give_back(store, second);
    sim_workload_store_give_back(store, second);
    sim_workload_store_free(store);
}
