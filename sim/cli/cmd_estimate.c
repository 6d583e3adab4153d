// SPDX-License-Identifier: GPL-3.0-or-later
//
// forepass estimate [FPM.jsonl]: milliseconds of each iteration of an FPM log, or of one batch given by options.
#include <stdio.h>
#include <string.h>

#include "sim/cli/command.h"
#include "sim/engine/pricing.h"

// ---------------------------------------------------------------------------------------------------------------------
// The estimator
// ---------------------------------------------------------------------------------------------------------------------

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

static sim_status apply_options(const sim_cli *cli, sim_config *config, sim_error *error) {
    sim_status status = SIM_OK;
    for (size_t i = 0; i < cli->n_sets && status == SIM_OK; i++) status = sim_config_set(config, cli->sets[i], error);
    if (status == SIM_OK) status = set_short(config, "--estimator", "estimator", cli->estimator, error);
    if (status == SIM_OK) status = set_short(config, "--pricing", "pricing", cli->pricing, error);
    return status;
}

static sim_status parse_count(const char *option, const char *text, int64_t min, int64_t max, int64_t *count,
                              sim_error *error) {
    const char *hint = sim_parse_size(text, count);
    if (hint) return sim_error_set(error, SIM_USAGE, option, 0, "\"%s\" is not a count (%s)", text, hint);
    if (*count >= min && *count <= max) return SIM_OK;
    return sim_error_set(error, SIM_USAGE, option, 0, "%s is out of range (%lld to %lld)", text, (long long)min,
                         (long long)max);
}

static sim_status estimator_from(const sim_cli *cli, const sim_config *config, fpm_estimator **estimator,
                                 sim_error *error) {
    sim_pricing_config settings;
    sim_config_fill(config, &sim_pricing_keys, &settings);
    int64_t capacity_tokens = 0;
    if (cli->capacity_tokens) {
        const sim_status status =
            parse_count("--capacity-tokens", cli->capacity_tokens, 1, INT64_MAX, &capacity_tokens, error);
        if (status != SIM_OK) return status;
    } else if (settings.estimator == SIM_ESTIMATOR_POLYNOMIAL) {
        return sim_error_set(
            error, SIM_USAGE, NULL, 0,
            "estimate: the polynomial estimator needs --capacity-tokens N (KV tokens of one rank: blocks x "
            "block size)");
    }
    return sim_pricing_new(estimator, config, &settings, (uint64_t)capacity_tokens, error);
}

static sim_status new_estimator(const sim_cli *cli, fpm_estimator **estimator, sim_error *error) {
    static const sim_key_table *const tables[] = { &sim_pricing_keys }; // a log needs no other section
    sim_config *config;
    sim_status status = sim_config_new(&config, tables, 1, error);
    if (status != SIM_OK) return status;
    status = apply_options(cli, config, error);
    if (status == SIM_OK) status = estimator_from(cli, config, estimator, error);
    if (status != SIM_OK && cli->estimator && strcmp(error->file, "--set perfmodel.estimator") == 0) {
        snprintf(error->file, sizeof error->file, "--estimator");
    }
    sim_config_free(config);
    return status;
}

static sim_status print_estimate(double ms, sim_error *error) {
    char number[FPM_NUMBER_BYTES];
    fpm_format_number(number, ms);
    if (puts(number) >= 0) return SIM_OK;
    return sim_error_set(error, SIM_IO, NULL, 0, "standard output cannot be written");
}

// ---------------------------------------------------------------------------------------------------------------------
// One batch
// ---------------------------------------------------------------------------------------------------------------------

static bool has_batch(const sim_cli *cli) {
    return cli->prefill_tokens || cli->prefill_kv_tokens || cli->decode_requests || cli->decode_kv_tokens;
}

static sim_status batch_from(const sim_cli *cli, fpm_metrics *batch, sim_error *error) {
    *batch = fpm_metrics_idle();
    const struct {
        const char *option, *text;
        uint32_t *field;
    } counts[] = {
        { "--prefill-tokens", cli->prefill_tokens, &batch->scheduled.sum_prefill_tokens },
        { "--prefill-kv-tokens", cli->prefill_kv_tokens, &batch->scheduled.sum_prefill_kv_tokens },
        { "--decode-requests", cli->decode_requests, &batch->scheduled.num_decode_requests },
        { "--decode-kv-tokens", cli->decode_kv_tokens, &batch->scheduled.sum_decode_kv_tokens },
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (!counts[i].text) continue;
        int64_t count;
        const sim_status status = parse_count(counts[i].option, counts[i].text, 0, UINT32_MAX, &count, error);
        if (status != SIM_OK) return status;
        *counts[i].field = (uint32_t)count;
    }
    if (cli->prefill_kv_tokens && !cli->prefill_tokens) {
        return sim_error_set(error, SIM_USAGE, NULL, 0, "--prefill-kv-tokens needs --prefill-tokens");
    }
    if (batch->scheduled.sum_decode_kv_tokens > 0 && batch->scheduled.num_decode_requests == 0) {
        return sim_error_set(error, SIM_USAGE, NULL, 0, "--decode-kv-tokens needs --decode-requests (1 or more)");
    }
    batch->scheduled.num_prefill_requests = cli->prefill_tokens ? 1 : 0;
    return SIM_OK;
}

