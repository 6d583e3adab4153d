// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/plan/plan_cause.h"

#include <inttypes.h>
#include <stdlib.h>

#include "perfmodel/perfmodel.h"
#include "sim/kernel/clock.h"

const char *sim_plan_cause_name(sim_plan_cause_kind kind) {
    static const char *const names[] = {
#define X(code, name, words) name,
        SIM_PLAN_CAUSE_LIST(X)
#undef X
    };
    return names[kind];
}

static const char *words_of(sim_plan_cause_kind kind) {
    static const char *const words[] = {
#define X(code, name, text) text,
        SIM_PLAN_CAUSE_LIST(X)
#undef X
    };
    return words[kind];
}

void sim_plan_bound_title(const sim_sla_config *sla, sim_plan_bound bound, char *text, size_t size) {
    static const char *const titles[SIM_PLAN_BOUNDS] = { "TTFT", "TPOT", "E2E latency" };
    char percent[FPM_NUMBER_BYTES];
    fpm_format_number(percent, sla->percentile);
    snprintf(text, size, "p%s %s", percent, titles[bound]);
}

// --- requests of a run -----------------------------------------------------------------------------------------------------

// Copies of the records of one run, by request.
typedef struct run_records {
    sim_request_record *records;
    bool *is_measured;
    size_t n;
    double percentile_ms[SIM_PLAN_BOUNDS];
    double mean_in_flight; // requests in a worker, by Little's law
    int64_t max_num_seqs, max_num_batched_tokens, num_blocks;
    bool is_out_of_memory;
} run_records;

static void copy_records(void *self, const sim_run_facts *facts, const sim_summary *summary) {
    run_records *to = self;
    const sim_collector *collector = facts->collector;
    const bool has_percentile = facts->report->percentiles.n > 0;
    const sim_statistics *of[SIM_PLAN_BOUNDS] = { &summary->ttft_ms, &summary->tpot_ms, &summary->e2e_latency_ms };
    for (int b = 0; b < SIM_PLAN_BOUNDS; b++)
        to->percentile_ms[b] = has_percentile ? of[b]->percentiles[0] : of[b]->max;
    to->n = collector->n_records;
    to->records = calloc(to->n + 1, sizeof *to->records);
    to->is_measured = calloc(to->n + 1, sizeof *to->is_measured);
    to->is_out_of_memory = !to->records || !to->is_measured;
    double in_flight_ms = 0;
    for (size_t i = 0; i < to->n && !to->is_out_of_memory; i++) {
        to->records[i] = collector->records[i];
        to->is_measured[i] = sim_collector_is_measured(collector, i);
        if (to->records[i].status == SIM_REQUEST_COMPLETED)
            in_flight_ms += sim_ms_from_ns(to->records[i].finish_ns - to->records[i].arrival_ns);
    }
    if (summary->duration_ms > 0)
        to->mean_in_flight = in_flight_ms / summary->duration_ms / (double)facts->cluster_config->replicas;
}

static void clear_records(run_records *of) {
    free(of->records);
    free(of->is_measured);
    *of = (run_records){ .n = 0 };
}

// A replicate of the point with `more` changed. A change that cannot run leaves no records, which is no error.
static sim_status run_again(sim_plan_points *points, const sim_plan_point *point, const char *more, size_t replicate,
                            run_records *to, sim_error *error) {
    sim_config *config;
    sim_plan_fate fate;
    *to = (run_records){ .n = 0 };
    sim_status status = sim_plan_points_config(points, point->assignments, more, replicate, &config, error);
    if (status) return status;
    sim_settings settings;
    sim_error ignored;
    if (sim_settings_read(config, &settings, &ignored) == SIM_OK) { // what `auto` came to
        to->max_num_seqs = settings.engine.max_num_seqs;
        to->max_num_batched_tokens = settings.engine.max_num_batched_tokens;
        to->num_blocks = settings.kv_cache.num_blocks;
    }
    const sim_plan_inspector inspector = { copy_records, to };
    status = sim_plan_probe(sim_plan_points_prober(points), config, &inspector, &fate, error);
    sim_config_free(config);
    sim_plan_points_count_run(points);
    if (!status && to->is_out_of_memory) status = sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    if (status) clear_records(to);
    return status;
}

// --- what is missed --------------------------------------------------------------------------------------------------------

typedef struct inquiry {
    sim_plan_points *points;
    const sim_plan_point *point;
    sim_sla_config alone; // the one bound in question
    size_t replicate;     // the one that misses it most often
    run_records run;      // of the point
    run_records lone;     // of the same requests one at a time
    size_t n_missed;
} inquiry;

static bool is_missed(const run_records *run, size_t i, const sim_sla_config *alone) {
    return run->records[i].status == SIM_REQUEST_COMPLETED && !sim_sla_is_good(alone, &run->records[i]);
}

