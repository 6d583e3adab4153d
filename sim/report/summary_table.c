// SPDX-License-Identifier: GPL-3.0-or-later
//
// The summary for people.
#include "sim/report/summary.h"

static const char *const rule =
    "----------------------------------------------------------------------------------------";

static void latency_row(FILE *out, const char *name, const sim_statistics *statistics,
                        const sim_percentiles *percentiles) {
    if (statistics->n_samples == 0) {
        fprintf(out, "%-26s%11s\n", name, "no samples");
        return;
    }
    fprintf(out, "%-26s%11.2f%11.2f%11.2f", name, statistics->mean, statistics->min, statistics->median);
    for (size_t i = 0; i < percentiles->n; i++)
        if (percentiles->percent[i] != 50) fprintf(out, "%11.2f", statistics->percentiles[i]);
    fprintf(out, "%11.2f\n", statistics->max);
}

static void latency_table(FILE *out, const sim_summary *summary) {
    const sim_percentiles *percentiles = &summary->facts->report->percentiles;
    fprintf(out, "%-26s%11s%11s%11s", "", "mean", "min", "median");
    for (size_t i = 0; i < percentiles->n; i++) {
        char number[FPM_NUMBER_BYTES], name[FPM_NUMBER_BYTES + 1];
        if (percentiles->percent[i] == 50) continue;
        fpm_format_number(number, percentiles->percent[i]);
        snprintf(name, sizeof name, "p%s", number);
        fprintf(out, "%11s", name);
    }
    fprintf(out, "%11s\n", "max");
    latency_row(out, "TTFT (ms)", &summary->ttft_ms, percentiles);
    latency_row(out, "TTST (ms)", &summary->ttst_ms, percentiles);
    latency_row(out, "TPOT (ms)", &summary->tpot_ms, percentiles);
    latency_row(out, "ITL (ms)", &summary->itl_ms, percentiles);
    latency_row(out, "E2E latency (ms)", &summary->e2e_latency_ms, percentiles);
    latency_row(out, "Tokens/s per user", &summary->output_token_throughput_per_user, percentiles);
}

static void requests_block(FILE *out, const sim_summary *summary) {
    fprintf(out, "Requests         %llu: %llu completed, %llu rejected, %llu incomplete\n",
            (unsigned long long)summary->num_requests, (unsigned long long)summary->completed_requests,
            (unsigned long long)summary->rejected_requests, (unsigned long long)summary->incomplete_requests);
    for (int i = 0; i < SIM_REJECT_REASONS; i++)
        if (summary->rejected[i])
            fprintf(out, "                 rejected: %llu %s\n", (unsigned long long)summary->rejected[i],
                    sim_reject_reason_names[i]);
    if (summary->truncated_requests)
        fprintf(out, "                 %llu answers cut short by a length limit\n",
                (unsigned long long)summary->truncated_requests);
    const sim_workload *workload = summary->facts->workload;
    if (workload->rows_read > workload->rows_kept)
        fprintf(out, "                 %llu of %llu rows of the trace dropped\n",
                (unsigned long long)(workload->rows_read - workload->rows_kept),
                (unsigned long long)workload->rows_read);
    if (summary->facts->is_interrupted) fputs("                 INTERRUPTED: the figures are of what was done\n", out);
    fprintf(out, "Tokens           %llu in (%.1f %% from the prefix cache), %llu out\n",
            (unsigned long long)summary->total_input_tokens, 100 * summary->prefix_cache_reused_ratio,
            (unsigned long long)summary->total_output_tokens);
    fprintf(out, "Time             %.3f s simulated in %.3f s; %llu iterations, %llu preemptions\n",
            summary->duration_ms / 1e3, summary->wall_time_ms / 1e3, (unsigned long long)summary->num_iterations,
            (unsigned long long)summary->num_preemptions);
}

static void throughput_block(FILE *out, const sim_summary *summary) {
    fprintf(out, "Throughput       %.3f requests/s, %.1f input + %.1f output tokens/s\n",
            summary->request_throughput_rps, summary->input_throughput_tok_s, summary->output_throughput_tok_s);
    fprintf(out, "GPUs             %llu, %.4f GPU hours, %.1f output tokens/s per GPU\n",
            (unsigned long long)summary->num_gpus, summary->gpu_hours, summary->output_throughput_per_gpu_tok_s);
    double price = summary->facts->cluster_config->gpu_hour_price;
    if (price > 0) fprintf(out, "Cost             %.4f\n", price * summary->gpu_hours);
    if (summary->has_sla)
        fprintf(out,
                "SLA              %.2f %% of requests good (%g %% wanted), goodput %.3f requests/s, %.3f per GPU\n",
                100 * summary->sla_attainment, summary->facts->sla->percentile, summary->goodput_request_throughput_rps,
                summary->goodput_per_gpu_rps);
}

sim_status sim_summary_write_table(const sim_summary *summary, FILE *out, sim_error *error) {
    requests_block(out, summary);
    throughput_block(out, summary);
    fprintf(out, "%s\n", rule);
    latency_table(out, summary);
    if (summary->facts->tuner) {
        fprintf(out, "%s\n", rule);
        const sim_status status =
            sim_tuning_summary_write_table(summary->facts->tuner, summary->facts->paired, out, error);
        if (status) return status;
    }
    fprintf(out, "%s\nNot modelled: ", rule);
    for (size_t i = 0; sim_not_modelled[i]; i++) fprintf(out, "%s%s", i ? "; " : "", sim_not_modelled[i]);
    fputs(".\n", out);
    return ferror(out) ? sim_error_set(error, SIM_IO, NULL, 0, "the summary could not be written") : SIM_OK;
}
