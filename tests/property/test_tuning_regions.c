// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a correction grid promises of its regions (cells), pass by pass, under a synthetic truth: outliers hardly move a region that holds enough samples, and a
// step of the hardware is forgotten region by region.
#include "tests/support/dice.h"

#include <criterion/criterion.h>
#include <math.h>

#include "perfmodel/perfmodel.h"
#include "sim/kernel/clock.h"
#include "sim/tuning/synthetic_truth.h"

enum { MOST_CELLS = 64, HELD_AT_LEAST = 8 };

typedef struct bench {
    fpm_estimator *estimator;
    fpm_model *model;
    sim_truth truth;
    fpm_kind kind;
    uint64_t n_passes;
} bench;

static void init(bench *b, fpm_kind kind, const sim_truth_config *truth) {
    const fpm_polynomial_options polynomial = { .capacity_tokens = 320000, .pricing = FPM_PRICING_FUSED };
    fpm_model_options options = fpm_model_options_default();
    options.max_batch_size = 256;
    options.max_kv_tokens = 320000;
    *b = (bench){ .kind = kind };
    dice_state = 7; // the same passes whatever the truth
    cr_assert_eq(fpm_estimator_new_polynomial(&b->estimator, &polynomial, NULL), FPM_OK);
    cr_assert_eq(fpm_model_new_native(&b->model, b->estimator, &options, NULL), FPM_OK);
    cr_assert_eq(sim_synthetic_truth_new(&b->truth, truth, 42, 1, NULL), SIM_OK);
}

static void clear(bench *b) {
    sim_truth_free(&b->truth);
    fpm_model_free(b->model);
    fpm_estimator_free(b->estimator);
}

static uint32_t any(uint32_t most) { return 1 + (uint32_t)dice(most); }

// Loads of half of the prompt axis, or of batches whose contexts have about the same length: 4 to 8 regions.
static fpm_metrics draw_pass(bench *b) {
    fpm_metrics rank = fpm_metrics_idle();
    rank.counter_id = b->n_passes++;
    if (b->kind == FPM_PREFILL) {
        rank.scheduled.num_prefill_requests = 1;
        rank.scheduled.sum_prefill_tokens = any(4096);
    } else {
        rank.scheduled.num_decode_requests = any(250);
        rank.scheduled.sum_decode_kv_tokens = rank.scheduled.num_decode_requests * (1000 + any(250));
    }
    return rank;
}

static const fpm_cell *cell_of(const fpm_cell *cells, size_t n, const fpm_pass *pass) {
    for (size_t i = 0; i < n; i++) {
        bool is_in = pass->x[0] >= cells[i].low[0] && pass->x[0] < cells[i].high[0];
        if (pass->kind != FPM_PREFILL) is_in &= pass->x[1] >= cells[i].low[1] && pass->x[1] < cells[i].high[1];
        if (is_in) return &cells[i];
    }
    return NULL;
}

typedef struct outcome {
    fpm_pass pass;
    double estimate_ms, observed_ms;
    bool is_outlier;
    uint64_t n_held; // samples of its region when it was foreseen
    double low[2];   // of the region; which one it is
} outcome;

static outcome one_pass(bench *b, int64_t now_ns) {
    const fpm_metrics rank = draw_pass(b);
    fpm_cell cells[MOST_CELLS];
    outcome o = { .n_held = 0 };
    bool has_estimate;
    sim_truth_answer answer;
    cr_assert_eq(fpm_pass_read(&o.pass, &rank, 1, NULL), FPM_OK);
    cr_assert_eq(fpm_estimate_ms(b->estimator, &rank, 1, &o.pass.base_ms, NULL), FPM_OK);
    cr_assert_eq(fpm_model_foresee(b->model, &o.pass, &o.estimate_ms, &has_estimate, NULL), FPM_OK);
    const fpm_cell *cell = cell_of(cells, fpm_model_cells(b->model, b->kind, cells, MOST_CELLS), &o.pass);
    if (cell) o.n_held = cell->n_samples, o.low[0] = cell->low[0], o.low[1] = cell->low[1];
    const sim_truth_query query = { 0, now_ns, &rank, 1, o.pass.kind, o.pass.base_ms };
    cr_assert_eq(b->truth.ops->ask(b->truth.state, &query, &answer, NULL), SIM_OK);
    o.observed_ms = answer.wall_s * 1e3;
    o.is_outlier = answer.is_outlier;
    cr_assert_eq(fpm_model_learn(b->model, &o.pass, &o.observed_ms, 1, NULL), FPM_OK);
    return o;
}