static size_t count_missed(const run_records *run, const sim_sla_config *alone) {
    size_t n = 0;
    for (size_t i = 0; i < run->n; i++) n += run->is_measured[i] && is_missed(run, i, alone);
    return n;
}

// Of the requests that miss the bound: those that miss it alone, too.
static size_t count_missed_alone(const inquiry *q) {
    size_t n = 0;
    for (size_t i = 0; i < q->run.n && i < q->lone.n; i++)
        n += q->run.is_measured[i] && is_missed(&q->run, i, &q->alone) && is_missed(&q->lone, i, &q->alone);
    return n;
}

static size_t count_missed_preempted(const inquiry *q) {
    size_t n = 0;
    for (size_t i = 0; i < q->run.n; i++)
        n += q->run.is_measured[i] && is_missed(&q->run, i, &q->alone) && q->run.records[i].n_preemptions > 0;
    return n;
}

// Do the requests that miss the bound lose more time before their first token than after it?
static bool is_late_at_first_token(const inquiry *q) {
    double before_ns = 0, after_ns = 0;
    for (size_t i = 0; i < q->run.n && i < q->lone.n; i++) {
        const sim_request_record *a = &q->run.records[i], *b = &q->lone.records[i];
        if (!q->run.is_measured[i] || !is_missed(&q->run, i, &q->alone) || b->status != SIM_REQUEST_COMPLETED) continue;
        if (a->n_output_tokens == 0 || b->n_output_tokens == 0) continue;
        before_ns += (double)((a->first_token_ns - a->arrival_ns) - (b->first_token_ns - b->arrival_ns));
        after_ns += (double)((a->finish_ns - a->first_token_ns) - (b->finish_ns - b->first_token_ns));
    }
    return before_ns >= after_ns;
}

// --- experiments -----------------------------------------------------------------------------------------------------------

typedef struct remedy {
    sim_plan_cause_kind kind;
    char more[160]; // assignments; "" = there is nothing to change
} remedy;

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// What would serve waiting requests sooner: a limit as good as gone, since twice as much may still leave the worker overloaded. More places than tokens in a pass would need longer passes,
// which is another change.
static void waiting_remedies(const run_records *run, remedy list[2]) {
    enum { MUCH = 64 };
    const int64_t places =
        larger(run->max_num_seqs * 2, smaller(run->max_num_seqs * MUCH, run->max_num_batched_tokens));
    list[0] = (remedy){ .kind = SIM_PLAN_CAUSE_PLACES };
    list[1] = (remedy){ .kind = SIM_PLAN_CAUSE_BLOCKS };
    snprintf(list[0].more, sizeof list[0].more,
             "engine.max_num_seqs=%" PRId64 " engine.max_num_batched_tokens=%" PRId64, places,
             larger(places, run->max_num_batched_tokens));
    snprintf(list[1].more, sizeof list[1].more, "kv_cache.num_blocks=%" PRId64,
             smaller(run->num_blocks * MUCH, larger(run->num_blocks, INT32_MAX)));
}

// What would make decode steps shorter.
static void decode_remedies(const run_records *run, remedy list[2]) {
    const int64_t half = (int64_t)(run->mean_in_flight / 2);
    const int64_t places = larger(1, smaller(half, run->max_num_seqs));
    list[0] = (remedy){ .kind = SIM_PLAN_CAUSE_BATCH };
    list[1] = (remedy){ .kind = SIM_PLAN_CAUSE_CHUNKS };
    snprintf(list[0].more, sizeof list[0].more, "engine.max_num_seqs=%" PRId64, places);
    snprintf(list[1].more, sizeof list[1].more, "engine.max_num_batched_tokens=%" PRId64,
             larger(run->max_num_seqs, run->max_num_batched_tokens / 4));
}

// The remedy that removes most of the misses, and at least half of them; else `otherwise`.
static sim_status try_remedies(const inquiry *q, const remedy list[2], sim_plan_cause_kind otherwise,
                               sim_plan_cause_kind *kind, sim_error *error) {
    size_t fewest = q->n_missed / 2 + 1;
    *kind = otherwise;
    for (int i = 0; i < 2; i++) {
        run_records changed;
        const sim_status status = run_again(q->points, q->point, list[i].more, q->replicate, &changed, error);
        if (status) return status;
        const size_t n = changed.n ? count_missed(&changed, &q->alone) : SIZE_MAX;
        clear_records(&changed);
        if (n >= fewest) continue;
        fewest = n;
        *kind = list[i].kind;
    }
    return SIM_OK;
}

static sim_status explain_waiting(const inquiry *q, sim_plan_cause_kind *kind, sim_error *error) {
    remedy list[2];
    waiting_remedies(&q->run, list);
    return try_remedies(q, list, SIM_PLAN_CAUSE_PREFILL, kind, error);
}

