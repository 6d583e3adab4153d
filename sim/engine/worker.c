// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/engine/worker.h"

#include <stdlib.h>

#include "sim/engine/mailbox.h"

typedef struct rank {
    sim_engine *engine;
    bool is_in_pass;
    bool left_waiting; // the last pass that did not defer prompts left requests waiting
} rank;

struct sim_worker {
    sim_worker_parts parts;
    rank *ranks;
    fpm_metrics *metrics; // by rank, one array for the estimator
    uint64_t n_passes;    // complete ones
    sim_mailbox mailbox;  // arrivals that no scheduler has seen
    bool is_pass_open;
    uint64_t n_forbidden_rounds; // sglang: still to come, in which no rank may compute prompts
    bool has_queue_overflow;
    bool has_deferred; // prompts were held back in the last round
};

#define RANKS(field, text)                                                                                        \
    {                                                                                                             \
        .name = #field, .type = SIM_KEY_INT, .offset = offsetof(sim_parallel_config, field), .default_text = "1", \
        .min = 1, .max = 1024, .unit = "ranks", .help = text                                                      \
    }
static const sim_key parallel_keys[] = {
    RANKS(tensor, "GPUs that cut each layer; a worker has tensor x pipeline x data GPUs"),
    RANKS(pipeline, "stages the layers are divided into"),
    RANKS(data, "attention data-parallel ranks in one worker; requests are routed to (worker, rank)"),
    RANKS(expert, "MoE: groups the experts are divided among; tensor x data = moe_tensor x expert"),
    { .name = "moe_tensor",
      .type = SIM_KEY_INT,
      .offset = offsetof(sim_parallel_config, moe_tensor),
      .default_text = "auto",
      .min = 1,
      .max = 1048576,
      .word = "auto",
      .word_value = 0,
      .unit = "ranks",
      .help = "MoE: GPUs that cut each expert; auto = tensor x data / expert" },
};
const sim_key_table sim_parallel_keys = { "parallel", "how one worker is spread over GPUs", parallel_keys,
                                          sizeof parallel_keys / sizeof *parallel_keys };

static sim_status make_ranks(sim_worker *worker, sim_error *error) {
    const sim_worker_parts *parts = &worker->parts;
    worker->ranks = calloc(parts->n_ranks, sizeof *worker->ranks);
    worker->metrics = calloc(parts->n_ranks, sizeof *worker->metrics);
    if (!worker->ranks || !worker->metrics) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    for (uint32_t i = 0; i < parts->n_ranks; i++) {
        worker->metrics[i] = fpm_metrics_idle();
        worker->metrics[i].worker_id = parts->id;
        worker->metrics[i].dp_rank = i;
        sim_status status = sim_engine_new(&worker->ranks[i].engine, parts->engine, parts->kv_cache, parts->content,
                                           parts->events, parts->wants_variances, error);
        if (status) return status;
    }
    return SIM_OK;
}

sim_status sim_worker_new(sim_worker **worker, const sim_worker_parts *parts, sim_error *error) {
    sim_worker *made = calloc(1, sizeof *made);
    if (!made) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    made->parts = *parts;
    sim_status status = make_ranks(made, error);
    if (status) {
        sim_worker_free(made);
        return status;
    }
    *worker = made;
    return SIM_OK;
}

void sim_worker_free(sim_worker *worker) {
    if (!worker) return;
    for (uint32_t i = 0; worker->ranks && i < worker->parts.n_ranks; i++) sim_engine_free(worker->ranks[i].engine);
    sim_mailbox_clear(&worker->mailbox);
    free(worker->ranks);
    free(worker->metrics);
    free(worker);
}

