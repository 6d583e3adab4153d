// SPDX-License-Identifier: GPL-3.0-or-later
//
// The summary as one flat JSON object of stable keys. Numbers go in as text: counts exact to 64 bits, doubles in their shortest exact form, neither
// of which cJSON's own numbers are.
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "sim/kernel/clock.h"
#include "sim/report/summary.h"

static void add_count(cJSON *object, const char *key, uint64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    cJSON_AddRawToObject(object, key, text);
}

static void add_number(cJSON *object, const char *key, double value) {
    char text[FPM_NUMBER_BYTES];
    fpm_format_number(text, value);
    cJSON_AddRawToObject(object, key, text);
}

// `prefix`_NAME`suffix`, such as p99_9_ttft_ms.
static void add_named(cJSON *object, const char *prefix, const char *name, const char *suffix, double value) {
    char key[96];
    snprintf(key, sizeof key, "%s_%s%s", prefix, name, suffix);
    add_number(object, key, value);
}

static void add_statistics(cJSON *object, const char *name, const char *suffix, const sim_statistics *statistics,
                           const sim_percentiles *percentiles) {
    add_named(object, "mean", name, suffix, statistics->mean);
    add_named(object, "min", name, suffix, statistics->min);
    add_named(object, "max", name, suffix, statistics->max);
    add_named(object, "median", name, suffix, statistics->median);
    for (size_t i = 0; i < percentiles->n; i++) {
        char number[FPM_NUMBER_BYTES], prefix[FPM_NUMBER_BYTES + 1];
        if (percentiles->percent[i] == 50) continue; // the median
        fpm_format_number(number, percentiles->percent[i]);
        snprintf(prefix, sizeof prefix, "p%s", number);
        for (char *at = prefix; *at; at++)
            if (*at == '.') *at = '_';
        add_named(object, prefix, name, suffix, statistics->percentiles[i]);
    }
}

static void add_latency(cJSON *object, const char *name, const sim_statistics *statistics,
                        const sim_percentiles *percentiles) {
    add_statistics(object, name, "_ms", statistics, percentiles);
    add_named(object, "std", name, "_ms", statistics->standard_deviation);
}

static void add_totals(cJSON *root, const sim_summary *summary) {
    add_count(root, "num_requests", summary->num_requests);
    add_count(root, "completed_requests", summary->completed_requests);
    add_count(root, "rejected_requests", summary->rejected_requests);
    add_count(root, "incomplete_requests", summary->incomplete_requests);
    if (summary->truncated_requests) add_count(root, "truncated_requests", summary->truncated_requests);
    if (summary->facts->is_interrupted) cJSON_AddTrueToObject(root, "interrupted");
    add_count(root, "total_input_tokens", summary->total_input_tokens);
    add_count(root, "cached_input_tokens", summary->cached_input_tokens);
    add_count(root, "total_output_tokens", summary->total_output_tokens);
    add_number(root, "duration_ms", summary->duration_ms);
    add_number(root, "wall_time_ms", summary->wall_time_ms);
    add_count(root, "num_gpus", summary->num_gpus);
    add_count(root, "num_iterations", summary->num_iterations);
    add_count(root, "num_preemptions", summary->num_preemptions);
    add_number(root, "request_throughput_rps", summary->request_throughput_rps);
    add_number(root, "input_throughput_tok_s", summary->input_throughput_tok_s);
    add_number(root, "output_throughput_tok_s", summary->output_throughput_tok_s);
    add_number(root, "total_throughput_tok_s", summary->total_throughput_tok_s);
    add_number(root, "output_throughput_per_gpu_tok_s", summary->output_throughput_per_gpu_tok_s);
    add_number(root, "gpu_hours", summary->gpu_hours);
    add_number(root, "prefix_cache_reused_ratio", summary->prefix_cache_reused_ratio);
    if (!summary->has_sla) return;
    add_count(root, "goodput_completed_requests", summary->goodput_completed_requests);
    add_number(root, "goodput_request_throughput_rps", summary->goodput_request_throughput_rps);
    add_number(root, "goodput_output_throughput_tok_s", summary->goodput_output_throughput_tok_s);
    add_number(root, "goodput_per_gpu_rps", summary->goodput_per_gpu_rps);
    add_number(root, "sla_attainment", summary->sla_attainment);
}

static void add_latencies(cJSON *root, const sim_summary *summary) {
    const sim_percentiles *percentiles = &summary->facts->report->percentiles;
    add_count(root, "num_ttft_samples", summary->ttft_ms.n_samples);
    add_count(root, "num_tpot_samples", summary->tpot_ms.n_samples);
    add_count(root, "num_itl_samples", summary->itl_ms.n_samples);
    add_count(root, "num_e2e_latency_samples", summary->e2e_latency_ms.n_samples);
    add_latency(root, "ttft", &summary->ttft_ms, percentiles);
    add_latency(root, "ttst", &summary->ttst_ms, percentiles);
    add_latency(root, "tpot", &summary->tpot_ms, percentiles);
    add_latency(root, "itl", &summary->itl_ms, percentiles);
    add_latency(root, "e2e_latency", &summary->e2e_latency_ms, percentiles);
    add_statistics(root, "output_token_throughput_per_user", "", &summary->output_token_throughput_per_user,
                   percentiles);
}

