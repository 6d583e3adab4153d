// SPDX-License-Identifier: GPL-3.0-or-later
//
// forepass tune FPM.jsonl: let a model learn a recorded log, and tell how well it foresaw each pass.
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/cli/tune_learners.h"
#include "sim/report/learning_report.h"

static sim_status parse_share(const sim_cli *cli, double *share, sim_error *error) {
    *share = 0;
    if (!cli->holdout) return SIM_OK;
    const char *hint = sim_parse_real(cli->holdout, share);
    if (!hint && *share > 0 && *share < 1) return SIM_OK;
    return sim_error_set(error, SIM_USAGE, "--holdout", 0, "\"%s\" is not a share (%s)", cli->holdout,
                         hint ? hint : "above 0 and below 1, as 0.2 for the last fifth");
}

static sim_status save(const sim_cli *cli, const fpm_model *model, sim_error *error) {
    fpm_error source = { .code = FPM_OK };
    if (!cli->save || fpm_model_save(model, cli->save, &source) == FPM_OK) return SIM_OK;
    return sim_cli_from_fpm(&source, cli->save, 0, error);
}

// An older model may be replaced, another file may not: neither the log itself nor anything else by a slip.
static bool is_replaceable(const char *path) {
    static const char beginning[] = "{\"format\":\"forepass-perfmodel-state\",";
    char there[sizeof beginning] = "";
    FILE *in = fopen(path, "r");
    if (!in) return true; // nothing there, or nothing that can be written either
    const size_t n = fread(there, 1, sizeof there - 1, in);
    fclose(in);
    return n == 0 || strcmp(there, beginning) == 0;
}

static sim_status check_save(const sim_cli *cli, sim_error *error) {
    struct stat about;
    const bool is_file = cli->save && stat(cli->save, &about) == 0 && S_ISREG(about.st_mode);
    if (!is_file || is_replaceable(cli->save)) return SIM_OK;
    return sim_error_set(error, SIM_USAGE, NULL, 0, "--save: %s is there and is no saved model (name another file)",
                         cli->save);
}

static sim_status feed_log(const sim_cli *cli, sim_tune_learners *learners, double share, sim_error *error) {
    const sim_log_feed feed = { .path = cli->arguments[0],
                                .base = learners->subject->base,
                                .learners = learners->all,
                                .n_learners = learners->n,
                                .held_out_share = share };
    sim_log_counts counts;
    sim_status status = sim_log_feed_run(&feed, &counts, error);
    if (!status) status = save(cli, learners->all[0].model, error);
    if (status) return status;
    const sim_learning_report report = { .feed = &feed, .counts = &counts, .is_comparison = cli->is_comparison };
    return cli->json ? sim_learning_report_write_json(&report, stdout, error)
                     : sim_learning_report_write_table(&report, stdout, error);
}

static sim_status run(const sim_cli *cli, sim_error *error) {
    double share;
    sim_tune_learners learners = { .n = 0 };
    sim_status status = parse_share(cli, &share, error);
    if (!status) status = check_save(cli, error);
    if (!status) status = sim_tune_learners_new(&learners, cli, error);
    if (!status) status = feed_log(cli, &learners, share, error);
    sim_tune_learners_free(&learners);
    return status;
}

const sim_command sim_cmd_tune = {
    .name = "tune",
    .synopsis = "FPM.jsonl",
    .help = "let a model learn a recorded FPM log; tell the error of every estimate made before",
    .details =
        "Each pass of the log is estimated, by the estimator alone (untuned) and by the model that has learned all\n"
        "passes before it (tuned), then learned. The log is read as a stream: plain, gzip or zstd, of any size; -\n"
        "is standard input. --estimator regression learns without an estimator; perfmodel.fallback gives it one to\n"
        "be compared with. --compare lets all variants learn the same log.\n",
    .options = SIM_OPT_SET | SIM_OPT_DATA | SIM_OPT_DEPLOYMENT | SIM_OPT_ESTIMATOR | SIM_OPT_TUNE | SIM_OPT_FORMAT,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run,
};
