// SPDX-License-Identifier: GPL-3.0-or-later
//
// The fit on points whose calibration is known.
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/experiment/calibration_fit.h"
#include "tests/support/dice.h"

enum { N_CELLS = 8, ROWS_PER_CELL = 24, N_POINTS = N_CELLS * ROWS_PER_CELL };

static const sim_row_pool_options one_thread = { .n_threads = 1 };

static double uniform(double low, double high) { return low + (high - low) * (double)dice(1000001) / 1e6; }

// Rows that cost a GEMM, attention and per-request work in changing shares, on Hopper under two backends.
static void make_points(sim_measured_point *points, const sim_calibration *truth) {
    dice_state = 11;
    for (size_t i = 0; i < N_POINTS; i++) {
        sim_measured_point *p = &points[i];
        *p = (sim_measured_point){ .row = i,
                                   .cell = (uint32_t)(i / ROWS_PER_CELL),
                                   .generation = FPM_HOPPER,
                                   .backend = i / ROWS_PER_CELL % 2 ? FPM_SGLANG : FPM_VLLM };
        p->tpot_terms[FPM_TERM_GEMM_BF16] = uniform(1, 20);
        p->tpot_terms[FPM_TERM_ATTENTION_DECODE] = uniform(1, 20);
        p->tpot_terms[FPM_TERM_REQUEST] = 1e-3 * uniform(1, 512);
        for (int t = 0; t < FPM_TERMS; t++) p->ttft_terms[t] = 10 * p->tpot_terms[t];
        p->ttft_terms[FPM_TERM_PREFILL_PASS] = 1e-3 * uniform(1, 5);
        const fpm_calibration terms = sim_calibration_terms(truth, p->generation, p->backend);
        for (int t = 0; t < FPM_TERMS; t++) {
            p->tpot_ms += terms.terms[t] * p->tpot_terms[t];
            p->ttft_ms += terms.terms[t] * p->ttft_terms[t];
        }
    }
}

static sim_calibration biased_truth(void) {
    sim_calibration truth = sim_calibration_default();
    truth.common.terms[FPM_TERM_GEMM_BF16] = 1.2;
    truth.common.terms[FPM_TERM_ATTENTION_DECODE] = 0.8;
    truth.common.terms[FPM_TERM_REQUEST] *= 1.5;
    return truth;
}

static sim_calibration_fit fit_of(sim_measured_point *points, uint32_t n_cells, uint32_t n_threads) {
    const sim_measured_points all = { points, N_POINTS, n_cells };
    const sim_calibration_fit_options options = sim_calibration_fit_defaults();
    const sim_row_pool_options pool = { .n_threads = n_threads };
    const sim_calibration prior = sim_calibration_default();
    sim_calibration_fit fit;
    sim_error error;
    cr_assert_eq(sim_calibration_fit_points(&fit, &all, &prior, &options, &pool, &error), SIM_OK);
    return fit;
}

static void expect_term(const sim_calibration_fit *fit, const sim_calibration *truth, fpm_term term, double tolerance) {
    for (int b = FPM_VLLM; b <= FPM_SGLANG; b++) {
        const double found = sim_calibration_terms(&fit->calibration, FPM_HOPPER, (fpm_backend)b).terms[term];
        const double wanted = sim_calibration_terms(truth, FPM_HOPPER, (fpm_backend)b).terms[term];
        cr_expect_lt(fabs(found / wanted - 1), tolerance, "%s: %g instead of %g", fpm_term_name(term), found, wanted);
    }
}

Test(calibration_fit, finds_the_terms_that_made_the_rows) {
    sim_measured_point points[N_POINTS];
    const sim_calibration truth = biased_truth();
    make_points(points, &truth);
    const sim_calibration_fit fit = fit_of(points, N_CELLS, 1);
    expect_term(&fit, &truth, FPM_TERM_GEMM_BF16, 0.03);
    expect_term(&fit, &truth, FPM_TERM_ATTENTION_DECODE, 0.03);
    expect_term(&fit, &truth, FPM_TERM_REQUEST, 0.05);
    cr_expect_gt(fit.before.tpot_mape_pct, 5);
    cr_expect_lt(fit.training.tpot_mape_pct, 1);
    cr_expect_lt(fit.left_out.tpot_mape_pct, 1.5);
    cr_expect_lt(fit.training.ttft_mape_pct, 2);
    cr_expect_eq(fit.n_points, N_POINTS);
    cr_expect_eq(fit.n_cells, N_CELLS);
}

Test(calibration_fit, tells_backends_apart_as_far_as_rows_insist) {
    sim_measured_point points[N_POINTS];
    sim_calibration truth = biased_truth();
    truth.backends[FPM_SGLANG].terms[FPM_TERM_ATTENTION_DECODE] = 1.2;
    make_points(points, &truth);
    const sim_calibration_fit fit = fit_of(points, N_CELLS, 1);
    const double *vllm = sim_calibration_terms(&fit.calibration, FPM_HOPPER, FPM_VLLM).terms;
    const double between =
        sim_calibration_terms(&fit.calibration, FPM_HOPPER, FPM_SGLANG).terms[FPM_TERM_ATTENTION_DECODE] /
        vllm[FPM_TERM_ATTENTION_DECODE];
    cr_expect(between > 1.05 && between < 1.25, "%g", between); // 1.2, shrunk towards 1
}

