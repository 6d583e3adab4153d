// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/pass_weights.h"

#include <stdlib.h>

#include "perfmodel/native/batch.h"
#include "sim/experiment/run.h"

static const double UNIT_MS = 1.0;
static const int64_t UNIT_NS = 1000000;

// ---------------------------------------------------------------------------------------------------------------------
// An estimator that prices every pass at one unit and keeps what it was asked
// ---------------------------------------------------------------------------------------------------------------------

typedef struct recorder {
    sim_weighted_pass *passes;
    size_t n, capacity;
    bool is_out_of_memory;
} recorder;

static bool make_room(recorder *r) {
    if (r->n < r->capacity) return true;
    const size_t capacity = r->capacity ? 2 * r->capacity : 1024;
    sim_weighted_pass *passes = realloc(r->passes, capacity * sizeof *passes);
    if (!passes) return false;
    r->passes = passes;
    r->capacity = capacity;
    return true;
}

// The rank with the most tokens speaks for the pass, of those alike the one with the largest context.
static bool is_busier(const fpm_batch *a, const fpm_batch *b) {
    return a->tokens != b->tokens ? a->tokens > b->tokens : a->decode_kv_tokens > b->decode_kv_tokens;
}

// `state` holds a pointer to the recorder, which the caller of this thread owns: that keeps the estimator's own state constant.
static fpm_status record(const void *state, const fpm_metrics *ranks, size_t n_ranks, double *ms, fpm_error *error) {
    recorder *r = *(recorder *const *)state;
    if (!make_room(r)) {
        r->is_out_of_memory = true;
        return fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
    }
    fpm_batch busiest = { 0 };
    double shared_tokens = 0.0;
    for (size_t i = 0; i < n_ranks; i++) {
        const fpm_batch batch = fpm_batch_of(&ranks[i]);
        shared_tokens += batch.tokens;
        if (is_busier(&batch, &busiest)) busiest = batch;
    }
    busiest.shared_tokens = shared_tokens;
    r->passes[r->n++] = (sim_weighted_pass){ .batch = busiest };
    *ms = UNIT_MS;
    return FPM_OK;
}

static const fpm_estimator_ops recorder_ops = { .name = "recorder", .estimate_ms = record, .free_state = free };

static sim_status new_recorder(recorder *r, fpm_estimator **estimator, sim_error *error) {
    recorder **state = malloc(sizeof *state);
    fpm_error source;
    if (state) *state = r;
    if (!state || fpm_estimator_new(estimator, &recorder_ops, state, &source))
        return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    return SIM_OK;
}

// ---------------------------------------------------------------------------------------------------------------------
// Weights
// ---------------------------------------------------------------------------------------------------------------------

// Differences first: a request adds its share where an interval of passes begins and takes it away where it ends.
static void add_interval(recorder *r, bool is_ttft, int64_t from_ns, int64_t to_ns, double share) {
    const size_t from = (size_t)(from_ns / UNIT_NS), to = (size_t)(to_ns / UNIT_NS);
    if (from < r->n) *(is_ttft ? &r->passes[from].ttft_weight : &r->passes[from].tpot_weight) += share;
    if (to < r->n) *(is_ttft ? &r->passes[to].ttft_weight : &r->passes[to].tpot_weight) -= share;
}

static void sum_up(recorder *r) {
    for (size_t i = 1; i < r->n; i++) {
        r->passes[i].ttft_weight += r->passes[i - 1].ttft_weight;
        r->passes[i].tpot_weight += r->passes[i - 1].tpot_weight;
    }
}

static bool counts(const sim_collector *collector, size_t i) {
    return collector->records[i].status == SIM_REQUEST_COMPLETED && collector->records[i].n_output_tokens >= 1 &&
           sim_collector_is_measured(collector, i);
}

static void weigh(recorder *r, const sim_collector *collector) {
    size_t n_first = 0, n_more = 0;
    for (size_t i = 0; i < collector->n_records; i++) {
        if (!counts(collector, i)) continue;
        n_first++;
        n_more += collector->records[i].n_output_tokens >= 2;
    }
    for (size_t i = 0; i < collector->n_records; i++) {
        if (!counts(collector, i)) continue;
        const sim_request_record *record = &collector->records[i];
        add_interval(r, true, record->arrival_ns, record->first_token_ns, 1.0 / (double)n_first);
        if (record->n_output_tokens < 2) continue;
        const double share = 1.0 / (double)(record->n_output_tokens - 1) / (double)n_more;
        add_interval(r, false, record->first_token_ns, record->finish_ns, share);
    }
    sum_up(r);
}

static bool is_alike(const sim_weighted_pass *a, const sim_weighted_pass *b) {
    return a->batch.n_prefills == 0.0 && b->batch.n_prefills == 0.0 && a->batch.n_decodes == b->batch.n_decodes &&
           a->batch.shared_tokens == b->batch.shared_tokens;
}

// In place; a price is all but straight in the context over so few passes.
static void put_together(recorder *r) {
    size_t n = 0;
    for (size_t i = 0; i < r->n;) {
        sim_weighted_pass sum = r->passes[i];
        size_t together = 1;
        for (; i + together < r->n && together < SIM_PASSES_TOGETHER; together++) {
            const sim_weighted_pass *next = &r->passes[i + together];
            if (!is_alike(&sum, next)) break;
            sum.batch.decode_kv_tokens += next->batch.decode_kv_tokens;
            sum.ttft_weight += next->ttft_weight;
            sum.tpot_weight += next->tpot_weight;
        }
        sum.batch.decode_kv_tokens /= (double)together;
        if (sum.ttft_weight != 0.0 || sum.tpot_weight != 0.0) r->passes[n++] = sum;
        i += together;
    }
    r->n = n;
}

static double mean_input(const sim_collector *collector, const sim_workload *workload) {
    double sum = 0.0;
    size_t n = 0;
    for (size_t i = 0; i < collector->n_records; i++) {
        if (!counts(collector, i)) continue;
        sum += (double)workload->requests[i].input_tokens;
        n++;
    }
    return n ? sum / (double)n : 0.0;
}

sim_status sim_pass_weights_find(sim_pass_weights *weights, const sim_config *config, const sim_settings *settings,
                                 sim_error *error) {
    *weights = (sim_pass_weights){ NULL };
    recorder r = { .passes = NULL };
    sim_run_options options = { .n_threads = 1 };
    sim_status status = new_recorder(&r, &options.estimator, error);
    if (status) return status;
    sim_run *run = NULL;
    status = sim_run_execute(&run, config, settings, &options, error);
    if (!status) {
        weigh(&r, sim_run_collector(run));
        put_together(&r);
        *weights = (sim_pass_weights){ r.passes, r.n, mean_input(sim_run_collector(run), sim_run_workload(run)) };
    } else {
        free(r.passes);
    }
    fpm_estimator_free(options.estimator);
    sim_run_free(run);
    return status;
}

void sim_pass_weights_clear(sim_pass_weights *weights) { free(weights->passes); }
