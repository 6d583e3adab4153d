// SPDX-License-Identifier: GPL-3.0-or-later
//
// Every allocation of an engine fails once, with every backend: the call says SIM_NO_MEMORY, and what there is can be freed.
#include "tests/support/engine_probe.h"
#include "tests/support/failing_malloc.h"

static sim_status run_pass(probe *p, bool *is_started) {
    p->log[0] = '\0';
    sim_status status = sim_engine_schedule(p->engine, p->now_ns, false, &p->pass, is_started, NULL);
    if (status || !*is_started) return status;
    return sim_engine_complete(p->engine, ++p->now_ns, NULL);
}

// More requests than the first allocations hold, alike in part, in a pool that is too small for them, one of them refused.
static sim_status run(probe *p) {
    sim_status status = sim_engine_new(&p->engine, &p->config, &p->kv_cache, &p->content, &p->events, true, NULL);
    bool is_started = true;
    for (uint32_t i = 0; i < 150 && !status; i++) {
        uint32_t request = i % 64;
        p->family[request] = request % 5;
        p->n_shared_tokens[request] = request % 17;
        status = sim_engine_enqueue(p->engine, request, request == 50 ? 500 : 20 + request % 7, request % 30, NULL);
        if (!status && i % 8 == 0) status = run_pass(p, &is_started);
    }
    while (!status && is_started) status = run_pass(p, &is_started);
    return status;
}

Test(engine, every_allocation_that_fails_is_reported_and_nothing_leaks) {
    for (int backend = SIM_BACKEND_VLLM; backend <= SIM_BACKEND_TRTLLM; backend++) {
        sim_status status = SIM_NO_MEMORY;
        long n_failed = 0;
        for (; status != SIM_OK; n_failed++) {
            probe p;
            probe_init(&p, 40);
            p.config.backend = backend;
            p.config.max_num_batched_tokens = 64;
            p.config.max_prefill_tokens = 64;
            p.config.clip_max_new_tokens = 10;
            p.config.schedule_policy = SIM_POLICY_LPM;
            n_live = 0;
            n_left = n_failed;
            status = run(&p);
            n_left = -1;
            cr_assert(status == SIM_OK || status == SIM_NO_MEMORY, "%s, allocation %ld: status %d",
                      sim_backend_names[backend], n_failed, status);
            if (p.engine) sim_engine_free(p.engine);
            cr_assert_eq(n_live, 0, "%s, allocation %ld: %ld blocks leak", sim_backend_names[backend], n_failed,
                         n_live);
        }
        cr_expect_gt(n_failed, 10);
    }
}
