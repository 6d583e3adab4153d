// SPDX-License-Identifier: GPL-3.0-or-later
//
// Why a point misses the SLA: which bound most requests miss, and what they wait for.
//
// Causes are found by experiment, not read off a gauge: the same requests are served one at a time, which tells what no cluster of this layout could undercut, and the point is
// run again with one thing changed (many places in a batch, many KV blocks, half the batch, shorter prefill chunks). What removes most of the misses is
// the cause. A gauge such as "the batch was full" would not tell whether that mattered.
#ifndef SIM_EXPERIMENT_PLAN_PLAN_CAUSE_H
#define SIM_EXPERIMENT_PLAN_PLAN_CAUSE_H

#include "sim/experiment/plan/plan_points.h"

// enumerator, name in JSON, words
#define SIM_PLAN_CAUSE_LIST(X)                                                                              \
    X(SIM_PLAN_CAUSE_NONE, "none", "nothing fails")                                                         \
    X(SIM_PLAN_CAUSE_CANNOT_RUN, "cannot_run", "it cannot run")                                             \
    X(SIM_PLAN_CAUSE_REJECTED, "rejected", "requests are rejected")                                         \
    X(SIM_PLAN_CAUSE_UNFINISHED, "unfinished", "requests are not finished when the run ends")               \
    X(SIM_PLAN_CAUSE_PROMPT, "prompt_length", "prompts so long that a lone request already misses it")      \
    X(SIM_PLAN_CAUSE_PREFILL, "prefill_queue", "queueing at prefill")                                       \
    X(SIM_PLAN_CAUSE_PLACES, "batch_places", "queueing for a place in the batch (engine.max_num_seqs)")     \
    X(SIM_PLAN_CAUSE_BLOCKS, "kv_blocks", "queueing for KV blocks")                                         \
    X(SIM_PLAN_CAUSE_DECODE, "decode_speed", "a decode step so long that a lone request already misses it") \
    X(SIM_PLAN_CAUSE_ANSWER, "answer_length", "answers so long that a lone request already misses it")      \
    X(SIM_PLAN_CAUSE_BATCH, "decode_batch", "the size of the decode batch")                                 \
    X(SIM_PLAN_CAUSE_CHUNKS, "prefill_chunks", "prefills between decode steps")                             \
    X(SIM_PLAN_CAUSE_PREEMPTION, "preemptions", "preemptions for want of KV blocks")                        \
    X(SIM_PLAN_CAUSE_PASSES, "passes", "decodes and prefills that share passes")
typedef enum sim_plan_cause_kind {
#define X(code, name, words) code,
    SIM_PLAN_CAUSE_LIST(X)
#undef X
} sim_plan_cause_kind;
const char *sim_plan_cause_name(sim_plan_cause_kind kind);

typedef struct sim_plan_cause {
    sim_plan_cause_kind kind;
    sim_plan_bound bound;      // that most requests miss; of no meaning for the first four kinds
    double percentile_ms;      // of that latency, at [sla] percentile, in the replicate that misses it most often
    double lone_percentile_ms; // served one at a time
    char text[400];            // "p99 TTFT; queueing at prefill"
} sim_plan_cause;

// Of a point that was run and misses the SLA. Some simulations, which are counted.
sim_status sim_plan_explain(sim_plan_points *points, const sim_plan_point *point, sim_plan_cause *cause,
                            sim_error *error);
// "p99 TTFT".
void sim_plan_bound_title(const sim_sla_config *sla, sim_plan_bound bound, char *text, size_t size);

#endif
