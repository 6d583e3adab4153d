// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/cli/estimate_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/tuning/model_options.h"

sim_status sim_cli_parse_count(const char *option, const char *text, int64_t min, int64_t max, int64_t *count,
                               sim_error *error) {
    const char *hint = sim_parse_size(text, count);
    if (hint) return sim_error_set(error, SIM_USAGE, option, 0, "\"%s\" is not a count (%s)", text, hint);
    if (*count >= min && *count <= max) return SIM_OK;
    return sim_error_set(error, SIM_USAGE, option, 0, "%s is out of range (%lld to %lld)", text, (long long)min,
                         (long long)max);
}

sim_status sim_cli_from_fpm(const fpm_error *source, const char *path, int64_t line, sim_error *error) {
    const sim_status code = source->code == FPM_NO_MEMORY     ? SIM_NO_MEMORY
                            : source->code == FPM_IO          ? SIM_IO
                            : source->code == FPM_UNSUPPORTED ? SIM_DEAD_END
                                                              : SIM_BAD_DATA;
    const char *file = source->file[0] ? source->file : strcmp(path, "-") == 0 ? "<stdin>" : path;
    // The classes of the reference are what its users search for.
    const bool has_class = source->code == FPM_UNSUPPORTED_SCHEMA_VERSION || source->code == FPM_INVALID_METRICS;
    sim_error_set(error, code, file, source->line ? source->line : line, "%s%s%s",
                  has_class ? fpm_status_name(source->code) : "", has_class ? ": " : "", source->message);
    error->column = source->column;
    return code;
}

int64_t sim_cli_bad_line(const fpm_log_reader *reader, const fpm_metrics *ranks, size_t n_ranks) {
    for (size_t i = 0; i < n_ranks; i++) {
        if (fpm_metrics_validate(&ranks[i], 1, NULL) != FPM_OK) return fpm_log_reader_line(reader, i);
    }
    return fpm_log_reader_line(reader, 0);
}

// --estimator and --pricing are short for keys of [perfmodel]; errors name what the user typed.
static sim_status set_short(sim_config *config, const char *option, const char *key, const char *value,
                            sim_error *error) {
    if (!value) return SIM_OK;
    char assignment[256];
    snprintf(assignment, sizeof assignment, "perfmodel.%s=%s", key, value);
    const sim_status status = sim_config_set(config, assignment, error);
    if (status != SIM_OK) snprintf(error->file, sizeof error->file, "%s", option);
    return status;
}

static sim_status apply_shorts(const sim_cli *cli, sim_config *config, sim_error *error) {
    for (size_t i = 0; i < cli->n_shorts; i++) {
        char assignment[1200];
        if (snprintf(assignment, sizeof assignment, "%s=%s", cli->shorts[i].key, cli->shorts[i].value) >=
            (int)sizeof assignment)
            return sim_error_set(error, SIM_USAGE, NULL, 0, "--%s: the value is too long", cli->shorts[i].option);
        const sim_status status = sim_config_set(config, assignment, error);
        if (status != SIM_OK) return status;
    }
    return SIM_OK;
}

// Errors name what the user typed.
static void name_as_typed(const sim_cli *cli, sim_error *error) {
    char set[160];
    for (size_t i = 0; i < cli->n_shorts; i++) {
        snprintf(set, sizeof set, "--set %s", cli->shorts[i].key);
        if (strcmp(error->file, set) != 0) continue;
        snprintf(error->file, sizeof error->file, "--%s", cli->shorts[i].option);
        return;
    }
    if (cli->estimator && strcmp(error->file, "--set perfmodel.estimator") == 0)
        snprintf(error->file, sizeof error->file, "--estimator");
}

static sim_status apply_options(const sim_cli *cli, sim_config *config, sim_error *error) {
    sim_status status = SIM_OK;
    for (size_t i = 0; i < cli->n_sets && status == SIM_OK; i++) status = sim_config_set(config, cli->sets[i], error);
    if (status == SIM_OK) status = apply_shorts(cli, config, error);
    if (status == SIM_OK) status = sim_cli_set_data_dir(cli, config, error);
    if (status == SIM_OK) status = set_short(config, "--estimator", "estimator", cli->estimator, error);
    // A capacity is what the polynomial needs and nobody else reads: without a model it says which estimator is meant.
    const bool means_polynomial = cli->capacity_tokens && !sim_config_is_given(config, "perfmodel", "estimator") &&
                                  !sim_config_is_given(config, "model", "name");
    if (status == SIM_OK && means_polynomial)
        status = set_short(config, "--capacity-tokens", "estimator", "polynomial", error);
    if (status == SIM_OK) status = set_short(config, "--pricing", "pricing", cli->pricing, error);
    return status;
}

