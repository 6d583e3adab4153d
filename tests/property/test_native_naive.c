// SPDX-License-Identifier: GPL-3.0-or-later
//
// Random models, GPUs, layouts, formats, calibrations and batches: the compiled plan against the naive sum of kernel prices.
#include <criterion/criterion.h>
#include <stdlib.h>

#include "perfmodel/native/native.h"
#include "tests/support/dice.h"
#include "tests/support/naive_native.h"
#include "tests/support/native_fixture.h"

static int64_t one_of(const int64_t *values, size_t n) { return values[dice(n)]; }
#define ONE_OF(...) one_of((const int64_t[]){ __VA_ARGS__ }, sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

static void draw_attention(fpm_architecture *a) {
    a->attention = (fpm_attention_kind)dice(FPM_ATTENTION_KINDS);
    if (a->attention == FPM_ATTENTION_GROUPED) {
        a->n_kv_heads = ONE_OF(1, 2, 4, 8);
        a->n_heads = a->n_kv_heads * ONE_OF(1, 4, 7, 8);
        a->head_dim = ONE_OF(64, 128, 256);
        a->has_qk_norm = dice(2);
        a->has_output_gate = dice(2);
        a->n_window_layers = (int64_t)(dice(2) * dice((uint64_t)a->n_layers + 1));
        a->window_tokens = a->n_window_layers ? ONE_OF(128, 1024) : 0;
        return;
    }
    *a = (fpm_architecture){ .n_layers = a->n_layers,
                             .hidden = a->hidden,
                             .vocab = a->vocab,
                             .attention = a->attention,
                             .n_heads = ONE_OF(16, 64, 128),
                             .kv_rank = 512,
                             .nope_dim = 128,
                             .rope_dim = 64,
                             .value_dim = 128 };
    a->q_rank = a->attention == FPM_ATTENTION_SPARSE ? 1536 : ONE_OF(0, 1536);
    if (a->attention == FPM_ATTENTION_LATENT) return;
    a->index_heads = 64;
    a->index_dim = 128;
    a->index_topk = 2048;
}

static fpm_architecture draw_architecture(void) {
    fpm_architecture a = { .n_layers = 1 + (int64_t)dice(60),
                           .hidden = 128 * (1 + (int64_t)dice(64)),
                           .vocab = 1000 + (int64_t)dice(200000) };
    draw_attention(&a);
    snprintf(a.name, sizeof a.name, "random");
    if (a.attention == FPM_ATTENTION_GROUPED && dice(3) == 0) {
        const int64_t n = (int64_t)dice((uint64_t)a.n_layers + 1);
        a.n_linear_layers = n;
        if (a.n_window_layers > a.n_layers - n) a.n_window_layers = a.n_layers - n;
        if (a.n_window_layers == 0) a.window_tokens = 0;
        if (n > 0) {
            a.linear_key_heads = 16;
            a.linear_value_heads = ONE_OF(16, 32, 48);
            a.linear_key_dim = a.linear_value_dim = 128;
            a.linear_conv_width = 4;
        }
    }
    a.n_moe_layers = dice(2) ? (int64_t)dice((uint64_t)a.n_layers + 1) : 0;
    a.has_ungated_ffn = dice(4) == 0;
    if (a.n_moe_layers < a.n_layers) a.intermediate = 256 * (1 + (int64_t)dice(100));
    if (a.n_moe_layers == 0) return a;
    a.n_experts = ONE_OF(8, 32, 128, 256);
    a.experts_per_token = ONE_OF(1, 2, 4, 8);
    a.expert_intermediate = 256 * (1 + (int64_t)dice(20));
    a.shared_intermediate = dice(2) ? 256 * (1 + (int64_t)dice(20)) : 0;
    return a;
}

static fpm_layout draw_layout(const fpm_architecture *a) {
    fpm_layout l = {
        .tensor = ONE_OF(1, 2, 4, 8), .pipeline = ONE_OF(1, 1, 2), .data = ONE_OF(1, 1, 2, 4), .expert = 1
    };
    if (a->n_moe_layers > 0) l.expert = ONE_OF(1, 2, 4, 8);
    l.moe_tensor = a->n_moe_layers > 0 ? l.tensor * l.data / l.expert : 1;
    return l;
}

typedef struct random_case {
    fpm_deployment d;
    fpm_operators operators;
    fpm_calibration calibration;
} random_case;

