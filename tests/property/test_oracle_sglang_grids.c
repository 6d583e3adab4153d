// SPDX-License-Identifier: GPL-3.0-or-later
//
// Situations of the SGLang scheduler that random experiments meet too rarely, each as a grid of small experiments: all of them go through the
// product and through the naive oracle and give the same bytes.
#include <criterion/criterion.h>
#include <inttypes.h>

#include "tests/oracle/differential.h"

static void set_engine(random_case *c) {
    random_case_set(c, "engine.backend=sglang");
    random_case_set(c, "engine.schedule_conservativeness=0"); // reckons with no further output: admits too many
    random_case_set(c, "perfmodel.estimator=fixed");
    random_case_set(c, "perfmodel.prefill_ms=5");
    random_case_set(c, "perfmodel.decode_ms=1");
}

// Requests are retracted and come back with more to compute than a chunk holds: without a prefix cache their whole known sequence of 12 tokens and
// more goes through chunks of at most 12, which others wait behind; with one, what the tree has lost since.
enum { RETRACTED = 3 * 3 * 8 * 2 * 2 * 3 };
static void retracted_chunks(random_case *c, uint64_t point) {
    *c = (random_case){ .seed = point };
    const uint32_t block_size = 1u << grid_choice(&point, 3);
    random_case_set(c, "workload.requests=8");
    random_case_set(c, "workload.input_tokens=uniform(12,24)");
    random_case_set(c, "workload.output_tokens=uniform(8,24)");
    random_case_set(c, "kv_cache.block_size=%" PRIu32, block_size);
    random_case_set(c, "engine.max_num_seqs=4");
    random_case_set(c, "engine.chunked_prefill_size=%" PRIu32, block_size * (1 + grid_choice(&point, 3)));
    random_case_set(c, "kv_cache.num_blocks=%" PRIu32, (52 + 4 * grid_choice(&point, 8)) / block_size);
    random_case_set(c, "kv_cache.prefix_caching=%s", grid_choice(&point, 2) ? "true" : "false");
    random_case_set(c, "engine.schedule_policy=%s", grid_choice(&point, 2) ? "lpm" : "fifo");
    random_case_set(c, "load.seed=%" PRIu32, grid_choice(&point, 3));
    set_engine(c);
}

Test(oracle_sglang_grids, chunks_of_requests_that_were_retracted) {
    const differential_census census = differential_run_all(retracted_chunks, 0, RETRACTED);
    cr_expect_eq(census.n_differences, 0);
    cr_expect_gt(census.n_with_preemptions, census.n_cases / 2);
}

// Five requests grow side by side in a pool that has from just enough for one of them up to enough for most.
enum { FULL_POOLS = 4 * 2 * 3 * 8 * 2 };
static void full_pool(random_case *c, uint64_t point) {
    *c = (random_case){ .seed = point };
    const uint32_t block_size = 1u << grid_choice(&point, 4);
    const uint32_t n_blocks = 2 + grid_choice(&point, 2),
                   past_end = grid_choice(&point, 3); // of the prompt: one short, exact, one more
    const uint32_t prompt = n_blocks * block_size + past_end - 1, output = 2 * block_size + 1;
    random_case_set(c, "workload.requests=5");
    random_case_set(c, "workload.input_tokens=%" PRIu32, prompt);
    random_case_set(c, "workload.output_tokens=%" PRIu32, output);
    random_case_set(c, "kv_cache.block_size=%" PRIu32, block_size);
    random_case_set(c, "kv_cache.num_blocks=%" PRIu32,
                    (prompt + output + block_size - 1) / block_size + 1 + grid_choice(&point, 8));
    random_case_set(c, "kv_cache.prefix_caching=%s", grid_choice(&point, 2) ? "true" : "false");
    set_engine(c);
}

Test(oracle_sglang_grids, a_pool_that_is_full_at_every_block_boundary) {
    const differential_census census = differential_run_all(full_pool, 0, FULL_POOLS);
    cr_expect_eq(census.n_differences, 0);
    cr_expect_gt(census.n_with_preemptions, census.n_cases / 4);
}
