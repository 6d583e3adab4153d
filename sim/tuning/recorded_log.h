// SPDX-License-Identifier: GPL-3.0-or-later
//
// The passes of an FPM log, as much of them as a match needs: what was scheduled on every rank, who ran it, and how long it took. About 130 bytes a pass, all
// indexes included.
#ifndef SIM_TUNING_RECORDED_LOG_H
#define SIM_TUNING_RECORDED_LOG_H

#include "perfmodel/perfmodel.h"
#include "sim/config/error.h"

// What is compared of a rank: prefill requests, tokens and KV tokens, decode requests and KV tokens. Not the variances, which other writers round otherwise
// and which price next to nothing.
enum { SIM_RANK_FEATURES = 5 };

typedef struct sim_recorded_pass {
    size_t first; // of its features in the log's
    uint32_t n_ranks;
    uint32_t worker; // whose id is this number in plain decimal; SIM_FOREIGN_WORKER: any other id
    fpm_kind kind;
    double wall_s; // finite, > 0
} sim_recorded_pass;
#define SIM_FOREIGN_WORKER UINT32_MAX

typedef struct sim_recorded_log {
    sim_recorded_pass *passes; // in the order of the log
    size_t n_passes, pass_capacity;
    uint32_t *features; // SIM_RANK_FEATURES per rank
    size_t n_features, feature_capacity;
    uint64_t n_unmeasured;  // passes without a wall time, or without work: not kept
    uint64_t n_disagreeing; // of those kept, whose ranks give different wall times
} sim_recorded_log;

// SIM_IO: cannot be read. SIM_BAD_DATA with file and line: not a log, ranks that contradict themselves, another version; no measured pass at all.
sim_status sim_recorded_log_load(sim_recorded_log *log, const char *path, sim_error *error);
void sim_recorded_log_clear(sim_recorded_log *log);

void sim_rank_features(const fpm_metrics *rank, uint32_t features[SIM_RANK_FEATURES]);
// The features of the rank that speaks for the pass (perfmodel.h "Load of a pass"), as logarithms of one more each: what nearness means.
void sim_pass_place(const uint32_t *features, size_t n_ranks, double place[SIM_RANK_FEATURES]);

#endif
