// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any bytes as a file of measured passes and as each file of measured kernels. What is accepted prices: a measured pass within the times measured, a
// measured kernel at its time, and no kernel below the hardware's bound or falling.
#include <stdint.h>
#include <stdlib.h>

#include "sim/deployment/pass_table.h"
#include "sim/deployment/table_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void must(int is_so) {
    if (!is_so) abort();
}

static void check_error(sim_status status, const sim_error *error) {
    must(status == SIM_BAD_DATA && error->message[0] && error->file[0]);
}

static void check_passes(const sim_pass_table *table) {
    const fpm_table_options options = { table->passes, table->n, "fuzz", FPM_PRICING_FUSED };
    fpm_estimator *estimator;
    must(fpm_estimator_new_table(&estimator, &options, NULL) == FPM_OK);
    double least = table->passes[0].ms, most = least;
    for (size_t i = 0; i < table->n; i++) {
        least = table->passes[i].ms < least ? table->passes[i].ms : least;
        most = table->passes[i].ms > most ? table->passes[i].ms : most;
    }
    for (size_t i = 0; i < table->n && i < 100; i++) {
        fpm_metrics rank = fpm_metrics_idle();
        rank.scheduled = table->passes[i].scheduled;
        rank.scheduled.num_prefill_requests = rank.scheduled.sum_prefill_tokens > 0;
        double ms;
        must(fpm_estimate_ms(estimator, &rank, 1, &ms, NULL) == FPM_OK && ms >= least && ms <= most);
        rank.scheduled.sum_decode_kv_tokens /= 2;
        rank.scheduled.sum_prefill_kv_tokens /= 3;
        const fpm_status status = fpm_estimate_ms(estimator, &rank, 1, &ms, NULL);
        must(status == FPM_UNSUPPORTED || (status == FPM_OK && ms >= least * (1 - 1e-9) && ms <= most * (1 + 1e-9)));
    }
    fpm_estimator_free(estimator);
}

static void check_kernels(const char *text, size_t n_bytes, const char *name) {
    static const fpm_system gpu = { .name = "gpu",
                                    .memory_bytes_per_s = 3e12,
                                    .flops_per_s = { 1e15, 2e15 },
                                    .intra_node_bytes_per_s = 4e11,
                                    .inter_node_bytes_per_s = 5e10,
                                    .gpus_per_node = 8 };
    static fpm_operators operators;
    fpm_operators_init(&operators, &gpu);
    fpm_operator_tables *tables;
    sim_error error = { .code = SIM_OK };
    const sim_status status = sim_table_files_parse(&tables, text, n_bytes, name, &operators, &error);
    if (status) {
        check_error(status, &error);
        return;
    }
    operators.tables = tables;
    fpm_operation operation = { .kind = FPM_OPERATION_GEMM, .count = 1 };
    operation.shape.gemm.n = operation.shape.gemm.k = 4096;
    double before = 0;
    for (double m = 1; m < 1e5 && fpm_operation_has_table(&operation, &operators); m *= 1.5) {
        const fpm_price price = fpm_operation_price_at(&operation, &operators, m);
        must(price.ms >= before * (1 - 1e-12) && price.ms >= price.bound_ms);
        before = price.ms;
    }
    fpm_operator_tables_free(tables);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
    const char *text = (const char *)data;
    sim_pass_table table;
    sim_error error = { .code = SIM_OK };
    const sim_status status = sim_pass_table_parse(&table, text, n_bytes, "fuzz", &error);
    if (status)
        check_error(status, &error);
    else
        check_passes(&table);
    sim_pass_table_clear(&table);
    check_kernels(text, n_bytes, "gemm.csv");
    check_kernels(text, n_bytes, "moe.csv");
    check_kernels(text, n_bytes, "collective.csv");
    return 0;
}
