// SPDX-License-Identifier: GPL-3.0-or-later
//
// Situations of the vLLM scheduler that random experiments meet too rarely, each as a grid of small experiments: all of them go through the
// product and through the naive oracle and give the same bytes.
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/oracle/differential.h"

static uint32_t choose(uint64_t *point, const uint32_t *values, uint32_t n) { return values[grid_choice(point, n)]; }
#define CHOOSE(point, values) choose(point, values, sizeof(values) / sizeof *(values))

static void set_prices(random_case *c) {
    random_case_set(c, "perfmodel.estimator=fixed");
    random_case_set(c, "perfmodel.prefill_ms=5");
    random_case_set(c, "perfmodel.decode_ms=1");
}

static void add_row(random_case *c, const char *row) {
    c->rows[c->n_rows++] = strdup(row);
    if (c->n_rows == 1) random_case_set(c, "workload.source=trace");
}

// Five requests grow side by side in a pool that has from just enough for one of them up to enough for most.
enum { FULL_POOLS = 5 * 2 * 3 * 8 * 2 * 2 };
static void full_pool(random_case *c, uint64_t point) {
    static const uint32_t block_sizes[] = { 1, 2, 3, 4, 16 };
    *c = (random_case){ .seed = point };
    const uint32_t block_size = CHOOSE(&point, block_sizes);
    const uint32_t n_blocks = 2 + grid_choice(&point, 2),
                   past_end = grid_choice(&point, 3); // of the prompt: one short, exact, one more
    const uint32_t prompt = n_blocks * block_size + past_end - 1, output = 2 * block_size + 1;
    const uint32_t n_longest = (prompt + output + block_size - 2) / block_size;
    random_case_set(c, "workload.requests=5");
    random_case_set(c, "workload.input_tokens=%" PRIu32, prompt > 0 ? prompt : 1);
    random_case_set(c, "workload.output_tokens=%" PRIu32, output);
    random_case_set(c, "kv_cache.block_size=%" PRIu32, block_size);
    random_case_set(c, "kv_cache.num_blocks=%" PRIu32, n_longest + grid_choice(&point, 8));
    random_case_set(c, "engine.preemption=%s", grid_choice(&point, 2) ? "fifo" : "lifo");
    random_case_set(c, "kv_cache.prefix_caching=%s", grid_choice(&point, 2) ? "true" : "false");
    set_prices(c);
}

Test(oracle_vllm_grids, a_pool_that_is_full_at_every_block_boundary) {
    const differential_census census = differential_run_all(full_pool, 0, FULL_POOLS);
    cr_expect_eq(census.n_differences, 0);
    cr_expect_gt(census.n_with_preemptions, census.n_cases / 2);
}

// Prompts that end with a block of their common content are computed side by side, which leaves that block several times under one hash, held
// by some and not by others. Strangers push some of them out, and longer prompts find the one that was there first.
enum { DUPLICATES = 3 * 3 * 3 * 3 * 6 * 2 };
static void duplicates(random_case *c, uint64_t point) {
    static const struct {
        uint32_t tokens;
        const char *ids;
    } prompts[] = { { 8, "1, 2" }, { 12, "1, 2, 3" }, { 9, "1, 2, 3" } };
    static const uint32_t block_sizes[] = { 1, 2, 4 };
    *c = (random_case){ .seed = point };
    const uint32_t block_size = CHOOSE(&point, block_sizes), first = grid_choice(&point, 3),
                   step = grid_choice(&point, 3);
    const uint32_t output = 3 * grid_choice(&point, 3);
    for (uint32_t i = 0; i < 12; i++) {
        char row[160];
        const uint32_t stamp_ms = i / 3 * 12 + i % 3 * step;
        if (i % 5 == 4)
            snprintf(row, sizeof row, "{\"timestamp\": %" PRIu32 ", \"input_length\": 6, \"output_length\": 3}\n",
                     stamp_ms);
        else
            snprintf(row, sizeof row,
                     "{\"timestamp\": %" PRIu32 ", \"input_length\": %" PRIu32 ", \"output_length\": %" PRIu32
                     ", \"hash_ids\": [%s]}\n",
                     stamp_ms, prompts[(first + step * i) % 3].tokens, output * (1 + i % 3),
                     prompts[(first + step * i) % 3].ids);
        add_row(c, row);
    }
    random_case_set(c, "workload.block_size=4");
    random_case_set(c, "kv_cache.block_size=%" PRIu32, block_size);
    random_case_set(c, "kv_cache.num_blocks=%" PRIu32, (32 + 5 * grid_choice(&point, 6)) / block_size);
    random_case_set(c, "engine.preemption=%s", grid_choice(&point, 2) ? "fifo" : "lifo");
    set_prices(c);
}

Test(oracle_vllm_grids, blocks_that_are_there_several_times) {
    const differential_census census = differential_run_all(duplicates, 0, DUPLICATES);
    cr_expect_eq(census.n_differences, 0);
    cr_expect_gt(census.n_with_hits, census.n_cases / 2);
}