Test(calibration_fit, is_not_moved_by_a_few_rows_that_are_far_off) {
    sim_measured_point points[N_POINTS];
    const sim_calibration truth = biased_truth();
    make_points(points, &truth);
    for (size_t i = 0; i < N_POINTS; i += 12) points[i].tpot_ms *= 8; // speculation, a warm-up inside: 8 %
    const sim_calibration_fit fit = fit_of(points, N_CELLS, 1);
    expect_term(&fit, &truth, FPM_TERM_GEMM_BF16, 0.06);
    expect_term(&fit, &truth, FPM_TERM_ATTENTION_DECODE, 0.06);
    cr_expect_lt(fit.training.tpot_median_ape_pct, 3);
}

Test(calibration_fit, a_left_out_cell_does_not_help_to_predict_itself) {
    sim_measured_point points[N_POINTS];
    const sim_calibration truth = biased_truth();
    make_points(points, &truth);
    for (size_t i = 0; i < ROWS_PER_CELL; i++) { // the first cell has a format of its own, twice as slow as thought
        points[i].tpot_terms[FPM_TERM_MOE_FP8] = points[i].ttft_terms[FPM_TERM_MOE_FP8] = 60;
        points[i].tpot_ms += 120;
        points[i].ttft_ms += 120;
    }
    const sim_calibration_fit fit = fit_of(points, N_CELLS, 1);
    cr_expect_gt(fit.left_out.tpot_mape_pct, fit.training.tpot_mape_pct + 2);
}

Test(calibration_fit, same_bytes_with_any_number_of_threads) {
    sim_measured_point points[N_POINTS];
    const sim_calibration truth = biased_truth();
    make_points(points, &truth);
    sim_calibration_fit one, three;
    memset(&one, 0, sizeof one);
    memset(&three, 0, sizeof three);
    one = fit_of(points, N_CELLS, 1);
    three = fit_of(points, N_CELLS, 3);
    cr_expect_eq(memcmp(&one.calibration, &three.calibration, sizeof one.calibration), 0);
    cr_expect_eq(one.left_out.tpot_mape_pct, three.left_out.tpot_mape_pct);
    cr_expect_eq(one.left_out.ttft_mape_pct, three.left_out.ttft_mape_pct);
}

Test(calibration_fit, rows_that_measured_only_one_of_the_two_means_count) {
    sim_measured_point points[N_POINTS];
    const sim_calibration truth = biased_truth();
    make_points(points, &truth);
    for (size_t i = 0; i < N_POINTS; i++) points[i].ttft_ms = (double)NAN;
    const sim_calibration_fit fit = fit_of(points, N_CELLS, 1);
    cr_expect_lt(fit.training.tpot_mape_pct, 1);
    cr_expect(isnan(fit.training.ttft_mape_pct));
}

Test(calibration_fit, needs_two_cells) {
    sim_measured_point points[N_POINTS];
    const sim_calibration truth = biased_truth();
    make_points(points, &truth);
    for (size_t i = 0; i < N_POINTS; i++) points[i].cell = 0;
    const sim_measured_points all = { points, N_POINTS, 1 };
    const sim_calibration_fit_options options = sim_calibration_fit_defaults();
    sim_calibration_fit fit;
    sim_error error;
    cr_expect_eq(sim_calibration_fit_points(&fit, &all, &truth, &options, &one_thread, &error), SIM_BAD_DATA);
}

Test(calibration_fit, what_is_written_is_what_is_read) {
    sim_measured_point points[N_POINTS];
    sim_calibration truth = biased_truth();
    make_points(points, &truth);
    sim_calibration_fit fit = fit_of(points, N_CELLS, 1);
    fit.calibration.admission_passes[FPM_SGLANG] = 7;
    char path[] = "/tmp/forepass-calibration-XXXXXX";
    FILE *out = fdopen(mkstemp(path), "w");
    cr_assert(out && sim_calibration_fit_write(&fit, "rows.csv", out));
    fclose(out);
    sim_calibration read = sim_calibration_default();
    sim_error error;
    cr_assert_eq(sim_calibration_load(&read, path, &error), SIM_OK, "%s:%lld: %s", error.file, (long long)error.line,
                 error.message);
    unlink(path);
    cr_expect_eq(read.admission_passes[FPM_SGLANG], 7);
    for (int b = 0; b < FPM_BACKENDS; b++) {
        const fpm_calibration wanted = sim_calibration_terms(&fit.calibration, FPM_HOPPER, (fpm_backend)b);
        const fpm_calibration found = sim_calibration_terms(&read, FPM_HOPPER, (fpm_backend)b);
        for (int t = 0; t < FPM_TERMS; t++)
            cr_expect_lt(fabs(found.terms[t] - wanted.terms[t]), 2e-3 * wanted.terms[t], "%s",
                         fpm_term_name((fpm_term)t));
    }
}
