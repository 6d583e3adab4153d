// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/report/requests_csv.h"

#include <inttypes.h>

#include "sim/kernel/clock.h"
#include "sim/report/csv_text.h"

// Nanoseconds as exact decimal milliseconds without trailing zeros, and a comma.
static void put_ms(FILE *out, int64_t ns) {
    char fraction[8];
    int64_t rest = ns % SIM_NS_PER_MS;
    fprintf(out, "%" PRId64, ns / SIM_NS_PER_MS);
    if (rest != 0) {
        int n = snprintf(fraction, sizeof fraction, "%06" PRId64, rest);
        while (n > 0 && fraction[n - 1] == '0') fraction[--n] = '\0';
        fprintf(out, ".%s", fraction);
    }
    fputc(',', out);
}

static void put_nothing(FILE *out, int n_fields) {
    for (int i = 0; i < n_fields; i++) fputc(',', out);
}

static void put_times(FILE *out, const sim_request_record *record) {
    uint32_t n = record->n_output_tokens;
    bool has_ended = record->status == SIM_REQUEST_COMPLETED || record->status == SIM_REQUEST_REJECTED;
    bool has_tokens = record->status == SIM_REQUEST_COMPLETED && n > 0;
    if (has_tokens)
        put_ms(out, record->first_token_ns);
    else
        put_nothing(out, 1);
    if (has_ended)
        put_ms(out, record->finish_ns);
    else
        put_nothing(out, 1);
    if (!has_tokens) {
        put_nothing(out, 3);
        return;
    }
    put_ms(out, record->first_token_ns - record->arrival_ns);
    if (n > 1) {
        char text[FPM_NUMBER_BYTES];
        fpm_format_number(text, (double)(record->finish_ns - record->first_token_ns) / (double)(n - 1) / 1e6);
        fprintf(out, "%s,", text);
    } else {
        put_nothing(out, 1);
    }
    put_ms(out, record->finish_ns - record->arrival_ns);
}

static void put_row(FILE *out, size_t id, const char *session, const sim_request *request, bool has_closed,
                    const sim_request_record *record) {
    const char *const status_names[] = { has_closed ? "not_admitted" : "incomplete", "incomplete", "completed",
                                         "rejected" };
    fprintf(out, "%zu,", id);
    sim_csv_put_text(out, session);
    fputc(',', out);
    if (record->status == SIM_REQUEST_PENDING) {
        put_nothing(out, 2);
    } else {
        put_ms(out, record->arrival_ns);
        fprintf(out, "%u,", record->worker);
    }
    fprintf(out, "%u,", request->input_tokens);
    if (record->was_admitted) fprintf(out, "%u", record->cached_tokens);
    fputc(',', out);
    if (record->status == SIM_REQUEST_COMPLETED) fprintf(out, "%u", record->n_output_tokens);
    fputc(',', out);
    put_times(out, record);
    fprintf(out, "%u,%s\n", record->n_preemptions, status_names[record->status]);
}

sim_status sim_requests_csv_write(const sim_collector *collector, const sim_workload *workload, bool has_closed,
                                  FILE *out, const char *path, sim_error *error) {
    fputs("id,session,arrival_ms,worker,input_tokens,cached_tokens,output_tokens,first_token_ms,finish_ms,ttft_ms,tpot_"
          "ms,"
          "e2e_ms,preemptions,status\n",
          out);
    for (size_t i = 0; i < collector->n_records && !ferror(out); i++)
        put_row(out, i, sim_workload_session_name(workload, workload->requests[i].session), &workload->requests[i],
                has_closed, &collector->records[i]);
    return ferror(out) ? sim_error_set(error, SIM_IO, path, 0, "the request records could not be written") : SIM_OK;
}
