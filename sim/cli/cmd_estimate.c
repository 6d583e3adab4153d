// SPDX-License-Identifier: GPL-3.0-or-later
//
// forepass estimate [FPM.jsonl]: milliseconds of each iteration of an FPM log, or of one batch given by options.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/estimate_explain.h"

// A regression may have no answer yet.
static sim_status print_estimate(const sim_cli *cli, bool has_estimate, double ms, sim_error *error) {
    char number[FPM_NUMBER_BYTES];
    snprintf(number, sizeof number, "%s", cli->json ? "null" : "none");
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

// What --explain prices when no batch is given: 64 decodes with a context of 4096 tokens each, or of what the model takes when that is less.
static fpm_metrics default_batch(const sim_estimate_subject *subject) {
    const int64_t limit = subject->deployment.architecture.max_context_tokens;
    const uint32_t context = limit > 0 && limit < 4096 ? (uint32_t)limit : 4096;
    fpm_metrics batch = fpm_metrics_idle();
    batch.scheduled.num_decode_requests = 64;
    batch.scheduled.sum_decode_kv_tokens = 64 * context;
    return batch;
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

// The same work on every attention data-parallel rank.
static sim_status estimate_ranks(const sim_estimate_subject *subject, const fpm_metrics *batch, double *ms,
                                 bool *has_estimate, sim_error *error) {
    const size_t n_ranks = sim_estimate_ranks(subject);
    fpm_metrics *ranks = calloc(n_ranks, sizeof *ranks);
    if (!ranks) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    for (size_t i = 0; i < n_ranks; i++) ranks[i] = *batch;
    fpm_error source = { .code = FPM_OK };
    const fpm_status status = fpm_model_estimate_ms(subject->model, ranks, n_ranks, ms, has_estimate, &source);
    free(ranks);
    if (!status) return SIM_OK;
    return sim_error_set(error, status == FPM_UNSUPPORTED ? SIM_DEAD_END : SIM_USAGE, NULL, 0, "estimate: %s",
                         source.message);
}

// No sequence is longer than the model's context, nor is the mean of several.
static sim_status check_context(const sim_estimate_subject *subject, const fpm_metrics *batch, sim_error *error) {
    const int64_t limit = subject->is_native ? subject->deployment.architecture.max_context_tokens : 0;
    if (limit == 0) return SIM_OK;
    const fpm_scheduled_requests *s = &batch->scheduled;
    const uint64_t prompt = (uint64_t)s->sum_prefill_kv_tokens + s->sum_prefill_tokens;
    if (prompt > (uint64_t)limit)
        return sim_error_set(error, SIM_USAGE, "--prefill-tokens", 0,
                             "%llu with what went before are beyond the context of %s (at most %lld)",
                             (unsigned long long)prompt, subject->deployment.architecture.name, (long long)limit);
    if (s->sum_decode_kv_tokens > (uint64_t)limit * s->num_decode_requests)
        return sim_error_set(error, SIM_USAGE, "--decode-kv-tokens", 0,
                             "%u requests of %s hold at most %llu (its context is %lld)", s->num_decode_requests,
                             subject->deployment.architecture.name, (unsigned long long)limit * s->num_decode_requests,
                             (long long)limit);
    return SIM_OK;
}

static sim_status estimate_batch(const sim_cli *cli, const sim_estimate_subject *subject, sim_error *error) {
    fpm_metrics batch = default_batch(subject);
    double ms = 0;
    bool has_estimate;
    sim_status status = has_batch(cli) ? batch_from(cli, &batch, error) : SIM_OK;
    if (!status) status = check_context(subject, &batch, error);
    if (!status) status = estimate_ranks(subject, &batch, &ms, &has_estimate, error);
    if (status) return status;
    if (cli->wants_explanation) return sim_estimate_explain(cli, subject, &batch, !has_batch(cli), ms, error);
    return print_estimate(cli, has_estimate, ms, error);
}

// ---------------------------------------------------------------------------------------------------------------------
// A log
// ---------------------------------------------------------------------------------------------------------------------

static sim_status estimate_rows(const sim_cli *cli, fpm_log_reader *reader, const char *path, const fpm_model *model,
                                sim_error *error) {
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
            return sim_cli_from_fpm(&source, path, sim_cli_bad_line(reader, ranks, n_ranks), error);
        }
        const sim_status status = print_estimate(cli, has_estimate, ms, error);
        if (status != SIM_OK) return status;
    }
}

static sim_status estimate_log(const sim_cli *cli, const fpm_model *model, sim_error *error) {
    const char *path = cli->n_arguments ? cli->arguments[0] : "-";
    fpm_log_reader *reader;
    fpm_error source = { .code = FPM_OK };
    if (fpm_log_reader_open(&reader, path, &source) != FPM_OK) return sim_cli_from_fpm(&source, path, 0, error);
    const sim_status status = estimate_rows(cli, reader, path, model, error);
    fpm_log_reader_free(reader);
    return status;
}

static sim_status check(const sim_cli *cli, sim_error *error) {
    if (has_batch(cli) && cli->n_arguments)
        return sim_error_set(error, SIM_USAGE, NULL, 0,
                             "estimate: a log and the options of one batch exclude each other");
    if (cli->wants_explanation && cli->n_arguments)
        return sim_error_set(error, SIM_USAGE, NULL, 0, "estimate: --explain takes one batch, not a log (leave out %s)",
                             cli->arguments[0]);
    if (cli->wants_explanation && cli->state)
        return sim_error_set(error, SIM_USAGE, NULL, 0,
                             "estimate: --explain knows no learned corrections (leave out --state)");
    return SIM_OK;
}

static sim_status run(const sim_cli *cli, sim_error *error) {
    sim_estimate_subject *subject;
    sim_status status = check(cli, error);
    if (!status) status = sim_estimate_subject_new(&subject, cli, error);
    if (status) return status;
    if (has_batch(cli) || cli->wants_explanation)
        status = estimate_batch(cli, subject, error);
    else
        status = estimate_log(cli, subject->model, error);
    sim_estimate_subject_free(subject);
    return status;
}

const sim_command sim_cmd_estimate = {
    .name = "estimate",
    .synopsis = "[FPM.jsonl]",
    .help = "forward-pass time in ms of the iterations of an FPM log, or of one batch",
    .details =
        "One number a line and iteration, in its shortest exact form. Without a file, or with -, the log is read from\n"
        "standard input; with any of --prefill-tokens ... --decode-kv-tokens one batch is priced instead, which every\n"
        "attention data-parallel rank runs. --explain prints that batch operator by operator; without a batch it "
        "takes\n"
        "64 decodes with a context of 4096 tokens each. --capacity-tokens without an estimator or a model means\n"
        "polynomial. --state FILE asks a saved model: corrections learned on top of the estimator, or, with "
        "--estimator\n"
        "regression, a regression, which answers `none` to what it has not seen enough of.\n",
    .options = SIM_OPT_SET | SIM_OPT_DATA | SIM_OPT_DEPLOYMENT | SIM_OPT_ESTIMATOR | SIM_OPT_ESTIMATE | SIM_OPT_FORMAT,
    .min_arguments = 0,
    .max_arguments = 1,
    .run = run,
};
