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

// A stretch of steady passes begins, and this is what all of them are.
static uint64_t begin_stretch(sim_engine *engine, fpm_metrics *metrics) {
    assert(!engine->is_pass_open);
    const uint64_t n_left = engine->scheduler->is_steady ? steady_passes(engine) : 0;
    if (n_left == 0) return 0;
    metrics->scheduled = (fpm_scheduled_requests){ .num_decode_requests = engine->batch.n_members };
    metrics->moments = (fpm_moments){ .is_present = true };
    engine->items.n = 0;
    engine->n_pass_preemptions = 0;
    engine->batch_takes_part = true;
    return n_left;
}

static sim_status complete(sim_engine *engine, fpm_metrics *metrics, const sim_pricer *pricer, sim_steady *steady,
                           sim_error *error) {
    sim_batch *batch = &engine->batch;
    const int64_t end_ns = steady->open_end_ns;
    if (pricer->end) {
        const sim_status status = pricer->end(pricer->self, end_ns, error);
        if (status) return status;
    }
    engine->events->on_token_gaps(engine->events->self, end_ns - batch->last_token_ns, batch->n_members, end_ns);
    sim_batch_advance(batch, end_ns);
    metrics->counter_id++;
    steady->now_ns = end_ns;
    steady->open_end_ns = 0;
    steady->n_passes++;
    return SIM_OK;
}

sim_status sim_engine_run_steady(sim_engine *engine, fpm_metrics *metrics, int64_t until_ns, uint64_t most_passes,
                                 const sim_pricer *pricer, sim_steady *steady, sim_error *error) {
    uint64_t n_left = steady->open_end_ns > 0 ? engine->n_steady_left : begin_stretch(engine, metrics);
    if (n_left > most_passes) n_left = most_passes;
    for (;;) {
        sim_status status = SIM_OK;
        if (steady->open_end_ns > 0) status = complete(engine, metrics, pricer, steady, error);
        if (status || n_left == 0 || !engine->scheduler->is_steady(engine)) {
            engine->is_pass_open = false;
            return status;
        }
        n_left--;
        metrics->scheduled.sum_decode_kv_tokens = (uint32_t)engine->batch.contexts.sum;
        status = pricer->price(pricer->self, metrics, steady->now_ns, &steady->open_end_ns, error);
        if (status) return status;
        steady->n_begun++;
        if (steady->open_end_ns < until_ns) continue;
        engine->n_steady_left = n_left; // something else comes first
        engine->is_pass_open = true;
        return SIM_OK;
    }
}
