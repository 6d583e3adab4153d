// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/perfmodel.h"

#include <criterion/criterion.h>

static void learn(fpm_model *model, uint32_t tokens, uint32_t decodes, uint32_t kv, double wall_s) {
    fpm_metrics rank = fpm_metrics_idle();
    rank.scheduled.num_prefill_requests = tokens > 0;
    rank.scheduled.sum_prefill_tokens = tokens;
    rank.scheduled.num_decode_requests = decodes;
    rank.scheduled.sum_decode_kv_tokens = kv;
    rank.wall_time_s = wall_s;
    cr_assert_eq(fpm_model_tune(model, &(fpm_iteration){ &rank, 1 }, 1, NULL), FPM_OK);
}

Test(model_cells, tell_bounds_samples_and_medians_of_the_populated_grid) {
    const fpm_fixed_options prices = { .prefill_ms = 10, .decode_ms = 10, .mixed_ms = -1 };
    fpm_estimator *estimator;
    fpm_model *model;
    cr_assert_eq(fpm_estimator_new_fixed(&estimator, &prices, NULL), FPM_OK);
    cr_assert_eq(fpm_model_new_native(&model, estimator, NULL, NULL), FPM_OK);
    fpm_cell cells[4];
    cr_expect_eq(fpm_model_cells(model, FPM_PREFILL, cells, 4), 0);
    cr_expect_eq(fpm_model_cells(model, FPM_EMPTY, cells, 4), 0);
    learn(model, 8192, 0, 0, 0.012);
    learn(model, 600, 0, 0, 0.014);
    learn(model, 700, 0, 0, 0.018);
    learn(model, 0, 200, 600000, 0.008);
    cr_assert_eq(fpm_model_cells(model, FPM_PREFILL, cells, 4), 2);
    cr_expect(cells[0].low[0] == 7680 && cells[0].high[0] == 8192 && cells[0].n_samples == 1);
    cr_expect_float_eq(cells[0].factor, 1.2, 1e-12);
    cr_expect(cells[1].low[0] == 512 && cells[1].high[0] == 1024 && cells[1].n_samples == 2);
    cr_expect_float_eq(cells[1].factor, 1.6, 1e-12);
    cr_assert_eq(fpm_model_cells(model, FPM_DECODE, cells, 1), 1);
    cr_expect(cells[0].low[0] == 128 && cells[0].high[0] == 256);
    cr_expect(cells[0].low[1] == 500000 && cells[0].high[1] == 1000000);
    cells[0].n_samples = 77;
    cr_expect_eq(fpm_model_cells(model, FPM_PREFILL, cells, 0), 2);
    cr_expect_eq(cells[0].n_samples, 77, "nothing is written beyond the capacity");
    fpm_model_free(model);
    fpm_estimator_free(estimator);
}
