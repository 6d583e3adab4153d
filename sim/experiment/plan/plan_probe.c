// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/plan/plan_probe.h"

#include <stdio.h>

#include "sim/experiment/run.h"

const char *const sim_plan_bound_names[SIM_PLAN_BOUNDS] = { "ttft", "tpot", "e2e" };

int64_t sim_plan_bound_ns(const sim_sla_config *sla, sim_plan_bound bound) {
    const int64_t bounds[SIM_PLAN_BOUNDS] = { sla->ttft_ns, sla->tpot_ns, sla->e2e_ns };
    return bounds[bound];
}

sim_sla_config sim_plan_bound_alone(const sim_sla_config *sla, sim_plan_bound bound) {
    return (sim_sla_config){
        .ttft_ns = bound == SIM_PLAN_TTFT ? sla->ttft_ns : 0,
        .tpot_ns = bound == SIM_PLAN_TPOT ? sla->tpot_ns : 0,
        .e2e_ns = bound == SIM_PLAN_E2E ? sla->e2e_ns : 0,
        .percentile = sla->percentile,
    };
}

// --- one run -----------------------------------------------------------------------------------------------------------

static sim_status run_on(const sim_plan_prober *prober, const sim_config *config, const sim_settings *settings,
                         const sim_workload *workload, const sim_plan_inspector *inspector, sim_error *error) {
    const sim_run_options options = { .workload = workload, .n_threads = 1, .stopped = prober->stopped };
    sim_run *run = NULL;
    const sim_status status = sim_run_execute(&run, config, settings, &options, error);
    if (!status) {
        const sim_summary *summary = sim_run_summary(run);
        inspector->inspect(inspector->self, summary->facts, summary);
    }
    sim_run_free(run);
    return status;
}

static sim_status run_config(const sim_plan_prober *prober, const sim_config *config,
                             const sim_plan_inspector *inspector, sim_error *error) {
    sim_settings settings;
    const sim_workload *workload;
    sim_status status = sim_settings_read(config, &settings, error);
    if (status) return status;
    const double percent = settings.sla.percentile;
    settings.report.percentiles = (sim_percentiles){ .percent = { percent }, .n = percent < 100 }; // 100 is the maximum
    status = sim_workload_store_take(prober->workloads, config, &settings.workload, (uint64_t)settings.load.seed,
                                     &workload, error);
    if (status) return status;
    status = run_on(prober, config, &settings, workload, inspector, error);
    sim_workload_store_give_back(prober->workloads, workload);
    return status;
}

sim_status sim_plan_probe(const sim_plan_prober *prober, const sim_config *config, const sim_plan_inspector *inspector,
                          sim_plan_fate *fate, sim_error *error) {
    sim_error why = { .code = SIM_OK };
    *fate = (sim_plan_fate){ .outcome = SIM_TRIAL_DONE };
    const sim_status status = run_config(prober, config, inspector, &why);
    if (!status) return SIM_OK;
    if (status != SIM_USAGE && status != SIM_DEAD_END && status != SIM_NO_MEMORY) {
        if (error) *error = why;
        return status;
    }
    fate->outcome = status == SIM_USAGE ? SIM_TRIAL_INFEASIBLE : SIM_TRIAL_FAILED;
    snprintf(fate->reason, sizeof fate->reason, "%.255s", why.message);
    return SIM_OK;
}

// --- its digest ----------------------------------------------------------------------------------------------------------

typedef struct digesting {
    const sim_plan_prober *prober;
    sim_plan_replicate *replicate;
} digesting;

// FNV-1a, a word at a time: two runs that differ in any request differ here, but for chance.
static void mix(uint64_t *digest, uint64_t word) { *digest = (*digest ^ word) * UINT64_C(0x100000001b3); }

static void count_request(const digesting *d, const sim_request_record *record) {
    sim_plan_replicate *to = d->replicate;
    const sim_sla_config *slas = d->prober->slas;
    to->n_rejected += record->status == SIM_REQUEST_REJECTED;
    to->n_unfinished += record->status == SIM_REQUEST_OPEN;
    if (record->status != SIM_REQUEST_COMPLETED) return;
    for (int s = 0; s < SIM_PLAN_SCENARIOS; s++) to->n_good[s] += sim_sla_is_good(&slas[s], record);
    for (sim_plan_bound b = 0; b < SIM_PLAN_BOUNDS; b++) {
        const sim_sla_config alone = sim_plan_bound_alone(&slas[SIM_PLAN_AS_MODELLED], b);
        to->n_missed[b] += !sim_sla_is_good(&alone, record);
    }
}

static double percentile_of(const sim_summary *summary, const sim_statistics *statistics) {
    return summary->facts->report->percentiles.n ? statistics->percentiles[0] : statistics->max;
}

static uint64_t count_measured(const sim_collector *collector) {
    uint64_t n = 0;
    for (size_t i = 0; i < collector->n_records; i++) n += sim_collector_is_measured(collector, i);
    return n;
}

static void digest(void *self, const sim_run_facts *facts, const sim_summary *summary) {
    const digesting *d = self;
    sim_plan_replicate *to = d->replicate;
    const sim_collector *collector = facts->collector;
    *to = (sim_plan_replicate){ .digest = UINT64_C(0xcbf29ce484222325) };
    const uint64_t n = count_measured(collector);
    for (size_t i = 0; i < collector->n_records; i++) {
        const sim_request_record *record = &collector->records[i];
        mix(&to->digest, (uint64_t)record->arrival_ns);
        mix(&to->digest, (uint64_t)record->first_token_ns);
        mix(&to->digest, (uint64_t)record->finish_ns);
        mix(&to->digest, (uint64_t)record->n_output_tokens << 8 | record->status);
        if (!sim_collector_is_measured(collector, i)) continue;
        const uint64_t good_before = to->n_good[SIM_PLAN_AS_MODELLED];
        const size_t batch = (size_t)(to->n_arrived * SIM_PLAN_BATCHES / n);
        count_request(d, record);
        to->n_arrived++;
        to->batch_arrived[batch]++;
        to->batch_good[batch] += to->n_good[SIM_PLAN_AS_MODELLED] - good_before;
    }
    to->percentile_ms[SIM_PLAN_TTFT] = percentile_of(summary, &summary->ttft_ms);
    to->percentile_ms[SIM_PLAN_TPOT] = percentile_of(summary, &summary->tpot_ms);
    to->percentile_ms[SIM_PLAN_E2E] = percentile_of(summary, &summary->e2e_latency_ms);
}

sim_status sim_plan_probe_replicate(const sim_plan_prober *prober, const sim_config *config,
                                    sim_plan_replicate *replicate, sim_plan_fate *fate, sim_error *error) {
    digesting d = { prober, replicate };
    const sim_plan_inspector inspector = { digest, &d };
    const sim_status status = sim_plan_probe(prober, config, &inspector, fate, error);
    if (status || fate->outcome != SIM_TRIAL_DONE || replicate->n_arrived > 0) return status;
    fate->outcome = SIM_TRIAL_FAILED;
    snprintf(fate->reason, sizeof fate->reason,
             "no request is measured (load.warmup and load.warmup_requests leave none)");
    return SIM_OK;
}
