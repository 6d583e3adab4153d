// SPDX-License-Identifier: GPL-3.0-or-later
//
// The figures of a run (interface.md "Summary") and their two forms: a table for people, flat JSON for programs.
#ifndef SIM_REPORT_SUMMARY_H
#define SIM_REPORT_SUMMARY_H

#include <stdio.h>

#include "sim/report/collector.h"
#include "sim/report/statistics.h"
#include "sim/report/tuning_summary.h"

typedef struct sim_report_config { // section [report]
    sim_percentiles percentiles;
} sim_report_config;

extern const sim_key_table sim_report_keys;
typedef struct sim_run_facts {
    const sim_workload *workload;
    const sim_collector *collector;
    const sim_collector_lane *counts; // all lanes joined
    const sim_cluster *cluster;
    const sim_tuner *tuner;   // NULL: there was no truth
    const sim_paired *paired; // NULL: not asked for
    const sim_cluster_config *cluster_config;
    uint64_t num_gpus;
    const sim_report_config *report;
    const sim_sla_config *sla;
    bool is_interrupted;     // by a signal
    uint64_t n_not_admitted; // held back by load.admit_until
    double wall_time_ms;     // of the simulator
} sim_run_facts;

typedef struct sim_summary {
    uint64_t num_requests, completed_requests, rejected_requests, incomplete_requests;
    uint64_t truncated_requests; // completed with less output than asked for, by a length limit
    uint64_t rejected[SIM_REJECT_REASONS];
    uint64_t total_input_tokens, cached_input_tokens, total_output_tokens; // of completed requests
    double duration_ms, wall_time_ms;
    uint64_t num_gpus, num_iterations, num_preemptions;
    double request_throughput_rps, input_throughput_tok_s, output_throughput_tok_s, total_throughput_tok_s;
    double output_throughput_per_gpu_tok_s, gpu_hours, prefix_cache_reused_ratio;
    sim_statistics ttft_ms, ttst_ms, tpot_ms, itl_ms, e2e_latency_ms, output_token_throughput_per_user;
    bool has_sla;
    uint64_t goodput_completed_requests;
    double goodput_request_throughput_rps, goodput_output_throughput_tok_s, goodput_per_gpu_rps, sla_attainment;
    const sim_run_facts *facts;
} sim_summary;

sim_status sim_summary_compute(const sim_run_facts *facts, sim_summary *summary, sim_error *error);

// The JSON object as a document of its own (cJSON_Delete); NULL: out of memory.
struct cJSON *sim_summary_json(const sim_summary *summary);
// SIM_IO on a short write.
sim_status sim_summary_write_json(const sim_summary *summary, FILE *out, sim_error *error);
sim_status sim_summary_write_table(const sim_summary *summary, FILE *out, sim_error *error);

// What this version leaves out of every prediction; NULL-terminated sentences.
extern const char *const sim_not_modelled[];

#endif
