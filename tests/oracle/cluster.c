// SPDX-License-Identifier: GPL-3.0-or-later
//
// The workers and the loop of virtual time (simulation-semantics.md 3.5): at one instant passes end, then requests arrive, then idle workers
// start passes; by worker index each.
#include <inttypes.h>
#include <string.h>

#include "sim/kernel/clock.h"
#include "tests/oracle/oracle.h"

static void clear_round(oracle_rank *rank) {
    free(rank->round.items);
    oracle_list_clear(&rank->round.rejected);
    rank->round = (oracle_round){ .n_items = 0 };
}

static void tell_rejected(oracle_rank *rank) {
    for (uint32_t i = 0; i < rank->round.rejected.n; i++)
        oracle_end_request(rank->oracle, &rank->oracle->requests[rank->round.rejected.values[i]], ORACLE_REJECTED);
}

// Does anything happen in the pass the round would make? Either somebody computes, or somebody has nothing left to compute.
static bool is_pass(const oracle_rank *rank) {
    if (rank->round.n_items > 0) return true;
    for (uint32_t i = 0; i < rank->running.n; i++) {
        const oracle_request *request = oracle_running_at(rank, i);
        if (request->computed_tokens == oracle_known_tokens(request)) return true;
    }
    return false;
}

// Several ranks make one pass: the estimator gets all their rows and says how long the slowest takes.
static sim_status begin_pass(oracle *o, oracle_worker *worker, sim_error *error) {
    for (uint32_t r = 0; r < o->n_ranks; r++) worker->metrics[r] = oracle_metrics(&worker->ranks[r]);
    double ms;
    fpm_error fault;
    if (fpm_estimate_ms(o->estimator, worker->metrics, o->n_ranks, &ms, &fault))
        return sim_error_set(error, fault.code == FPM_UNSUPPORTED ? SIM_DEAD_END : SIM_INTERNAL, NULL, 0, "%s",
                             fault.message);
    int64_t duration_ns;
    if (!sim_ns_from_ms(ms, &duration_ns)) return sim_error_set(error, SIM_INTERNAL, NULL, 0, "a pass of %g ms", ms);
    if (duration_ns < 1) duration_ns = 1;
    if (!sim_ns_add(o->now_ns, duration_ns, &worker->pass_end_ns))
        return sim_error_set(error, SIM_INTERNAL, NULL, 0, "virtual time beyond 292 years");
    for (uint32_t r = 0; r < o->n_ranks; r++) {
        worker->metrics[r].worker_id = worker->name;
        worker->metrics[r].dp_rank = r;
        worker->metrics[r].counter_id = worker->n_passes;
        worker->metrics[r].wall_time_s = ms / 1e3;
    }
    worker->is_busy = true;
    return SIM_OK;
}

static bool has_work(const oracle *o, const oracle_worker *worker) {
    if (worker->unseen.n > 0) return true;
    for (uint32_t r = 0; r < o->n_ranks; r++)
        if (worker->ranks[r].waiting.n > 0 || worker->ranks[r].running.n > 0) return true;
    return false;
}

// Every rank has a round at the same instant. A rank that has nothing to do in it has no pass, and is over with it at once; if that is so with all of
// them, there are new rounds as long as anything changes and anything is left to do. After a round with prompts, sglang has some without.
static sim_status start_rounds(oracle *o, oracle_worker *worker, sim_error *error) {
    for (;;) {
        bool has_pass = false, has_prefill = false, has_changed = false;
        const bool forbids_prefills = worker->n_rounds_without_prefills > 0;
        if (forbids_prefills) worker->n_rounds_without_prefills--;
        for (uint32_t r = 0; r < o->n_ranks; r++) {
            oracle_rank *rank = &worker->ranks[r];
            rank->forbids_prefills = forbids_prefills;
            sim_status status = o->scheduler->schedule(rank, worker->n_passes, error);
            if (status) return status;
            has_prefill = has_prefill || rank->round.has_prefill;
            has_changed = has_changed || rank->round.n_preempted > 0 || rank->round.rejected.n > 0;
            if (is_pass(rank)) {
                has_pass = true;
                continue;
            }
            tell_rejected(rank);
            clear_round(rank);
        }
        if (has_prefill) worker->n_rounds_without_prefills = o->settings->engine.prefill_decode_interval;
        if (has_pass) return begin_pass(o, worker, error);
        if (!has_work(o, worker) || !(has_changed || forbids_prefills)) return SIM_OK;
    }
}

