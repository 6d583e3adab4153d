// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/report/explanation.h"

static void walk_part(sim_explanation *e, const fpm_metrics *rank, const fpm_graph *graph,
                      const fpm_operators *operators, const fpm_calibration *calibration) {
    fpm_batch batch = fpm_batch_of(rank);
    batch.shared_tokens = batch.tokens * (double)e->deployment->layout.data;
    fpm_explain(&e->passes[e->n_passes++], graph, operators, e->has_curves, calibration, &batch);
}

void sim_explanation_walk(sim_explanation *e, fpm_graph *graph, const fpm_operators *operators,
                          const fpm_calibration *calibration) {
    fpm_graph_build(graph, e->deployment, operators);
    e->n_passes = 0;
    if (e->pricing != FPM_PRICING_SERIAL || fpm_metrics_kind(&e->batch) != FPM_MIXED) {
        walk_part(e, &e->batch, graph, operators, calibration);
        return;
    }
    fpm_metrics prompts = e->batch, decodes = e->batch;
    prompts.scheduled.num_decode_requests = prompts.scheduled.sum_decode_kv_tokens = 0;
    decodes.scheduled.num_prefill_requests = decodes.scheduled.sum_prefill_tokens = 0;
    decodes.scheduled.sum_prefill_kv_tokens = 0;
    walk_part(e, &prompts, graph, operators, calibration);
    walk_part(e, &decodes, graph, operators, calibration);
}

static double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

sim_explanation_totals sim_explanation_total(const sim_explanation *e) {
    const fpm_layout *l = &e->deployment->layout;
    sim_explanation_totals t = { .n_gpus = (double)(l->tensor * l->pipeline * l->data) };
    double peak_compute_ms = 0, peak_memory_ms = 0, rows = 0, prefill_tokens = 0;
    for (size_t i = 0; i < e->n_passes; i++) {
        const fpm_explanation *pass = &e->passes[i];
        t.operations_ms += pass->operations_ms;
        t.terms_ms += pass->terms_ms;
        t.bound_ms += pass->bound_ms;
        for (size_t o = 0; o < pass->n_operations; o++)
            t.by_bound_ms[pass->operations[o].price.bound] += pass->operations[o].ms;
        peak_compute_ms += pass->peak_compute_ms;
        peak_memory_ms += pass->peak_memory_ms;
        rows += pass->batch.rows;
        prefill_tokens += pass->batch.prefill_tokens;
    }
    t.mfu_ratio = share(peak_compute_ms, e->estimate_ms);
    t.mbu_ratio = share(peak_memory_ms, e->estimate_ms);
    t.output_tokens_per_s = 1e3 * share(rows * (double)l->data, e->estimate_ms);
    t.input_tokens_per_s = 1e3 * share(prefill_tokens * (double)l->data, e->estimate_ms);
    return t;
}

const char *sim_operation_kind_name(fpm_operation_kind kind) {
    switch (kind) {
    case FPM_OPERATION_GEMM:
        return "gemm";
    case FPM_OPERATION_MOE:
        return "experts";
    case FPM_OPERATION_COLLECTIVE:
        return "collective";
    case FPM_OPERATION_SEND:
        return "send";
    case FPM_OPERATION_MEMORY:
        return "elementwise";
    case FPM_OPERATION_ATTENTION:
        return "attention";
    }
    return "";
}

const char *sim_collective_name(fpm_collective collective) {
    return fpm_family_name(fpm_collective_family(collective));
}
