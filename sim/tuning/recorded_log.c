// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/recorded_log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/tuning/pass_log.h"

void sim_rank_features(const fpm_metrics *rank, uint32_t features[SIM_RANK_FEATURES]) {
    const fpm_scheduled_requests *s = &rank->scheduled;
    features[0] = s->num_prefill_requests;
    features[1] = s->sum_prefill_tokens;
    features[2] = s->sum_prefill_kv_tokens;
    features[3] = s->num_decode_requests;
    features[4] = s->sum_decode_kv_tokens;
}

void sim_pass_place(const uint32_t *features, size_t n_ranks, double place[SIM_RANK_FEATURES]) {
    const uint32_t *speaker = features;
    uint64_t most = 0;
    for (size_t i = 0; i < n_ranks; i++) {
        const uint32_t *rank = &features[i * SIM_RANK_FEATURES];
        const uint64_t load = (uint64_t)(rank[1] ? rank[1] : rank[3]) + rank[4];
        if (load < most) continue;
        most = load;
        speaker = rank;
    }
    for (size_t k = 0; k < SIM_RANK_FEATURES; k++) place[k] = log1p(speaker[k]);
}

// --- loading ----------------------------------------------------------------------------------------------------------

static uint32_t worker_of(const char *id) {
    if (!id || *id == '\0' || (*id == '0' && id[1] != '\0') || strlen(id) > 9) return SIM_FOREIGN_WORKER;
    uint32_t number = 0;
    for (; *id; id++) {
        if (*id < '0' || *id > '9') return SIM_FOREIGN_WORKER;
        number = number * 10 + (uint32_t)(*id - '0');
    }
    return number;
}

// Room for `n` more elements behind `n_used`.
static bool reserve(void **array, size_t *capacity, size_t n_used, size_t n, size_t bytes) {
    if (n <= *capacity - n_used) return true;
    const size_t wanted = *capacity < 1024 ? 1024 : *capacity * 2, enough = wanted < n_used + n ? n_used + n : wanted;
    void *grown = enough <= SIZE_MAX / bytes ? realloc(*array, enough * bytes) : NULL;
    if (!grown) return false;
    *array = grown;
    *capacity = enough;
    return true;
}

static sim_status keep(sim_recorded_log *log, const sim_logged_pass *pass, sim_error *error) {
    const size_t n_ranks = pass->n_ranks;
    if (!reserve((void **)&log->passes, &log->pass_capacity, log->n_passes, 1, sizeof *log->passes) ||
        !reserve((void **)&log->features, &log->feature_capacity, log->n_features, n_ranks * SIM_RANK_FEATURES,
                 sizeof *log->features) ||
        log->n_passes == UINT32_MAX - 1)
        return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    log->passes[log->n_passes++] =
        (sim_recorded_pass){ log->n_features, (uint32_t)n_ranks, worker_of(pass->ranks[0].worker_id), pass->load.kind,
                             pass->wall_s };
    for (size_t i = 0; i < n_ranks; i++, log->n_features += SIM_RANK_FEATURES)
        sim_rank_features(&pass->ranks[i], &log->features[log->n_features]);
    return SIM_OK;
}

static sim_status read_passes(sim_recorded_log *log, sim_pass_log *from, sim_error *error) {
    for (;;) {
        sim_logged_pass pass;
        sim_status status = sim_pass_log_next(from, &pass, error);
        if (status) return status;
        if (pass.n_ranks == 0) break;
        status = keep(log, &pass, error);
        if (status) return status;
    }
    log->n_unmeasured = from->n_idle + from->n_without_time;
    log->n_disagreeing = from->n_disagreeing;
    if (log->n_passes > 0) return SIM_OK;
    return sim_error_set(error, SIM_BAD_DATA, from->path, 0,
                         "no pass of the log has both work and a wall time (wall_time in seconds, above 0)");
}

sim_status sim_recorded_log_load(sim_recorded_log *log, const char *path, sim_error *error) {
    *log = (sim_recorded_log){ .n_passes = 0 };
    sim_pass_log from;
    sim_status status = sim_pass_log_open(&from, path, error);
    if (status) return status;
    status = read_passes(log, &from, error);
    sim_pass_log_close(&from);
    if (status) sim_recorded_log_clear(log);
    return status;
}

void sim_recorded_log_clear(sim_recorded_log *log) {
    free(log->passes);
    free(log->features);
    *log = (sim_recorded_log){ .n_passes = 0 };
}
