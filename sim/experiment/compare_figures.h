// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which figures of two runs are compared request by request, and for which classes of requests: the estimates of estimates.h made from request tables.
#ifndef SIM_EXPERIMENT_COMPARE_FIGURES_H
#define SIM_EXPERIMENT_COMPARE_FIGURES_H

#include "sim/experiment/estimates.h"
#include "sim/experiment/pairing.h"
#include "sim/experiment/request_classes.h"
#include "sim/report/summary.h"

typedef enum sim_figure_kind {
    SIM_FIGURE_MEAN,       // of a latency
    SIM_FIGURE_PERCENTILE, // likewise
    SIM_FIGURE_ATTAINMENT, // share of the requests that meet the SLA of their run
    SIM_FIGURE_THROUGHPUT, // output tokens per second
    SIM_FIGURE_CLASS_MEAN  // of a latency, for one class of requests
} sim_figure_kind;

typedef struct sim_figure {
    sim_figure_kind kind;
    sim_latency latency;
    double percent;
    size_t class_index;
    char key[48];     // as in the summary: p99_ttft_ms
    char heading[48]; // "p99 TTFT"
} sim_figure;

enum { SIM_FAMILY_ALL, SIM_FAMILY_CLASSES, SIM_FAMILIES };

typedef struct sim_compared_run {
    const sim_request_table *table;
    const sim_sla_config *sla; // NULL: none
} sim_compared_run;

typedef struct sim_compared_figures {
    sim_estimate_set set;
    sim_figure *figures; // of set.estimates, in the same order
    sim_request_classes classes;
    bool is_identical; // paired, and every time of every request is the same
    void **owned;      // what the estimates point to
    size_t n_owned, owned_capacity;
} sim_compared_figures;

// The figures of B against those of A, with intervals where there are requests enough. Statuses of sim_estimates_run. Nothing is to be freed after an
// error.
sim_status sim_compared_figures_new(sim_compared_figures *figures, const sim_compared_run runs[2],
                                    const sim_pairing *pairing, uint64_t seed, const sim_row_pool_options *pool,
                                    sim_error *error);
void sim_compared_figures_clear(sim_compared_figures *figures);

#endif