// A curve anywhere within its limits, near the typical one.
static void bend_curves(fpm_operators *operators) {
    for (int family = 0; family < FPM_FAMILIES; family++) {
        size_t n;
        const fpm_parameter *parameters = fpm_family_parameters((fpm_family)family, &n);
        for (int format = 0; format < FPM_FORMATS; format++)
            for (size_t i = 0; i < n; i++) {
                double *value = &operators->curves[family][format].values[i];
                *value *= 0.5 + (double)dice(1000) / 1000;
                *value = fmin(fmax(*value, parameters[i].min), parameters[i].max);
            }
    }
}

static void draw_case(random_case *c) {
    fpm_status status;
    do {
        c->d.architecture = draw_architecture();
        c->d.system = hopper_system();
        c->d.layout = draw_layout(&c->d.architecture);
        c->d.quantisation = (fpm_quantisation){ .weights = (fpm_precision)dice(FPM_PRECISIONS),
                                                .moe_weights = (fpm_precision)dice(FPM_PRECISIONS),
                                                .kv_cache = dice(2) ? FPM_FP8 : FPM_BF16,
                                                .has_16bit_activations = dice(2) };
        c->d.backend = (fpm_backend)dice(FPM_BACKENDS);
        status = fpm_architecture_check(&c->d.architecture, NULL);
        if (!status) status = fpm_layout_check(&c->d.layout, &c->d.architecture, NULL);
        if (!status) status = fpm_quantisation_check(&c->d.quantisation, &c->d.architecture, &c->d.system, NULL);
    } while (status);
    fpm_operators_init(&c->operators, &c->d.system);
    c->operators.backend = c->d.backend;
    bend_curves(&c->operators);
    c->calibration = fpm_calibration_default();
    for (int t = 0; t < FPM_TERMS; t++) c->calibration.terms[t] *= 0.6 + 1.5 * (double)dice(1000) / 1000;
}

static fpm_metrics draw_rank(void) {
    fpm_metrics rank = fpm_metrics_idle();
    fpm_scheduled_requests *s = &rank.scheduled;
    const uint64_t kind = dice(8);
    if (kind == 0) return rank;
    if (kind % 2) {
        s->num_decode_requests = 1 + (uint32_t)dice(dice(2) ? 256 : 4000);
        s->sum_decode_kv_tokens = s->num_decode_requests * (uint32_t)dice(20000);
    }
    if (kind > 3) {
        s->num_prefill_requests = 1 + (uint32_t)dice(5);
        s->sum_prefill_tokens = s->num_prefill_requests + (uint32_t)dice(dice(2) ? 300 : 20000);
        s->sum_prefill_kv_tokens = (uint32_t)dice(2) * (uint32_t)dice(100000);
    }
    return rank;
}

static void run_one(uint64_t seed) {
    static random_case c;
    dice_state = seed;
    draw_case(&c);
    fpm_estimator *estimator;
    fpm_error error = { 0 };
    cr_assert_eq(fpm_estimator_new_native(&estimator, &c.d, &c.operators, &c.calibration, FPM_PRICING_FUSED, &error),
                 FPM_OK, "seed %llu: %s", (unsigned long long)seed, error.message);
    for (int k = 0; k < 20; k++) {
        fpm_metrics ranks[4];
        const size_t n_ranks = (size_t)c.d.layout.data;
        for (size_t i = 0; i < n_ranks; i++) ranks[i] = draw_rank();
        const double naive = naive_native_ms(&c.d, &c.operators, &c.calibration, ranks, n_ranks);
        double ms = -1;
        cr_assert_eq(fpm_estimate_ms(estimator, ranks, n_ranks, &ms, NULL), FPM_OK);
        cr_assert(fabs(ms - naive) <= 2e-4 * naive, "seed %llu, pass %d: %.12g, naive %.12g", (unsigned long long)seed,
                  k, ms, naive);
    }
    fpm_estimator_free(estimator);
}

Test(native_naive, the_plan_is_the_sum_of_the_prices_of_kernels_within_a_5000th, .timeout = 120) {
    const char *first = getenv("FOREPASS_SEED"), *n = getenv("FOREPASS_CASES");
    const uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
    const uint64_t n_cases = n ? strtoull(n, NULL, 10) : 300;
    for (uint64_t i = 0; i < n_cases; i++) run_one(seed + i);
}
