// SPDX-License-Identifier: GPL-3.0-or-later
//
// forepass estimate [FPM.jsonl]: milliseconds of each iteration of an FPM log, or of one batch given by options.
#include <stdio.h>
#include <string.h>

#include "sim/cli/estimate_model.h"

// A regression may have no answer yet.
static sim_status print_estimate(bool has_estimate, double ms, sim_error *error) {
    char number[FPM_NUMBER_BYTES] = "none";
    if (has_estimate) fpm_format_number(number, ms);
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
        const sim_status status = sim_cli_parse_count(counts[i].option, counts[i].text, 0, UINT32_MAX, &count, error);
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

static sim_status estimate_batch(const sim_cli *cli, const fpm_model *model, sim_error *error) {
    fpm_metrics batch;
    const sim_status status = batch_from(cli, &batch, error);
    if (status != SIM_OK) return status;
    double ms = 0;
    bool has_estimate;
    fpm_error source = { .code = FPM_OK };
    if (fpm_model_estimate_ms(model, &batch, 1, &ms, &has_estimate, &source) != FPM_OK) {
        return sim_error_set(error, source.code == FPM_UNSUPPORTED ? SIM_DEAD_END : SIM_USAGE, NULL, 0, "estimate: %s",
                             source.message);
    }
    return print_estimate(has_estimate, ms, error);
}

// ---------------------------------------------------------------------------------------------------------------------
// A log
// ---------------------------------------------------------------------------------------------------------------------

// The line of the first rank that is not valid; rows of an iteration stand one below the other.
static int64_t line_of_bad_rank(const fpm_metrics *ranks, size_t n_ranks, int64_t first_line) {
    for (size_t i = 0; i < n_ranks; i++) {
        if (fpm_metrics_validate(&ranks[i], 1, NULL) != FPM_OK) return first_line + (int64_t)i;
    }
    return first_line;
}

static sim_status estimate_rows(fpm_log_reader *reader, const char *path, const fpm_model *model, sim_error *error) {
    for (;;) {
        const fpm_metrics *ranks;
        size_t n_ranks;
        int64_t line;
        fpm_error source = { .code = FPM_OK };
        if (fpm_log_reader_next(reader, &ranks, &n_ranks, &line, &source) != FPM_OK)
            return sim_cli_from_fpm(&source, path, 0, error);
        if (n_ranks == 0) return SIM_OK;
        double ms = 0;
        bool has_estimate;
        if (fpm_model_estimate_ms(model, ranks, n_ranks, &ms, &has_estimate, &source) != FPM_OK) {
            return sim_cli_from_fpm(&source, path, line_of_bad_rank(ranks, n_ranks, line), error);
        }
        const sim_status status = print_estimate(has_estimate, ms, error);
        if (status != SIM_OK) return status;
    }
}

static sim_status estimate_log(const char *path, const fpm_model *model, sim_error *error) {
    fpm_log_reader *reader;
    fpm_error source = { .code = FPM_OK };
    if (fpm_log_reader_open(&reader, path, &source) != FPM_OK) return sim_cli_from_fpm(&source, path, 0, error);
    const sim_status status = estimate_rows(reader, path, model, error);
    fpm_log_reader_free(reader);
    return status;
}

static sim_status run(const sim_cli *cli, sim_error *error) {
    if (has_batch(cli) && cli->n_arguments) {
        return sim_error_set(error, SIM_USAGE, NULL, 0,
                             "estimate: a log and the options of one batch exclude each other");
    }
    fpm_model *model;
    sim_status status = sim_estimate_model(cli, &model, error);
    if (status != SIM_OK) return status;
    if (has_batch(cli)) {
        status = estimate_batch(cli, model, error);
    } else {
        status = estimate_log(cli->n_arguments ? cli->arguments[0] : "-", model, error);
    }
    fpm_model_free(model);
    return status;
}

const sim_command sim_cmd_estimate = {
    .name = "estimate",
    .synopsis = "[FPM.jsonl]",
    .help = "forward-pass time in ms of the iterations of an FPM log, or of one batch",
    .details =
        "One number a line and iteration, in its shortest exact form. Without a file, or with -, the log is read from\n"
        "standard input; --capacity-tokens without an estimator or a model means polynomial; with any of "
        "--prefill-tokens ... --decode-kv-tokens one batch is priced instead. --state "
        "FILE\n"
        "asks a saved model: corrections learned on top of the estimator, or, with --estimator regression, a "
        "regression,\n"
        "which answers `none` to what it has not seen enough of.\n",
    .options = SIM_OPT_SET | SIM_OPT_DATA | SIM_OPT_ESTIMATE,
    .min_arguments = 0,
    .max_arguments = 1,
    .run = run,
};
