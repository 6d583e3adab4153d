// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/deployment/pricing.h"

#include <stddef.h>
#include <string.h>

#include "sim/deployment/learned_prices.h"
#include "sim/deployment/pass_table.h"
#include "sim/deployment/table_files.h"

static const char *const estimator_names[] = { "native", "table", "polynomial", "fixed", "regression", "auto", NULL };
static const char *const pricing_names[] = { "fused", "serial", NULL };
_Static_assert(FPM_PRICING_FUSED == 0 && FPM_PRICING_SERIAL == 1, "pricing_names stand in the order of fpm_pricing");

#define KEY(field, ...) \
    { .offset = offsetof(sim_pricing_config, field), .name = #field, __VA_ARGS__ }
#define TIME_OF_A_PASS \
    .type = SIM_KEY_MS, .default_text = "", .min = 0, .max = 1e9, .word = "", .word_value = -1, .unit = "ms"
static const sim_key keys[] = {
    KEY(estimator, .type = SIM_KEY_CHOICE, .default_text = "native", .choices = estimator_names,
        .help = "what prices a forward pass; auto: table if perfmodel.table is given, else native with model and "
                "system, else polynomial"),
    KEY(fallback, .type = SIM_KEY_CHOICE, .default_text = "", .choices = estimator_names, .word = "", .word_value = -1,
        .help = "regression: what prices the passes it has no estimate for: it has not seen enough of the kind, or its "
                "fit comes to nothing"),
    KEY(pricing, .type = SIM_KEY_CHOICE, .default_text = "fused", .choices = pricing_names,
        .help = "a pass with prefill and decode work: one pass, or one after the other"),
    KEY(prefill_ms, TIME_OF_A_PASS, .help = "fixed: a pass with prefill work only"),
    KEY(decode_ms, TIME_OF_A_PASS, .help = "fixed: a pass with decode work only"),
    KEY(mixed_ms, TIME_OF_A_PASS,
        .help = "fixed: a pass with both; empty = the larger one (fused) or the sum (serial)"),
    KEY(calibration, .type = SIM_KEY_TEXT, .default_text = "default",
        .help = "native: calibration, one of configs/calibrations, or none; [calibration] and its like come on top"),
    KEY(table, .type = SIM_KEY_PATH, .default_text = "",
        .help = "table: measured passes, a CSV file (prefill_tokens, prefill_kv_tokens, decode_requests, "
                "decode_kv_tokens, ms) or an FPM log"),
    KEY(operator_tables, .type = SIM_KEY_PATH, .default_text = "",
        .help = "native: a directory of measured kernels, which replace the formulas: gemm.csv, moe.csv, "
                "collective.csv"),
    KEY(state, .type = SIM_KEY_PATH, .default_text = "",
        .help = "a saved model (tune --save) that prices by what it has learned on top of the estimator; with "
                "tuning.mode = online it goes on learning"),
};
const sim_key_table sim_pricing_keys = { "perfmodel", "what one forward pass costs", keys, sizeof keys / sizeof *keys };

static sim_status from_fpm(fpm_status status, const fpm_error *source, sim_error *error) {
    if (status == FPM_OK) return SIM_OK;
    const sim_status code = status == FPM_NO_MEMORY ? SIM_NO_MEMORY : SIM_USAGE;
    return sim_error_set(error, code, NULL, 0, "[perfmodel]: %s", source->message);
}

static sim_status new_fixed(fpm_estimator **estimator, const sim_config *config, const sim_pricing_config *settings,
                            sim_error *error) {
    if (settings->prefill_ms < 0 || settings->decode_ms < 0) {
        return sim_config_contradiction(config, error, "perfmodel", "estimator",
                                        "estimator = fixed needs perfmodel.%s (the time of one pass in ms)",
                                        settings->prefill_ms < 0 ? "prefill_ms" : "decode_ms");
    }
    const fpm_fixed_options options = {
        .prefill_ms = settings->prefill_ms,
        .decode_ms = settings->decode_ms,
        .mixed_ms = settings->mixed_ms,
        .pricing = (fpm_pricing)settings->pricing,
    };
    fpm_error source = { .code = FPM_OK };
    return from_fpm(fpm_estimator_new_fixed(estimator, &options, &source), &source, error);
}

// Keys of an estimator that is not the one in force.
static sim_status refuse_idle_keys(const sim_config *config, const sim_pricing_config *settings,
                                   sim_estimator_kind kind, sim_error *error) {
    const struct {
        const char *key;
        bool is_given;
        sim_estimator_kind of;
    } keys_of[] = {
        { "fallback", settings->fallback >= 0, SIM_ESTIMATOR_REGRESSION },
        { "prefill_ms", settings->prefill_ms >= 0, SIM_ESTIMATOR_FIXED },
        { "decode_ms", settings->decode_ms >= 0, SIM_ESTIMATOR_FIXED },
        { "mixed_ms", settings->mixed_ms >= 0, SIM_ESTIMATOR_FIXED },
        { "table", *settings->table != '\0', SIM_ESTIMATOR_TABLE },
        { "operator_tables", *settings->operator_tables != '\0', SIM_ESTIMATOR_NATIVE },
    };
    for (size_t i = 0; i < sizeof keys_of / sizeof *keys_of; i++) {
        if (!keys_of[i].is_given || keys_of[i].of == kind) continue;
        return sim_config_contradiction(config, error, "perfmodel", keys_of[i].key,
                                        "perfmodel.%s has no effect with estimator = %s (leave it out, or choose %s)",
                                        keys_of[i].key, estimator_names[settings->estimator],
                                        estimator_names[keys_of[i].of]);
    }
    return SIM_OK;
}

static sim_status build_table(fpm_estimator **estimator, const sim_pricing_config *settings,
                              const sim_pass_table *table, sim_error *error) {
    char name[64]; // leaves room in a message for pass and range
    const char *slash = strrchr(settings->table, '/');
    snprintf(name, sizeof name, "perfmodel.table %s", slash ? slash + 1 : settings->table);
    const fpm_table_options options = {
        .passes = table->passes, .n_passes = table->n, .name = name, .pricing = (fpm_pricing)settings->pricing
    };
    fpm_error source = { .code = FPM_OK };
    return from_fpm(fpm_estimator_new_table(estimator, &options, &source), &source, error);
}

static sim_status new_table(fpm_estimator **estimator, const sim_config *config, const sim_pricing_config *settings,
                            sim_error *error) {
    if (!*settings->table)
        return sim_config_contradiction(config, error, "perfmodel", "estimator",
                                        "estimator = table needs perfmodel.table (a CSV file of measured passes, or an "
                                        "FPM log)");
    if (strcmp(settings->table, "-") == 0)
        return sim_config_contradiction(config, error, "perfmodel", "table",
                                        "perfmodel.table is read more than once (a file, not standard input)");
    sim_pass_table table;
    sim_status status = sim_pass_table_load(&table, settings->table, error);
    if (!status) status = build_table(estimator, settings, &table, error);
    sim_pass_table_clear(&table);
    return status;
}

static sim_status new_polynomial(fpm_estimator **estimator, const sim_config *config,
                                 const sim_pricing_config *settings, uint64_t capacity_tokens, sim_error *error) {
    if (capacity_tokens == 0) {
        return sim_config_contradiction(config, error, "perfmodel", "estimator",
                                        "estimator = polynomial needs the KV capacity of a rank (a number of blocks)");
    }
    const fpm_polynomial_options options = {
        .capacity_tokens = capacity_tokens,
        .pricing = (fpm_pricing)settings->pricing,
    };
    fpm_error source = { .code = FPM_OK };
    return from_fpm(fpm_estimator_new_polynomial(estimator, &options, &source), &source, error);
}

static sim_status compile_native(fpm_estimator **estimator, const sim_pricing_config *settings, const fpm_deployment *d,
                                 const fpm_operators *operators, const sim_calibration *calibration, sim_error *error) {
    const fpm_calibration terms = sim_calibration_terms(calibration, d->system.generation, d->backend);
    fpm_error source = { .code = FPM_OK };
    return from_fpm(fpm_estimator_new_native(estimator, d, operators, &terms, (fpm_pricing)settings->pricing, &source),
                    &source, error);
}

// The tables are gone when the estimator is compiled.
static sim_status make_native(fpm_estimator **estimator, const sim_pricing_config *settings,
                              const sim_deployment *deployment, const sim_native_prices *prices, sim_error *error) {
    const fpm_deployment d = sim_deployment_native(deployment);
    fpm_operators operators = prices->operators;
    operators.system = &d.system;
    fpm_operator_tables *tables = NULL;
    sim_status status = SIM_OK;
    if (*settings->operator_tables)
        status = sim_table_files_load(&tables, settings->operator_tables, &operators, error);
    operators.tables = tables;
    if (!status) status = compile_native(estimator, settings, &d, &operators, &prices->calibration, error);
    fpm_operator_tables_free(tables);
    return status;
}

static sim_status new_native(fpm_estimator **estimator, const sim_config *config, const sim_pricing_config *settings,
                             const sim_deployment *deployment, const sim_native_prices *prices, sim_error *error) {
    const bool has_model = deployment && deployment->has_model, has_system = deployment && deployment->has_system;
    if (has_model && has_system) return make_native(estimator, settings, deployment, prices, error);
    return sim_config_contradiction(
        config, error, "perfmodel", "estimator",
        "estimator = native needs %s%s%s (or choose estimator = polynomial, which needs neither)",
        has_model ? "" : "model.name", has_model || has_system ? "" : " and ", has_system ? "" : "system.name");
}

sim_estimator_kind sim_pricing_resolve(const sim_pricing_config *settings, const sim_deployment *deployment,
                                       uint64_t capacity_tokens) {
    if (settings->estimator != SIM_ESTIMATOR_AUTO) return (sim_estimator_kind)settings->estimator;
    if (*settings->table) return SIM_ESTIMATOR_TABLE;
    if (deployment && deployment->has_model && deployment->has_system) return SIM_ESTIMATOR_NATIVE;
    return capacity_tokens > 0 ? SIM_ESTIMATOR_POLYNOMIAL : SIM_ESTIMATOR_AUTO;
}

bool sim_pricing_is_native(const sim_pricing_config *settings, const sim_deployment *deployment) {
    sim_pricing_config own = *settings;
    if (own.estimator == SIM_ESTIMATOR_REGRESSION) own.estimator = own.fallback;
    return sim_pricing_resolve(&own, deployment, 0) == SIM_ESTIMATOR_NATIVE && deployment->has_model &&
           deployment->has_system;
}

bool sim_pricing_write(const sim_pricing_config *settings, const sim_deployment *deployment, uint64_t capacity_tokens,
                       FILE *out) {
    if (settings->estimator != SIM_ESTIMATOR_AUTO) return true;
    const sim_estimator_kind kind = sim_pricing_resolve(settings, deployment, capacity_tokens);
    return fprintf(out, "; estimator auto: %s\n\n", estimator_names[kind]) >= 0;
}

// What prices the passes that a regression does not know yet.
static sim_status new_fallback(fpm_estimator **estimator, const sim_config *config, const sim_pricing_config *settings,
                               const sim_deployment *deployment, const sim_native_prices *prices,
                               uint64_t capacity_tokens, sim_error *error) {
    if (settings->fallback < 0 || settings->fallback == SIM_ESTIMATOR_REGRESSION)
        return sim_config_contradiction(
            config, error, "perfmodel", settings->fallback < 0 ? "estimator" : "fallback",
            "estimator = regression knows nothing by itself and needs perfmodel.fallback, what prices the passes it "
            "has "
            "not learned yet (native, polynomial or fixed; forepass estimate --state asks a saved model)");
    sim_pricing_config of_fallback = *settings;
    of_fallback.estimator = settings->fallback;
    of_fallback.fallback = -1;
    of_fallback.state = "";
    return sim_pricing_new(estimator, config, &of_fallback, deployment, prices, capacity_tokens, error);
}

static sim_status new_unlearned(fpm_estimator **estimator, const sim_config *config, const sim_pricing_config *settings,
                                const sim_deployment *deployment, const sim_native_prices *prices,
                                uint64_t capacity_tokens, sim_error *error) {
    *estimator = NULL;
    if (settings->estimator == SIM_ESTIMATOR_REGRESSION)
        return new_fallback(estimator, config, settings, deployment, prices, capacity_tokens, error);
    const sim_estimator_kind kind = sim_pricing_resolve(settings, deployment, capacity_tokens);
    const sim_status status = refuse_idle_keys(config, settings, kind, error);
    if (status) return status;
    switch (kind) {
    case SIM_ESTIMATOR_NATIVE:
        return new_native(estimator, config, settings, deployment, prices, error);
    case SIM_ESTIMATOR_TABLE:
        return new_table(estimator, config, settings, error);
    case SIM_ESTIMATOR_POLYNOMIAL:
        return new_polynomial(estimator, config, settings, capacity_tokens, error);
    case SIM_ESTIMATOR_FIXED:
        return new_fixed(estimator, config, settings, error);
    case SIM_ESTIMATOR_AUTO:
        return sim_config_contradiction(
            config, error, "perfmodel", "estimator",
            "estimator = auto finds nothing to price by (give perfmodel.table, or model.name and system.name, or the "
            "KV capacity of a rank, which the polynomial needs)");
    case SIM_ESTIMATOR_REGRESSION:
        break;
    }
    return sim_error_set(error, SIM_INTERNAL, NULL, 0, "[perfmodel]: no such estimator");
}

sim_status sim_pricing_new(fpm_estimator **estimator, const sim_config *config, const sim_pricing_config *settings,
                           const sim_deployment *deployment, const sim_native_prices *prices, uint64_t capacity_tokens,
                           sim_error *error) {
    if (!settings->state[0])
        return new_unlearned(estimator, config, settings, deployment, prices, capacity_tokens, error);
    const bool is_regression = settings->estimator == SIM_ESTIMATOR_REGRESSION;
    fpm_estimator *base = NULL;
    sim_status status = SIM_OK;
    *estimator = NULL;
    if (!is_regression || settings->fallback >= 0)
        status = new_unlearned(&base, config, settings, deployment, prices, capacity_tokens, error);
    if (!status) status = sim_learned_prices_load(estimator, config, settings->state, base, is_regression, error);
    fpm_estimator_free(base);
    return status;
}
