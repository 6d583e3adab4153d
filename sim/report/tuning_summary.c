// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/report/tuning_summary.h"

#include <cjson/cJSON.h>
#include <stddef.h>

#include "sim/kernel/clock.h"
#include "sim/report/json_fields.h"
#include "sim/report/tuning_block.h"

static const fpm_kind kinds[SIM_N_KINDS] = { FPM_PREFILL, FPM_DECODE, FPM_MIXED };

static const struct {
    const char *key, *text;
    size_t offset;
} figures[] = {
    { "mean_ttft_ms", "Mean TTFT (ms)", offsetof(sim_paired_figures, mean_ttft_ms) },
    { "p99_ttft_ms", "p99 TTFT (ms)", offsetof(sim_paired_figures, p99_ttft_ms) },
    { "mean_itl_ms", "Mean ITL (ms)", offsetof(sim_paired_figures, mean_itl_ms) },
    { "mean_e2e_latency_ms", "Mean E2E latency (ms)", offsetof(sim_paired_figures, mean_e2e_latency_ms) },
    { "request_throughput_rps", "Requests/s", offsetof(sim_paired_figures, request_throughput_rps) },
    { "output_throughput_tok_s", "Output tokens/s", offsetof(sim_paired_figures, output_throughput_tok_s) },
    { "duration_ms", "Duration (ms)", offsetof(sim_paired_figures, duration_ms) },
    { "sla_attainment", "SLA attainment", offsetof(sim_paired_figures, sla_attainment) },
};
enum { N_FIGURES = sizeof figures / sizeof *figures };

// The last one only with [sla].
static size_t n_figures(const sim_paired_figures *run) { return run->has_sla ? N_FIGURES : N_FIGURES - 1; }

static double figure(const sim_paired_figures *run, size_t i) {
    return *(const double *)(const void *)((const char *)run + figures[i].offset);
}

static sim_tuning_result result_of(const sim_tuner *tuner) {
    sim_tuning_result result = { .measures = sim_tuner_measures(tuner) };
    result.models = sim_tuner_models(tuner, &result.n_models);
    return result;
}

// --- JSON -------------------------------------------------------------------------------------------------------------

static void add_drift(cJSON *block, const sim_tuner *tuner) {
    cJSON *all = cJSON_AddObjectToObject(block, "drift");
    for (size_t i = 0; i < SIM_N_KINDS; i++) {
        const sim_drift drift = sim_tuner_drift(tuner, kinds[i]);
        if (drift.n_alarms == 0) continue;
        cJSON *of_kind = cJSON_AddObjectToObject(all, fpm_kind_name(kinds[i]));
        sim_json_add_count(of_kind, "alarms", drift.n_alarms);
        sim_json_add_count(of_kind, "passes", drift.n_passes);
        cJSON_AddBoolToObject(of_kind, "is_on", drift.is_on);
        sim_json_add_number(of_kind, "first_ms", sim_ms_from_ns(drift.first_ns));
        sim_json_add_number(of_kind, "last_ms", sim_ms_from_ns(drift.last_ns));
        sim_json_add_count(of_kind, "newest_passes", drift.newest.n);
        sim_json_add_number(of_kind, "newest_mape_pct", 100 * drift.newest.mape);
        sim_json_add_number(of_kind, "newest_bias_pct", 100 * drift.newest.bias);
    }
}

static void add_recorded(cJSON *block, const sim_recorded_counts *counts) {
    cJSON *object = cJSON_AddObjectToObject(block, "recorded");
    sim_json_add_count(object, "passes", counts->n_recorded);
    sim_json_add_count(object, "unmeasured_passes", counts->n_unmeasured);
    if (counts->n_disagreeing) sim_json_add_count(object, "with_differing_wall_times", counts->n_disagreeing);
    sim_json_add_count(object, "exact", counts->n_exact);
    sim_json_add_count(object, "interpolated", counts->n_interpolated);
    sim_json_add_count(object, "nearest", counts->n_nearest);
    sim_json_add_count(object, "estimated", counts->n_estimated);
}

static void add_figures(cJSON *block, const char *key, const sim_paired_figures *run) {
    if (!run->is_there) return;
    cJSON *object = cJSON_AddObjectToObject(block, key);
    for (size_t i = 0; i < n_figures(run); i++) sim_json_add_number(object, figures[i].key, figure(run, i));
}

static void add_difference(cJSON *block, const char *key, const sim_paired_figures *base,
                           const sim_paired_figures *run) {
    if (!run->is_there) return;
    cJSON *object = cJSON_AddObjectToObject(block, key);
    for (size_t i = 0; i < n_figures(run); i++) {
        const double of_base = figure(base, i);
        if (of_base > 0) sim_json_add_number(object, figures[i].key, 100 * (figure(run, i) / of_base - 1));
    }
}

static void add_paired(cJSON *root, const sim_paired *paired) {
    cJSON *block = cJSON_AddObjectToObject(root, "paired");
    add_figures(block, "as_run", &paired->as_run);
    add_figures(block, "untuned", &paired->untuned);
    add_figures(block, "truth", &paired->truth);
    add_difference(block, "untuned_difference_pct", &paired->as_run, &paired->untuned);
    add_difference(block, "truth_difference_pct", &paired->as_run, &paired->truth);
}

