// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/deployment/pricing.h"

#include <criterion/criterion.h>
#include <string.h>

static sim_status build(const char *text, uint64_t capacity_tokens, fpm_estimator **estimator, sim_error *error) {
    static const sim_key_table *const tables[] = { &sim_pricing_keys };
    sim_config *config;
    cr_assert_eq(sim_config_new(&config, tables, 1, error), SIM_OK, "%s", error->message);
    sim_status status = sim_config_load_text(config, text, strlen(text), "test.ini", error);
    cr_assert_eq(status, SIM_OK, "%s", error->message);
    sim_pricing_config settings;
    sim_config_fill(config, &sim_pricing_keys, &settings);
    status = sim_pricing_new(estimator, config, &settings, NULL, NULL, capacity_tokens, error);
    sim_config_free(config);
    return status;
}

Test(pricing, the_keys_choose_the_estimator_and_the_price_of_a_mixed_pass) {
    static const char fixed[] = "[perfmodel]\nestimator = fixed\nprefill_ms = 20\ndecode_ms = 10\n";
    const struct {
        const char *base, *more;
        double ms;
    } cases[] = {
        { fixed, "", 20 },
        { fixed, "pricing = serial\n", 30 },
        { fixed, "mixed_ms = 25\n", 25 },
        { fixed, "mixed_ms = 0\n", 0 },
        { "[perfmodel]\nestimator = polynomial\n", "", 4.209989e-7 * 100 * 100 + 1.518344e-2 * 100 + 16.50142 },
        { "[perfmodel]\nestimator = polynomial\n", "pricing = serial\n",
          4.209989e-7 * 100 * 100 + 1.518344e-2 * 100 + 16.50142 + 5.74 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text, "%s%s", cases[i].base, cases[i].more);
        fpm_estimator *estimator;
        sim_error error = { 0 };
        cr_assert_eq(build(text, 1000, &estimator, &error), SIM_OK, "%zu: %s", i, error.message);
        fpm_metrics pass = fpm_metrics_idle();
        pass.scheduled.num_prefill_requests = 1;
        pass.scheduled.sum_prefill_tokens = 100;
        pass.scheduled.num_decode_requests = 1;
        double ms = -1;
        cr_assert_eq(fpm_estimate_ms(estimator, &pass, 1, &ms, NULL), FPM_OK);
        cr_expect_float_eq(ms, cases[i].ms, 1e-9, "%zu: %g", i, ms);
        fpm_estimator_free(estimator);
    }
}

Test(pricing, contradictions_are_placed_at_their_key) {
    const struct {
        const char *text;
        uint64_t capacity_tokens;
        int line;
        const char *message;
    } cases[] = {
        { "[perfmodel]\nestimator = fixed\nprefill_ms = 20\n", 1, 2, "estimator = fixed needs perfmodel.decode_ms" },
        { "[perfmodel]\nestimator = fixed\n", 1, 2, "estimator = fixed needs perfmodel.prefill_ms" },
        { "[perfmodel]\nestimator = polynomial\nmixed_ms = 0\n", 1, 3,
          "perfmodel.mixed_ms has no effect with estimator = polynomial" },
        { "[perfmodel]\nestimator = polynomial\n", 0, 2, "needs the KV capacity of a rank" },
        { "[perfmodel]\nestimator = fixed\nprefill_ms = 1\ndecode_ms = 1\ntable = t.csv\n", 1, 5,
          "perfmodel.table has no effect with estimator = fixed" },
        { "[perfmodel]\nestimator = table\n", 1, 2, "estimator = table needs perfmodel.table" },
        { "[perfmodel]\nestimator = table\ntable = -\n", 1, 3, "a file, not standard input" },
        { "[perfmodel]\nestimator = auto\n", 0, 2, "estimator = auto finds nothing to price by" },
        { "[perfmodel]\nestimator = auto\nprefill_ms = 1\n", 1, 3, "has no effect with estimator = auto" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fpm_estimator *estimator;
        sim_error error = { 0 };
        cr_expect_eq(build(cases[i].text, cases[i].capacity_tokens, &estimator, &error), SIM_USAGE);
        cr_expect_null(estimator);
        cr_expect_eq(error.line, cases[i].line);
        cr_expect(strstr(error.message, cases[i].message), "%s", error.message);
    }
}

Test(pricing, auto_takes_the_table_then_the_model_then_the_polynomial) {
    const sim_deployment whole = { .has_model = true, .has_system = true }, half = { .has_model = true };
    const struct {
        const char *table;
        const sim_deployment *deployment;
        uint64_t capacity_tokens;
        sim_estimator_kind kind;
    } cases[] = {
        { "t.csv", &whole, 1, SIM_ESTIMATOR_TABLE }, { "", &whole, 1, SIM_ESTIMATOR_NATIVE },
        { "", &half, 1, SIM_ESTIMATOR_POLYNOMIAL },  { "", NULL, 1, SIM_ESTIMATOR_POLYNOMIAL },
        { "", &half, 0, SIM_ESTIMATOR_AUTO },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_pricing_config settings = { .estimator = SIM_ESTIMATOR_AUTO, .table = cases[i].table };
        cr_expect_eq(sim_pricing_resolve(&settings, cases[i].deployment, cases[i].capacity_tokens), cases[i].kind);
        settings.estimator = SIM_ESTIMATOR_FIXED;
        cr_expect_eq(sim_pricing_resolve(&settings, cases[i].deployment, 1), SIM_ESTIMATOR_FIXED);
    }
}

Test(pricing, a_table_is_read_from_its_file) {
    static const char path[] = "/tmp/test_pricing_table.csv";
    FILE *out = fopen(path, "w");
    fputs("prefill_tokens,prefill_kv_tokens,decode_requests,decode_kv_tokens,ms\n100,0,1,0,12.5\n", out);
    fclose(out);
    static const char *const estimators[] = { "table", "auto" };
    for (int i = 0; i < 2; i++) {
        char text[200];
        snprintf(text, sizeof text, "[perfmodel]\nestimator = %s\ntable = %s\n", estimators[i], path);
        fpm_estimator *estimator;
        sim_error error = { 0 };
        cr_assert_eq(build(text, 1000, &estimator, &error), SIM_OK, "%s", error.message);
        fpm_metrics pass = fpm_metrics_idle();
        pass.scheduled.num_prefill_requests = 1;
        pass.scheduled.sum_prefill_tokens = 100;
        pass.scheduled.num_decode_requests = 1;
        double ms = -1;
        cr_assert_eq(fpm_estimate_ms(estimator, &pass, 1, &ms, NULL), FPM_OK);
        cr_expect_eq(ms, 12.5);
        fpm_estimator_free(estimator);
    }
    remove(path);
}