// Long prompts go through small budgets while older requests grow: chunks run out of blocks, are pushed out half-way, and are taken back when
// their request is the victim of a later one in the same pass.
enum { CHUNKS = 3 * 5 * 6 * 2 * 3 * 2 };
static void chunks(random_case *c, uint64_t point) {
    static const uint32_t block_sizes[] = { 1, 2, 4 };
    *c = (random_case){ .seed = point };
    const uint32_t block_size = CHOOSE(&point, block_sizes);
    random_case_set(c, "workload.requests=7");
    random_case_set(c, "workload.input_tokens=uniform(4,24)");
    random_case_set(c, "workload.output_tokens=uniform(8,24)");
    random_case_set(c, "engine.max_num_seqs=3");
    random_case_set(c, "engine.max_num_batched_tokens=%" PRIu32, 3 + grid_choice(&point, 5));
    random_case_set(c, "kv_cache.block_size=%" PRIu32, block_size);
    random_case_set(c, "kv_cache.num_blocks=%" PRIu32, (48 + 4 * grid_choice(&point, 6)) / block_size);
    random_case_set(c, "engine.preemption=%s", grid_choice(&point, 2) ? "fifo" : "lifo");
    random_case_set(c, "load.seed=%" PRIu32, grid_choice(&point, 3));
    random_case_set(c, "kv_cache.prefix_caching=%s", grid_choice(&point, 2) ? "true" : "false");
    set_prices(c);
}

Test(oracle_vllm_grids, chunks_of_prompts_that_are_preempted) {
    const differential_census census = differential_run_all(chunks, 0, CHUNKS);
    cr_expect_eq(census.n_differences, 0);
    cr_expect_gt(census.n_with_preemptions, census.n_cases / 4);
}

// Whole milliseconds, so that arrivals, the ends of passes on several workers, load.admit_until and load.max_time fall on one instant.
enum { INSTANTS = 3 * 4 * 5 * 5 * 2 };
static void instants(random_case *c, uint64_t point) {
    *c = (random_case){ .seed = point };
    const uint32_t n_workers = 1 + grid_choice(&point, 3), gap_ms = grid_choice(&point, 4);
    for (uint32_t i = 0; i < 12; i++) {
        char row[160];
        snprintf(row, sizeof row,
                 "{\"timestamp\": %" PRIu32 ", \"input_length\": %" PRIu32 ", \"output_length\": %" PRIu32 "}\n",
                 i * gap_ms, 1 + i % 4, i % 5);
        add_row(c, row);
    }
    random_case_set(c, "kv_cache.block_size=2");
    random_case_set(c, "kv_cache.num_blocks=12");
    random_case_set(c, "cluster.replicas=%" PRIu32, n_workers);
    random_case_set(c, "load.admit_until=%" PRIu32 "ms", 5 * grid_choice(&point, 5));
    random_case_set(c, "load.max_time=%" PRIu32 "ms", 4 * grid_choice(&point, 5));
    if (grid_choice(&point, 2)) random_case_set(c, "engine.max_model_len=4");
    set_prices(c);
}

Test(oracle_vllm_grids, everything_at_one_instant) {
    const differential_census census = differential_run_all(instants, 0, INSTANTS);
    cr_expect_eq(census.n_differences, 0);
    cr_expect_gt(census.n_with_incomplete, census.n_cases / 4);
}

// A closed loop whose requests are refused while it runs: each refusal lets the next one in, at once or at the end of the pass.
enum { REFUSALS = 4 * 4 * 3 * 2 * 2 };
static void refusals(random_case *c, uint64_t point) {
    *c = (random_case){ .seed = point };
    random_case_set(c, "workload.requests=30");
    random_case_set(c, "workload.input_tokens=uniform(1,12)");
    random_case_set(c, "workload.output_tokens=uniform(0,%" PRIu32 ")", 1 + 2 * grid_choice(&point, 4));
    random_case_set(c, "load.concurrency=%" PRIu32, 1 + grid_choice(&point, 4));
    random_case_set(c, "cluster.replicas=%" PRIu32, 1 + grid_choice(&point, 3));
    random_case_set(c, "kv_cache.block_size=2");
    random_case_set(c, "kv_cache.num_blocks=%" PRIu32, grid_choice(&point, 2) ? 4 : 20);
    random_case_set(c, "engine.max_model_len=8");
    random_case_set(c, "engine.max_num_seqs=4");
    random_case_set(c, "engine.max_num_batched_tokens=7");
    random_case_set(c, "engine.chunked_prefill=%s", grid_choice(&point, 2) ? "true" : "false");
    set_prices(c);
}

Test(oracle_vllm_grids, a_closed_loop_of_requests_that_are_refused) {
    const differential_census census = differential_run_all(refusals, 0, REFUSALS);
    cr_expect_eq(census.n_differences, 0);
    cr_expect_eq(census.n_with_rejections, census.n_cases);
}
