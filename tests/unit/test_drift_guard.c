// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/drift_guard.h"

#include <criterion/criterion.h>

static sim_drift after(const double *errors, size_t n) {
    sim_drift_guard *guard = sim_drift_guard_new(0.1, 5);
    for (size_t i = 0; i < n; i++) sim_drift_guard_add(guard, errors[i], (int64_t)i);
    const sim_drift drift = sim_drift_guard_state(guard);
    sim_drift_guard_free(guard);
    return drift;
}

Test(drift_guard, alarms_while_more_than_half_of_a_full_window_lies_on_one_side) {
    const double bad[] = { 0.2, 0.2, 0.2, 0.2 };
    cr_expect_eq(after(bad, 4).n_alarms, 0, "not full yet");
    const double three_of_five[] = { 0, 0.2, 0.2, 0, 0.2 };
    cr_expect_eq(after(three_of_five, 5).n_alarms, 1);
    const double both_sides[] = { 0.2, -0.2, 0.2, -0.2, 0 };
    cr_expect_eq(after(both_sides, 5).n_alarms, 0);
    const double outliers[] = { 0, -0.95, 0, -0.95, 0 };
    cr_expect_eq(after(outliers, 5).n_alarms, 0);
}

Test(drift_guard, tells_how_often_how_long_and_whether_it_lasts) {
    const double errors[] = { -0.3, -0.3, -0.3, 0, 0, 0, 0, 0, -0.3, -0.3, -0.3 };
    const sim_drift drift = after(errors, 11);
    cr_expect_eq(drift.n_alarms, 2);
    cr_expect_eq(drift.n_passes, 2);
    cr_expect_eq(drift.first_ns, 4);
    cr_expect_eq(drift.last_ns, 10);
    cr_expect(drift.is_on);
    cr_expect_eq(drift.newest.n, 5);
    cr_expect_float_eq(drift.newest.bias, -0.18, 1e-12);
    cr_expect_float_eq(drift.newest.mape, 0.18, 1e-12);
}
