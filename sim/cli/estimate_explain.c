// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/cli/estimate_explain.h"

#include <stdlib.h>

#include "sim/report/explanation.h"

typedef struct walk { // large, so on the heap
    fpm_deployment deployment;
    fpm_graph graph;
    sim_explanation explanation;
} walk;

static void fill(walk *w, const sim_estimate_subject *subject) {
    w->deployment = sim_deployment_native(&subject->deployment);
    const fpm_calibration terms =
        sim_calibration_terms(&subject->prices.calibration, w->deployment.system.generation, w->deployment.backend);
    w->explanation.deployment = &w->deployment;
    w->explanation.curves = subject->prices.curves_path;
    w->explanation.has_curves = subject->prices.has_curves;
    w->explanation.collectives = subject->deployment.collectives;
    w->explanation.calibration = subject->prices.calibration_path;
    w->explanation.has_overrides = subject->prices.has_overrides;
    w->explanation.pricing = subject->pricing;
    sim_explanation_walk(&w->explanation, &w->graph, &subject->prices.operators, &terms);
}

sim_status sim_estimate_explain(const sim_cli *cli, const sim_estimate_subject *subject, const fpm_metrics *batch,
                                bool is_default_batch, double estimate_ms, sim_error *error) {
    if (!subject->is_native)
        return sim_error_set(
            error, SIM_USAGE, NULL, 0,
            "estimate: only native prices have operators to explain (give --model and --system, and no "
            "other --estimator)");
    walk *w = calloc(1, sizeof *w);
    if (!w) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    w->explanation.batch = *batch;
    w->explanation.is_default_batch = is_default_batch;
    w->explanation.estimate_ms = estimate_ms;
    fill(w, subject);
    const sim_status status = cli->json ? sim_explanation_write_json(&w->explanation, stdout, error)
                                        : sim_explanation_write_table(&w->explanation, stdout, error);
    free(w);
    return status;
}