static sim_status read_capacity(const sim_cli *cli, const sim_pricing_config *settings, int64_t *capacity_tokens,
                                sim_error *error) {
    *capacity_tokens = 0;
    if (cli->capacity_tokens)
        return sim_cli_parse_count("--capacity-tokens", cli->capacity_tokens, 1, INT64_MAX, capacity_tokens, error);
    if (settings->estimator != SIM_ESTIMATOR_POLYNOMIAL && settings->fallback != SIM_ESTIMATOR_POLYNOMIAL)
        return SIM_OK;
    return sim_error_set(
        error, SIM_USAGE, NULL, 0,
        "%s: the polynomial estimator needs --capacity-tokens N (KV tokens of one rank: blocks x block size)",
        cli->command);
}

// What a learner is made of besides its estimator.
static sim_status read_learning(sim_estimate_subject *subject, const sim_config *config,
                                const sim_pricing_config *settings, sim_error *error) {
    const sim_key_table *table = &sim_model_options_keys;
    for (size_t i = 0; i < table->n_keys; i++)
        subject->has_options |= sim_config_is_given(config, table->section, table->keys[i].name);
    subject->is_regression = settings->estimator == SIM_ESTIMATOR_REGRESSION;
    return sim_model_options_read(config, &subject->options, error);
}

// A learner that starts from nothing: the times of `fixed` price nothing then.
static sim_status check_no_base(const sim_config *config, const sim_pricing_config *settings, sim_error *error) {
    const char *idle = settings->prefill_ms >= 0  ? "prefill_ms"
                       : settings->decode_ms >= 0 ? "decode_ms"
                       : settings->mixed_ms >= 0  ? "mixed_ms"
                                                  : NULL;
    if (!idle) return SIM_OK;
    return sim_config_contradiction(config, error, "perfmodel", idle,
                                    "perfmodel.%s has no effect with estimator = regression (leave it out, or choose "
                                    "perfmodel.fallback = fixed)",
                                    idle);
}

// Operator tables, for whoever explains prices (sim_pricing_new reads its own), and what is to be said of them.
static sim_status take_tables(sim_estimate_subject *subject, const sim_pricing_config *settings, sim_error *error) {
    if (*subject->prices.note) fprintf(stderr, "forepass: %s\n", subject->prices.note);
    if (!*settings->operator_tables) return SIM_OK;
    const sim_status status =
        sim_table_files_load(&subject->tables, settings->operator_tables, &subject->prices.operators, error);
    subject->prices.operators.tables = subject->tables;
    return status;
}

// A price of what cannot run helps nobody: the model must fit, and no sequence may be longer than it allows.
static sim_status check_room(sim_estimate_subject *subject, const sim_config *config, sim_engine_config *engine,
                             sim_error *error) {
    sim_kv_cache_config kv_cache;
    sim_config_fill(config, &sim_kv_cache_keys, &kv_cache);
    const sim_status status = sim_engine_check(config, engine, &kv_cache, error);
    return status ? status : sim_deployment_size(&subject->deployment, config, engine, &kv_cache, error);
}

static sim_status estimator_from(sim_estimate_subject *subject, const sim_cli *cli, const sim_config *config,
                                 fpm_estimator **estimator, sim_error *error) {
    sim_pricing_config settings;
    sim_engine_config engine;
    sim_parallel_config parallel;
    int64_t capacity_tokens;
    sim_config_fill(config, &sim_pricing_keys, &settings);
    sim_config_fill(config, &sim_engine_keys, &engine);
    sim_config_fill(config, &sim_parallel_keys, &parallel);
    sim_status status = read_capacity(cli, &settings, &capacity_tokens, error);
    if (status == SIM_OK) status = read_learning(subject, config, &settings, error);
    if (status == SIM_OK) status = sim_deployment_load(&subject->deployment, config, &parallel, engine.backend, error);
    if (status != SIM_OK) return status;
    subject->is_native = sim_pricing_is_native(&settings, &subject->deployment);
    subject->pricing = (fpm_pricing)settings.pricing;
    const bool learns = strcmp(cli->command, "tune") == 0;
    if (learns && settings.state[0])
        return sim_config_contradiction(config, error, "perfmodel", "state",
                                        "tune goes on from a saved model by --load (leave out perfmodel.state)");
    if (subject->is_regression && settings.fallback < 0 && learns) return check_no_base(config, &settings, error);
    if (subject->is_native) status = check_room(subject, config, &engine, error);
    if (status != SIM_OK) return status;
    if (subject->is_native)
        status = sim_native_prices_load(&subject->prices, config, settings.calibration, &subject->deployment, error);
    if (status == SIM_OK && subject->is_native) status = take_tables(subject, &settings, error);
    if (status != SIM_OK) return status;
    if (settings.state[0]) subject->is_native = false; // no longer those prices alone
    return sim_pricing_new(estimator, config, &settings, &subject->deployment, &subject->prices,
                           (uint64_t)capacity_tokens, error);
}