// The scheduler gets to see those whose pass has come, in the order of arrival.
static void see(oracle *o, oracle_worker *worker, bool is_all) {
    uint32_t at = 0;
    while (at < worker->unseen.n) {
        const oracle_request *request = &o->requests[worker->unseen.values[at]];
        if (!is_all && request->seen_from_pass > worker->n_passes) {
            at++;
            continue;
        }
        oracle_list_append(&worker->ranks[request->rank].waiting, request->index);
        oracle_list_remove(&worker->unseen, at);
    }
}

// Arrivals are seen admission_passes passes later, but when there is nothing to run, at once.
static sim_status start_worker(oracle *o, oracle_worker *worker, sim_error *error) {
    see(o, worker, false);
    sim_status status = start_rounds(o, worker, error);
    if (!status && !worker->is_busy && worker->unseen.n > 0) {
        see(o, worker, true);
        status = start_rounds(o, worker, error);
    }
    return status;
}

static sim_status end_pass(oracle *o, oracle_worker *worker, sim_error *error) {
    fpm_error fault;
    for (uint32_t r = 0; r < o->n_ranks; r++)
        if (fpm_metrics_write_json(o->fpm_out, &worker->metrics[r], &fault))
            return sim_error_set(error, SIM_IO, NULL, 0, "%s", fault.message);
    for (uint32_t r = 0; r < o->n_ranks; r++) {
        o->scheduler->emit(&worker->ranks[r]);
        tell_rejected(&worker->ranks[r]);
        clear_round(&worker->ranks[r]);
    }
    worker->is_busy = false;
    worker->n_passes++;
    for (uint32_t r = 0; r < o->n_ranks; r++) // after a pass with prompts nobody waits any longer to be seen
        for (uint32_t i = 0; i < worker->unseen.n && worker->metrics[r].scheduled.num_prefill_requests > 0; i++)
            o->requests[worker->unseen.values[i]].seen_from_pass = 0;
    return SIM_OK;
}

// Round robin over all ranks, those of worker 0 first.
static void arrive(oracle *o) {
    oracle_request *request = &o->requests[sim_load_take(o->load, o->now_ns)];
    const uint32_t place = o->n_routed++ % (o->n_workers * o->n_ranks);
    request->worker = place / o->n_ranks;
    request->rank = place % o->n_ranks;
    request->state = ORACLE_WAITING;
    request->arrival_ns = o->now_ns;
    request->final_tokens = o->scheduler->final_tokens(o, request);
    oracle_worker *worker = &o->workers[request->worker];
    const uint64_t delay = (uint64_t)o->settings->engine.admission_passes;
    request->seen_from_pass = worker->n_passes + worker->is_busy + delay;
    oracle_list_append(&worker->unseen, request->index);
    if (delay == 0) see(o, worker, true);
}

static sim_status run_instant(oracle *o, sim_error *error) {
    sim_status status = SIM_OK;
    for (uint32_t i = 0; i < o->n_workers && !status; i++)
        if (o->workers[i].is_busy && o->workers[i].pass_end_ns == o->now_ns)
            status = end_pass(o, &o->workers[i], error);
    // A rejection may free a slot of a closed loop, and the request that takes it comes now.
    do {
        while (!status && sim_load_next_time(o->load, o->now_ns) == o->now_ns) arrive(o);
        for (uint32_t i = 0; i < o->n_workers && !status; i++)
            if (!o->workers[i].is_busy && has_work(o, &o->workers[i])) status = start_worker(o, &o->workers[i], error);
    } while (!status && sim_load_next_time(o->load, o->now_ns) == o->now_ns);
    return status;
}

static int64_t next_instant(const oracle *o) {
    int64_t next_ns = sim_load_next_time(o->load, o->now_ns);
    for (uint32_t i = 0; i < o->n_workers; i++)
        if (o->workers[i].is_busy && o->workers[i].pass_end_ns < next_ns) next_ns = o->workers[i].pass_end_ns;
    return next_ns;
}

// Nothing will happen any more: that is well when nobody is left waiting.
static sim_status check_all_ended(const oracle *o, sim_error *error) {
    for (size_t i = 0; i < o->workload->n_requests; i++) {
        const oracle_request *r = &o->requests[i];
        if (r->state == ORACLE_NOT_ARRIVED || r->state == ORACLE_COMPLETED || r->state == ORACLE_REJECTED) continue;
        return sim_error_set(error, SIM_DEAD_END, NULL, 0,
                             "dead end: request %" PRIu32 " of %" PRIu32 " + %" PRIu32 " tokens on worker %" PRIu32
                             " is stuck",
                             r->index, r->prompt_tokens, r->generated_tokens, r->worker);
    }
    return SIM_OK;
}

