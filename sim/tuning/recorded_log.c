// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/recorded_log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

sim_status sim_log_error(const fpm_error *reason, const char *path, int64_t line, sim_error *error) {
    const sim_status code = reason->code == FPM_NO_MEMORY ? SIM_NO_MEMORY
                            : reason->code == FPM_IO      ? SIM_IO
                                                          : SIM_BAD_DATA;
    const char *file = reason->file[0] ? reason->file : path;
    sim_error_set(error, code, file, reason->line ? reason->line : line, "%s", reason->message);
    if (error) error->column = reason->column;
    return code;
}

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

static sim_status keep(sim_recorded_log *log, const fpm_metrics *ranks, size_t n_ranks, sim_error *error) {
    const fpm_kind kind = fpm_iteration_kind(ranks, n_ranks);
    const double wall_s = fpm_iteration_wall_s(ranks, n_ranks);
    if (kind == FPM_EMPTY || !(wall_s > 0)) {
        log->n_unmeasured++;
        return SIM_OK;
    }
    if (!reserve((void **)&log->passes, &log->pass_capacity, log->n_passes, 1, sizeof *log->passes) ||
        !reserve((void **)&log->features, &log->feature_capacity, log->n_features, n_ranks * SIM_RANK_FEATURES,
                 sizeof *log->features) ||
        log->n_passes == UINT32_MAX - 1)
        return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    log->passes[log->n_passes++] =
        (sim_recorded_pass){ log->n_features, (uint32_t)n_ranks, worker_of(ranks[0].worker_id), kind, wall_s };
    for (size_t i = 0; i < n_ranks; i++, log->n_features += SIM_RANK_FEATURES)
        sim_rank_features(&ranks[i], &log->features[log->n_features]);
    return SIM_OK;
}

static sim_status read_passes(sim_recorded_log *log, fpm_log_reader *reader, const char *path, sim_error *error) {
    for (;;) {
        const fpm_metrics *ranks;
        size_t n_ranks;
        int64_t line;
        fpm_error reason;
        if (fpm_log_reader_next(reader, &ranks, &n_ranks, &line, &reason))
            return sim_log_error(&reason, path, 0, error);
        if (n_ranks == 0) break;
        if (fpm_metrics_validate(ranks, n_ranks, &reason)) return sim_log_error(&reason, path, line, error);
        const sim_status status = keep(log, ranks, n_ranks, error);
        if (status) return status;
    }
    if (log->n_passes > 0) return SIM_OK;
    return sim_error_set(error, SIM_BAD_DATA, path, 0,
                         "no pass of the log has both work and a wall time (wall_time in seconds, above 0)");
}

sim_status sim_recorded_log_load(sim_recorded_log *log, const char *path, sim_error *error) {
    *log = (sim_recorded_log){ .n_passes = 0 };
    fpm_log_reader *reader;
    fpm_error reason;
    if (fpm_log_reader_open(&reader, path, &reason)) return sim_log_error(&reason, path, 0, error);
    const sim_status status = read_passes(log, reader, path, error);
    fpm_log_reader_free(reader);
    if (status) sim_recorded_log_clear(log);
    return status;
}

void sim_recorded_log_clear(sim_recorded_log *log) {
    free(log->passes);
    free(log->features);
    *log = (sim_recorded_log){ .n_passes = 0 };
}