sim_status sim_worker_enqueue(sim_worker *worker, uint32_t i, uint32_t request, uint32_t input_tokens,
                              uint32_t output_tokens, sim_error *error) {
    const uint64_t delay_passes = (uint64_t)worker->parts.engine->admission_passes;
    if (delay_passes == 0)
        return sim_engine_enqueue(worker->ranks[i].engine, request, input_tokens, output_tokens, error);
    const sim_letter letter = { request, i, input_tokens, output_tokens,
                                worker->n_passes + worker->is_pass_open + delay_passes };
    return sim_mailbox_put(&worker->mailbox, &letter) ? SIM_OK
                                                      : sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
}

// Hand over what is due by the next pass, or all there is.
static sim_status empty_mailbox(sim_worker *worker, bool is_all, sim_error *error) {
    const sim_letter *letter;
    while ((letter = sim_mailbox_first(&worker->mailbox)) && (is_all || letter->due_pass <= worker->n_passes)) {
        sim_status status = sim_engine_enqueue(worker->ranks[letter->rank].engine, letter->request,
                                               letter->input_tokens, letter->output_tokens, error);
        if (status) return status;
        sim_mailbox_drop_first(&worker->mailbox);
    }
    return SIM_OK;
}

bool sim_worker_has_work(const sim_worker *worker) {
    if (worker->mailbox.n > 0) return true;
    for (uint32_t i = 0; i < worker->parts.n_ranks; i++)
        if (sim_engine_has_work(worker->ranks[i].engine)) return true;
    return false;
}

// vLLM with several ranks admits and continues prompts only on every Nth pass of the group, unless that would leave a rank without decodes, or with a queue
// that the last open pass could not empty (simulation-semantics.md 3.1, step A).
static bool defers_prefills(const sim_worker *worker, const rank *r) {
    int64_t interval = worker->parts.engine->prefill_schedule_interval;
    return interval > 1 && worker->parts.n_ranks > 1 && worker->n_passes % (uint64_t)interval != 0 &&
           !r->left_waiting && sim_engine_has_decodes(r->engine);
}

static sim_status schedule_rank(sim_worker *worker, uint32_t i, bool is_forbidden, int64_t now_ns, sim_error *error) {
    rank *r = &worker->ranks[i];
    sim_pass pass = { .metrics = &worker->metrics[i] };
    bool is_deferred = is_forbidden || defers_prefills(worker, r);
    worker->has_deferred |= is_deferred;
    sim_status status = sim_engine_schedule(r->engine, now_ns, is_deferred, &pass, &r->is_in_pass, error);
    worker->metrics[i].counter_id = worker->n_passes;
    worker->has_queue_overflow |= pass.has_queue_overflow;
    if (!is_deferred) r->left_waiting = sim_engine_has_waiting(r->engine);
    return status;
}

// SGLang: a round in which any rank computes prompts forbids that to all ranks for the next prefill_decode_interval rounds.
static sim_status schedule_round(sim_worker *worker, bool is_forbidden, int64_t now_ns, bool *is_started,
                                 sim_error *error) {
    bool has_prefills = false;
    for (uint32_t i = 0; i < worker->parts.n_ranks; i++) {
        sim_status status = schedule_rank(worker, i, is_forbidden, now_ns, error);
        if (status) return status;
        *is_started |= worker->ranks[i].is_in_pass;
        has_prefills |= sim_engine_has_prefills(worker->ranks[i].engine);
    }
    if (has_prefills) worker->n_forbidden_rounds = (uint64_t)worker->parts.engine->prefill_decode_interval;
    return SIM_OK;
}

static bool is_settled(const sim_worker *worker) {
    for (uint32_t i = 0; i < worker->parts.n_ranks; i++)
        if (!sim_engine_is_settled(worker->ranks[i].engine)) return false;
    return true;
}

