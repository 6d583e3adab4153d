// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/pairing.h"

#include <stdlib.h>

#include "sim/kernel/clock.h"

typedef struct judging {
    const sim_request_table *tables[2];
    const char *const *names;
    const sim_pairing_rule *rule;
    sim_pairing *pairing;
} judging;

static bool is_completed(const sim_request_outcome *row) { return row->status == SIM_REQUEST_COMPLETED; }

static void differ(const judging *in, size_t request, const char *what, double a, double b) {
    snprintf(in->pairing->reason, sizeof in->pairing->reason, "request %zu has %s %.15g in %s and %.15g in %s", request,
             what, a, in->names[0], b, in->names[1]);
}

static bool is_same(const judging *in, size_t request) {
    const sim_request_outcome *a = &in->tables[0]->rows[request], *b = &in->tables[1]->rows[request];
    const bool has_input = in->tables[0]->has_input_tokens && in->tables[1]->has_input_tokens,
               has_output = in->tables[0]->has_output_tokens && in->tables[1]->has_output_tokens,
               has_arrival = in->tables[0]->has_arrivals && in->tables[1]->has_arrivals && in->rule->has_given_arrivals,
               has_arrived = a->status != SIM_REQUEST_PENDING && b->status != SIM_REQUEST_PENDING;
    if (has_input && a->input_tokens != b->input_tokens) {
        differ(in, request, "input tokens", a->input_tokens, b->input_tokens);
        return false;
    }
    if (has_output && is_completed(a) && is_completed(b) && a->output_tokens != b->output_tokens) {
        differ(in, request, "output tokens", a->output_tokens, b->output_tokens);
        return false;
    }
    const bool is_first_turn = a->turn <= 1 && b->turn <= 1;
    if (has_arrival && has_arrived && is_first_turn &&
        llabs(a->arrival_ns - b->arrival_ns) > in->rule->arrival_tolerance_ns) {
        differ(in, request, "its arrival (ms) at", sim_ms_from_ns(a->arrival_ns), sim_ms_from_ns(b->arrival_ns));
        return false;
    }
    return true;
}

static bool are_same(const judging *in) {
    const sim_request_table *a = in->tables[0], *b = in->tables[1];
    char *reason = in->pairing->reason;
    const size_t n_bytes = sizeof in->pairing->reason;
    if (a->n_rows != b->n_rows) {
        snprintf(reason, n_bytes, "%s has %zu requests, %s %zu", in->names[0], a->n_rows, in->names[1], b->n_rows);
        return false;
    }
    const bool has_lengths = a->has_input_tokens && b->has_input_tokens,
               has_arrivals = a->has_arrivals && b->has_arrivals && in->rule->has_given_arrivals;
    if (!has_lengths && !has_arrivals) {
        snprintf(reason, n_bytes, "neither prompt lengths nor arrivals tell whether the requests are the same");
        return false;
    }
    for (size_t i = 0; i < a->n_rows; i++)
        if (!is_same(in, i)) return false;
    return true;
}

static bool has_figures(const sim_request_outcome *row) { return row->is_measured && is_completed(row); }

// Does the request count? Those of which one run has no figures would compare survivors with everybody.
static bool counts(const judging *in, int side, size_t request) {
    const sim_request_outcome *row = &in->tables[side]->rows[request];
    if (!in->pairing->is_paired) return row->is_measured;
    return row->is_measured && in->tables[1 - side]->rows[request].is_measured;
}

static int by_arrival(const void *a, const void *b, void *context) {
    const sim_request_table *table = context;
    const size_t i = *(const size_t *)a, k = *(const size_t *)b;
    const int64_t x = table->rows[i].arrival_ns, y = table->rows[k].arrival_ns;
    if (table->has_arrivals && x != y) return x < y ? -1 : 1;
    return (i > k) - (i < k);
}

static sim_status list_rows(const judging *in, int side, sim_error *error) {
    const sim_request_table *table = in->tables[side];
    size_t *order = malloc((table->n_rows ? table->n_rows : 1) * sizeof *order), n = 0;
    if (!order) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    for (size_t i = 0; i < table->n_rows; i++)
        if (counts(in, side, i)) order[n++] = i;
    sim_request_table by = *table;
    qsort_r(order, n, sizeof *order, by_arrival, &by);
    in->pairing->order[side] = order;
    in->pairing->n[side] = n;
    return SIM_OK;
}

// One order for both runs: A's, or B's where only that one knows arrivals.
static void share_order(const judging *in) {
    sim_pairing *pairing = in->pairing;
    const int first = in->tables[0]->has_arrivals || !in->tables[1]->has_arrivals ? 0 : 1;
    for (size_t i = 0; i < pairing->n[0]; i++) {
        const size_t request = pairing->order[first][i];
        pairing->order[1 - first][i] = request;
        pairing->n_left_out += has_figures(&in->tables[0]->rows[request]) != has_figures(&in->tables[1]->rows[request]);
    }
}

sim_status sim_pairing_new(sim_pairing *pairing, const sim_request_table *const tables[2], const char *const names[2],
                           const sim_pairing_rule *rule, sim_error *error) {
    *pairing = (sim_pairing){ .is_paired = false };
    const judging in = { { tables[0], tables[1] }, names, rule, pairing };
    pairing->is_paired = are_same(&in);
    for (int side = 0; side < 2; side++) {
        const sim_status status = list_rows(&in, side, error);
        if (!status) continue;
        sim_pairing_clear(pairing);
        return status;
    }
    if (pairing->is_paired) share_order(&in);
    return SIM_OK;
}

void sim_pairing_clear(sim_pairing *pairing) {
    free(pairing->order[0]);
    free(pairing->order[1]);
    *pairing = (sim_pairing){ .is_paired = false };
}
