// SPDX-License-Identifier: GPL-3.0-or-later
//
// Every allocation of reading measured passes or kernels, and of the estimator over them, fails once: SIM_NO_MEMORY, and nothing leaks.
#include <criterion/criterion.h>
#include <string.h>

#include "sim/deployment/pass_table.h"
#include "sim/deployment/table_files.h"
#include "tests/support/failing_malloc.h"

static const char csv[] = "prefill_tokens,prefill_kv_tokens,decode_requests,decode_kv_tokens,ms\n100,0,0,0,12.5\n"
                          "\"100\",0,1,\"7\",13\n0,0,1,7,3\n0,0,1,7,4\n0,0,2,7,4\n";
static const char log_rows[] =
    "{\"worker_id\":\"a\",\"counter_id\":1,\"wall_time\":0.5,\"scheduled_requests\":{\"num_decode_requests\":4}}\n"
    "{\"worker_id\":\"a\",\"counter_id\":2,\"wall_time\":0.5,\"scheduled_requests\":{\"num_decode_requests\":5}}\n";
static const char gemm[] = "weights,m,n,k,ms\nbf16,1,4096,4096,0.5\nbf16,2,4096,4096,0.6\n\"fp8\",1,4096,4096,0.5\n";

static sim_status price_passes(const char *text, sim_error *error) {
    sim_pass_table table;
    sim_status status = sim_pass_table_parse(&table, text, strlen(text), "t", error);
    fpm_estimator *estimator = NULL;
    const fpm_table_options options = { table.passes, table.n, "t", FPM_PRICING_FUSED };
    if (!status && fpm_estimator_new_table(&estimator, &options, NULL) == FPM_NO_MEMORY) status = SIM_NO_MEMORY;
    fpm_estimator_free(estimator);
    sim_pass_table_clear(&table);
    return status;
}

static sim_status read_csv(sim_error *error) { return price_passes(csv, error); }
static sim_status read_log(sim_error *error) { return price_passes(log_rows, error); }

static sim_status read_kernels(sim_error *error) {
    static const fpm_system gpu = { .name = "gpu", .memory_bytes_per_s = 3e12, .flops_per_s = { 1e15, 2e15 } };
    static fpm_operators operators;
    fpm_operators_init(&operators, &gpu);
    fpm_operator_tables *tables;
    const sim_status status = sim_table_files_parse(&tables, gemm, sizeof gemm - 1, "gemm.csv", &operators, error);
    fpm_operator_tables_free(tables);
    return status;
}

static void fail_everywhere(sim_status (*scenario)(sim_error *)) {
    for (int round = 0; round < 2; round++) {
        keeps_failing = round == 1;
        for (long n = 0;; n++) {
            sim_error error = { 0 };
            const long live_before = n_live;
            has_failed = false;
            n_left = n;
            const sim_status status = scenario(&error);
            n_left = -1;
            cr_assert_eq(n_live, live_before, "allocation %ld leaks", n);
            cr_assert_eq(status, has_failed ? SIM_NO_MEMORY : SIM_OK, "allocation %ld: %s", n, error.message);
            if (!has_failed) break;
            cr_assert_lt(n, 500);
        }
    }
}

Test(table_memory, passes_as_csv) { fail_everywhere(read_csv); }
Test(table_memory, passes_as_a_log) { fail_everywhere(read_log); }
Test(table_memory, kernels) { fail_everywhere(read_kernels); }
