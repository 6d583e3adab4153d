// SPDX-License-Identifier: GPL-3.0-or-later
//
// What holds for every tuning model, whatever it has seen.
#include "tests/support/standin_estimator.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static uint64_t state;
static uint32_t draw(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

static fpm_metrics batch(uint32_t fresh, uint32_t decodes, uint32_t kv) {
    fpm_metrics rank = fpm_metrics_idle();
    rank.scheduled.num_prefill_requests = fresh > 0;
    rank.scheduled.sum_prefill_tokens = fresh;
    rank.scheduled.num_decode_requests = decodes;
    rank.scheduled.sum_decode_kv_tokens = decodes ? kv : 0;
    return rank;
}

static fpm_metrics random_batch(fpm_kind kind) {
    fpm_metrics rank =
        batch(kind != FPM_DECODE ? 1 + draw(8192) : 0, kind != FPM_PREFILL ? 1 + draw(512) : 0, draw(2000000));
    rank.wall_time_s = standin_rank_ms(&rank) * (0.2 + (double)draw(4000) / 1000.0) / 1000.0;
    return rank;
}

static fpm_model *new_model(bool is_native, const fpm_model_options *o) {
    fpm_model *model = NULL;
    fpm_estimator *estimator = NULL;
    if (is_native) standin_new(&estimator, NULL);
    cr_assert_eq(is_native ? fpm_model_new_native(&model, estimator, o, NULL)
                           : fpm_model_new_regression(&model, o, NULL),
                 FPM_OK);
    fpm_estimator_free(estimator);
    return model;
}

static void tune(fpm_model *model, const fpm_metrics *ranks, size_t n) {
    const fpm_iteration iteration = { ranks, n };
    cr_assert_eq(fpm_model_tune(model, &iteration, 1, NULL), FPM_OK);
}

// False: no estimate.
static bool ask(const fpm_model *model, const fpm_metrics *ranks, size_t n, double *ms) {
    bool has_estimate;
    cr_assert_eq(fpm_model_estimate_ms(model, ranks, n, ms, &has_estimate, NULL), FPM_OK);
    return has_estimate;
}

Test(model_random, predictions_of_a_regression_never_fall_with_the_load) {
    for (uint64_t seed = 1; seed <= 60; seed++) {
        state = seed;
        fpm_model *model = new_model(false, NULL);
        const int n = 5 + (int)draw(120);
        for (int i = 0; i < n; i++) {
            const fpm_metrics rank = random_batch((fpm_kind)(1 + draw(3)));
            tune(model, &rank, 1);
        }
        for (int i = 0; i < 300; i++) {
            const fpm_kind kind = (fpm_kind)(1 + draw(3));
            const fpm_metrics less = random_batch(kind);
            fpm_metrics more = less;
            if (kind != FPM_DECODE) more.scheduled.sum_prefill_tokens += draw(5000);
            if (kind == FPM_DECODE) more.scheduled.num_decode_requests += draw(50);
            if (kind != FPM_PREFILL) more.scheduled.sum_decode_kv_tokens += draw(500000);
            double low, high;
            if (!ask(model, &less, 1, &low)) continue;
            cr_assert(ask(model, &more, 1, &high));
            cr_assert_leq(low, high * (1 + 1e-12), "seed %lu: %.17g above %.17g", (unsigned long)seed, low, high);
        }
        fpm_model_free(model);
    }
}

Test(model_random, factors_stay_inside_their_bounds_and_samples_below_the_limit) {
    for (uint64_t seed = 1; seed <= 60; seed++) {
        state = seed;
        fpm_model_options o = fpm_model_options_default();
        o.max_observations = 1 + draw(40);
        o.min_observations = 1;
        o.min_faster_correction_factor = 0.3 + (double)draw(70) / 100.0;
        o.max_slower_correction_factor = 1 + (double)draw(300) / 100.0;
        fpm_model *models[2] = { new_model(true, &o), new_model(false, &o) };
        for (int i = 0; i < 300; i++) {
            const fpm_metrics rank = random_batch((fpm_kind)(1 + draw(3))),
                              query = random_batch((fpm_kind)(1 + draw(3)));
            for (int m = 0; m < 2; m++) {
                tune(models[m], &rank, 1);
                for (int kind = FPM_PREFILL; kind <= FPM_MIXED; kind++)
                    cr_assert_leq(fpm_model_retained(models[m], (fpm_kind)kind), o.max_observations);
            }
            fpm_factors f;
            double ms;
            cr_assert(fpm_model_factors(models[0], FPM_EMPTY, &f));
            cr_assert(f.min >= o.min_faster_correction_factor && f.max <= o.max_slower_correction_factor);
            cr_assert(f.min <= f.avg * (1 + 1e-12) && f.avg <= f.max * (1 + 1e-12));
            cr_assert(ask(models[0], &query, 1, &ms));
            const double ratio = ms / standin_rank_ms(&query);
            cr_assert(ratio >= o.min_faster_correction_factor * (1 - 1e-12) || ratio == 1);
            cr_assert(ratio <= o.max_slower_correction_factor * (1 + 1e-12));
        }
        fpm_model_free(models[0]);
        fpm_model_free(models[1]);
    }
}

// Sum of the features of a rank: what decides who speaks for the load.
static uint64_t load_of(const fpm_metrics *rank) {
    const fpm_scheduled_requests *s = &rank->scheduled;
    return (uint64_t)(s->sum_prefill_tokens ? s->sum_prefill_tokens : s->num_decode_requests) + s->sum_decode_kv_tokens;
}

Test(model_random, the_order_of_ranks_matters_only_among_equal_loads) {
    for (uint64_t seed = 1; seed <= 40; seed++) {
        state = seed;
        fpm_model *models[2][2] = { { new_model(false, NULL), new_model(false, NULL) },
                                    { new_model(true, NULL), new_model(true, NULL) } };
        for (int i = 0; i < 200; i++) {
            fpm_metrics ranks[4], turned[4];
            bool has_tie = false;
            for (int r = 0; r < 4; r++) {
                ranks[r] = draw(4) ? random_batch((fpm_kind)(1 + draw(3))) : fpm_metrics_idle();
                turned[3 - r] = ranks[r];
                for (int q = 0; q < r; q++)
                    has_tie |= load_of(&ranks[r]) == load_of(&ranks[q]) && load_of(&ranks[r]) > 0;
            }
            if (has_tie) continue;
            for (int m = 0; m < 2; m++) {
                double a = -1, b = -1;
                cr_assert_eq(ask(models[m][0], ranks, 4, &a), ask(models[m][1], turned, 4, &b));
                cr_assert_eq(a, b);
                tune(models[m][0], ranks, 4);
                tune(models[m][1], turned, 4);
            }
        }
        for (int m = 0; m < 4; m++) fpm_model_free(models[m / 2][m % 2]);
    }
}

Test(model_random, one_call_of_many_iterations_equals_many_calls) {
    for (uint64_t seed = 1; seed <= 40; seed++) {
        state = seed;
        for (int is_native = 0; is_native < 2; is_native++) {
            enum { N = 150 };
            fpm_metrics ranks[N];
            fpm_iteration iterations[N];
            for (int i = 0; i < N; i++) {
                ranks[i] = random_batch((fpm_kind)(1 + draw(3)));
                iterations[i] = (fpm_iteration){ &ranks[i], 1 };
            }
            fpm_model *a = new_model(is_native, NULL), *b = new_model(is_native, NULL);
            cr_assert_eq(fpm_model_tune(a, iterations, N, NULL), FPM_OK);
            for (int i = 0; i < N; i++) tune(b, &ranks[i], 1);
            for (int i = 0; i < N; i++) {
                double x = -1, y = -1;
                cr_assert_eq(ask(a, &ranks[i], 1, &x), ask(b, &ranks[i], 1, &y));
                cr_assert_eq(x, y);
            }
            fpm_model_free(a);
            fpm_model_free(b);
        }
    }
}

// In every form: what is saved and loaded again answers, and goes on learning, to the bit as what was never saved.
Test(model_random, a_loaded_model_goes_on_like_the_one_that_was_saved) {
    for (unsigned form = 0; form < 16; form++) {
        fpm_model_options o = fpm_model_options_default();
        o.max_observations = form & 1 ? 64 : 11;
        o.min_observations = 3;
        o.correction = form & 2 ? FPM_CORRECTION_SMOOTH : FPM_CORRECTION_GRID;
        o.regression = form & 2 ? FPM_REGRESSION_ROBUST : FPM_REGRESSION_REFERENCE;
        o.bucket_count = form & 8 ? 1000000 : 16;
        fpm_model *saved = new_model(form & 4, &o), *loaded = NULL;
        fpm_estimator *estimator = NULL;
        cr_assert_eq(standin_new(&estimator, NULL), FPM_OK);
        for (int i = 0; i < 400; i++) {
            const fpm_metrics rank = random_batch((fpm_kind)(FPM_PREFILL + draw(3)));
            const fpm_iteration pass = { &rank, 1 };
            double a = -1, b = -1;
            bool has_a, has_b;
            cr_assert_eq(fpm_model_tune(saved, &pass, 1, NULL), FPM_OK);
            if (loaded) cr_assert_eq(fpm_model_tune(loaded, &pass, 1, NULL), FPM_OK);
            if (i % 50 == 13) {
                char *text;
                size_t n_bytes;
                FILE *out = open_memstream(&text, &n_bytes);
                cr_assert_eq(fpm_model_write(saved, out, NULL), FPM_OK);
                fclose(out);
                fpm_model_free(loaded);
                cr_assert_eq(fpm_model_read(&loaded, text, n_bytes, estimator, NULL), FPM_OK);
                free(text);
            }
            if (!loaded) continue;
            const fpm_metrics query = random_batch((fpm_kind)(FPM_PREFILL + draw(3)));
            cr_assert_eq(fpm_model_estimate_ms(saved, &query, 1, &a, &has_a, NULL), FPM_OK);
            cr_assert_eq(fpm_model_estimate_ms(loaded, &query, 1, &b, &has_b, NULL), FPM_OK);
            cr_assert(has_a == has_b && a == b, "form %u, pass %d: %.17g and %.17g", form, i, a, b);
        }
        fpm_model_free(saved);
        fpm_model_free(loaded);
        fpm_estimator_free(estimator);
    }
}