// Rounds until one starts something, or nothing can be started.
static sim_status schedule_rounds(sim_worker *worker, int64_t now_ns, bool *is_started, sim_error *error) {
    *is_started = false;
    worker->has_queue_overflow = false;
    // A round that starts nothing although it held prompts back is followed by the next at once: what they were held back for is not there, or not any more (a
    // decode that gave itself up).
    do {
        bool is_forbidden = worker->n_forbidden_rounds > 0;
        worker->n_forbidden_rounds -= is_forbidden;
        worker->has_deferred = false;
        sim_status status = schedule_round(worker, is_forbidden, now_ns, is_started, error);
        if (status) return status;
        // Once nothing changes any more the forbidden rounds that are left would be like this one: over with them.
        if (!*is_started && is_forbidden && is_settled(worker) && sim_worker_has_work(worker))
            worker->n_forbidden_rounds = 0;
    } while (!*is_started && worker->has_deferred && sim_worker_has_work(worker));
    return SIM_OK;
}

sim_status sim_worker_schedule(sim_worker *worker, int64_t now_ns, bool *is_started, sim_error *error) {
    sim_status status = empty_mailbox(worker, false, error);
    if (!status) status = schedule_rounds(worker, now_ns, is_started, error);
    // With nothing to run there is no pass to wait for: an idle engine looks out for requests all the time.
    if (!status && !*is_started && worker->mailbox.n > 0) {
        status = empty_mailbox(worker, true, error);
        if (!status) status = schedule_rounds(worker, now_ns, is_started, error);
    }
    worker->is_pass_open = *is_started;
    return status;
}

fpm_metrics *sim_worker_metrics(sim_worker *worker) { return worker->metrics; }
bool sim_worker_has_queue_overflow(const sim_worker *worker) { return worker->has_queue_overflow; }

static bool has_prompts(const sim_worker *worker) {
    for (uint32_t i = 0; i < worker->parts.n_ranks; i++)
        if (worker->metrics[i].scheduled.num_prefill_requests > 0) return true;
    return false;
}

sim_status sim_worker_complete(sim_worker *worker, int64_t now_ns, sim_error *error) {
    worker->n_passes++;
    if (has_prompts(worker)) sim_mailbox_make_due(&worker->mailbox);
    worker->is_pass_open = false;
    for (uint32_t i = 0; i < worker->parts.n_ranks; i++) {
        if (!worker->ranks[i].is_in_pass) continue;
        sim_status status = sim_engine_complete(worker->ranks[i].engine, now_ns, error);
        if (status) return status;
    }
    return SIM_OK;
}

// Steady passes that may begin before a letter is due, after the open one if there is one. What is due now has been handed over.
static uint64_t passes_before_mail(const sim_worker *worker) {
    const sim_letter *letter = sim_mailbox_first(&worker->mailbox);
    return letter ? letter->due_pass - worker->n_passes - worker->is_pass_open : UINT64_MAX;
}

sim_status sim_worker_run_steady(sim_worker *worker, int64_t until_ns, const sim_pricer *pricer, sim_steady *steady,
                                 sim_error *error) {
    if (worker->parts.n_ranks > 1 || worker->parts.wants_variances) return SIM_OK;
    sim_status status = worker->is_pass_open ? SIM_OK : empty_mailbox(worker, false, error);
    if (status) return status;
    const uint64_t n_passes = steady->n_passes, n_begun = steady->n_begun;
    worker->metrics[0].counter_id = worker->n_passes;
    status = sim_engine_run_steady(worker->ranks[0].engine, worker->metrics, until_ns, passes_before_mail(worker),
                                   pricer, steady, error);
    const uint64_t n_rounds = steady->n_begun - n_begun;
    worker->n_forbidden_rounds -= n_rounds < worker->n_forbidden_rounds ? n_rounds : worker->n_forbidden_rounds;
    worker->n_passes += steady->n_passes - n_passes;
    worker->ranks[0].is_in_pass = worker->is_pass_open = steady->open_end_ns > 0;
    return status;
}

void sim_worker_explain_stuck(const sim_worker *worker, char *text, size_t capacity) {
    for (uint32_t i = 0; i < worker->parts.n_ranks; i++)
        if (sim_engine_has_work(worker->ranks[i].engine)) {
            sim_engine_explain_stuck(worker->ranks[i].engine, text, capacity);
            return;
        }
}