static sim_status new_estimator(sim_estimate_subject *subject, const sim_cli *cli, fpm_estimator **estimator,
                                sim_error *error) {
    // What a price may depend on; a log needs no other section.
    static const sim_key_table *const tables[] = { &sim_kv_cache_keys,         &sim_pricing_keys,
                                                   &sim_model_options_keys,    &sim_model_keys,
                                                   &sim_system_keys,           &sim_parallel_keys,
                                                   &sim_engine_keys,           &sim_data_keys,
                                                   SIM_CALIBRATION_TABLE_LIST, &sim_calibration_error_keys };
    sim_config *config;
    sim_status status = sim_config_new(&config, tables, sizeof tables / sizeof *tables, error);
    if (status != SIM_OK) return status;
    status = apply_options(cli, config, error);
    if (status == SIM_OK) status = estimator_from(subject, cli, config, estimator, error);
    if (status != SIM_OK) name_as_typed(cli, error);
    sim_config_free(config);
    return status;
}

static bool is_regression(const sim_cli *cli) { return cli->estimator && strcmp(cli->estimator, "regression") == 0; }

// The estimator's own prices are those of a model that has learned nothing.
static sim_status model_over(const sim_cli *cli, fpm_estimator *estimator, fpm_model **model, sim_error *error) {
    fpm_error source = { .code = FPM_OK };
    if (!cli->state) {
        fpm_status status = fpm_model_new_native(model, estimator, NULL, &source);
        return status ? sim_cli_from_fpm(&source, "", 0, error) : SIM_OK;
    }
    fpm_status status = fpm_model_load(model, cli->state, estimator, &source);
    if (status == FPM_INVALID_CONFIG) return sim_error_set(error, SIM_USAGE, cli->state, 0, "%s", source.message);
    if (status) return sim_cli_from_fpm(&source, cli->state, 0, error);
    if (is_regression(cli) || fpm_model_diagnostics(*model).source != FPM_SOURCE_REGRESSION) return SIM_OK;
    fpm_model_free(*model);
    *model = NULL;
    return sim_error_set(
        error, SIM_USAGE, cli->state, 0,
        "the saved model is a regression, which has no estimator below it (say --estimator regression)");
}

static sim_status check_regression(const sim_cli *cli, sim_error *error) {
    if (!is_regression(cli)) return SIM_OK;
    if (!cli->state)
        return sim_error_set(error, SIM_USAGE, "--estimator", 0,
                             "a regression knows nothing by itself (add --state FILE with what it has learned)");
    if (cli->n_sets > 0 || cli->n_shorts > 0 || cli->pricing || cli->capacity_tokens)
        return sim_error_set(error, SIM_USAGE, "--estimator", 0,
                             "a regression has no estimator to set up (with it, --state is all; leave out --set, "
                             "--pricing and --capacity-tokens)");
    return SIM_OK;
}

sim_status sim_estimate_subject_new(sim_estimate_subject **subject, const sim_cli *cli, sim_error *error) {
    fpm_estimator *estimator = NULL;
    *subject = NULL;
    sim_status status = check_regression(cli, error);
    if (status) return status;
    sim_estimate_subject *s = calloc(1, sizeof *s);
    if (!s) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    if (!is_regression(cli)) status = new_estimator(s, cli, &estimator, error);
    if (!status) status = model_over(cli, estimator, &s->model, error);
    fpm_estimator_free(estimator);
    if (cli->state) s->is_native = false;
    if (!status) *subject = s;
    if (status) sim_estimate_subject_free(s);
    return status;
}

sim_status sim_learning_subject_new(sim_estimate_subject **subject, const sim_cli *cli, sim_error *error) {
    *subject = NULL;
    sim_estimate_subject *s = calloc(1, sizeof *s);
    if (!s) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    const sim_status status = new_estimator(s, cli, &s->base, error);
    if (status)
        sim_estimate_subject_free(s);
    else
        *subject = s;
    return status;
}

void sim_estimate_subject_free(sim_estimate_subject *subject) {
    if (!subject) return;
    fpm_estimator_free(subject->base);
    fpm_model_free(subject->model);
    fpm_operator_tables_free(subject->tables);
    free(subject);
}

size_t sim_estimate_ranks(const sim_estimate_subject *subject) {
    return subject->deployment.has_model && subject->deployment.layout.data > 1
               ? (size_t)subject->deployment.layout.data
               : 1;
}