static sim_status simulate(oracle *o, sim_error *error) {
    const int64_t max_time_ns = o->settings->load.max_time_ns;
    for (;;) {
        const int64_t next_ns = next_instant(o);
        if (next_ns == SIM_TIME_NEVER) return check_all_ended(o, error);
        if (max_time_ns > 0 && next_ns > max_time_ns) return SIM_OK;
        o->now_ns = next_ns;
        sim_status status = run_instant(o, error);
        if (status) return status;
    }
}

static const oracle_scheduler *find_scheduler(const char *name) {
    static const oracle_scheduler *const all[] = { &oracle_vllm, &oracle_trtllm, &oracle_sglang };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i]->name, name) == 0) return all[i];
    return NULL;
}

static sim_status put_together(oracle *o, const sim_config *config, sim_error *error) {
    const sim_settings *settings = o->settings;
    o->scheduler = find_scheduler(sim_backend_names[settings->engine.backend]);
    if (!o->scheduler) return sim_error_set(error, SIM_USAGE, NULL, 0, "the oracle does not know this backend");
    sim_status status =
        sim_workload_new(&o->workload, config, &settings->workload, (uint64_t)settings->load.seed, error);
    if (!status) status = sim_load_new(&o->load, config, &settings->load, o->workload, error);
    if (!status) status = sim_settings_estimator(config, settings, &o->estimator, error);
    if (status) return status;
    o->requests = oracle_memory(NULL, o->workload->n_requests, sizeof *o->requests);
    for (size_t i = 0; i < o->workload->n_requests; i++)
        o->requests[i] = (oracle_request){ .index = (uint32_t)i,
                                           .prompt_tokens = o->workload->requests[i].input_tokens,
                                           .output_tokens = o->workload->requests[i].output_tokens };
    o->n_workers = (uint32_t)settings->cluster.replicas;
    o->n_ranks = (uint32_t)settings->parallel.data;
    o->workers = oracle_memory(NULL, o->n_workers, sizeof *o->workers);
    for (uint32_t i = 0; i < o->n_workers; i++) {
        oracle_worker *worker = &o->workers[i];
        *worker = (oracle_worker){ .index = i };
        snprintf(worker->name, sizeof worker->name, "%" PRIu32, i);
        worker->metrics = oracle_memory(NULL, o->n_ranks, sizeof *worker->metrics);
        worker->ranks = oracle_memory(NULL, o->n_ranks, sizeof *worker->ranks);
        for (uint32_t r = 0; r < o->n_ranks; r++) {
            worker->ranks[r] = (oracle_rank){ .oracle = o };
            oracle_pool_init(&worker->ranks[r].pool, (uint32_t)settings->kv_cache.num_blocks);
            if (o->scheduler->init) o->scheduler->init(&worker->ranks[r]);
        }
    }
    return SIM_OK;
}

static void take_apart(oracle *o) {
    for (uint32_t i = 0; o->workers && i < o->n_workers; i++) {
        for (uint32_t r = 0; r < o->n_ranks; r++) {
            oracle_rank *rank = &o->workers[i].ranks[r];
            clear_round(rank);
            oracle_pool_clear(&rank->pool);
            oracle_radix_clear(&rank->radix);
            oracle_list_clear(&rank->waiting);
            oracle_list_clear(&rank->running);
        }
        oracle_list_clear(&o->workers[i].unseen);
        free(o->workers[i].ranks);
        free(o->workers[i].metrics);
    }
    free(o->workers);
    for (size_t i = 0; o->requests && i < o->workload->n_requests; i++) {
        oracle_list_clear(&o->requests[i].blocks);
        free(o->requests[i].identities);
    }
    free(o->requests);
    fpm_estimator_free(o->estimator);
    sim_load_free(o->load);
    sim_workload_free(o->workload);
}

static FILE *open_text(char **text, size_t *n_bytes) {
    FILE *out = open_memstream(text, n_bytes);
    if (!out) abort();
    return out;
}

sim_status oracle_run(const sim_config *config, const sim_settings *settings, oracle_texts *texts, sim_error *error) {
    oracle o = { .settings = settings };
    *texts = (oracle_texts){ .requests_csv = NULL };
    o.fpm_out = open_text(&texts->fpm_jsonl, &texts->n_fpm_jsonl);
    FILE *requests_out = open_text(&texts->requests_csv, &texts->n_requests_csv);
    sim_status status = put_together(&o, config, error);
    if (!status) status = simulate(&o, error);
    if (!status) status = oracle_write_requests(&o, requests_out);
    fclose(o.fpm_out);
    fclose(requests_out);
    take_apart(&o);
    if (status) {
        free(texts->requests_csv);
        free(texts->fpm_jsonl);
        *texts = (oracle_texts){ .requests_csv = NULL };
    }
    return status;
}