static sim_status estimate_batch(const sim_cli *cli, const fpm_estimator *estimator, sim_error *error) {
    fpm_metrics batch;
    const sim_status status = batch_from(cli, &batch, error);
    if (status != SIM_OK) return status;
    double ms;
    fpm_error source = { .code = FPM_OK };
    if (fpm_estimate_ms(estimator, &batch, 1, &ms, &source) != FPM_OK) {
        return sim_error_set(error, SIM_USAGE, NULL, 0, "estimate: %s", source.message);
    }
    return print_estimate(ms, error);
}

// ---------------------------------------------------------------------------------------------------------------------
// A log
// ---------------------------------------------------------------------------------------------------------------------

static sim_status from_fpm(const fpm_error *source, const char *path, int64_t line, sim_error *error) {
    const sim_status code = source->code == FPM_NO_MEMORY ? SIM_NO_MEMORY
                            : source->code == FPM_IO      ? SIM_IO
                                                          : SIM_BAD_DATA;
    const char *file = source->file[0] ? source->file : strcmp(path, "-") == 0 ? "<stdin>" : path;
    // The classes of the reference are what its users search for.
    const bool has_class = source->code == FPM_UNSUPPORTED_SCHEMA_VERSION || source->code == FPM_INVALID_METRICS;
    sim_error_set(error, code, file, source->line ? source->line : line, "%s%s%s",
                  has_class ? fpm_status_name(source->code) : "", has_class ? ": " : "", source->message);
    error->column = source->column;
    return code;
}

// The line of the first rank that is not valid; rows of an iteration stand one below the other.
static int64_t line_of_bad_rank(const fpm_metrics *ranks, size_t n_ranks, int64_t first_line) {
    for (size_t i = 0; i < n_ranks; i++) {
        if (fpm_metrics_validate(&ranks[i], 1, NULL) != FPM_OK) return first_line + (int64_t)i;
    }
    return first_line;
}

static sim_status estimate_rows(fpm_log_reader *reader, const char *path, const fpm_estimator *estimator,
                                sim_error *error) {
    for (;;) {
        const fpm_metrics *ranks;
        size_t n_ranks;
        int64_t line;
        fpm_error source = { .code = FPM_OK };
        if (fpm_log_reader_next(reader, &ranks, &n_ranks, &line, &source) != FPM_OK)
            return from_fpm(&source, path, 0, error);
        if (n_ranks == 0) return SIM_OK;
        double ms;
        if (fpm_estimate_ms(estimator, ranks, n_ranks, &ms, &source) != FPM_OK) {
            return from_fpm(&source, path, line_of_bad_rank(ranks, n_ranks, line), error);
        }
        const sim_status status = print_estimate(ms, error);
        if (status != SIM_OK) return status;
    }
}

static sim_status estimate_log(const char *path, const fpm_estimator *estimator, sim_error *error) {
    fpm_log_reader *reader;
    fpm_error source = { .code = FPM_OK };
    if (fpm_log_reader_open(&reader, path, &source) != FPM_OK) return from_fpm(&source, path, 0, error);
    const sim_status status = estimate_rows(reader, path, estimator, error);
    fpm_log_reader_free(reader);
    return status;
}

static sim_status run(const sim_cli *cli, sim_error *error) {
    if (has_batch(cli) && cli->n_arguments) {
        return sim_error_set(error, SIM_USAGE, NULL, 0,
                             "estimate: a log and the options of one batch exclude each other");
    }
    fpm_estimator *estimator;
    sim_status status = new_estimator(cli, &estimator, error);
    if (status != SIM_OK) return status;
    if (has_batch(cli)) {
        status = estimate_batch(cli, estimator, error);
    } else {
        status = estimate_log(cli->n_arguments ? cli->arguments[0] : "-", estimator, error);
    }
    fpm_estimator_free(estimator);
    return status;
}

const sim_command sim_cmd_estimate = {
    .name = "estimate",
    .synopsis = "[FPM.jsonl]",
    .help = "forward-pass time in ms of the iterations of an FPM log, or of one batch",
    .details =
        "One number a line and iteration, in its shortest exact form. Without a file, or with -, the log is read from\n"
        "standard input; with any of --prefill-tokens ... --decode-kv-tokens one batch is priced instead.\n",
    .options = SIM_OPT_SET | SIM_OPT_ESTIMATE,
    .min_arguments = 0,
    .max_arguments = 1,
    .run = run,
};
