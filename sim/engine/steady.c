// SPDX-License-Identifier: GPL-3.0-or-later
//
// Most passes of most runs decide nothing: the batch decodes one token each, nobody finishes, nobody can be admitted, the new blocks fit. They run here, in one
// loop, and do exactly what sim_engine_schedule and sim_engine_complete would.
#include <assert.h>

#include "sim/engine/engine_state.h"

// May the head of the queue be admitted by the next pass, or rejected?
static bool may_admit(const sim_engine *engine) {
    return engine->waiting_head != SIM_NO_SEQUENCE && !engine->is_head_blocked &&
           engine->n_running < engine->config->max_num_seqs &&
           engine->batch.n_members < engine->config->max_num_batched_tokens;
}

// Passes that decide nothing, at most: up to the one in which somebody finishes.
static uint64_t steady_passes(const sim_engine *engine) {
    const sim_batch *batch = &engine->batch;
    if (batch->n_members == 0 || batch->n_fresh > 0 || batch->n_late > 0) return 0;
    if (engine->partial != SIM_NO_SEQUENCE || engine->n_refusals > 0 || may_admit(engine)) return 0;
    if (batch->contexts.sum + batch->n_members > UINT32_MAX / 2)
        return 0; // near the end of 32 bits sim_pass_describe watches
    return engine->sequences[batch->heap[0]].finish_pass - batch->n_passes - 1;
}

sim_status sim_engine_run_steady(sim_engine *engine, fpm_metrics *metrics, int64_t until_ns, uint64_t most_passes,
                                 const sim_pricer *pricer, sim_steady *steady, sim_error *error) {
    assert(!engine->is_pass_open);
    sim_batch *batch = &engine->batch;
    uint64_t n_left = engine->scheduler->is_steady ? steady_passes(engine) : 0;
    if (n_left > most_passes) n_left = most_passes;
    if (n_left == 0) return SIM_OK;
    metrics->scheduled = (fpm_scheduled_requests){ .num_decode_requests = batch->n_members };
    metrics->moments = (fpm_moments){ .is_present = true };
    engine->items.n = 0;
    engine->n_pass_preemptions = 0;
    engine->batch_takes_part = true;
    while (n_left-- > 0 && engine->scheduler->is_steady(engine)) {
        int64_t end_ns;
        metrics->scheduled.sum_decode_kv_tokens = (uint32_t)batch->contexts.sum;
        sim_status status = pricer->price(pricer->self, metrics, steady->now_ns, &end_ns, error);
        if (status) return status;
        if (end_ns >= until_ns) { // something else comes first
            steady->open_end_ns = end_ns;
            engine->is_pass_open = true;
            return SIM_OK;
        }
        engine->events->on_token_gaps(engine->events->self, end_ns - batch->last_token_ns, batch->n_members, end_ns);
        sim_batch_advance(batch, end_ns);
        metrics->counter_id++;
        steady->now_ns = end_ns;
        steady->n_passes++;
    }
    return SIM_OK;
}
