// SPDX-License-Identifier: GPL-3.0-or-later
//
// SGLang (simulation-semantics.md 3.3, and the decisions at the head of sim/engine/scheduler_sglang.c, whose numbers are quoted here). Blocks are its
// pages. request->blocks are the pages of the tree that the request has locked, from the first of its sequence on.
#include "tests/oracle/oracle.h"

enum { LPM_MOST_WAITING = 128, SHARED_TOKENS = 32, LOOK_AHEAD = 20 };

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

static const sim_engine_config *engine_of(const oracle_rank *rank) { return &rank->oracle->settings->engine; }
static uint32_t page_tokens(const oracle_rank *rank) { return (uint32_t)rank->oracle->settings->kv_cache.block_size; }

static uint32_t whole_pages(const oracle_rank *rank, uint32_t n_tokens) { // rounded up, in tokens
    return oracle_blocks_for(rank, n_tokens) * page_tokens(rank);
}

static uint32_t room_pages(const oracle_rank *rank) {
    return oracle_radix_free(&rank->radix) + oracle_radix_evictable(&rank->radix);
}

static uint32_t pages_held(const oracle_request *request) { return request->blocks.n + request->n_private_pages; }

// What admission reckons that a request with so many tokens to come will need.
static uint32_t clipped(const oracle_rank *rank, uint32_t n_remaining) {
    return smaller(n_remaining, (uint32_t)engine_of(rank)->clip_max_new_tokens);
}

static uint32_t remaining_tokens(const oracle_request *request) {
    return request->final_tokens - request->generated_tokens;
}

static double initial_ratio(const oracle_rank *rank) { return 0.7 * engine_of(rank)->schedule_conservativeness; }

static void init(oracle_rank *rank) {
    oracle_radix_init(&rank->radix, (uint32_t)rank->oracle->settings->kv_cache.num_blocks);
    rank->new_token_ratio = initial_ratio(rank);
}

// ---------------------------------------------------------------------------------------------------------------------
// The tree (8)
// ---------------------------------------------------------------------------------------------------------------------

// The pages that an admission would find now. Nothing is touched.
static oracle_list match(oracle_rank *rank, oracle_request *request) {
    oracle_list pages = { .n = 0 };
    if (!rank->oracle->settings->kv_cache.prefix_caching) return pages;
    const uint32_t n_known = oracle_known_tokens(request);
    const uint32_t n_most = (request->output_tokens == 0 ? n_known : n_known - 1) / page_tokens(rank);
    uint32_t page = ORACLE_NO_PAGE;
    while (pages.n < n_most) {
        page = oracle_radix_child(&rank->radix, page, oracle_block_identity(rank->oracle, request, pages.n));
        if (page == ORACLE_NO_PAGE) break;
        oracle_list_append(&pages, page);
    }
    return pages;
}

static void touch_path(oracle_rank *rank, const oracle_request *request) {
    const uint64_t now = ++rank->radix.clock;
    for (uint32_t i = 0; i < request->blocks.n; i++) rank->radix.pages[request->blocks.values[i]].stamp = now;
}

static void lock_page(oracle_rank *rank, oracle_request *request, uint32_t page) {
    rank->radix.pages[page].n_locks++;
    oracle_list_append(&request->blocks, page);
}

static uint32_t last_page(const oracle_request *request) {
    return request->blocks.n == 0 ? ORACLE_NO_PAGE : request->blocks.values[request->blocks.n - 1];
}

// The path of the request ends with the end of an edge.
static void split_at_end(oracle_rank *rank, const oracle_request *request) {
    if (request->blocks.n > 0) oracle_radix_split_below(&rank->radix, last_page(request));
}

static void lock_match(oracle_rank *rank, oracle_request *request, const oracle_list *pages) {
    assert(pages_held(request) == 0);
    for (uint32_t i = 0; i < pages->n; i++) lock_page(rank, request, pages->values[i]);
    split_at_end(rank, request);
    touch_path(rank, request);
}

