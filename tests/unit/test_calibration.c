// SPDX-License-Identifier: GPL-3.0-or-later
//
// Calibrations as configuration: common terms, factors of generations, backends and systems.
#include "sim/deployment/calibration.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/dice.h"

static char path[32];

static const char *file_of(const char *text) {
    strcpy(path, "/tmp/forepass-test-XXXXXX");
    const int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return path;
}

static sim_status load(sim_calibration *calibration, const char *text, sim_error *error) {
    const sim_status status = sim_calibration_load(calibration, file_of(text), error);
    unlink(path);
    return status;
}

Test(calibration, by_default_every_factor_is_one) {
    const sim_calibration c = sim_calibration_default();
    const fpm_calibration common = fpm_calibration_default();
    for (int g = 0; g < FPM_GENERATIONS; g++)
        for (int b = 0; b < FPM_BACKENDS; b++) {
            const fpm_calibration terms = sim_calibration_terms(&c, (fpm_generation)g, (fpm_backend)b);
            for (int t = 0; t < FPM_TERMS; t++) cr_expect_eq(terms.terms[t], common.terms[t]);
        }
}

Test(calibration, a_term_is_common_times_generation_times_backend_times_system) {
    sim_calibration c = sim_calibration_default();
    sim_error error = { 0 };
    cr_assert_eq(load(&c,
                      "[calibration]\npass_us = 1000\n[calibration.hopper]\npass_us = 0.5\n"
                      "[calibration.sglang]\npass_us = 3\nadmission_passes = 7\n",
                      &error),
                 SIM_OK, "%s", error.message);
    c.system.terms[FPM_TERM_PASS] = 4;
    cr_expect_eq(sim_calibration_terms(&c, FPM_HOPPER, FPM_SGLANG).terms[FPM_TERM_PASS], 6000);
    cr_expect_eq(sim_calibration_terms(&c, FPM_HOPPER, FPM_VLLM).terms[FPM_TERM_PASS], 2000);
    cr_expect_eq(sim_calibration_terms(&c, FPM_AMPERE, FPM_SGLANG).terms[FPM_TERM_PASS], 12000);
    cr_expect_eq(c.admission_passes[FPM_SGLANG], 7);
    cr_expect_eq(c.admission_passes[FPM_VLLM], 4);
}

Test(calibration, what_a_file_leaves_out_stays) {
    sim_calibration c = sim_calibration_default();
    sim_error error = { 0 };
    cr_assert_eq(
        load(&c, "[calibration]\npass_us = 5\nlayer_us = 6\n[calibration.vllm]\nadmission_passes = 3\n", &error),
        SIM_OK);
    cr_assert_eq(load(&c, "[calibration]\nlayer_us = 8\n[calibration.vllm]\nlayer_us = 2\n", &error), SIM_OK);
    cr_expect_eq(c.common.terms[FPM_TERM_PASS], 5);
    cr_expect_eq(c.common.terms[FPM_TERM_LAYER], 8);
    cr_expect_eq(c.backends[FPM_VLLM].terms[FPM_TERM_LAYER], 2);
    cr_expect_eq(c.admission_passes[FPM_VLLM], 3);
}

Test(calibration, a_configuration_overrides_the_terms_that_it_was_given) {
    sim_config *config;
    sim_error error = { 0 };
    sim_calibration c = sim_calibration_default();
    cr_assert_eq(sim_config_new(&config, sim_calibration_tables, SIM_CALIBRATION_TABLES, &error), SIM_OK);
    cr_expect_not(sim_calibration_override(&c, config)); // nothing was given
    cr_assert_eq(sim_config_set(config, "calibration.blackwell.gemm_fp8=0.9", &error), SIM_OK);
    cr_assert_eq(sim_config_set(config, "calibration.trtllm.admission_passes=4", &error), SIM_OK);
    cr_expect(sim_calibration_override(&c, config));
    cr_expect_eq(c.generations[FPM_BLACKWELL].terms[FPM_TERM_GEMM_FP8], 0.9);
    cr_expect_eq(c.generations[FPM_HOPPER].terms[FPM_TERM_GEMM_FP8], 1);
    cr_expect_eq(c.admission_passes[FPM_TRTLLM], 4);
    sim_config_free(config);
}

