// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/paired.h"

static double p99(const sim_summary *summary, const sim_statistics *statistics) {
    const sim_percentiles *percentiles = &summary->facts->report->percentiles;
    for (size_t i = 0; i < percentiles->n; i++)
        if (percentiles->percent[i] == 99) return statistics->percentiles[i];
    return statistics->max; // [report] does not ask for it
}

static sim_paired_figures figures_of(const sim_summary *summary) {
    return (sim_paired_figures){
        .is_there = true,
        .mean_ttft_ms = summary->ttft_ms.mean,
        .p99_ttft_ms = p99(summary, &summary->ttft_ms),
        .mean_itl_ms = summary->itl_ms.mean,
        .mean_e2e_latency_ms = summary->e2e_latency_ms.mean,
        .request_throughput_rps = summary->request_throughput_rps,
        .output_throughput_tok_s = summary->output_throughput_tok_s,
        .duration_ms = summary->duration_ms,
        .has_sla = summary->has_sla,
        .sla_attainment = summary->sla_attainment,
    };
}

static sim_status run_on(sim_tuning_clock clock, const sim_config *config, const sim_settings *settings,
                         const sim_run_options *options, const sim_workload *workload, sim_paired_figures *figures,
                         sim_error *error) {
    sim_settings other = *settings;
    if (other.tuning.mode == SIM_TUNING_ONLINE) other.pricing.state = ""; // what went on learning is no untuned price
    other.tuning.mode = SIM_TUNING_OFF;
    other.tuning.clock = (int)clock;
    if (other.truth.feed == SIM_FEED_SEQUENCE) other.truth.source = SIM_TRUTH_NONE; // it only teaches
    const sim_run_options quiet = { .workload = workload,
                                    .n_threads = options->n_threads,
                                    .stopped = options->stopped };
    sim_run *run = NULL;
    const sim_status status = sim_run_execute(&run, config, &other, &quiet, error);
    if (!status) *figures = figures_of(sim_run_summary(run));
    sim_run_free(run);
    return status;
}

sim_status sim_paired_execute(const sim_config *config, const sim_settings *settings, const sim_run_options *options,
                              const sim_summary *summary, sim_paired *paired, sim_error *error) {
    const sim_workload *workload = summary->facts->workload;
    *paired = (sim_paired){ .as_run = figures_of(summary) };
    const sim_status status = run_on(SIM_CLOCK_MODEL, config, settings, options, workload, &paired->untuned, error);
    const bool is_sequence = settings->truth.feed == SIM_FEED_SEQUENCE;
    if (status || is_sequence) return status;
    return run_on(SIM_CLOCK_TRUTH, config, settings, options, workload, &paired->truth, error);
}
