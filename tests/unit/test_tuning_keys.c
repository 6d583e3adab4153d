// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/model_options.h"
#include "sim/tuning/tuning_config.h"

#include <criterion/criterion.h>
#include <string.h>

static sim_status read_text(const char *text, sim_tuning_config *tuning, sim_truth_config *truth,
                            fpm_model_options *options, sim_error *error) {
    static const sim_key_table *const tables[] = { &sim_model_options_keys, &sim_tuning_keys, &sim_truth_keys };
    sim_config *config;
    cr_assert_eq(sim_config_new(&config, tables, 3, error), SIM_OK, "%s", error->message);
    sim_status status = sim_config_load_text(config, text, strlen(text), "test.ini", error);
    if (!status) status = sim_model_options_read(config, options, error);
    if (!status) status = sim_tuning_read(config, tuning, truth, error);
    sim_config_free(config);
    return status;
}

Test(tuning_keys, defaults_are_those_of_the_reference_and_nothing_is_on) {
    sim_tuning_config tuning;
    sim_truth_config truth;
    fpm_model_options options;
    sim_error error = { 0 };
    cr_assert_eq(read_text("", &tuning, &truth, &options, &error), SIM_OK, "%s", error.message);
    const fpm_model_options expected = fpm_model_options_default();
    cr_expect_eq(options.max_observations, expected.max_observations);
    cr_expect_eq(options.min_observations, expected.min_observations);
    cr_expect_eq(options.min_faster_correction_factor, expected.min_faster_correction_factor);
    cr_expect_eq(options.max_slower_correction_factor, expected.max_slower_correction_factor);
    cr_expect_not(options.is_faster_unbounded || options.is_slower_unbounded);
    cr_expect_eq(options.bucket_count, expected.bucket_count);
    cr_expect_eq(options.max_num_tokens, expected.max_num_tokens);
    cr_expect_eq(options.max_batch_size, expected.max_batch_size);
    cr_expect_eq(options.max_kv_tokens, expected.max_kv_tokens);
    cr_expect_not(sim_tuning_is_on(&truth));
    cr_expect_eq(tuning.mode, SIM_TUNING_OFF);
}

Test(tuning_keys, steps_freezes_and_unbounded_factors_are_read) {
    sim_tuning_config tuning;
    sim_truth_config truth;
    fpm_model_options options;
    sim_error error = { 0 };
    cr_assert_eq(read_text("[perfmodel]\nmin_faster_correction_factor = none\nmax_slower_correction_factor = none\n"
                           "[tuning]\nmode = online\nfreeze_after = 10m\n"
                           "[truth]\nsource = synthetic\nsteps = 10m:1.3 ,  30m:0.9\nquantum = 1us\n",
                           &tuning, &truth, &options, &error),
                 SIM_OK, "%s", error.message);
    cr_expect(options.is_faster_unbounded && options.is_slower_unbounded);
    cr_expect_eq(tuning.freeze_after.time_ns, INT64_C(600000000000));
    cr_expect_eq(tuning.freeze_after.passes, 0);
    cr_expect_eq(truth.steps.n, 2);
    cr_expect_eq(truth.steps.steps[1].time_ns, INT64_C(1800000000000));
    cr_expect_eq(truth.steps.steps[1].factor, 0.9);
    cr_expect_eq(truth.quantum_ns, 1000);
    cr_assert_eq(read_text("[tuning]\nmode = online\nfreeze_after = 1k\n[truth]\nsource = synthetic\n", &tuning, &truth,
                           &options, &error),
                 SIM_OK, "%s", error.message);
    cr_expect_eq(tuning.freeze_after.passes, 1000);
}

Test(tuning_keys, contradictions_are_placed_at_their_key) {
    const struct {
        const char *text;
        int line;
        const char *message;
    } cases[] = {
        { "[tuning]\nmode = online\n", 2, "mode = online needs wall times to observe" },
        { "[tuning]\nclock = truth\n", 2, "clock = truth needs wall times" },
        { "[tuning]\nupdate_every = 2\n", 2, "tuning.update_every has no effect with mode = off" },
        { "[truth]\nnoise_cv = 0.1\n", 2, "truth.noise_cv has no effect with source = none" },
        { "[truth]\nsource = recorded\npath = x\nseed = 1\n", 4, "truth.seed has no effect with source = recorded" },
        { "[truth]\nsource = synthetic\nfeed = sequence\n", 3, "truth.feed has no effect with source = synthetic" },
        { "[truth]\nsource = recorded\n", 2, "needs truth.path" },
        { "[tuning]\nmode = online\nclock = truth\n[truth]\nsource = recorded\npath = x\nfeed = sequence\n", 3,
          "clock = truth is not possible with feed = sequence" },
        { "[tuning]\nmode = online\nscope = worker\n[truth]\nsource = recorded\npath = x\nfeed = sequence\n", 3,
          "scope = worker is not possible" },
        { "[truth]\nsource = recorded\npath = x\nfeed = sequence\n", 4, "feed = sequence needs tuning.mode = online" },
        { "[truth]\nsource = synthetic\nprefill_bias = 0\n", 3, "out of range" },
        { "[truth]\nsource = synthetic\nsteps = 10m\n", 3, "TIME:FACTOR" },
        { "[truth]\nsource = synthetic\nsteps = 10m:0\n", 3, "TIME:FACTOR" },
        { "[truth]\nsource = synthetic\nsteps = 10m:1,\n", 3, "TIME:FACTOR" },
        { "[tuning]\nmode = online\nfreeze_after = soon\n[truth]\nsource = synthetic\n", 3, "number of passes" },
        { "[perfmodel]\nmax_observations = 4\n", 2, "min_observations = 5 is more than max_observations = 4" },
        { "[perfmodel]\nmin_observations = 65\n", 2, "min_observations = 65 is more than max_observations = 64" },
        { "[perfmodel]\nbucket_count = 8\n", 2, "square" },
        { "[perfmodel]\nmax_slower_correction_factor = 0.9\n", 2, "out of range" },
        { "[perfmodel]\nmin_faster_correction_factor = 0\n", 2, "out of range" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_tuning_config tuning;
        sim_truth_config truth;
        fpm_model_options options;
        sim_error error = { 0 };
        cr_expect_eq(read_text(cases[i].text, &tuning, &truth, &options, &error), SIM_USAGE, "case %zu", i);
        cr_expect_eq(error.line, cases[i].line, "case %zu: line %d: %s", i, (int)error.line, error.message);
        cr_expect(strstr(error.message, cases[i].message), "case %zu: %s", i, error.message);
    }
}