static const sim_truth_config truth = { .source = SIM_TRUTH_SYNTHETIC,
                                        .prefill_bias = 1.4,
                                        .decode_bias = 0.8,
                                        .mixed_bias = 1,
                                        .noise_cv = 0.05,
                                        .outlier_factor = 20,
                                        .seed = 3 };

// Mean error of the passes that are no outliers with `outlier_probability`, whose region held enough samples; of the same passes each time, as outliers of the
// one run are left out of the other.
static double error_with(fpm_kind kind, double outlier_probability, uint64_t *n_counted) {
    enum { N = 40000 };
    static bool is_outlier[N];
    sim_truth_config config = truth;
    config.outlier_probability = outlier_probability;
    bench b;
    double sum = 0;
    init(&b, kind, &config);
    *n_counted = 0;
    for (size_t i = 0; i < N; i++) {
        const outcome o = one_pass(&b, 0);
        if (outlier_probability > 0) is_outlier[i] = o.is_outlier;
        if (is_outlier[i] || o.n_held < HELD_AT_LEAST) continue;
        sum += fabs(o.estimate_ms - o.observed_ms) / o.observed_ms;
        ++*n_counted;
    }
    clear(&b);
    return sum / (double)*n_counted;
}

Test(tuning_regions,
     outliers_of_factor_20_raise_the_error_of_other_passes_by_less_than_a_tenth_where_8_samples_are_held) {
    static const fpm_kind kinds[] = { FPM_PREFILL, FPM_DECODE };
    for (size_t k = 0; k < 2; k++) {
        uint64_t n_with, n_without;
        const double with = error_with(kinds[k], 0.02, &n_with), without = error_with(kinds[k], 0, &n_without);
        cr_expect_gt(n_with, 5000, "%s: only %llu passes in regions of %d samples", fpm_kind_name(kinds[k]),
                     (unsigned long long)n_with, HELD_AT_LEAST);
        cr_expect_gt(n_without, 5000);
        cr_expect_lt(without, 0.0485, "%s: %g, for a noise of 0.04", fpm_kind_name(kinds[k]), without);
        cr_expect_lt(with, 1.1 * without, "%s: %g for %g", fpm_kind_name(kinds[k]), with, without);
    }
}

// Passes of each region since the step, by its place in the grid.
typedef struct region_count {
    double low[2];
    uint64_t n;
} region_count;

static uint64_t count_pass(region_count *counts, size_t *n_regions, const outcome *o) {
    size_t i = 0;
    while (i < *n_regions && (counts[i].low[0] != o->low[0] || counts[i].low[1] != o->low[1])) i++;
    if (i == *n_regions) counts[(*n_regions)++] = (region_count){ .low = { o->low[0], o->low[1] } };
    return ++counts[i].n;
}

Test(tuning_regions, a_step_of_1_3_is_forgotten_within_max_observations_passes_of_each_region) {
    static const fpm_kind kinds[] = { FPM_PREFILL, FPM_DECODE };
    for (size_t k = 0; k < 2; k++) {
        sim_truth_config config = truth;
        config.noise_cv = 0;
        config.steps = (sim_truth_steps){ 1, { { 1000 * SIM_NS_PER_S, 1.3 } } };
        region_count counts[MOST_CELLS];
        size_t n_regions = 0, n_settled = 0;
        bench b;
        init(&b, kinds[k], &config);
        for (size_t i = 0; i < 2000; i++) one_pass(&b, 0);
        for (size_t i = 0; i < 4000; i++) {
            const outcome o = one_pass(&b, 2000 * SIM_NS_PER_S);
            if (o.n_held == 0) continue;
            const bool is_settled = count_pass(counts, &n_regions, &o) > fpm_model_options_default().max_observations;
            n_settled += is_settled;
            if (is_settled) cr_assert_float_eq(o.estimate_ms / o.observed_ms, 1, 1e-9, "pass %zu after the step", i);
        }
        cr_expect_geq(n_regions, 4);
        cr_expect_gt(n_settled, 1000);
        clear(&b);
    }
}
