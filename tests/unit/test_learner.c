// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/learner.h"

#include "tests/support/standin_estimator.h"

#include <criterion/criterion.h>

#include "sim/kernel/clock.h"

static sim_learner *fresh(const sim_tuning_config *tuning) {
    fpm_estimator *estimator;
    fpm_model *model;
    sim_learner *learner;
    cr_assert_eq(standin_new(&estimator, NULL), FPM_OK);
    cr_assert_eq(fpm_model_new_native(&model, estimator, NULL, NULL), FPM_OK);
    fpm_estimator_free(estimator);
    cr_assert_eq(sim_learner_new(&learner, model, tuning, NULL), SIM_OK);
    return learner;
}

static fpm_pass pass(uint32_t tokens) { return (fpm_pass){ .kind = FPM_PREFILL, .x = { tokens }, .base_ms = 10 }; }

static void take(sim_learner *learner, uint32_t tokens, double ms, int64_t now_ns) {
    const fpm_pass p = pass(tokens);
    cr_assert_eq(sim_learner_take(learner, now_ns, &p, ms, NULL), SIM_OK);
}

// The factor at 100 tokens.
static double ask(const sim_learner *learner) {
    const fpm_pass p = pass(100);
    double ms;
    bool has_estimate;
    cr_assert_eq(fpm_model_foresee(sim_learner_model(learner), &p, &ms, &has_estimate, NULL), FPM_OK);
    cr_assert(has_estimate);
    return ms / 10;
}

Test(learner, passes_wait_for_the_rest_of_their_batch) {
    sim_learner *learner = fresh(&(const sim_tuning_config){ .update_every = 8 });
    for (uint32_t i = 1; i <= 15; i++) {
        take(learner, 100, 13, i);
        cr_expect_eq(sim_learner_count(learner), i / 8 * 8);
        cr_expect_eq(ask(learner), i < 8 ? 1 : 1.3, "after %u", i);
    }
    cr_expect_eq(fpm_model_retained(sim_learner_model(learner), FPM_PREFILL), 8);
    sim_learner_free(learner);
}

Test(learner, a_batch_is_learned_as_one_pass_after_the_other) {
    const sim_tuning_config one = { .update_every = 1 }, many = { .update_every = 50 };
    sim_learner *a = fresh(&one), *b = fresh(&many);
    for (uint32_t i = 0; i < 300; i++) {
        take(a, 1 + i * 613 % 8000, 8 + i % 7, i);
        take(b, 1 + i * 613 % 8000, 8 + i % 7, i);
    }
    fpm_cell of_a[16], of_b[16];
    const size_t n = fpm_model_cells(sim_learner_model(a), FPM_PREFILL, of_a, 16);
    cr_assert_eq(fpm_model_cells(sim_learner_model(b), FPM_PREFILL, of_b, 16), n);
    for (size_t i = 0; i < n; i++) {
        cr_expect_eq(of_a[i].n_samples, of_b[i].n_samples);
        cr_expect_eq(of_a[i].factor, of_b[i].factor);
        cr_expect_eq(of_a[i].low[0], of_b[i].low[0]);
    }
    sim_learner_free(a);
    sim_learner_free(b);
}

Test(learner, freezes_after_so_many_passes) {
    sim_learner *learner = fresh(&(const sim_tuning_config){ .update_every = 1, .freeze_after = { .passes = 10 } });
    for (uint32_t i = 0; i < 10; i++) take(learner, 100, 12, i);
    cr_expect_not(sim_learner_is_frozen(learner), "it was shown all ten");
    for (uint32_t i = 0; i < 100; i++) take(learner, 100, 19, i);
    cr_expect(sim_learner_is_frozen(learner));
    cr_expect_eq(sim_learner_count(learner), 10);
    cr_expect_eq(ask(learner), 1.2);
    sim_learner_free(learner);
}

Test(learner, freezes_at_a_time) {
    sim_learner *learner =
        fresh(&(const sim_tuning_config){ .update_every = 1, .freeze_after = { .time_ns = 5 * SIM_NS_PER_S } });
    for (uint32_t i = 0; i < 10; i++) take(learner, 100, 12, i * SIM_NS_PER_S);
    cr_expect(sim_learner_is_frozen(learner));
    cr_expect_eq(sim_learner_count(learner), 5, "the pass that ends at that time is not learned");
    sim_learner_free(learner);
    sim_learner_free(NULL);
}