static double four_digits(double value) {
    char text[32];
    snprintf(text, sizeof text, "%.4g", value);
    return strtod(text, NULL);
}

static void draw(fpm_calibration *terms) {
    for (int t = 0; t < FPM_TERMS; t++) terms->terms[t] = four_digits(1e-3 * (double)(1 + dice(3000000)));
}

Test(calibration, what_is_written_reads_back) {
    for (int round = 0; round < 50; round++) {
        sim_calibration c = sim_calibration_default(), back = sim_calibration_default();
        draw(&c.common);
        for (int g = 0; g < FPM_GENERATIONS; g++)
            if (dice(2)) draw(&c.generations[g]);
        for (int b = 0; b < FPM_BACKENDS; b++) {
            if (dice(2)) draw(&c.backends[b]);
            c.admission_passes[b] = (int64_t)dice(3);
        }
        char *text = NULL;
        size_t n;
        FILE *out = open_memstream(&text, &n);
        cr_assert(sim_calibration_write(&c, out));
        fclose(out);
        sim_error error = { 0 };
        cr_assert_eq(load(&back, text, &error), SIM_OK, "%s", error.message);
        cr_expect_arr_eq(&back, &c, sizeof c, "round %d:\n%s", round, text);
        free(text);
    }
}

Test(calibration, a_full_disk_is_told) {
    const sim_calibration c = sim_calibration_default();
    FILE *out = fopen("/dev/full", "w");
    if (!out) cr_skip_test("no /dev/full");
    setvbuf(out, NULL, _IONBF, 0);
    cr_expect_not(sim_calibration_write(&c, out));
    fclose(out);
}

Test(calibration, what_is_no_calibration_is_placed) {
    static const struct {
        const char *text;
        int line;
        const char *message;
    } cases[] = {
        { "[calibration]\npass_us = 5\npass_ms = 1\n", 3, "pass_us" }, // suggested
        { "[calibration.hoper]\npass_us = 5\n", 1, "calibration.hopper" },
        { "[calibration]\ngemm_fp8 = -1\n", 2, "gemm_fp8" },
        { "[calibration]\ngemm_fp8 = fast\n", 2, "fast" },
        { "[calibration]\ngemm_fp8 = 1\ngemm_fp8 = 2\n", 3, "gemm_fp8" },
        { "[calibration.vllm]\nadmission_passes = 1.5\n", 2, "1.5" },
        { "[calibration]\nadmission_passes = 2\n", 2, "admission_passes" },
        { "[model]\nname = llama\n", 1, "model" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_calibration c = sim_calibration_default();
        const sim_calibration before = c;
        sim_error error = { 0 };
        cr_expect_eq(load(&c, cases[i].text, &error), SIM_USAGE, "%zu", i);
        cr_expect_eq(error.line, cases[i].line, "%zu: %s", i, error.message);
        cr_expect_str_eq(error.file, path);
        cr_expect(strstr(error.message, cases[i].message), "%zu: %s", i, error.message);
        cr_expect_arr_eq(&c, &before, sizeof c);
    }
    sim_calibration c = sim_calibration_default();
    sim_error error = { 0 };
    cr_expect_eq(sim_calibration_load(&c, "/nowhere/calibration.ini", &error), SIM_USAGE);
}

Test(calibration, states_its_error_and_writes_it_down) {
    sim_calibration c = sim_calibration_default();
    sim_error error = { 0 };
    cr_expect_eq(c.error.ttft_mape_pct, 0, "nothing is known of the defaults");
    cr_assert_eq(load(&c, "[calibration.error]\nttft_mape_pct = 27.9\ntpot_mape_pct = 12.7\n", &error), SIM_OK, "%s",
                 error.message);
    cr_expect(c.error.ttft_mape_pct == 27.9 && c.error.tpot_mape_pct == 12.7);
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    cr_expect(sim_calibration_write(&c, out));
    fclose(out);
    sim_calibration again = sim_calibration_default();
    cr_assert_eq(load(&again, text, &error), SIM_OK, "%s", error.message);
    cr_expect(again.error.ttft_mape_pct == 27.9 && again.error.tpot_mape_pct == 12.7);
    free(text);
}
