// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/workload/load.h"

#include <math.h>

#include "sim/kernel/clock.h"
#include "tests/support/workload_fixture.h"

static const char three_rows[] = "{\"timestamp\":1000,\"input_length\":1,\"output_length\":1}\n"
                                 "{\"timestamp\":1001,\"input_length\":2,\"output_length\":1}\n"
                                 "{\"timestamp\":1010.5,\"input_length\":3,\"output_length\":1}\n";

static sim_workload *requests(int64_t n) {
    sim_workload_config settings = synthetic_settings();
    settings.requests = n;
    sim_workload *workload;
    cr_assert_eq(sim_workload_new(&workload, NULL, &settings, 1, NULL), SIM_OK);
    return workload;
}

static sim_load *make(const sim_workload *workload, const sim_load_config *settings) {
    sim_load *load;
    sim_error error = { 0 };
    cr_assert_eq(sim_load_new(&load, NULL, settings, workload, &error), SIM_OK, "%s", error.message);
    return load;
}

// The next arrival after `now_ns`, which must be request `request`.
static int64_t take(sim_load *load, uint32_t request, int64_t now_ns) {
    int64_t time_ns = sim_load_next_time(load, now_ns);
    cr_assert_neq(time_ns, SIM_TIME_NEVER, "request %u never comes", request);
    cr_assert_eq(sim_load_take(load, time_ns), request);
    return time_ns;
}

Test(load, timestamps_are_the_recorded_ones_divided_by_the_speedup) {
    static const struct {
        double speedup;
        int64_t arrivals_ns[3];
    } cases[] = { { 1, { 0, 1000000, 10500000 } },
                  { 2, { 0, 500000, 5250000 } },
                  { 3, { 0, 333333, 3500000 } },
                  { 0.1, { 0, 10000000, 105000000 } },
                  { 1e7, { 0, 0, 1 } } };
    sim_workload_config settings = trace_settings();
    sim_workload *workload = good_workload(three_rows, &settings);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_load_config config = load_settings();
        config.speedup = cases[i].speedup;
        sim_load *load = make(workload, &config);
        cr_expect_not(sim_load_is_closed_loop(load));
        for (uint32_t k = 0; k < 3; k++)
            cr_expect_eq(take(load, k, 0), cases[i].arrivals_ns[k], "speedup %g", cases[i].speedup);
        cr_expect_eq(sim_load_next_time(load, 0), SIM_TIME_NEVER);
        sim_load_free(load);
    }
    sim_workload_free(workload);
}

Test(load, constant_arrivals_do_not_accumulate_rounding) {
    static const double rates[] = { 8, 3, 7, 0.1, 1000.0 / 7, 1e6 / 3 };
    sim_workload *workload = requests(100000);
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
        sim_load_config config = load_settings();
        config.mode = SIM_LOAD_CONSTANT;
        config.rate = rates[r];
        sim_load *load = make(workload, &config);
        for (uint32_t i = 0; i < workload->n_requests; i++) {
            int64_t exact = (int64_t)floorl((long double)i * 1e9L / (long double)rates[r] + 0.5L);
            cr_assert_eq(take(load, i, 0), exact, "rate %g, request %u", rates[r], i);
        }
        cr_expect_eq(sim_load_remaining(load), 0);
        sim_load_free(load);
    }
    sim_workload_free(workload);
}

Test(load, poisson_gaps_are_exponential_and_begin_at_zero) {
    enum { N = 200000 };
    sim_workload *workload = requests(N);
    sim_load_config config = load_settings();
    config.mode = SIM_LOAD_POISSON;
    config.rate = 50;
    sim_load *load = make(workload, &config), *again = make(workload, &config);
    config.seed = 43;
    sim_load *other = make(workload, &config);
    double squares = 0;
    int64_t last = 0;
    bool differs = false;
    for (uint32_t i = 0; i < N; i++) {
        int64_t now = take(load, i, 0);
        cr_assert_eq(now, take(again, i, 0));
        differs |= now != take(other, i, 0);
        if (i == 0) cr_expect_eq(now, 0);
        squares += pow((double)(now - last) / 1e9, 2);
        last = now;
    }
    double mean = (double)last / 1e9 / (N - 1);
    cr_expect_float_eq(mean, 0.02, 0.0002);
    cr_expect_float_eq(sqrt(squares / (N - 1) - mean * mean) / mean, 1, 0.01, "coefficient of variation");
    cr_expect(differs);
    sim_load_free(load);
    sim_load_free(again);
    sim_load_free(other);
    sim_workload_free(workload);
}

Test(load, a_closed_loop_keeps_its_number_in_flight_and_admits_at_once) {
    sim_workload *workload = requests(10);
    sim_load_config config = load_settings();
    config.concurrency = 3;
    sim_load *load = make(workload, &config);
    cr_expect(sim_load_is_closed_loop(load));
    for (uint32_t i = 0; i < 3; i++) cr_expect_eq(take(load, i, 0), 0);
    cr_expect_eq(sim_load_next_time(load, 0), SIM_TIME_NEVER, "full");
    cr_expect_eq(sim_load_remaining(load), 7);
    sim_load_on_terminal(load, 1, 500);
    cr_expect_eq(take(load, 3, 500), 500);
    cr_expect_eq(sim_load_next_time(load, 501), SIM_TIME_NEVER);
    for (uint32_t i = 0; i < 3; i++) sim_load_on_terminal(load, i, 900);
    for (uint32_t i = 4; i < 7; i++) cr_expect_eq(take(load, i, 900), 900);
    for (uint32_t i = 7; i < 10; i++) {
        sim_load_on_terminal(load, i, 1000);
        cr_expect_eq(take(load, i, 1000), 1000);
    }
    sim_load_on_terminal(load, 9, 2000);
    cr_expect_eq(sim_load_next_time(load, 2000), SIM_TIME_NEVER, "all given out");
    sim_load_free(load);
    sim_workload_free(workload);
}

