// SPDX-License-Identifier: GPL-3.0-or-later
//
// One worker: one or more attention-data-parallel ranks, each an engine with a queue and a KV cache of its own, that run their passes together. A pass of the worker
// lasts as long as that of its slowest rank; what all ranks did becomes visible then, and ranks without work wait too (simulation-semantics.md 3.4).
#ifndef SIM_ENGINE_WORKER_H
#define SIM_ENGINE_WORKER_H

#include "sim/engine/engine.h"

typedef struct sim_worker sim_worker;

typedef struct sim_parallel_config { // section [parallel]
    int64_t tensor, pipeline;
    int64_t data; // attention data-parallel ranks
    int64_t expert;
    int64_t moe_tensor; // 0 = auto
} sim_parallel_config;
extern const sim_key_table sim_parallel_keys;

typedef struct sim_worker_parts {
    const sim_engine_config *engine;
    const sim_kv_cache_config *kv_cache; // of each rank
    const sim_content_source *content;
    const sim_engine_events *events;
    uint32_t n_ranks;
    bool wants_variances;
    const char *id; // in metrics; borrowed
} sim_worker_parts;

// What the parts point to must outlive the worker.
sim_status sim_worker_new(sim_worker **worker, const sim_worker_parts *parts, sim_error *error);
void sim_worker_free(sim_worker *worker);

sim_status sim_worker_enqueue(sim_worker *worker, uint32_t rank, uint32_t request, uint32_t input_tokens,
                              uint32_t output_tokens, sim_error *error);
bool sim_worker_has_work(const sim_worker *worker);

// Decide the next pass of every rank. *is_started = false: no rank can start anything.
sim_status sim_worker_schedule(sim_worker *worker, int64_t now_ns, bool *is_started, sim_error *error);
// Metrics of the open pass, n_ranks rows; version, worker_id, dp_rank and counter_id (number of the pass) are filled, the wall time is the caller's.
fpm_metrics *sim_worker_metrics(sim_worker *worker);
// The queue of a rank does not fit the 32 bits of its metrics.
bool sim_worker_has_queue_overflow(const sim_worker *worker);
// End the open pass.
sim_status sim_worker_complete(sim_worker *worker, int64_t now_ns, sim_error *error);

// sim_engine_run_steady for a worker of one rank; of several none is ever steady.
sim_status sim_worker_run_steady(sim_worker *worker, int64_t until_ns, const sim_pricer *pricer, sim_steady *steady,
                                 sim_error *error);

// For a worker that has work and can start nothing.
void sim_worker_explain_stuck(const sim_worker *worker, char *text, size_t capacity);

#endif
