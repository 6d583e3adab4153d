// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/calibration_points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/experiment/accuracy.h"

// ---------------------------------------------------------------------------------------------------------------------
// One row
// ---------------------------------------------------------------------------------------------------------------------

static void add_pass(sim_measured_point *point, const sim_weighted_pass *pass, fpm_term term, double ms) {
    point->ttft_terms[term] += pass->ttft_weight * ms;
    point->tpot_terms[term] += pass->tpot_weight * ms;
}

static void add_constants(sim_measured_point *point, const sim_weighted_pass *pass, const fpm_graph *graph) {
    const double us = 1e-3;
    for (int t = FPM_TERM_PASS; t < FPM_TERMS; t++) {
        const bool is_prefill_term = t == FPM_TERM_PREFILL_PASS || t == FPM_TERM_PREFILL_LAYER;
        if (graph->constants[t] == 0.0 || (is_prefill_term && pass->batch.n_prefills == 0.0)) continue;
        add_pass(point, pass, (fpm_term)t, graph->constants[t] * us);
    }
    add_pass(point, pass, FPM_TERM_REQUEST, pass->batch.rows * us);
    add_pass(point, pass, FPM_TERM_PROMPT, pass->batch.n_prefills * us);
}

void sim_measured_point_weigh(sim_measured_point *point, const sim_pass_weights *weights, const fpm_graph *graph,
                              const fpm_operators *operators) {
    memset(point->ttft_terms, 0, sizeof point->ttft_terms);
    memset(point->tpot_terms, 0, sizeof point->tpot_terms);
    for (size_t i = 0; i < weights->n_passes; i++) {
        const sim_weighted_pass *pass = &weights->passes[i];
        for (size_t o = 0; o < graph->n_operations; o++) {
            const fpm_operation *operation = &graph->operations[o];
            const fpm_price price = fpm_operation_price(operation, operators, &pass->batch);
            add_pass(point, pass, operation->term, price.ms - price.floor_ms);
            add_pass(point, pass, operation->floor_term, price.floor_ms);
        }
        add_constants(point, pass, graph);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// All rows
// ---------------------------------------------------------------------------------------------------------------------

// What makes a cell. An architecture is known by its size, so that models of one shape (DeepSeek-V3 and R1) meet.
typedef struct cell_key {
    double parameters;
    int64_t n_layers;
    char system[FPM_NAME_BYTES];
    fpm_backend backend;
    fpm_precision moe_weights;
} cell_key;

typedef struct digest {
    const sim_measured *measured;
    const sim_config *base;
    sim_measured_point *points; // of every row
    cell_key *keys;             // of every row
    bool *is_usable;
} digest;

static cell_key key_of(const fpm_deployment *d) {
    cell_key key = { .parameters = fpm_architecture_parameters(&d->architecture),
                     .n_layers = d->architecture.n_layers,
                     .backend = d->backend,
                     .moe_weights = d->quantisation.moe_weights };
    memcpy(key.system, d->system.name, sizeof key.system);
    return key;
}

static bool is_same_cell(const cell_key *a, const cell_key *b) {
    return a->parameters == b->parameters && a->n_layers == b->n_layers && a->backend == b->backend &&
           a->moe_weights == b->moe_weights && strcmp(a->system, b->system) == 0;
}

static sim_status weigh_row(digest *d, size_t row, const sim_config *config, const sim_settings *settings,
                            sim_error *error) {
    sim_pass_weights weights;
    const sim_status status = sim_pass_weights_find(&weights, config, settings, error);
    if (status) return status;
    const fpm_deployment deployment = sim_deployment_native(&settings->deployment);
    fpm_graph graph;
    fpm_graph_build(&graph, &deployment, &settings->prices.operators);
    const sim_measured_row *measured = &d->measured->rows[row];
    d->points[row] = (sim_measured_point){ .row = row,
                                           .generation = deployment.system.generation,
                                           .backend = deployment.backend,
                                           .ttft_ms = measured->measured[SIM_TARGET_TTFT],
                                           .tpot_ms = measured->measured[SIM_TARGET_TPOT] };
    sim_measured_point_weigh(&d->points[row], &weights, &graph, &settings->prices.operators);
    for (int t = 0; t < FPM_TERMS; t++) {
        d->points[row].ttft_terms[t] *= settings->prices.calibration.system.terms[t];
        d->points[row].tpot_terms[t] *= settings->prices.calibration.system.terms[t];
    }
    sim_pass_weights_clear(&weights);
    d->keys[row] = key_of(&deployment);
    d->is_usable[row] = !isnan(d->points[row].ttft_ms) || !isnan(d->points[row].tpot_ms);
    return SIM_OK;
}

static sim_status digest_row(void *self, size_t row, sim_error *error) {
    digest *d = self;
    sim_config *config;
    sim_settings settings;
    sim_error why;
    sim_status status = sim_accuracy_row_settings(d->measured, row, d->base, &config, &settings, &why);
    if (status) return status == SIM_NO_MEMORY ? sim_error_set(error, status, NULL, 0, "out of memory") : SIM_OK;
    if (!sim_pricing_is_native(&settings.pricing, &settings.deployment))
        status = sim_error_set(error, SIM_USAGE, NULL, 0, "--calibrate fits the native estimator: every row needs it");
    else if (weigh_row(d, row, config, &settings, &why) == SIM_NO_MEMORY)
        status = sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    sim_config_free(config);
    return status;
}

// Usable rows move to the front, cells get their numbers. A cell is known by the first row that has it.
static void gather(sim_measured_points *out, digest *d, size_t n_rows) {
    size_t n = 0;
    for (size_t row = 0; row < n_rows; row++) {
        if (!d->is_usable[row]) continue;
        size_t same = 0;
        while (same < n && !is_same_cell(&d->keys[same], &d->keys[row])) same++;
        d->points[n] = d->points[row];
        d->keys[n] = d->keys[row];
        d->points[n].cell = same < n ? d->points[same].cell : out->n_cells++;
        n++;
    }
    out->points = d->points;
    out->n_points = n;
}

sim_status sim_measured_points_find(sim_measured_points *points, const sim_measured *measured, const sim_config *base,
                                    const sim_row_pool_options *options, sim_error *error) {
    const size_t n = measured->n_rows;
    *points = (sim_measured_points){ .points = NULL };
    digest d = { measured, base, malloc(n * sizeof *d.points), malloc(n * sizeof *d.keys), calloc(n, sizeof(bool)) };
    sim_status status = SIM_OK;
    if (!d.points || !d.keys || !d.is_usable) status = sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    if (!status) status = sim_row_pool_run(n, digest_row, &d, options, error);
    if (!status)
        gather(points, &d, n);
    else
        free(d.points);
    free(d.keys);
    free(d.is_usable);
    return status;
}

void sim_measured_points_clear(sim_measured_points *points) { free(points->points); }