Test(load, nothing_arrives_after_admit_until_and_nothing_before_now) {
    sim_workload *workload = requests(10);
    sim_load_config config = load_settings();
    config.mode = SIM_LOAD_CONSTANT;
    config.rate = 1;
    config.admit_until_ns = 3 * SIM_NS_PER_S;
    sim_load *load = make(workload, &config);
    for (uint32_t i = 0; i < 4; i++) cr_expect_eq(take(load, i, 0), i * SIM_NS_PER_S);
    cr_expect_eq(sim_load_next_time(load, 0), SIM_TIME_NEVER);
    cr_expect_eq(sim_load_remaining(load), 6);
    sim_load_free(load);

    config.admit_until_ns = 0;
    load = make(workload, &config);
    cr_expect_eq(sim_load_next_time(load, 1234), 1234, "an arrival that is overdue comes now");
    sim_load_free(load);

    config = load_settings();
    config.concurrency = 1;
    config.admit_until_ns = 100;
    load = make(workload, &config);
    take(load, 0, 0);
    sim_load_on_terminal(load, 0, 100);
    take(load, 1, 100);
    sim_load_on_terminal(load, 1, 101);
    cr_expect_eq(sim_load_next_time(load, 101), SIM_TIME_NEVER);
    sim_load_free(load);
    sim_load_free(NULL);
    sim_workload_free(workload);
}

Test(load, contradictions_name_the_key_that_makes_them) {
    static const struct {
        const char *key; // "" = fine
        bool has_stamps;
        sim_load_config config;
    } cases[] = {
        { "", true, { .mode = 0, .speedup = 2, .concurrency = 10 } },
        { "", false, { .mode = 0, .speedup = 1, .concurrency = 7 } },
        { "", true, { .mode = SIM_LOAD_CONCURRENCY, .speedup = 1, .concurrency = 7 } },
        { "", false, { .mode = SIM_LOAD_POISSON, .speedup = 1, .concurrency = 10, .rate = 3 } },
        { "load.mode", false, { .mode = SIM_LOAD_TIMESTAMPS, .speedup = 1, .concurrency = 10 } },
        { "load.mode", true, { .mode = SIM_LOAD_CONSTANT, .speedup = 1, .concurrency = 10 } },
        { "load.mode", true, { .mode = SIM_LOAD_POISSON, .speedup = 1, .concurrency = 10 } },
        { "load.speedup", false, { .mode = 0, .speedup = 2, .concurrency = 10 } },
        { "load.speedup", true, { .mode = SIM_LOAD_CONSTANT, .speedup = 2, .concurrency = 10, .rate = 1 } },
        { "load.rate", true, { .mode = 0, .speedup = 1, .concurrency = 10, .rate = 1 } },
        { "load.rate", false, { .mode = SIM_LOAD_CONCURRENCY, .speedup = 1, .concurrency = 10, .rate = 1 } },
        { "load.concurrency", true, { .mode = 0, .speedup = 1, .concurrency = 11 } },
        { "load.concurrency", true, { .mode = SIM_LOAD_POISSON, .speedup = 1, .concurrency = 11, .rate = 1 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_error error = { 0 };
        sim_status status = sim_load_check(NULL, &cases[i].config, cases[i].has_stamps, &error);
        cr_expect_eq(status, cases[i].key[0] ? SIM_USAGE : SIM_OK, "case %zu: %s", i, error.message);
        cr_expect_eq(strncmp(error.message, cases[i].key, strlen(cases[i].key)), 0, "case %zu: %s", i, error.message);
    }
}

Test(load, arrivals_beyond_the_end_of_time_are_refused) {
    sim_workload *workload = requests(10000000);
    sim_load_config config = load_settings();
    config.mode = SIM_LOAD_CONSTANT;
    config.rate = 1e-6;
    sim_load *load;
    sim_error error;
    cr_expect_eq(sim_load_new(&load, NULL, &config, workload, &error), SIM_USAGE);
    cr_expect_null(load);
    sim_workload_free(workload);
    sim_workload_config settings = trace_settings();
    settings.time_unit = SIM_UNIT_S;
    workload = good_workload("{\"timestamp\":0,\"input_length\":1,\"output_length\":1}\n"
                             "{\"timestamp\":9000000000,\"input_length\":1,\"output_length\":1}\n",
                             &settings);
    config = load_settings();
    config.speedup = 0.5;
    cr_expect_eq(sim_load_new(&load, NULL, &config, workload, &error), SIM_USAGE);
    sim_workload_free(workload);
}

Test(load, defaults_of_the_key_table_are_those_of_the_interface) {
    static const sim_key_table *const tables[] = { &sim_load_keys };
    sim_config *config;
    sim_error error;
    cr_assert_eq(sim_config_new(&config, tables, 1, &error), SIM_OK, "%s", error.message);
    sim_load_config settings;
    sim_config_fill(config, &sim_load_keys, &settings);
    const sim_load_config wanted = load_settings();
    cr_expect_eq(settings.mode, SIM_LOAD_DEFAULT);
    cr_expect_eq(settings.speedup, wanted.speedup);
    cr_expect_eq(settings.concurrency, wanted.concurrency);
    cr_expect_eq(settings.rate, 0);
    cr_expect_eq(settings.seed, 42);
    cr_expect_eq(settings.admit_until_ns + settings.max_time_ns + settings.warmup_ns + settings.warmup_requests, 0);
    sim_config_free(config);
}
