// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/pass_weights.h"

#include <stdlib.h>
#include <string.h>

#include "perfmodel/native/batch.h"
#include "sim/experiment/accuracy.h"

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
// An observer that notes when requests came, began and ended
// ---------------------------------------------------------------------------------------------------------------------

typedef struct lifetime {
    int64_t arrival_ns, first_ns, end_ns;
    uint32_t n_output_tokens; // 0: it is not measured
} lifetime;

typedef struct notes {
    lifetime *requests;
    size_t n, capacity;
    int64_t warmup_ns;
    uint64_t warmup_requests;
    bool is_out_of_memory, has_rejected;
} notes;

// Requests arrive in any order of their numbers.
static bool make_room_for(notes *all, uint32_t request) {
    if (request < all->capacity) return true;
    const size_t capacity = 2 * ((size_t)request + 512);
    lifetime *requests = realloc(all->requests, capacity * sizeof *requests);
    if (!requests) return false;
    memset(requests + all->capacity, 0, (capacity - all->capacity) * sizeof *requests);
    all->requests = requests;
    all->capacity = capacity;
    return true;
}

static void on_arrival(void *self, uint32_t request, uint32_t worker, int64_t now_ns) {
    notes *all = self;
    (void)worker;
    if (!make_room_for(all, request)) {
        all->is_out_of_memory = true;
        return;
    }
    all->requests[request] = (lifetime){ .arrival_ns = now_ns };
    if (request >= all->n) all->n = (size_t)request + 1;
}

static void on_first_token(void *self, uint32_t request, int64_t now_ns) {
    notes *all = self;
    if (request < all->n) all->requests[request].first_ns = now_ns;
}

static void on_finished(void *self, uint32_t request, uint32_t n_output_tokens, int64_t now_ns) {
    notes *all = self;
    if (request >= all->n) return;
    lifetime *life = &all->requests[request];
    life->end_ns = now_ns;
    const bool is_measured = request >= all->warmup_requests && life->arrival_ns >= all->warmup_ns;
    life->n_output_tokens = is_measured ? n_output_tokens : 0;
}

static void on_rejected(void *self, uint32_t request, sim_reject_reason reason, int64_t now_ns) {
    (void)request, (void)reason, (void)now_ns;
    ((notes *)self)->has_rejected = true;
}

static void on_admitted(void *self, uint32_t request, uint32_t cached_tokens, bool is_first, int64_t now_ns) {
    (void)self, (void)request, (void)cached_tokens, (void)is_first, (void)now_ns;
}
static void on_request(void *self, uint32_t request, int64_t now_ns) { (void)self, (void)request, (void)now_ns; }
static void on_token_gaps(void *self, int64_t gap_ns, uint64_t n_tokens, int64_t now_ns) {
    (void)self, (void)gap_ns, (void)n_tokens, (void)now_ns;
}
static sim_status on_tick(void *self, int64_t now_ns) {
    (void)now_ns;
    return ((notes *)self)->is_out_of_memory ? SIM_NO_MEMORY : SIM_OK;
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

static void weigh(recorder *r, const notes *all) {
    size_t n_first = 0, n_more = 0;
    for (size_t i = 0; i < all->n; i++) {
        n_first += all->requests[i].n_output_tokens >= 1;
        n_more += all->requests[i].n_output_tokens >= 2;
    }
    for (size_t i = 0; i < all->n; i++) {
        const lifetime *life = &all->requests[i];
        if (life->n_output_tokens < 1) continue;
        add_interval(r, true, life->arrival_ns, life->first_ns, 1.0 / (double)n_first);
        if (life->n_output_tokens < 2) continue;
        const double share = 1.0 / (double)(life->n_output_tokens - 1) / (double)n_more;
        add_interval(r, false, life->first_ns, life->end_ns, share);
    }
    for (size_t i = 1; i < r->n; i++) {
        r->passes[i].ttft_weight += r->passes[i - 1].ttft_weight;
        r->passes[i].tpot_weight += r->passes[i - 1].tpot_weight;
    }
}

static bool is_alike(const sim_weighted_pass *a, const sim_weighted_pass *b) {
    return a->batch.n_prefills == 0.0 && b->batch.n_prefills == 0.0 && a->batch.n_decodes == b->batch.n_decodes &&
           a->batch.shared_tokens == b->batch.shared_tokens && a->ttft_weight == b->ttft_weight &&
           a->tpot_weight == b->tpot_weight; // else the mean context would not be theirs
}

// In place; a price is all but straight in the context over so few passes.
static void put_together(recorder *r) {
    size_t n = 0;
    for (size_t i = 0; i < r->n;) {
        const sim_weighted_pass first = r->passes[i];
        sim_weighted_pass sum = first;
        size_t together = 1;
        for (; i + together < r->n && together < SIM_PASSES_TOGETHER; together++) {
            const sim_weighted_pass *next = &r->passes[i + together];
            if (!is_alike(&first, next)) break;
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

// ---------------------------------------------------------------------------------------------------------------------
// The run
// ---------------------------------------------------------------------------------------------------------------------

static sim_status run_units(recorder *r, notes *all, const sim_config *config, const sim_settings *settings,
                            sim_error *error) {
    const sim_observer observer = {
        .self = all,
        .on_arrival = on_arrival,
        .on_admitted = on_admitted,
        .on_preempted = on_request,
        .on_rejected = on_rejected,
        .on_first_token = on_first_token,
        .on_second_token = on_request,
        .on_token_gaps = on_token_gaps,
        .on_finished = on_finished,
        .on_tick = on_tick,
    };
    fpm_estimator *estimator;
    sim_status status = new_recorder(r, &estimator, error);
    if (status) return status;
    status = sim_accuracy_observe(config, settings, estimator, &observer, error);
    fpm_estimator_free(estimator);
    if (r->is_out_of_memory || all->is_out_of_memory)
        return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    if (!status && all->has_rejected)
        return sim_error_set(error, SIM_DEAD_END, NULL, 0,
                             "requests are rejected, so it is not the run that was measured");
    return status;
}

sim_status sim_pass_weights_find(sim_pass_weights *weights, const sim_config *config, const sim_settings *settings,
                                 sim_error *error) {
    *weights = (sim_pass_weights){ .passes = NULL };
    if (settings->load.mode != SIM_LOAD_CONCURRENCY || settings->cluster.replicas != 1)
        return sim_error_set(error, SIM_USAGE, NULL, 0, "only closed loops on one worker calibrate");
    recorder r = { .passes = NULL };
    notes all = { .warmup_ns = settings->load.warmup_ns, .warmup_requests = (uint64_t)settings->load.warmup_requests };
    const sim_status status = run_units(&r, &all, config, settings, error);
    if (!status) {
        weigh(&r, &all);
        put_together(&r);
        *weights = (sim_pass_weights){ r.passes, r.n };
    } else {
        free(r.passes);
    }
    free(all.requests);
    return status;
}

void sim_pass_weights_clear(sim_pass_weights *weights) { free(weights->passes); }