static sim_status explain_decoding(const inquiry *q, sim_plan_cause_kind *kind, sim_error *error) {
    remedy list[2];
    *kind = SIM_PLAN_CAUSE_PREEMPTION;
    if (count_missed_preempted(q) * 2 > q->n_missed) return SIM_OK;
    decode_remedies(&q->run, list);
    return try_remedies(q, list, SIM_PLAN_CAUSE_PASSES, kind, error);
}

static sim_status explain_bound(const inquiry *q, sim_plan_bound bound, sim_plan_cause_kind *kind, sim_error *error) {
    static const sim_plan_cause_kind floors[SIM_PLAN_BOUNDS] = { SIM_PLAN_CAUSE_PROMPT, SIM_PLAN_CAUSE_DECODE,
                                                                 SIM_PLAN_CAUSE_ANSWER };
    *kind = floors[bound];
    if (count_missed_alone(q) * 2 > q->n_missed) return SIM_OK;
    const bool is_waiting = bound == SIM_PLAN_TTFT || (bound == SIM_PLAN_E2E && is_late_at_first_token(q));
    return is_waiting ? explain_waiting(q, kind, error) : explain_decoding(q, kind, error);
}

// The requests in the order of the run, each begun when the one before has ended.
static const char one_at_a_time[] = "load.mode=concurrency load.concurrency=1 load.speedup=1 load.rate= "
                                    "load.admit_until=0 load.max_time=0 load.warmup=0 load.warmup_requests=0";

static sim_status inquire(inquiry *q, sim_plan_cause *cause, sim_error *error) {
    for (size_t i = 1; i < q->point->n_replicates; i++)
        if (q->point->replicates[i].n_missed[cause->bound] > q->point->replicates[q->replicate].n_missed[cause->bound])
            q->replicate = i;
    sim_status status = run_again(q->points, q->point, NULL, q->replicate, &q->run, error);
    if (!status) status = run_again(q->points, q->point, one_at_a_time, q->replicate, &q->lone, error);
    if (status) return status;
    q->n_missed = count_missed(&q->run, &q->alone);
    cause->percentile_ms = q->run.percentile_ms[cause->bound];
    cause->lone_percentile_ms = q->lone.percentile_ms[cause->bound];
    return explain_bound(q, cause->bound, &cause->kind, error);
}

// --- in words --------------------------------------------------------------------------------------------------------------

static sim_plan_bound most_missed(const sim_plan_points *points, const sim_plan_point *point) {
    const sim_sla_config *sla = sim_plan_points_sla(points);
    int most = -1;
    for (int b = 0; b < SIM_PLAN_BOUNDS; b++) {
        if (sim_plan_bound_ns(sla, (sim_plan_bound)b) == 0) continue;
        if (most < 0 || sim_plan_point_missed_share(point, (sim_plan_bound)b) >
                            sim_plan_point_missed_share(point, (sim_plan_bound)most))
            most = b;
    }
    return (sim_plan_bound)most;
}

static sim_plan_cause_kind unserved_kind(const sim_plan_point *point) {
    uint64_t n_rejected = 0, n_unfinished = 0;
    for (size_t i = 0; i < point->n_replicates; i++) {
        n_rejected += point->replicates[i].n_rejected;
        n_unfinished += point->replicates[i].n_unfinished;
    }
    return n_rejected >= n_unfinished ? SIM_PLAN_CAUSE_REJECTED : SIM_PLAN_CAUSE_UNFINISHED;
}

sim_status sim_plan_explain(sim_plan_points *points, const sim_plan_point *point, sim_plan_cause *cause,
                            sim_error *error) {
    *cause = (sim_plan_cause){ .kind = SIM_PLAN_CAUSE_CANNOT_RUN };
    if (point->fate.outcome != SIM_TRIAL_DONE) {
        snprintf(cause->text, sizeof cause->text, "%s: %s", words_of(cause->kind), point->fate.reason);
        return SIM_OK;
    }
    cause->bound = most_missed(points, point);
    if (sim_plan_point_unserved_share(point) > sim_plan_point_missed_share(point, cause->bound)) {
        cause->kind = unserved_kind(point);
        snprintf(cause->text, sizeof cause->text, "%s", words_of(cause->kind));
        return SIM_OK;
    }
    sim_plan_points_tell(points, "what is the binding constraint?");
    inquiry q = { .points = points,
                  .point = point,
                  .alone = sim_plan_bound_alone(sim_plan_points_sla(points), cause->bound) };
    const sim_status status = inquire(&q, cause, error);
    clear_records(&q.run);
    clear_records(&q.lone);
    char title[64];
    sim_plan_bound_title(sim_plan_points_sla(points), cause->bound, title, sizeof title);
    snprintf(cause->text, sizeof cause->text, "%s; %s", title, words_of(cause->kind));
    return status;
}
