// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/measured_figures.h"

#include <math.h>
#include <stdlib.h>

#include "sim/kernel/clock.h"
#include "sim/report/statistics.h"

static const sim_percentiles percentiles = { { 50, 75, 90, 95, 99 }, 5 };

typedef struct totals {
    double n_completed, n_rejected, n_incomplete, input_tokens, cached_tokens, output_tokens;
    double first_arrival_ms, last_finish_ms;
} totals;

static totals add_up(const sim_request_table *table) {
    totals sum = { .first_arrival_ms = (double)INFINITY, .last_finish_ms = -(double)INFINITY };
    for (size_t i = 0; i < table->n_rows; i++) {
        const sim_request_outcome *row = &table->rows[i];
        const double arrival_ms = sim_ms_from_ns(row->arrival_ns), e2e_ms = row->ms[SIM_LATENCY_E2E];
        sum.n_rejected += row->status == SIM_REQUEST_REJECTED;
        sum.n_incomplete += row->status == SIM_REQUEST_OPEN || row->status == SIM_REQUEST_PENDING;
        if (row->status != SIM_REQUEST_PENDING) sum.first_arrival_ms = fmin(sum.first_arrival_ms, arrival_ms);
        if (row->status != SIM_REQUEST_COMPLETED) continue;
        sum.n_completed++;
        sum.input_tokens += row->input_tokens;
        sum.cached_tokens += row->cached_tokens;
        sum.output_tokens += row->output_tokens;
        if (!isnan(e2e_ms)) sum.last_finish_ms = fmax(sum.last_finish_ms, arrival_ms + e2e_ms);
    }
    return sum;
}

static bool add_totals(sim_summary_figures *to, const sim_request_table *table, const totals *sum) {
    const double duration_ms = sum->last_finish_ms - sum->first_arrival_ms, duration_s = duration_ms / 1e3;
    bool has_all = sim_summary_figures_add(to, "num_requests", (double)table->n_rows) &&
                   sim_summary_figures_add(to, "completed_requests", sum->n_completed) &&
                   sim_summary_figures_add(to, "rejected_requests", sum->n_rejected) &&
                   sim_summary_figures_add(to, "incomplete_requests", sum->n_incomplete);
    if (table->has_input_tokens) has_all &= sim_summary_figures_add(to, "total_input_tokens", sum->input_tokens);
    if (table->has_cached_tokens) has_all &= sim_summary_figures_add(to, "cached_input_tokens", sum->cached_tokens);
    if (table->has_output_tokens) has_all &= sim_summary_figures_add(to, "total_output_tokens", sum->output_tokens);
    if (!table->has_arrivals || !(duration_ms > 0) || isinf(duration_ms)) return has_all;
    has_all &= sim_summary_figures_add(to, "duration_ms", duration_ms) &&
               sim_summary_figures_add(to, "request_throughput_rps", sum->n_completed / duration_s);
    if (table->has_input_tokens)
        has_all &= sim_summary_figures_add(to, "input_throughput_tok_s", sum->input_tokens / duration_s);
    if (table->has_output_tokens)
        has_all &= sim_summary_figures_add(to, "output_throughput_tok_s", sum->output_tokens / duration_s);
    return has_all;
}

static bool add_named(sim_summary_figures *to, const char *prefix, int which, double value) {
    char key[64];
    snprintf(key, sizeof key, "%s_%s_ms", prefix, sim_latencies[which].stem);
    return sim_summary_figures_add(to, key, value);
}

static bool add_latency(sim_summary_figures *to, const sim_request_table *table, int which, double *values) {
    size_t n = 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        const sim_request_outcome *row = &table->rows[i];
        if (row->status == SIM_REQUEST_COMPLETED && !isnan(row->ms[which])) values[n++] = row->ms[which];
    }
    if (n == 0) return true;
    const sim_statistics statistics = sim_statistics_of(values, n, &percentiles);
    bool has_all = add_named(to, "mean", which, statistics.mean) && add_named(to, "min", which, statistics.min) &&
                   add_named(to, "max", which, statistics.max) && add_named(to, "median", which, statistics.median);
    for (size_t i = 1; i < percentiles.n && has_all; i++) { // the first is the median
        char prefix[16];
        snprintf(prefix, sizeof prefix, "p%g", percentiles.percent[i]);
        has_all = add_named(to, prefix, which, statistics.percentiles[i]);
    }
    return has_all && add_named(to, "std", which, statistics.standard_deviation);
}

sim_status sim_measured_figures(sim_summary_figures *figures, const sim_request_table *table, sim_error *error) {
    const totals sum = add_up(table);
    double *values = malloc((table->n_rows ? table->n_rows : 1) * sizeof *values);
    bool has_all = values && add_totals(figures, table, &sum);
    for (int which = 0; which < SIM_LATENCIES && has_all; which++) has_all = add_latency(figures, table, which, values);
    free(values);
    return has_all ? SIM_OK : sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
}
