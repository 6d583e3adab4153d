// SPDX-License-Identifier: GPL-3.0-or-later
//
// The head of the public Mooncake conversation trace through the product and through the naive oracle.
#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/oracle/differential.h"

static const char trace[] = SHARED_DIR "/traces/mooncake/conversation_trace.jsonl";

static void expect_agreement(const char *const *sets, differential_census *census) {
    random_case c = { .n_sets = 0 };
    random_case_set(&c, "workload.source=trace");
    random_case_set(&c, "workload.path=%s", trace);
    random_case_set(&c, "workload.limit=300");
    random_case_set(&c, "perfmodel.estimator=polynomial");
    for (; *sets; sets++) random_case_set(&c, "%s", *sets);
    cr_expect(differential_agrees(&c, census));
}

Test(oracle_mooncake, three_hundred_real_requests_are_byte_identical_to_the_oracle) {
    if (access(trace, R_OK)) {
        fprintf(stderr, "SKIPPED: %s is not there\n", trace);
        cr_skip_test("no trace");
    }
    static const char *const runs[][12] = {
        // the trace's own blocks; room for all, then room for a few
        { "kv_cache.block_size=512", "kv_cache.num_blocks=2000", "cluster.replicas=4" },
        { "kv_cache.block_size=512", "kv_cache.num_blocks=300" },
        { "kv_cache.block_size=512", "kv_cache.num_blocks=260", "engine.preemption=fifo", "cluster.replicas=2",
          "load.mode=concurrency", "load.concurrency=40" },
        { "kv_cache.block_size=512", "kv_cache.num_blocks=300", "kv_cache.prefix_caching=false", "load.mode=poisson",
          "load.rate=4", "cluster.replicas=3", "perfmodel.pricing=serial" },
        // blocks that do not fit into the trace's, and small ones
        { "kv_cache.block_size=100", "kv_cache.num_blocks=1500", "cluster.replicas=2" },
        { "kv_cache.block_size=64", "kv_cache.num_blocks=2500", "cluster.replicas=2", "load.speedup=2",
          "engine.chunked_prefill=false", "engine.max_num_batched_tokens=140000" },
    };
    differential_census census = { .n_cases = 0 };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) expect_agreement(runs[i], &census);
    differential_end();
    fprintf(stderr, "%u runs, %u with preemptions, %llu passes\n", (unsigned)census.n_cases,
            (unsigned)census.n_with_preemptions, (unsigned long long)census.n_passes);
    cr_expect_gt(census.n_with_preemptions, 0);
}