void sim_tuning_summary_add(cJSON *root, const sim_tuner *tuner, const sim_paired *paired) {
    const sim_tuner_parts *parts = sim_tuner_get_parts(tuner);
    const sim_tuner_counts counts = sim_tuner_count(tuner);
    const sim_tuning_result result = result_of(tuner);
    cJSON *block = cJSON_AddObjectToObject(root, "tuning");
    cJSON_AddStringToObject(block, "mode", sim_tuning_mode_names[parts->tuning->mode]);
    cJSON_AddStringToObject(block, "scope", sim_tuning_scope_names[parts->tuning->scope]);
    cJSON_AddStringToObject(block, "clock", sim_tuning_clock_names[parts->tuning->clock]);
    cJSON_AddStringToObject(block, "truth", sim_truth_source_names[parts->truth->source]);
    if (result.n_models > 0) {
        sim_json_add_count(block, "learned_observations", counts.n_learned);
        if (parts->is_regression) sim_json_add_count(block, "fallback_passes", counts.n_fallback);
        cJSON_AddBoolToObject(block, "frozen", counts.is_frozen);
        add_drift(block, tuner);
    }
    const sim_recorded_counts recorded = sim_tuner_recorded(tuner);
    if (parts->truth->source == SIM_TRUTH_RECORDED) add_recorded(block, &recorded);
    sim_tuning_add_kinds(block, &result);
    if (paired) add_paired(block, paired);
}

// --- table ------------------------------------------------------------------------------------------------------------

static void put_drift(FILE *out, const sim_tuner *tuner, fpm_kind kind) {
    const sim_drift drift = sim_tuner_drift(tuner, kind);
    if (drift.n_alarms == 0) return;
    fprintf(out, "Drift: %s passes left what the model remembers %llu times, first at %.3f s, for %llu passes%s\n",
            fpm_kind_name(kind), (unsigned long long)drift.n_alarms, sim_s_from_ns(drift.first_ns),
            (unsigned long long)drift.n_passes, drift.is_on ? ", and at the end" : "");
}

static void put_recorded(FILE *out, const sim_recorded_counts *counts) {
    fprintf(out,
            "Recorded         %llu passes; of the simulated ones %llu exact, %llu interpolated, %llu nearest, %llu "
            "estimated\n",
            (unsigned long long)counts->n_recorded, (unsigned long long)counts->n_exact,
            (unsigned long long)counts->n_interpolated, (unsigned long long)counts->n_nearest,
            (unsigned long long)counts->n_estimated);
    if (counts->n_unmeasured)
        fprintf(out, "Recorded         %llu more passes without work or wall time were left out\n",
                (unsigned long long)counts->n_unmeasured);
    if (counts->n_disagreeing)
        fprintf(out, "Recorded         the ranks of %llu passes give different wall times: the slowest counts\n",
                (unsigned long long)counts->n_disagreeing);
}

static void put_number(FILE *out, const sim_paired_figures *run, size_t i, const sim_paired_figures *base) {
    if (!run->is_there) return;
    fprintf(out, "%14.3f", figure(run, i));
    if (base != run && figure(base, i) > 0)
        fprintf(out, " %+7.1f%%", 100 * (figure(run, i) / figure(base, i) - 1));
    else if (base != run)
        fprintf(out, " %8s", "");
}

static void put_paired(FILE *out, const sim_paired *paired) {
    fprintf(out, "%-26s%14s%14s %8s", "The same requests", "this run", "untuned", "");
    fprintf(out, paired->truth.is_there ? "%14s\n" : "\n", "truth");
    for (size_t i = 0; i < n_figures(&paired->as_run); i++) {
        fprintf(out, "%-26s", figures[i].text);
        put_number(out, &paired->as_run, i, &paired->as_run);
        put_number(out, &paired->untuned, i, &paired->as_run);
        put_number(out, &paired->truth, i, &paired->as_run);
        fputc('\n', out);
    }
}

sim_status sim_tuning_summary_write_table(const sim_tuner *tuner, const sim_paired *paired, FILE *out,
                                          sim_error *error) {
    const sim_tuner_parts *parts = sim_tuner_get_parts(tuner);
    const sim_tuner_counts counts = sim_tuner_count(tuner);
    const sim_tuning_result result = result_of(tuner);
    fprintf(out, "Tuning           %s, one model per %s; clock: %s; truth: %s",
            sim_tuning_mode_names[parts->tuning->mode], sim_tuning_scope_names[parts->tuning->scope],
            sim_tuning_clock_names[parts->tuning->clock], sim_truth_source_names[parts->truth->source]);
    if (result.n_models > 0) fprintf(out, "; %llu passes learned", (unsigned long long)counts.n_learned);
    if (counts.is_frozen) fputs(", then frozen", out);
    if (parts->is_regression) fprintf(out, "; %llu passes took the fallback", (unsigned long long)counts.n_fallback);
    fputc('\n', out);
    const sim_recorded_counts recorded = sim_tuner_recorded(tuner);
    if (parts->truth->source == SIM_TRUTH_RECORDED) put_recorded(out, &recorded);
    const sim_status status = sim_tuning_write_table(&result, out, error);
    for (size_t i = 0; i < SIM_N_KINDS; i++) put_drift(out, tuner, kinds[i]);
    if (paired) put_paired(out, paired);
    return status;
}