// Put the full pages that the request has computed into the tree. It holds all of them there afterwards.
static void insert(oracle_rank *rank, oracle_request *request) {
    if (!rank->oracle->settings->kv_cache.prefix_caching) return;
    oracle_radix *radix = &rank->radix;
    const uint32_t n_full = request->computed_tokens / page_tokens(rank);
    while (request->blocks.n < n_full) { // somebody else was first: its own page is given back
        const uint64_t identity = oracle_block_identity(rank->oracle, request, request->blocks.n);
        const uint32_t page = oracle_radix_child(radix, last_page(request), identity);
        if (page == ORACLE_NO_PAGE) break;
        lock_page(rank, request, page);
        request->n_private_pages--;
        radix->n_private--;
    }
    split_at_end(rank, request);
    // The edge where the path ends grows when nobody else holds it and nothing follows; otherwise there is a new one.
    bool is_joined = request->blocks.n > 0 && radix->pages[last_page(request)].n_locks == 1 &&
                     oracle_radix_is_leaf(radix, last_page(request));
    while (request->blocks.n < n_full) {
        const uint64_t identity = oracle_block_identity(rank->oracle, request, request->blocks.n);
        oracle_list_append(&request->blocks, oracle_radix_add(radix, last_page(request), identity, is_joined));
        request->n_private_pages--;
        is_joined = true;
    }
    touch_path(rank, request);
}

// Hold so many pages more than now; false: there are not so many.
static bool take_pages(oracle_rank *rank, oracle_request *request, uint32_t n) {
    if (!oracle_radix_take(&rank->radix, n)) return false;
    request->n_private_pages += n;
    return true;
}

