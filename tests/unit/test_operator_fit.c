// SPDX-License-Identifier: GPL-3.0-or-later
//
// Fits to kernels whose times come from a known curve, and what the report says of them.
#include "sim/experiment/operator_fit.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/native/operator_parts.h"
#include "sim/experiment/operator_report.h"

static const fpm_system gpu = { .name = "gpu",
                                .generation = FPM_HOPPER,
                                .memory_bytes = 80e9,
                                .memory_bytes_per_s = 3.35e12,
                                .flops_per_s = { [FPM_ARITHMETIC_BF16] = 989e12, [FPM_ARITHMETIC_FP8] = 1978e12 },
                                .intra_node_bytes_per_s = 450e9,
                                .inter_node_bytes_per_s = 50e9,
                                .gpus_per_node = 8 };

typedef struct bench {
    sim_sample_set set;
    sim_operator_curves curves, truth;
    sim_operator_row rows[SIM_MAX_OPERATOR_ROWS];
    size_t n_rows;
} bench;

static bench *new_bench(size_t n_samples) {
    bench *b = calloc(1, sizeof *b);
    b->set.systems[0] = gpu;
    b->set.n_systems = 1;
    b->set.samples = calloc(n_samples, sizeof *b->set.samples);
    sim_operator_curves_init(&b->curves, &b->set.systems[0]);
    sim_operator_curves_init(&b->truth, &b->set.systems[0]);
    return b;
}

static void free_bench(bench *b) {
    free(b->set.samples);
    free(b);
}

static sim_operator_sample *add(bench *b, sim_operator_sample sample) {
    sim_operator_sample *added = &b->set.samples[b->set.n++];
    *added = sample;
    added->ms = sim_sample_price(added, &b->truth.operators[added->backend]).ms;
    return added;
}

static void add_gemms(bench *b, int n) {
    for (int i = 0; i < n; i++)
        add(b, (sim_operator_sample){ .kind = SIM_SAMPLE_GEMM,
                                      .format = FPM_BF16,
                                      .m = exp2(i % 14),
                                      .n = 256 * (1 + i % 37),
                                      .k = 128 * (1 + i % 53) });
}

static void add_decodes(bench *b, int n, bool has_window) {
    for (int i = 0; i < n; i++) {
        const double requests = exp2(i % 9), context = exp2(4 + i % 13);
        add(b, (sim_operator_sample){ .kind = SIM_SAMPLE_ATTENTION_DECODE,
                                      .format = FPM_BF16,
                                      .sums = { .pairs = requests * context,
                                                .kv_tokens = requests * context,
                                                .tokens = requests,
                                                .requests = requests },
                                      .shape.attention = { .n_heads = 8 * (1 + i % 4),
                                                           .n_kv_heads = 1 + i % 4,
                                                           .head_dim = 128,
                                                           .kv_cache = FPM_BF16,
                                                           .has_window = has_window } });
    }
}

static const sim_operator_row *report(bench *b, const char *name) {
    sim_error error = { 0 };
    cr_assert_eq(sim_operator_report(&b->curves, &b->set, 0, SIM_GROUP_KIND, b->rows, &b->n_rows, &error), SIM_OK);
    for (size_t i = 0; i < b->n_rows; i++) {
        char of[64];
        sim_operator_row_name(&b->rows[i], of);
        if (strcmp(of, name) == 0) return &b->rows[i];
    }
    cr_assert(false, "no row %s", name);
    return NULL;
}

static double *curve(sim_operator_curves *of, int set, fpm_family family) {
    return of->operators[set].curves[family][FPM_BF16].values;
}

Test(operator_fit, a_known_curve_is_found_again_and_backends_may_differ) {
    bench *b = new_bench(400);
    for (int set = 0; set < SIM_CURVE_SETS; set++) {
        double *gemm = curve(&b->truth, set, FPM_FAMILY_GEMM);
        gemm[GEMM_FLOOR] = 2.7;
        gemm[GEMM_COMPUTE] = 0.81;
        gemm[GEMM_MEMORY] = set == FPM_SGLANG ? 0.5 : 0.9;
    }
    add_gemms(b, 400);
    for (size_t i = 0; i < b->set.n; i++) {
        b->set.samples[i].backend = i % 2 ? FPM_SGLANG : FPM_VLLM;
        b->set.samples[i].ms = sim_sample_price(&b->set.samples[i], &b->truth.operators[b->set.samples[i].backend]).ms;
    }
    sim_error error = { 0 };
    cr_assert_eq(sim_operator_fit(&b->curves, &b->set, 0, &error), SIM_OK);
    cr_expect_lt(report(b, "gemm")->median_error_frac, 0.02);
    cr_expect_float_eq(curve(&b->curves, FPM_VLLM, FPM_FAMILY_GEMM)[GEMM_MEMORY], 0.9, 0.09);
    cr_expect_float_eq(curve(&b->curves, FPM_SGLANG, FPM_FAMILY_GEMM)[GEMM_MEMORY], 0.5, 0.05);
    cr_expect(b->curves.is_given[FPM_SGLANG][FPM_FAMILY_GEMM][FPM_BF16]);
    cr_expect_not(b->curves.is_given[FPM_TRTLLM][FPM_FAMILY_GEMM][FPM_BF16]);
    free_bench(b);
}

