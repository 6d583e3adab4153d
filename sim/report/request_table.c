// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/report/request_table.h"

#include <math.h>
#include <stdlib.h>

#include "sim/kernel/clock.h"

const sim_latency_names sim_latencies[SIM_LATENCIES] = {
#define X(code, stem, heading) [code] = { stem, heading },
    SIM_LATENCY_LIST(X)
#undef X
};

static void put_latencies(const sim_request_record *record, sim_request_outcome *row) {
    for (int i = 0; i < SIM_LATENCIES; i++) row->ms[i] = (double)NAN;
    if (record->status != SIM_REQUEST_COMPLETED || record->n_output_tokens == 0) return;
    row->ms[SIM_LATENCY_TTFT] = sim_ms_from_ns(record->first_token_ns - record->arrival_ns);
    row->ms[SIM_LATENCY_E2E] = sim_ms_from_ns(record->finish_ns - record->arrival_ns);
    if (record->n_output_tokens < 2) return;
    const double decode_ns = (double)(record->finish_ns - record->first_token_ns);
    row->ms[SIM_LATENCY_TPOT] = decode_ns / (record->n_output_tokens - 1) / 1e6;
}

// `turns` counts those of each session so far.
static sim_request_outcome outcome_of(const sim_collector *collector, const sim_workload *workload, size_t request,
                                      uint32_t *turns) {
    const sim_request_record *record = &collector->records[request];
    const sim_request *asked = &workload->requests[request];
    sim_request_outcome row = {
        .arrival_ns = record->arrival_ns,
        .input_tokens = asked->input_tokens,
        .output_tokens = record->n_output_tokens,
        .cached_tokens = record->cached_tokens,
        .turn = asked->session == SIM_NO_SESSION ? 0 : ++turns[asked->session],
        .status = record->status,
        .has_cached = record->was_admitted,
        .is_measured = sim_collector_is_measured(collector, request),
    };
    put_latencies(record, &row);
    return row;
}

sim_status sim_request_table_of(sim_request_table *table, const sim_collector *collector, const sim_workload *workload,
                                sim_error *error) {
    const size_t n = workload->n_requests;
    *table = (sim_request_table){
        .rows = calloc(n ? n : 1, sizeof *table->rows),
        .n_rows = n,
        .has_arrivals = true,
        .has_input_tokens = true,
        .has_output_tokens = true,
        .has_cached_tokens = true,
        .has_sessions = workload->n_sessions > 0,
    };
    uint32_t *turns = calloc(workload->n_sessions + 1, sizeof *turns);
    if (!table->rows || !turns) {
        free(turns);
        sim_request_table_clear(table);
        return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    }
    for (size_t i = 0; i < n; i++) table->rows[i] = outcome_of(collector, workload, i, turns);
    free(turns);
    return SIM_OK;
}

void sim_request_table_clear(sim_request_table *table) {
    free(table->rows);
    *table = (sim_request_table){ .rows = NULL };
}
