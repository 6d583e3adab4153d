// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/sweep/gaussian_process.h"

#include <criterion/criterion.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_randist.h>
#include <math.h>

static double hill(double x, double y) { return 100 * exp(-8 * ((x - 0.3) * (x - 0.3) + 0.2 * (y - 0.6) * (y - 0.6))); }

static sim_gp *learned(int n) {
    sim_gp *gp = sim_gp_new(2);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const double at[2] = { (double)i / (n - 1), (double)j / (n - 1) };
            cr_assert(sim_gp_add(gp, at, hill(at[0], at[1])));
        }
    cr_assert(sim_gp_fit(gp, true));
    return gp;
}

Test(gaussian_process, goes_through_what_it_was_told_and_is_sure_there) {
    sim_gp *gp = learned(6);
    for (int i = 0; i < 6; i++) {
        const double at[2] = { i / 5.0, 0.4 };
        double mean, deviation;
        sim_gp_predict(gp, at, &mean, &deviation);
        cr_expect_float_eq(mean, hill(at[0], at[1]), 0.5);
        cr_expect_lt(deviation, 1);
    }
    sim_gp_free(gp);
}

Test(gaussian_process, foresees_what_lies_between_within_what_it_admits) {
    sim_gp *gp = learned(6);
    int n_inside = 0, n = 0;
    for (double x = 0.05; x < 1; x += 0.1)
        for (double y = 0.05; y < 1; y += 0.1, n++) {
            const double at[2] = { x, y };
            double mean, deviation;
            sim_gp_predict(gp, at, &mean, &deviation);
            cr_expect_float_eq(mean, hill(x, y), 5);
            n_inside += fabs(mean - hill(x, y)) <= 3 * deviation;
        }
    cr_expect_geq(n_inside, n * 9 / 10);
    sim_gp_free(gp);
}

Test(gaussian_process, knows_less_far_from_everything) {
    sim_gp *gp = sim_gp_new(1);
    double near, far, mean;
    for (int i = 0; i < 4; i++) cr_assert(sim_gp_add(gp, &(double){ 0.1 * i }, i % 2));
    cr_assert(sim_gp_fit(gp, true));
    sim_gp_predict(gp, &(double){ 0.15 }, &mean, &near);
    sim_gp_predict(gp, &(double){ 3 }, &mean, &far);
    cr_expect_gt(far, near);
    cr_expect_float_eq(mean, 0.5, 0.2, "the mean of the values");
    sim_gp_free(gp);
}

Test(gaussian_process, bears_equal_points_and_equal_values) {
    sim_gp *gp = sim_gp_new(1);
    double mean, deviation;
    for (int i = 0; i < 5; i++) cr_assert(sim_gp_add(gp, &(double){ 0.5 }, 7));
    cr_assert(sim_gp_fit(gp, true));
    sim_gp_predict(gp, &(double){ 0.5 }, &mean, &deviation);
    cr_expect_float_eq(mean, 7, 1e-6);
    cr_expect(isfinite(deviation));
    sim_gp_free(gp);
}

typedef struct normal {
    double mean, deviation, best;
} normal;

static double improvement(double f, void *context) {
    const normal *of = context;
    return fmax(0, f - of->best) * gsl_ran_gaussian_pdf(f - of->mean, of->deviation);
}

Test(gaussian_process, expected_improvement_is_the_expectation) {
    gsl_integration_workspace *space = gsl_integration_workspace_alloc(1000);
    static const normal cases[] = { { 1, 2, 1 }, { 0, 1, 2 }, { 5, 0.5, 3 }, { -3, 2, 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        normal of = cases[i];
        double integral, error;
        const gsl_function function = { improvement, &of };
        gsl_integration_qag(&function, of.best, of.best + 20 * of.deviation + 10, 1e-12, 1e-9, 1000, GSL_INTEG_GAUSS31,
                            space, &integral, &error);
        cr_expect_float_eq(sim_expected_improvement(of.mean, of.deviation, of.best), integral, 1e-8);
    }
    cr_expect_eq(sim_expected_improvement(3, 0, 1), 2);
    cr_expect_eq(sim_expected_improvement(1, 0, 3), 0);
    gsl_integration_workspace_free(space);
}
