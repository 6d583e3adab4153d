// SPDX-License-Identifier: GPL-3.0-or-later
#include <criterion/criterion.h>
#include <math.h>

#include "sim/experiment/plan/plan_interval.h"
#include "sim/kernel/random.h"

#define near(a, b, tolerance) cr_expect_float_eq(a, b, tolerance, "%.9g instead of %.9g", (double)(a), (double)(b))

// t(3; 0.975) = 3.182446, s of 1 2 3 4 is 1.290994.
Test(plan_interval, of_means_is_student_s) {
    const double values[] = { 1, 2, 3, 4 };
    const sim_interval interval = sim_interval_student(values, 4, 0.05);
    near(interval.mean, 2.5, 1e-12);
    near(interval.high - interval.mean, 3.182446305 * 1.290994449 / 2, 1e-6);
    near(interval.mean - interval.low, interval.high - interval.mean, 1e-12);
}

Test(plan_interval, of_one_value_says_nothing) {
    const double value = 0.75;
    const sim_interval interval = sim_interval_student(&value, 1, 0.05);
    cr_expect(interval.mean == 0.75 && isinf(interval.low) && isinf(interval.high));
    const sim_interval none = sim_interval_student(&value, 0, 0.05);
    cr_expect(none.mean == 0 && none.low == 0 && none.high == 0);
}

// Wilson's for 8 of 10 at 95 %: 0.4901625 to 0.9433178 (Newcombe, Statistics in Medicine 17, 1998, gives the formula).
Test(plan_interval, of_a_share_is_wilson_s) {
    const sim_interval interval = sim_interval_share(8, 10, 0.05);
    near(interval.mean, 0.8, 1e-12);
    near(interval.low, 0.4901625, 1e-6);
    near(interval.high, 0.9433178, 1e-6);
    cr_expect_eq(sim_interval_share(10, 10, 0.05).high, 1);
    cr_expect_lt(sim_interval_share(10, 10, 0.05).low, 0.75);
    cr_expect_eq(sim_interval_share(0, 10, 0.05).low, 0);
    cr_expect_eq(sim_interval_share(0, 0, 0.05).high, 1);
    const sim_interval large = sim_interval_share(999999999, 1000000000, 0.01);
    cr_expect(large.low > 0.99999 && large.high < 1);
}

Test(plan_interval, replicates_that_agree_claim_no_certainty) {
    const double shares[] = { 1, 1, 1, 1 };
    const sim_interval few = sim_interval_attainment(shares, 4, 40, 40, 0.05);
    cr_expect(few.low < 0.95 && few.high == 1);
    const sim_interval many = sim_interval_attainment(shares, 4, 40000, 40000, 0.05);
    cr_expect(many.low > 0.999 && many.low < 1);
}

Test(plan_interval, stays_a_share) {
    const double shares[] = { 1, 1, 1, 0.2 };
    const sim_interval interval = sim_interval_attainment(shares, 4, 32, 40, 0.05);
    cr_expect(interval.low >= 0 && interval.high <= 1);
    near(interval.mean, 0.8, 1e-12);
}

Test(plan_interval, looks_double_and_end_at_the_most) {
    static const struct {
        size_t n_max, n_looks;
    } cases[] = { { 1, 1 }, { 3, 1 }, { 4, 1 }, { 5, 2 }, { 8, 2 }, { 9, 3 }, { 32, 4 }, { 33, 5 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(sim_looks_count(cases[i].n_max), cases[i].n_looks, "%zu", cases[i].n_max);
    cr_expect_eq(sim_looks_next(0, 32), 4);
    cr_expect_eq(sim_looks_next(2, 32), 4);
    cr_expect_eq(sim_looks_next(4, 32), 8);
    cr_expect_eq(sim_looks_next(16, 20), 20);
    cr_expect_eq(sim_looks_next(0, 3), 3);
}

// The whole sequential test, on replicates whose expectation is the very share asked for: it may not decide in more than alpha of all plans.
Test(plan_interval, looking_several_times_keeps_the_confidence) {
    enum { N_PLANS = 4000, N_MAX = 32, N_REQUESTS = 2000 };
    const double target = 0.95, alpha = 0.05;
    sim_stream *stream = sim_stream_new(11, "plans");
    int n_wrong = 0;
    for (int plan = 0; plan < N_PLANS; plan++) {
        double shares[N_MAX];
        uint64_t n_good = 0;
        size_t n = 0;
        for (bool is_decided = false; !is_decided && n < N_MAX;) {
            for (const size_t next = sim_looks_next(n, N_MAX); n < next; n++) {
                shares[n] = fmin(1, target + 0.015 * sim_stream_gaussian(stream, 0, 1));
                n_good += (uint64_t)llround(shares[n] * N_REQUESTS);
            }
            const sim_interval interval =
                sim_interval_attainment(shares, n, n_good, n * N_REQUESTS, alpha / (double)sim_looks_count(N_MAX));
            is_decided = interval.low >= target || interval.high < target;
            n_wrong += is_decided;
        }
    }
    sim_stream_free(stream);
    cr_expect(n_wrong <= N_PLANS * alpha, "%d of %d", n_wrong, N_PLANS);
}
