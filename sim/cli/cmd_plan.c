// SPDX-License-Identifier: GPL-3.0-or-later
//
// forepass plan CONFIG: the smallest cluster, or the highest load, that meets [sla].
#include <stdio.h>

#include "sim/cli/run_options.h"
#include "sim/experiment/plan/plan_report.h"
#include "sim/report/output_dir.h"

static const char *const output_names[] = { "plan.json", "plan.csv", "config.ini", NULL };

static sim_status write_file(sim_output_dir *dir, const char *name, const sim_plan_answer *answer,
                             sim_status (*write)(const sim_plan_answer *, FILE *, sim_error *), sim_error *error) {
    sim_output_file *file;
    const sim_status status = sim_output_dir_create(dir, name, &file, error);
    return status ? status : write(answer, sim_output_file_stream(file), error);
}

static sim_status write_config(sim_output_dir *dir, const sim_config *config, sim_error *error) {
    sim_output_file *file;
    const sim_status status = sim_output_dir_create(dir, "config.ini", &file, error);
    if (status || sim_config_write(config, sim_output_file_stream(file))) return status;
    return sim_error_set(error, SIM_IO, sim_output_file_path(file), 0, "the configuration could not be written");
}

static sim_status write_outputs(sim_output_dir *dir, const sim_config *config, const sim_plan_answer *answer,
                                sim_error *error) {
    sim_status status = write_file(dir, "plan.json", answer, sim_plan_write_json, error);
    if (!status) status = write_file(dir, "plan.csv", answer, sim_plan_write_csv, error);
    if (!status) status = write_config(dir, config, error);
    return status ? status : sim_output_dir_commit(dir, error);
}

static sim_status show(const sim_cli *cli, const sim_plan_answer *answer, sim_error *error) {
    for (size_t i = 0; i < answer->warnings.n; i++) fprintf(stderr, "forepass: %s\n", answer->warnings.items[i]);
    const sim_status status =
        cli->json ? sim_plan_write_json(answer, stdout, error) : sim_plan_write_table(answer, stdout, error);
    if (status || answer->choices[SIM_PLAN_AS_MODELLED].point) return status;
    char text[512];
    sim_plan_answer_refusal(answer, text, sizeof text);
    return sim_error_set(error, SIM_DEAD_END, NULL, 0, "%s", text);
}

// A signal keeps what was tried, on the screen: no half answers in files.
static sim_status show_stopped(const sim_cli *cli, sim_plan_answer *answer, sim_status stopped, sim_error *error) {
    if (!answer->is_stopped) return stopped;
    const sim_status status =
        cli->json ? sim_plan_write_json(answer, stdout, error) : sim_plan_write_table(answer, stdout, error);
    const bool has_answer = answer->choices[SIM_PLAN_AS_MODELLED].point;
    const size_t n_tried = answer->n_rows;
    sim_plan_answer_clear(answer);
    if (status) return status;
    return sim_error_set(error, stopped, NULL, 0, "stopped by a signal %s (points tried: %zu)",
                         has_answer ? "after the answer was found" : "before there was an answer", n_tried);
}

static sim_status answer_into(const sim_cli *cli, const sim_config *config, sim_output_dir *dir, sim_error *error) {
    sim_plan_run_options options = {
        .progress = sim_cli_progress(cli),
        .stopped = sim_cli_catch_signals(),
    };
    sim_plan_answer answer;
    sim_status status = sim_cli_parse_jobs(cli, &options.n_threads, error);
    if (!status) status = sim_plan_execute(config, &options, &answer, error);
    if (status && status != SIM_INTERRUPTED && status != SIM_TERMINATED) return status;
    if (status) return show_stopped(cli, &answer, status, error);
    if (dir) status = write_outputs(dir, config, &answer, error);
    if (!status) status = show(cli, &answer, error);
    sim_plan_answer_clear(&answer);
    return status;
}

static sim_status run(const sim_cli *cli, sim_error *error) {
    sim_config *config;
    sim_output_dir *dir = NULL;
    sim_status status = sim_cli_config(cli, cli->arguments[0], &config, error);
    if (status) return status;
    if (cli->output) status = sim_output_dir_open(&dir, cli->output, cli->overwrite, output_names, error);
    if (!status) status = answer_into(cli, config, dir, error);
    sim_output_dir_free(dir);
    sim_config_free(config);
    return status;
}

const sim_command sim_cmd_plan = {
    .name = "plan",
    .synopsis = "CONFIG",
    .help = "search the smallest cluster, or the highest load, that meets [sla]",
    .details =
        "[plan] says what is looked for. find = min_gpus: the smallest value of `over` (a key that holds a number, or\n"
        "over = layouts) within `range`; min_cost: the cheapest of layouts or of the values of several keys, by GPUs "
        "or, "
        "with\n"
        "cluster.gpu_hour_price, by money; max_rate: the highest arrival rate in requests per second, which on a trace "
        "with\n"
        "timestamps is reached by load.speedup; max_concurrency: the most requests in flight. Layouts stand in "
        "layout_1, "
        "layout_2,\n"
        "...: layout_1 = parallel.tensor=4 cluster.replicas=2. Without `over` it is over them, or over "
        "cluster.replicas.\n"
        "A value meets [sla] when the share of arrived requests that are good is at least sla.percentile. It is run "
        "with "
        "seeds\n"
        "load.seed, load.seed + 1, ..., the same ones for every value, until an interval at plan.confidence lies on "
        "one side "
        "of\n"
        "that share, or plan.max_repeats are used up; then the answer is reported as undecided within an interval. "
        "Where the "
        "seed\n"
        "changes nothing (a trace with timestamps), one run is exact: it says whether this very traffic is served; its "
        "interval,\n"
        "from stretches of the run, says how much other traffic of the kind may differ (plan.judge_by = batches lets "
        "it "
        "decide).\n"
        "The search is a bisection; neighbours of the answer and values in the widest gaps are tried too, and where "
        "they\n"
        "contradict it, every value between. Status 4 when nothing in the range meets [sla].\n"
        "With -o DIR: plan.json, plan.csv (the curve around the answer) and config.ini.\n",
    .options = SIM_OPT_SET | SIM_OPT_DATA | SIM_OPT_OUTPUT | SIM_OPT_FORMAT | SIM_OPT_QUIET | SIM_OPT_PROGRESS |
               SIM_OPT_SEED | SIM_OPT_JOBS,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run,
};
