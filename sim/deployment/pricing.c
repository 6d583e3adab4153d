// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/deployment/pricing.h"

#include <stddef.h>

#include "sim/deployment/learned_prices.h"

static const char *const estimator_names[] = { "native", "table", "polynomial", "fixed", "regression", "auto", NULL };
static const char *const pricing_names[] = { "fused", "serial", NULL };
_Static_assert(FPM_PRICING_FUSED == 0 && FPM_PRICING_SERIAL == 1, "pricing_names stand in the order of fpm_pricing");

#define KEY(field, ...) \
    { .offset = offsetof(sim_pricing_config, field), .name = #field, __VA_ARGS__ }
#define TIME_OF_A_PASS \
    .type = SIM_KEY_MS, .default_text = "", .min = 0, .max = 1e9, .word = "", .word_value = -1, .unit = "ms"
static const sim_key keys[] = {
    KEY(estimator, .type = SIM_KEY_CHOICE, .default_text = "native", .choices = estimator_names,
        .help = "what prices a forward pass"),
    KEY(fallback, .type = SIM_KEY_CHOICE, .default_text = "", .choices = estimator_names, .word = "", .word_value = -1,
        .help = "regression: what prices the passes of a kind of which it has not seen enough yet"),
    KEY(pricing, .type = SIM_KEY_CHOICE, .default_text = "fused", .choices = pricing_names,
        .help = "a pass with prefill and decode work: one pass, or one after the other"),
    KEY(prefill_ms, TIME_OF_A_PASS, .help = "fixed: a pass with prefill work only"),
    KEY(decode_ms, TIME_OF_A_PASS, .help = "fixed: a pass with decode work only"),
    KEY(mixed_ms, TIME_OF_A_PASS,
        .help = "fixed: a pass with both; empty = the larger one (fused) or the sum (serial)"),
    KEY(calibration, .type = SIM_KEY_TEXT, .default_text = "default",
        .help = "native: calibration, one of configs/calibrations, or none; [calibration] and its like come on top"),
    KEY(state, .type = SIM_KEY_PATH, .default_text = "",
        .help = "a saved model (tune --save) that prices by what it has learned on top of the estimator"),
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

// The times of `fixed` with another estimator.
static sim_status refuse_idle_times(const sim_config *config, const sim_pricing_config *settings, sim_error *error) {
    const char *idle = settings->prefill_ms >= 0  ? "prefill_ms"
                       : settings->decode_ms >= 0 ? "decode_ms"
                       : settings->mixed_ms >= 0  ? "mixed_ms"
                                                  : NULL;
    if (!idle) return SIM_OK;
    return sim_config_contradiction(config, error, "perfmodel", idle,
                                    "perfmodel.%s has no effect with estimator = %s (leave it out, or choose fixed)",
                                    idle, estimator_names[settings->estimator]);
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

static sim_status make_native(fpm_estimator **estimator, const sim_pricing_config *settings,
                              const sim_deployment *deployment, const sim_native_prices *prices, sim_error *error) {
    const fpm_deployment d = sim_deployment_native(deployment);
    const fpm_calibration terms = sim_calibration_terms(&prices->calibration, d.system.generation, d.backend);
    fpm_operators operators = prices->operators;
    operators.system = &d.system;
    fpm_error source = { .code = FPM_OK };
    return from_fpm(
        fpm_estimator_new_native(estimator, &d, &operators, &terms, (fpm_pricing)settings->pricing, &source), &source,
        error);
}

static sim_status new_native(fpm_estimator **estimator, const sim_config *config, const sim_pricing_config *settings,
                             const sim_deployment *deployment, const sim_native_prices *prices, sim_error *error) {
    const bool has_model = deployment && deployment->has_model, has_system = deployment && deployment->has_system;
    if (has_model && has_system) return make_native(estimator, settings, deployment, prices, error);
    return sim_config_contradiction(
        config, error, "perfmodel", "estimator",
        "estimator = %s needs %s%s%s (or choose estimator = polynomial, which needs neither)",
        estimator_names[settings->estimator], has_model ? "" : "model.name", has_model || has_system ? "" : " and ",
        has_system ? "" : "system.name");
}

bool sim_pricing_is_native(const sim_pricing_config *settings, const sim_deployment *deployment) {
    const int estimator = settings->estimator == SIM_ESTIMATOR_REGRESSION ? settings->fallback : settings->estimator;
    const bool is_native = estimator == SIM_ESTIMATOR_NATIVE || estimator == SIM_ESTIMATOR_AUTO;
    return is_native && deployment->has_model && deployment->has_system;
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
    if (settings->fallback >= 0)
        return sim_config_contradiction(config, error, "perfmodel", "fallback",
                                        "perfmodel.fallback has no effect with estimator = %s (leave it out, or choose "
                                        "regression)",
                                        estimator_names[settings->estimator]);
    if (settings->estimator == SIM_ESTIMATOR_FIXED) return new_fixed(estimator, config, settings, error);
    const sim_status status = refuse_idle_times(config, settings, error);
    if (status) return status;
    switch ((sim_estimator_kind)settings->estimator) {
    case SIM_ESTIMATOR_NATIVE:
    case SIM_ESTIMATOR_AUTO:
        return new_native(estimator, config, settings, deployment, prices, error);
    case SIM_ESTIMATOR_POLYNOMIAL:
        return new_polynomial(estimator, config, settings, capacity_tokens, error);
    case SIM_ESTIMATOR_TABLE:
        return sim_config_contradiction(
            config, error, "perfmodel", "estimator",
            "estimator = table is not in this build: it reads no tables of measured passes yet "
            "(choose native, polynomial or fixed)");
    case SIM_ESTIMATOR_REGRESSION:
    case SIM_ESTIMATOR_FIXED:
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
