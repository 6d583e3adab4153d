// SPDX-License-Identifier: GPL-3.0-or-later
//
// One row of measurements: its configuration, its run, its means.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "sim/experiment/accuracy.h"
#include "sim/kernel/clock.h"

// --- configuration ---------------------------------------------------------------------------------------------------

// A value for a key that neither base, row nor --set gave.
static sim_status imply(sim_config *config, const char *section, const char *key, const char *value, sim_error *error) {
    char name[80];
    if (sim_config_is_given(config, section, key)) return SIM_OK;
    snprintf(name, sizeof name, "%s.%s", section, key);
    return sim_config_set_at(config, name, value, "(implied by accuracy)", 0, error);
}

static sim_status imply_count(sim_config *config, const char *section, const char *key, int64_t value,
                              sim_error *error) {
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    return imply(config, section, key, text, error);
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static sim_status imply_load(sim_config *config, int64_t *concurrency, sim_error *error) {
    sim_load_config load;
    sim_workload_config workload;
    sim_status status = imply(config, "load", "mode", "concurrency", error);
    if (status) return status;
    sim_config_fill(config, &sim_load_keys, &load);
    sim_config_fill(config, &sim_workload_keys, &workload);
    *concurrency = load.concurrency;
    // A trace brings its own requests, and only a closed loop has slots to multiply.
    if (workload.source == SIM_SOURCE_TRACE || load.mode != SIM_LOAD_CONCURRENCY) return SIM_OK;
    return imply_count(config, "workload", "requests", 10 * load.concurrency, error);
}

// Equal lengths would keep a closed loop in step for ever. A measurement that leaves its first wave out is one of a steady state, which real servers reach because
// their lengths vary by about a tenth however they are asked for (notes/accuracy-findings.md).
static sim_status vary_length(sim_config *config, const char *key, const sim_distribution *length, sim_error *error) {
    if (length->kind != SIM_DIST_CONSTANT || length->a < 10) return SIM_OK;
    char name[80], value[80];
    snprintf(name, sizeof name, "workload.%s", key);
    snprintf(value, sizeof value, "uniform(%.0f, %.0f)", 0.9 * length->a, 1.1 * length->a);
    return sim_config_set_at(config, name, value, "(implied by accuracy)", 0, error);
}

static sim_status vary_lengths(sim_config *config, sim_error *error) {
    sim_load_config load;
    sim_workload_config workload;
    sim_config_fill(config, &sim_load_keys, &load);
    sim_config_fill(config, &sim_workload_keys, &workload);
    if (load.warmup_requests == 0 || load.mode != SIM_LOAD_CONCURRENCY || workload.source != SIM_SOURCE_SYNTHETIC)
        return SIM_OK;
    sim_status status = vary_length(config, "input_tokens", &workload.input_tokens, error);
    return status ? status : vary_length(config, "output_tokens", &workload.output_tokens, error);
}

static sim_status imply_engine(sim_config *config, int64_t concurrency, sim_error *error) {
    sim_engine_config engine;
    sim_status status = imply_count(config, "engine", "max_num_seqs", larger(256, concurrency), error);
    if (status) return status;
    sim_config_fill(config, &sim_engine_keys, &engine);
    return imply_count(config, "engine", "max_num_batched_tokens", larger(8192, engine.max_num_seqs), error);
}

static sim_status apply_row(const sim_measured *measured, size_t row, sim_config *config, sim_error *error) {
    const sim_measured_row *said = &measured->rows[row];
    for (size_t i = 0; i < measured->n_columns; i++) {
        if (measured->columns[i].kind != SIM_COLUMN_KEY || said->cells[i][0] == '\0') continue;
        sim_status status =
            sim_config_set_at(config, measured->columns[i].name, said->cells[i], measured->path, said->line, error);
        if (status) return status;
    }
    int64_t concurrency = 0;
    sim_status status = imply_load(config, &concurrency, error);
    if (!status) status = vary_lengths(config, error);
    if (!status) status = imply_engine(config, concurrency, error);
    return status ? status : imply(config, "kv_cache", "prefix_caching", "false", error);
}

sim_status sim_accuracy_row_settings(const sim_measured *measured, size_t row, const sim_config *base,
                                     sim_config **config, sim_settings *settings, sim_error *error) {
    sim_status status = sim_config_copy(config, base, error);
    if (status) return status;
    status = apply_row(measured, row, *config, error);
    if (!status) status = sim_settings_read(*config, settings, error);
    if (!status && sim_tuning_is_on(&settings->truth))
        status = sim_config_contradiction(*config, error, "truth", "source",
                                          "truth.source has no effect here: the measured rows are the truth (leave it "
                                          "at none)");
    if (!status) return SIM_OK;
    sim_config_free(*config);
    *config = NULL;
    return status;
}

// --- means -----------------------------------------------------------------------------------------------------------

typedef struct arrival {
    int64_t arrival_ns, first_token_ns;
} arrival;

__extension__ typedef unsigned __int128 u128;

// Sums of a run on one thread. Times are exact integers, so that the means do not depend on the order of ends; TPOT, a quotient per request, is the
// exception, and its order is that of the run.
typedef struct means {
    const volatile sig_atomic_t *stopped;
    arrival *requests;
    int64_t warmup_ns;
    uint64_t warmup_requests;
    int64_t gaps_from_ns;
    int64_t first_arrival_ns, last_end_ns;
    uint64_t n_arrived, n_completed, n_rejected, n_output_tokens;
    uint64_t n_ttft, n_tpot, n_gaps;
    sim_reject_reason rejected_for; // the first one
    u128 sum_ttft_ns, sum_e2e_ns, sum_gaps_ns;
    double sum_tpot_ns;
} means;

static void on_arrival(void *self, uint32_t request, uint32_t worker, int64_t now_ns) {
    means *m = self;
    (void)worker;
    m->requests[request].arrival_ns = now_ns;
    if (m->n_arrived++ == 0) m->first_arrival_ns = now_ns;
    if (request == m->warmup_requests && m->gaps_from_ns == SIM_TIME_NEVER)
        m->gaps_from_ns = now_ns > m->warmup_ns ? now_ns : m->warmup_ns;
}

static void on_admitted(void *self, uint32_t request, uint32_t cached_tokens, bool is_first, int64_t now_ns) {
    (void)self, (void)request, (void)cached_tokens, (void)is_first, (void)now_ns;
}

static void on_request(void *self, uint32_t request, int64_t now_ns) { (void)self, (void)request, (void)now_ns; }

static void on_rejected(void *self, uint32_t request, sim_reject_reason reason, int64_t now_ns) {
    means *m = self;
    (void)request, (void)now_ns;
    if (m->n_rejected++ == 0) m->rejected_for = reason;
}

static void on_first_token(void *self, uint32_t request, int64_t now_ns) {
    ((means *)self)->requests[request].first_token_ns = now_ns;
}

static void on_token_gaps(void *self, int64_t gap_ns, uint64_t n_tokens, int64_t now_ns) {
    means *m = self;
    if (now_ns < m->gaps_from_ns) return;
    m->sum_gaps_ns += (u128)(uint64_t)gap_ns * n_tokens;
    m->n_gaps += n_tokens;
}

static void on_finished(void *self, uint32_t request, uint32_t n_output_tokens, int64_t now_ns) {
    means *m = self;
    const arrival *times = &m->requests[request];
    m->n_completed++;
    m->n_output_tokens += n_output_tokens;
    if (now_ns > m->last_end_ns) m->last_end_ns = now_ns;
    const bool is_measured = request >= m->warmup_requests && times->arrival_ns >= m->warmup_ns;
    if (!is_measured || n_output_tokens == 0) return;
    m->n_ttft++;
    m->sum_ttft_ns += (u128)(uint64_t)(times->first_token_ns - times->arrival_ns);
    m->sum_e2e_ns += (u128)(uint64_t)(now_ns - times->arrival_ns);
    if (n_output_tokens < 2) return;
    m->n_tpot++;
    m->sum_tpot_ns += (double)(now_ns - times->first_token_ns) / (n_output_tokens - 1);
}

static sim_status on_tick(void *self, int64_t now_ns) {
    const means *m = self;
    (void)now_ns;
    return sim_signal_status(m->stopped);
}

static double mean_ms(double sum_ns, uint64_t n) { return n > 0 ? sum_ns / (double)n / 1e6 : (double)NAN; }

static void conclude(const means *m, sim_prediction *out) {
    const int64_t duration_ns = m->last_end_ns - m->first_arrival_ns;
    *out = (sim_prediction){ .n_requests = m->n_arrived, .n_completed = m->n_completed };
    out->values[SIM_TARGET_TTFT] = mean_ms((double)m->sum_ttft_ns, m->n_ttft);
    out->values[SIM_TARGET_TPOT] = mean_ms(m->sum_tpot_ns, m->n_tpot);
    out->values[SIM_TARGET_ITL] = mean_ms((double)m->sum_gaps_ns, m->n_gaps);
    out->values[SIM_TARGET_E2E] = mean_ms((double)m->sum_e2e_ns, m->n_ttft);
    out->values[SIM_TARGET_OUTPUT_THROUGHPUT] =
        duration_ns > 0 ? (double)m->n_output_tokens / sim_s_from_ns(duration_ns) : (double)NAN;
}

// --- the run ---------------------------------------------------------------------------------------------------------

static sim_status run_cluster(const sim_settings *settings, const sim_workload *workload, sim_load *load,
                              const fpm_estimator *estimator, const sim_observer *observer, sim_error *error) {
    sim_cluster *cluster;
    sim_status status = sim_settings_cluster(settings, workload, estimator, NULL, &observer, 1, &cluster, error);
    if (status) return status;
    status = sim_cluster_run(cluster, load, settings->load.max_time_ns, error);
    sim_cluster_free(cluster);
    return status;
}

static sim_status run_workload(const sim_config *config, const sim_settings *settings, const sim_workload *workload,
                               const fpm_estimator *estimator, const sim_observer *observer, sim_error *error) {
    sim_load *load;
    sim_status status = sim_load_new(&load, config, &settings->load, workload, error);
    if (status) return status;
    fpm_estimator *own = NULL;
    if (!estimator) status = sim_settings_estimator(config, settings, &own, error);
    if (!status) status = run_cluster(settings, workload, load, own ? own : estimator, observer, error);
    fpm_estimator_free(own);
    sim_load_free(load);
    return status;
}

static sim_status make_workload(const sim_config *config, const sim_settings *settings, sim_workload **workload,
                                sim_error *error) {
    return sim_workload_new(workload, config, &settings->workload, (uint64_t)settings->load.seed, error);
}

sim_status sim_accuracy_observe(const sim_config *config, const sim_settings *settings, const fpm_estimator *estimator,
                                const sim_observer *observer, sim_error *error) {
    sim_workload *workload;
    sim_status status = make_workload(config, settings, &workload, error);
    if (status) return status;
    status = run_workload(config, settings, workload, estimator, observer, error);
    sim_workload_free(workload);
    return status;
}

static sim_status run_means(const sim_config *config, const sim_settings *settings, const sim_workload *workload,
                            const fpm_estimator *estimator, means *m, sim_error *error) {
    const sim_observer observer = {
        .self = m,
        .on_arrival = on_arrival,
        .on_admitted = on_admitted,
        .on_preempted = on_request,
        .on_rejected = on_rejected,
        .on_first_token = on_first_token,
        .on_second_token = on_request,
        .on_token_gaps = on_token_gaps,
        .on_finished = on_finished,
        .on_tick = on_tick,
    };
    m->requests = calloc(workload->n_requests, sizeof *m->requests);
    if (!m->requests) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    m->warmup_ns = settings->load.warmup_ns;
    m->warmup_requests = (uint64_t)settings->load.warmup_requests;
    m->gaps_from_ns = SIM_TIME_NEVER;
    sim_status status = run_workload(config, settings, workload, estimator, &observer, error);
    free(m->requests);
    if (status || m->n_rejected == 0) return status;
    return sim_error_set(error, SIM_DEAD_END, NULL, 0, "requests are rejected: %s",
                         sim_reject_reason_names[m->rejected_for]);
}

sim_status sim_accuracy_predict(const sim_config *config, const sim_settings *settings, const fpm_estimator *estimator,
                                const volatile sig_atomic_t *stopped, sim_prediction *prediction, sim_error *error) {
    sim_workload *workload;
    sim_status status = make_workload(config, settings, &workload, error);
    if (status) return status;
    means m = { .stopped = stopped };
    status = run_means(config, settings, workload, estimator, &m, error);
    sim_workload_free(workload);
    if (!status) conclude(&m, prediction);
    return status;
}
