// SPDX-License-Identifier: GPL-3.0-or-later
//
// From request records to figures. Definitions: interface.md "Summary". Times are client-visible.
#include "sim/report/summary.h"

#include <stdlib.h>

#include "sim/kernel/clock.h"
#include "sim/report/latency_metrics.h"

const char *const sim_not_modelled[] = {
    "network of the clients, API server and tokeniser",
    "host-side cost of the scheduler between passes",
    "host and disk tiers of the KV cache",
    "speculative decoding",
    "failures of workers",
    NULL,
};

static double per(double amount, double of) { return of > 0 ? amount / of : 0; }

// --- latencies --------------------------------------------------------------------------------------------------------

static sim_statistics latency(const sim_run_facts *facts, sim_latency_metric *metric, double *values) {
    const size_t n = sim_latency_collect(facts->collector, metric, values);
    return sim_statistics_of(values, n, &facts->report->percentiles);
}

static void gap_statistics(const sim_run_facts *facts, sim_summary *summary) {
    const sim_gap_histogram *gaps = facts->counts->gaps;
    const sim_percentiles *percentiles = &facts->report->percentiles;
    uint64_t n_positive = sim_gap_histogram_positive_count(gaps);
    summary->itl_ms = (sim_statistics){
        .n_samples = sim_gap_histogram_count(gaps),
        .mean = sim_gap_histogram_mean(gaps) / 1e6,
        .min = sim_gap_histogram_min(gaps) / 1e6,
        .max = sim_gap_histogram_max(gaps) / 1e6,
        .median = sim_gap_histogram_percentile(gaps, 50) / 1e6,
        .standard_deviation = sim_gap_histogram_standard_deviation(gaps) / 1e6,
    };
    summary->output_token_throughput_per_user = (sim_statistics){
        .n_samples = n_positive,
        .mean = sim_gap_histogram_mean_rate_per_s(gaps),
        .min = sim_gap_histogram_rate_percentile_per_s(gaps, 0),
        .max = sim_gap_histogram_rate_percentile_per_s(gaps, 100),
        .median = sim_gap_histogram_rate_percentile_per_s(gaps, 50),
    };
    for (size_t i = 0; i < percentiles->n; i++) {
        double percent = percentiles->percent[i];
        summary->itl_ms.percentiles[i] = sim_gap_histogram_percentile(gaps, percent) / 1e6;
        summary->output_token_throughput_per_user.percentiles[i] =
            sim_gap_histogram_rate_percentile_per_s(gaps, percent);
    }
}

// --- goodput ----------------------------------------------------------------------------------------------------------

static void goodput(const sim_run_facts *facts, double duration_s, sim_summary *summary) {
    const sim_collector *collector = facts->collector;
    const sim_sla_config *sla = facts->sla;
    summary->has_sla = sim_sla_is_given(sla);
    if (!summary->has_sla) return;
    uint64_t n_good = 0, n_arrived = 0, n_tokens = 0;
    for (size_t i = 0; i < collector->n_records; i++) {
        const sim_request_record *record = &collector->records[i];
        if (!sim_collector_is_measured(collector, i)) continue;
        n_arrived++;
        if (record->status != SIM_REQUEST_COMPLETED || !sim_sla_is_good(sla, record)) continue;
        n_good++;
        n_tokens += record->n_output_tokens;
    }
    summary->goodput_completed_requests = n_good;
    summary->goodput_request_throughput_rps = per((double)n_good, duration_s);
    summary->goodput_output_throughput_tok_s = per((double)n_tokens, duration_s);
    summary->goodput_per_gpu_rps = per(summary->goodput_request_throughput_rps, (double)summary->num_gpus);
    summary->sla_attainment = per((double)n_good, (double)n_arrived);
}

// --- totals -----------------------------------------------------------------------------------------------------------

static void totals(const sim_run_facts *facts, sim_summary *summary) {
    const sim_collector *collector = facts->collector;
    for (size_t i = 0; i < collector->n_records; i++) {
        const sim_request_record *record = &collector->records[i];
        if (record->status != SIM_REQUEST_COMPLETED) continue;
        summary->total_input_tokens += facts->workload->requests[i].input_tokens;
        summary->cached_input_tokens += record->cached_tokens;
        summary->total_output_tokens += record->n_output_tokens;
        summary->truncated_requests += record->n_output_tokens < facts->workload->requests[i].output_tokens;
    }
    for (int i = 0; i < SIM_REJECT_REASONS; i++) summary->rejected[i] = facts->counts->rejected[i];
    summary->num_requests = facts->workload->n_requests - facts->n_not_admitted;
    summary->completed_requests = facts->counts->n_completed;
    summary->rejected_requests = facts->counts->n_rejected;
    summary->incomplete_requests = summary->num_requests - facts->counts->n_completed - facts->counts->n_rejected;
    for (uint32_t i = 0; i < (uint32_t)facts->cluster_config->replicas; i++)
        summary->num_iterations += sim_cluster_worker_stats(facts->cluster, i)->n_passes;
    summary->num_preemptions = facts->counts->n_preemptions;
}

static void rates(double duration_s, sim_summary *summary) {
    double input = (double)summary->total_input_tokens, output = (double)summary->total_output_tokens;
    summary->request_throughput_rps = per((double)summary->completed_requests, duration_s);
    summary->input_throughput_tok_s = per(input, duration_s);
    summary->output_throughput_tok_s = per(output, duration_s);
    summary->total_throughput_tok_s = per(input + output, duration_s);
    summary->output_throughput_per_gpu_tok_s = per(summary->output_throughput_tok_s, (double)summary->num_gpus);
    summary->prefix_cache_reused_ratio = per((double)summary->cached_input_tokens, input);
}

sim_status sim_summary_compute(const sim_run_facts *facts, sim_summary *summary, sim_error *error) {
    const sim_collector *collector = facts->collector;
    *summary = (sim_summary){ .facts = facts, .wall_time_ms = facts->wall_time_ms };
    double *values = malloc((collector->n_records ? collector->n_records : 1) * sizeof *values);
    if (!values) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    int64_t duration_ns = facts->counts->n_completed + facts->counts->n_rejected > 0
                              ? facts->counts->last_terminal_ns - collector->first_arrival_ns
                              : 0;
    double duration_s = sim_s_from_ns(duration_ns > 0 ? duration_ns : 1);
    summary->duration_ms = sim_ms_from_ns(duration_ns);
    summary->num_gpus = facts->num_gpus;
    summary->gpu_hours = (double)summary->num_gpus * sim_s_from_ns(duration_ns) / 3600;
    totals(facts, summary);
    rates(duration_s, summary);
    summary->ttft_ms = latency(facts, sim_latency_ttft, values);
    summary->ttst_ms = latency(facts, sim_latency_ttst, values);
    summary->tpot_ms = latency(facts, sim_latency_tpot, values);
    summary->e2e_latency_ms = latency(facts, sim_latency_e2e, values);
    gap_statistics(facts, summary);
    goodput(facts, duration_s, summary);
    free(values);
    return SIM_OK;
}