static void add_sla(cJSON *root, const sim_sla_config *sla) {
    cJSON *block = cJSON_AddObjectToObject(root, "sla");
    if (sla->ttft_ns > 0) add_number(block, "ttft_ms", sim_ms_from_ns(sla->ttft_ns));
    if (sla->tpot_ns > 0) add_number(block, "tpot_ms", sim_ms_from_ns(sla->tpot_ns));
    if (sla->e2e_ns > 0) add_number(block, "e2e_ms", sim_ms_from_ns(sla->e2e_ns));
    add_number(block, "percentile", sla->percentile);
}

static void add_cost(cJSON *root, const sim_summary *summary) {
    double total = summary->gpu_hours * summary->facts->cluster_config->gpu_hour_price;
    double tokens = (double)summary->total_output_tokens;
    cJSON *block = cJSON_AddObjectToObject(root, "cost");
    add_number(block, "gpu_hour_price", summary->facts->cluster_config->gpu_hour_price);
    add_number(block, "total_cost", total);
    add_number(block, "cost_per_million_output_tokens", tokens > 0 ? total / tokens * 1e6 : 0);
}

static void add_workers(cJSON *root, const sim_summary *summary) {
    cJSON *list = cJSON_AddArrayToObject(root, "workers");
    double run_ms =
        sim_ms_from_ns(sim_cluster_end_ns(summary->facts->cluster) - summary->facts->collector->first_arrival_ns);
    for (uint32_t i = 0; i < (uint32_t)summary->facts->cluster_config->replicas; i++) {
        const sim_worker_stats *stats = sim_cluster_worker_stats(summary->facts->cluster, i);
        cJSON *block = cJSON_CreateObject();
        if (!cJSON_AddItemToArray(list, block)) cJSON_Delete(block);
        double busy_ms = sim_ms_from_ns(stats->busy_ns);
        add_count(block, "worker", i);
        add_count(block, "requests", stats->n_requests);
        add_count(block, "iterations", stats->n_passes);
        add_number(block, "busy_ms", busy_ms);
        add_number(block, "busy_ratio",
                   run_ms > 0 ? busy_ms / run_ms : 0); // of the time up to the end of the last pass
    }
}

static void add_input(cJSON *root, const sim_summary *summary) {
    const sim_workload *workload = summary->facts->workload;
    cJSON *block = cJSON_AddObjectToObject(root, "input");
    if (workload->format_name[0]) cJSON_AddStringToObject(block, "format", workload->format_name);
    add_count(block, "rows_read", workload->rows_read);
    add_count(block, "rows_kept", workload->rows_kept);
    cJSON *dropped = cJSON_AddObjectToObject(block, "dropped");
    for (int i = 0; i < SIM_DROP_REASONS; i++)
        if (workload->dropped[i]) add_count(dropped, sim_drop_reason_names[i], workload->dropped[i]);
    if (summary->facts->n_not_admitted) add_count(block, "not_admitted", summary->facts->n_not_admitted);
}

static void add_blocks(cJSON *root, const sim_summary *summary) {
    if (summary->has_sla) add_sla(root, summary->facts->sla);
    if (summary->facts->cluster_config->gpu_hour_price > 0) add_cost(root, summary);
    if (summary->rejected_requests) {
        cJSON *rejected = cJSON_AddObjectToObject(root, "rejected");
        for (int i = 0; i < SIM_REJECT_REASONS; i++)
            if (summary->rejected[i]) add_count(rejected, sim_reject_reason_names[i], summary->rejected[i]);
    }
    if (summary->facts->tuner) sim_tuning_summary_add(root, summary->facts->tuner, summary->facts->paired);
    add_workers(root, summary);
    add_input(root, summary);
    cJSON *missing = cJSON_AddArrayToObject(root, "not_modelled");
    for (size_t i = 0; sim_not_modelled[i]; i++) {
        cJSON *sentence = cJSON_CreateString(sim_not_modelled[i]);
        if (!cJSON_AddItemToArray(missing, sentence)) cJSON_Delete(sentence);
    }
}

cJSON *sim_summary_json(const sim_summary *summary) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "schema", "forepass.summary");
    add_count(root, "version", 1);
    add_totals(root, summary);
    add_latencies(root, summary);
    add_blocks(root, summary);
    return root;
}

sim_status sim_summary_write_json(const sim_summary *summary, FILE *out, sim_error *error) {
    cJSON *root = sim_summary_json(summary);
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    bool is_written = fputs(text, out) >= 0 && fputc('\n', out) != EOF;
    free(text);
    return is_written ? SIM_OK : sim_error_set(error, SIM_IO, NULL, 0, "the summary could not be written");
}