Test(operator_fit, windows_have_a_curve_of_their_own_or_that_of_the_usual_kernel) {
    for (int has_window = 0; has_window < 2; has_window++) {
        bench *b = new_bench(600);
        for (int set = 0; set < SIM_CURVE_SETS; set++) {
            curve(&b->truth, set, FPM_FAMILY_ATTENTION_DECODE)[ATTENTION_FLOOR] = 5;
            curve(&b->truth, set, FPM_FAMILY_SPECIAL_DECODE)[ATTENTION_FLOOR] = 40;
        }
        add_decodes(b, 300, false);
        if (has_window) add_decodes(b, 300, true);
        sim_error error = { 0 };
        cr_assert_eq(sim_operator_fit(&b->curves, &b->set, 0, &error), SIM_OK);
        cr_expect_lt(report(b, "attention_decode")->median_error_frac, 0.03);
        const double usual = curve(&b->curves, FPM_VLLM, FPM_FAMILY_ATTENTION_DECODE)[ATTENTION_FLOOR];
        const double special = curve(&b->curves, FPM_VLLM, FPM_FAMILY_SPECIAL_DECODE)[ATTENTION_FLOOR];
        cr_expect_float_eq(usual, 5, 1.5, "%g", usual);
        cr_expect_float_eq(special, has_window ? 40 : usual, has_window ? 8 : 1e-12, "%g", special);
        cr_expect(b->curves.is_given[SIM_ALL_BACKENDS][FPM_FAMILY_SPECIAL_DECODE][FPM_BF16]);
        free_bench(b);
    }
}

Test(operator_fit, the_typical_curve_serves_systems_of_different_peaks) {
    bench *b = new_bench(400);
    b->set.systems[1] = gpu;
    b->set.systems[1].memory_bytes_per_s = 1e12;
    b->set.n_systems = 2;
    for (int set = 0; set < SIM_CURVE_SETS; set++) curve(&b->truth, set, FPM_FAMILY_GEMM)[GEMM_MEMORY] = 0.88;
    add_gemms(b, 400);
    for (size_t i = 0; i < b->set.n; i++) {
        sim_operator_sample *sample = &b->set.samples[i];
        sample->system = i % 2;
        fpm_operators *truth = &b->truth.operators[0];
        truth->system = &b->set.systems[sample->system];
        sample->ms = sim_sample_price(sample, truth).ms;
    }
    sim_error error = { 0 };
    cr_assert_eq(sim_operator_fit_typical(&b->curves, &b->set, &error), SIM_OK);
    cr_expect_float_eq(curve(&b->curves, SIM_ALL_BACKENDS, FPM_FAMILY_GEMM)[GEMM_MEMORY], 0.88, 0.05);
    cr_expect_eq(b->curves.operators[0].system, &b->set.systems[0]);
    free_bench(b);
}

Test(operator_fit, a_report_has_a_row_per_class_and_tells_what_all_samples_come_to) {
    bench *b = new_bench(200);
    add_gemms(b, 100);
    add_decodes(b, 50, false);
    for (size_t i = 0; i < 100;
         i++) { // the host's times are three times the price; one in ten is half of it, and beats the hardware
        b->set.samples[i].is_host_bound = i >= 40;
        if (i >= 40) b->set.samples[i].ms *= 3;
    }
    const double bound = sim_sample_price(&b->set.samples[13], &b->curves.operators[0]).bound_ms;
    b->set.samples[13].ms = bound / 2;
    const sim_operator_row *gemm = report(b, "GEMM");
    cr_expect_eq(gemm->n_samples, 40);
    cr_expect_eq(gemm->n_host_bound, 60);
    cr_expect_eq(gemm->n_cached, 1);
    cr_expect_float_eq(gemm->median_error_frac, 0, 1e-12);
    cr_expect_float_eq(gemm->all_median_error_frac, 2.0 / 3, 1e-12);
    cr_expect_float_eq(report(b, "ATTENTION")->median_error_frac, report(b, "attention_decode")->median_error_frac,
                       1e-12);
    cr_expect_eq(b->n_rows, 4);
    free_bench(b);
}