// Keep what is computed for others, and hold nothing any more.
static void let_go(oracle_rank *rank, oracle_request *request) {
    insert(rank, request);
    for (uint32_t i = 0; i < request->blocks.n; i++) rank->radix.pages[request->blocks.values[i]].n_locks--;
    oracle_list_clear(&request->blocks);
    rank->radix.n_private -= request->n_private_pages;
    request->n_private_pages = 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// The queue (1 to 3)
// ---------------------------------------------------------------------------------------------------------------------

static uint32_t final_tokens(const oracle *o, const oracle_request *request) {
    const int64_t limit = o->settings->engine.max_model_len, prompt = request->prompt_tokens;
    return limit > prompt && limit - prompt < request->output_tokens ? (uint32_t)(limit - prompt)
                                                                     : request->output_tokens;
}

// Why a request can never be served; SIM_REJECT_REASONS: it can. At no point of its life may it be too big for an empty pool.
static sim_reject_reason unservable(const oracle_rank *rank, const oracle_request *request) {
    const int64_t limit = engine_of(rank)->max_model_len;
    if (limit > 0 && request->prompt_tokens >= limit) return SIM_REJECT_MODEL_LENGTH;
    const uint64_t capacity = (uint64_t)rank->radix.n_pages * page_tokens(rank);
    uint32_t g = 0;
    do {
        const uint64_t n_tokens = whole_pages(rank, request->prompt_tokens + g);
        if (n_tokens + clipped(rank, request->final_tokens - g) >= capacity) return SIM_REJECT_KV_CACHE;
        g++;
    } while (g < request->final_tokens);
    return SIM_REJECT_REASONS;
}

static sim_status reject_unservable(oracle_rank *rank, sim_error *error) {
    sim_status status = SIM_OK;
    for (uint32_t at = 0; at < rank->waiting.n && !status;) {
        oracle_request *request = oracle_waiting_at(rank, at);
        const sim_reject_reason reason = request->was_checked ? SIM_REJECT_REASONS : unservable(rank, request);
        request->was_checked = true;
        if (reason == SIM_REJECT_REASONS)
            at++;
        else
            status = oracle_reject(rank, at, reason, error);
    }
    return status;
}

static bool is_unfinished(const oracle_request *request) { return request->computed_tokens > 0; } // while it waits

// Do both have so many known tokens, the same? Whole pages.
static bool share_head(oracle_rank *rank, oracle_request *a, oracle_request *b, uint32_t n_tokens) {
    if (oracle_known_tokens(a) < n_tokens || oracle_known_tokens(b) < n_tokens) return false;
    const uint32_t last = n_tokens / page_tokens(rank) - 1;
    return oracle_block_identity(rank->oracle, a, last) == oracle_block_identity(rank->oracle, b, last);
}

// Somebody in front of it will compute what it lacks: it had better wait for that.
static bool is_deprioritised(oracle_rank *rank, uint32_t at, uint32_t n_matched_tokens) {
    if (n_matched_tokens > SHARED_TOKENS) return false;
    const uint32_t n_tokens = whole_pages(rank, SHARED_TOKENS);
    for (uint32_t i = 0; i < at; i++)
        if (share_head(rank, oracle_waiting_at(rank, i), oracle_waiting_at(rank, at), n_tokens)) return true;
    return false;
}

// Longest prefix match.
static void sort_queue(oracle_rank *rank) {
    if (engine_of(rank)->schedule_policy != SIM_POLICY_LPM || !rank->oracle->settings->kv_cache.prefix_caching) return;
    const uint32_t n = rank->waiting.n;
    if (n == 0 || n > LPM_MOST_WAITING) return;
    const uint32_t n_fixed = is_unfinished(oracle_waiting_at(rank, 0)) ? 1 : 0;
    uint32_t keys[LPM_MOST_WAITING]; // the smallest stands in front
    for (uint32_t at = n_fixed; at < n; at++) {
        oracle_list pages = match(rank, oracle_waiting_at(rank, at));
        const bool is_last = is_deprioritised(rank, at, pages.n * page_tokens(rank));
        keys[at] = (is_last ? 2 : 1) * (UINT32_MAX / 2) - pages.n;
        oracle_list_clear(&pages);
    }
    for (uint32_t at = n_fixed; at < n; at++) { // insertion sort keeps equals in order
        const uint32_t key = keys[at], request = rank->waiting.values[at];
        uint32_t to = at;
        for (; to > n_fixed && keys[to - 1] > key; to--) {
            keys[to] = keys[to - 1];
            rank->waiting.values[to] = rank->waiting.values[to - 1];
        }
        keys[to] = key;
        rank->waiting.values[to] = request;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Prefill pass (4)
// ---------------------------------------------------------------------------------------------------------------------

typedef struct budgets {
    double total; // tokens, at the start of the pass
    uint64_t used;
    uint32_t input, chunk;
} budgets;

static budgets draw_budgets(const oracle_rank *rank) {
    const sim_engine_config *engine = engine_of(rank);
    uint64_t n_reserved = 0;
    for (uint32_t i = 0; i < rank->running.n; i++)
        n_reserved += clipped(rank, remaining_tokens(oracle_running_at(rank, i)));
    const uint64_t room = (uint64_t)room_pages(rank) * page_tokens(rank);
    const int64_t chunk =
        engine->chunked_prefill_size > 0 ? engine->chunked_prefill_size : engine->max_num_batched_tokens;
    return (budgets){ .total = (double)room - rank->new_token_ratio * (double)n_reserved,
                      .input = (uint32_t)engine->max_prefill_tokens,
                      .chunk = (uint32_t)chunk };
}

// The head of the queue computes in this pass; false: it has to wait, and everybody behind it.
static bool admit_head(oracle_rank *rank, budgets *left) {
    oracle_request *request = oracle_waiting_at(rank, 0);
    const bool is_continued = is_unfinished(request);
    oracle_list found = { .n = 0 };
    if (!is_continued) found = match(rank, request);
    uint32_t n_unheld = 0; // of those found: about to be locked
    for (uint32_t i = 0; i < found.n; i++) n_unheld += rank->radix.pages[found.values[i]].n_locks == 0;
    const uint32_t start = is_continued ? request->computed_tokens : found.n * page_tokens(rank);
    const uint32_t extend = oracle_known_tokens(request) - start;
    const uint32_t chunk = smaller(extend, left->chunk / page_tokens(rank) * page_tokens(rank));
    const uint32_t charge = whole_pages(rank, chunk);
    const uint32_t reserve = chunk == extend ? clipped(rank, remaining_tokens(request)) : 0;
    const bool can_be = !(chunk == 0 && extend > 0) && (double)(left->used + charge + reserve) < left->total &&
                        charge <= left->input && oracle_blocks_for(rank, chunk) <= room_pages(rank) - n_unheld;
    if (can_be && !is_continued) {
        lock_match(rank, request, &found);
        if (!request->was_admitted) request->cached_tokens = start;
        request->was_admitted = true;
    }
    oracle_list_clear(&found);
    if (!can_be) return false;
    const bool has_pages = take_pages(rank, request, oracle_blocks_for(rank, chunk));
    assert(has_pages), (void)has_pages;
    oracle_list_remove(&rank->waiting, 0);
    request->state = ORACLE_RUNNING;
    request->computed_tokens = start + chunk;
    oracle_add_item(rank, (oracle_item){ .request = request, .past_tokens = start, .new_tokens = chunk });
    left->used += charge + reserve;
    left->input -= charge;
    left->chunk -= charge;
    return true;
}

static void schedule_prefills(oracle_rank *rank) {
    budgets left = draw_budgets(rank);
    while (rank->waiting.n > 0 && rank->running.n + rank->round.n_items < engine_of(rank)->max_num_seqs &&
           left.chunk > 0)
        if (!admit_head(rank, &left)) break;
    rank->round.has_prefill = rank->round.n_items > 0;
}

static void queue_state(oracle_request *request) {
    request->state = request->generated_tokens > 0 ? ORACLE_PREEMPTED : ORACLE_WAITING;
}

static void finish(oracle_rank *rank, oracle_request *request) {
    let_go(rank, request);
    oracle_end_request(rank->oracle, request, ORACLE_COMPLETED);
}

static void emit_token(const oracle_rank *rank, oracle_request *request) {
    request->generated_tokens++;
    if (request->generated_tokens == 1) request->first_token_ns = rank->oracle->now_ns;
}

static void end_prefill(oracle_rank *rank, oracle_request *request) {
    insert(rank, request);
    if (request->computed_tokens < oracle_known_tokens(request)) {
        queue_state(request);
        oracle_list_insert(&rank->waiting, 0, request->index);
        return;
    }
    if (request->final_tokens > 0) emit_token(rank, request);
    if (request->generated_tokens == request->final_tokens) {
        finish(rank, request);
        return;
    }
    oracle_list_append(&rank->running, request->index);
    if (pages_held(request) < oracle_blocks_for(rank, oracle_known_tokens(request)))
        take_pages(rank, request, 1); // the slot of the token, or it lacks until the next decode pass
}

// ---------------------------------------------------------------------------------------------------------------------
// Decode pass (5 to 7)
// ---------------------------------------------------------------------------------------------------------------------

static uint32_t pages_lacking(const oracle_rank *rank, const oracle_request *request) {
    return oracle_blocks_for(rank, oracle_known_tokens(request) + 1) - pages_held(request);
}

static bool has_room(const oracle_rank *rank) {
    uint32_t n_needed = 0;
    for (uint32_t i = 0; i < rank->running.n; i++) n_needed += pages_lacking(rank, oracle_running_at(rank, i));
    return n_needed <= room_pages(rank);
}

static void retract(oracle_rank *rank, oracle_request *request) {
    let_go(rank, request);
    request->computed_tokens = 0;
    request->n_preemptions++;
    queue_state(request);
    rank->round.n_preempted++;
}

static void retract_one_running(oracle_rank *rank) {
    uint32_t fewest = 0;
    for (uint32_t i = 1; i < rank->running.n; i++)
        if (oracle_running_at(rank, i)->generated_tokens < oracle_running_at(rank, fewest)->generated_tokens)
            fewest = i;
    retract(rank, oracle_running_at(rank, fewest));
    oracle_list_append(&rank->waiting, oracle_list_remove(&rank->running, fewest));
}

static void decay_ratio(oracle_rank *rank) {
    const double minimum = 0.14 * initial_ratio(rank), step = (initial_ratio(rank) - minimum) / 600.0;
    rank->new_token_ratio -= step;
    if (rank->new_token_ratio < minimum) rank->new_token_ratio = minimum;
}

static void raise_ratio(oracle_rank *rank) {
    uint64_t n_generated = 0, n_final = 0;
    for (uint32_t i = 0; i < rank->running.n; i++) {
        n_generated += oracle_running_at(rank, i)->generated_tokens;
        n_final += oracle_running_at(rank, i)->final_tokens;
    }
    const double ratio = (double)(n_generated + LOOK_AHEAD * (uint64_t)rank->running.n) / (double)(n_final + 1);
    rank->new_token_ratio = ratio < 1 ? ratio : 1;
}

static void schedule_decodes(oracle_rank *rank) {
    while (rank->running.n > 1 && !has_room(rank)) retract_one_running(rank);
    if (!has_room(rank) && rank->waiting.n > 0 && is_unfinished(oracle_waiting_at(rank, 0)))
        retract(rank, oracle_waiting_at(rank, 0));
    for (uint32_t i = 0; i < rank->running.n; i++) {
        oracle_request *request = oracle_running_at(rank, i);
        const bool has_pages = take_pages(rank, request, pages_lacking(rank, request));
        assert(has_pages), (void)has_pages;
        oracle_add_item(rank, (oracle_item){ .request = request,
                                             .past_tokens = request->computed_tokens,
                                             .new_tokens = 1,
                                             .is_decode = true });
        request->computed_tokens++;
        assert(request->computed_tokens == oracle_known_tokens(request));
    }
    if (rank->round.n_preempted > 0)
        raise_ratio(rank);
    else
        decay_ratio(rank);
}

static void end_decode(oracle_rank *rank, oracle_request *request) {
    emit_token(rank, request);
    insert(rank, request);
    if (request->generated_tokens < request->final_tokens) return;
    for (uint32_t i = 0; i < rank->running.n; i++) {
        if (oracle_running_at(rank, i) != request) continue;
        oracle_list_remove(&rank->running, i);
        break;
    }
    finish(rank, request);
}

// ---------------------------------------------------------------------------------------------------------------------

static sim_status schedule(oracle_rank *rank, uint64_t pass, sim_error *error) {
    (void)pass;
    sim_status status = reject_unservable(rank, error);
    while (!status) {
        sort_queue(rank);
        if (!rank->forbids_prefills) schedule_prefills(rank);
        if (rank->round.n_items > 0) break;
        if (rank->running.n > 0) {
            schedule_decodes(rank);
            break;
        }
        const double ratio = rank->new_token_ratio;
        if (rank->waiting.n > 0) decay_ratio(rank); // (10)
        if (rank->forbids_prefills || rank->new_token_ratio == ratio) break;
    }
    return status;
}

static void emit(oracle_rank *rank) {
    for (uint32_t i = 0; i < rank->round.n_items; i++) {
        const oracle_item *item = &rank->round.items[i];
        if (item->is_decode)
            end_decode(rank, item->request);
        else
            end_prefill(rank, item->request);
    }
}

const oracle_scheduler oracle_sglang = {
    .name = "sglang", .init = init, .final_tokens = final_tokens, .schedule = schedule, .emit = emit
};
