// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/report/latency_metrics.h"

#include "sim/kernel/clock.h"

bool sim_latency_ttft(const sim_request_record *record, double *ms) {
    *ms = sim_ms_from_ns(record->first_token_ns - record->arrival_ns);
    return record->n_output_tokens >= 1;
}

bool sim_latency_ttst(const sim_request_record *record, double *ms) {
    *ms = sim_ms_from_ns(record->second_token_ns - record->first_token_ns);
    return record->n_output_tokens >= 2;
}

bool sim_latency_tpot(const sim_request_record *record, double *ms) {
    if (record->n_output_tokens < 2) return false;
    *ms = sim_record_tpot_ns(record) / 1e6;
    return true;
}

bool sim_latency_e2e(const sim_request_record *record, double *ms) {
    *ms = sim_ms_from_ns(record->finish_ns - record->arrival_ns);
    return record->n_output_tokens >= 1;
}

size_t sim_latency_collect(const sim_collector *collector, sim_latency_metric *metric, double *values) {
    size_t n = 0;
    for (size_t i = 0; i < collector->n_records; i++) {
        const sim_request_record *record = &collector->records[i];
        if (record->status == SIM_REQUEST_COMPLETED && sim_collector_is_measured(collector, i))
            n += metric(record, &values[n]);
    }
    return n;
}
