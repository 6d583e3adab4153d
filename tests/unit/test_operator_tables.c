// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/native/operator_tables.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "perfmodel/native/plan.h"

static const fpm_system gpu = { .name = "gpu",
                                .generation = FPM_HOPPER,
                                .memory_bytes = 8e10,
                                .memory_bytes_per_s = 3e12,
                                .flops_per_s = { 1e15, 2e15, 0, 2e15 },
                                .intra_node_bytes_per_s = 4.5e11,
                                .inter_node_bytes_per_s = 5e10,
                                .gpus_per_node = 8 };

static fpm_operators operators_of(const fpm_operator_tables *tables) {
    fpm_operators operators;
    fpm_operators_init(&operators, &gpu);
    operators.tables = tables;
    return operators;
}

static fpm_table_cell gemm(double m, double ms, int64_t line) {
    return (fpm_table_cell){
        .kind = FPM_TABLE_GEMM, .n = 4096, .k = 4096, .count = m, .ms = ms, .file = "gemm.csv", .line = line
    };
}

static fpm_operation gemm_operation(void) {
    fpm_operation operation = { .name = "o_proj", .kind = FPM_OPERATION_GEMM, .count = 32 };
    operation.shape.gemm.n = operation.shape.gemm.k = 4096;
    return operation;
}

static fpm_operator_tables *tables_of(const fpm_table_cell *cells, size_t n) {
    const fpm_operators operators = operators_of(NULL);
    fpm_operator_tables *tables;
    fpm_error error = { .code = FPM_OK };
    cr_assert_eq(fpm_operator_tables_new(&tables, cells, n, &operators, &error), FPM_OK, "%s", error.message);
    return tables;
}

Test(operator_tables, a_measured_shape_has_its_time_and_a_straight_line_between_on_logarithmic_scales) {
    const fpm_table_cell cells[] = { gemm(4096, 0.5, 2), gemm(16, 0.02, 3), gemm(256, 0.05, 4) };
    fpm_operator_tables *tables = tables_of(cells, 3);
    const fpm_operators with = operators_of(tables);
    const fpm_operation operation = gemm_operation();
    cr_expect_float_eq(fpm_operation_price_at(&operation, &with, 16).ms, 32 * 0.02, 1e-12);
    cr_expect_float_eq(fpm_operation_price_at(&operation, &with, 4096).ms, 32 * 0.5, 1e-12);
    cr_expect_float_eq(fpm_operation_price_at(&operation, &with, 64).ms, 32 * sqrt(0.02 * 0.05), 1e-12);
    cr_expect(fpm_operation_has_table(&operation, &with));
    cr_expect(fpm_operation_is_from_table(&operation, &with, 16) &&
              fpm_operation_is_from_table(&operation, &with, 4096));
    cr_expect_not(fpm_operation_is_from_table(&operation, &with, 15));
    cr_expect_not(fpm_operation_is_from_table(&operation, &with, 4097));
    fpm_operator_tables_free(tables);
}

Test(operator_tables, outside_of_the_measured_range_the_formula_holds_scaled_to_meet_the_curve) {
    const fpm_table_cell cells[] = { gemm(16, 0.03, 2), gemm(256, 0.06, 3) };
    fpm_operator_tables *tables = tables_of(cells, 2);
    const fpm_operators with = operators_of(tables), without = operators_of(NULL);
    const fpm_operation operation = gemm_operation();
    const double below =
        fpm_operation_price_at(&operation, &without, 4).ms / fpm_operation_price_at(&operation, &without, 16).ms;
    const double above =
        fpm_operation_price_at(&operation, &without, 1000).ms / fpm_operation_price_at(&operation, &without, 256).ms;
    cr_expect_float_eq(fpm_operation_price_at(&operation, &with, 4).ms, 32 * 0.03 * below, 1e-12);
    cr_expect_float_eq(fpm_operation_price_at(&operation, &with, 1000).ms, 32 * 0.06 * above, 1e-12);
    fpm_operator_tables_free(tables);
}

Test(operator_tables, prices_never_fall_nor_undercut_the_hardware) {
    // Just above what the hardware allows: a formula scaled by so little would undercut it.
    const fpm_operators without = operators_of(NULL);
    const fpm_operation operation = gemm_operation();
    fpm_table_cell cells[] = { gemm(16, 0, 2), gemm(256, 0, 3) };
    for (int i = 0; i < 2; i++)
        cells[i].ms = 1.0001 * fpm_operation_price_at(&operation, &without, cells[i].count).bound_ms / 32;
    fpm_operator_tables *tables = tables_of(cells, 2);
    const fpm_operators with = operators_of(tables);
    double before = 0;
    for (double m = 1; m < 100000; m *= 1.03) {
        const fpm_price price = fpm_operation_price_at(&operation, &with, m);
        cr_assert_geq(price.ms, before, "m = %g", m);
        cr_assert_geq(price.ms, price.bound_ms * (1 - 1e-12), "m = %g", m);
        before = price.ms;
    }
    fpm_operator_tables_free(tables);
}

Test(operator_tables, other_shapes_formats_and_kinds_keep_their_formulas) {
    const fpm_table_cell cells[] = { gemm(16, 0.5, 2) };
    fpm_operator_tables *tables = tables_of(cells, 1);
    const fpm_operators with = operators_of(tables), without = operators_of(NULL);
    fpm_operation others[5] = { gemm_operation(),
                                gemm_operation(),
                                gemm_operation(),
                                { .kind = FPM_OPERATION_MEMORY },
                                { .kind = FPM_OPERATION_COLLECTIVE } };
    others[0].shape.gemm.n = 4097;
    others[1].shape.gemm.weights = FPM_FP8;
    others[2].shape.gemm.weights = FPM_INT4;
    others[3].shape.bytes_per_token = 100;
    others[4].shape.collective.ranks = 2;
    others[4].shape.collective.bytes_per_token = 8192;
    for (int i = 0; i < 5; i++) {
        others[i].count = 1;
        cr_expect_not(fpm_operation_has_table(&others[i], &with));
        cr_expect_not(fpm_operation_is_from_table(&others[i], &with, 16));
        cr_expect_eq(fpm_operation_price_at(&others[i], &with, 16).ms,
                     fpm_operation_price_at(&others[i], &without, 16).ms);
    }
    const fpm_operation same = gemm_operation();
    cr_expect_not(fpm_operation_has_table(&same, &without));
    cr_expect(fpm_operator_tables_has_kind(tables, FPM_TABLE_GEMM));
    cr_expect_not(fpm_operator_tables_has_kind(tables, FPM_TABLE_MOE));
    fpm_operator_tables_free(tables);
}

Test(operator_tables, experts_and_collectives_are_found_by_their_shape) {
    const fpm_moe_shape moe = {
        .hidden = 2048, .intermediate = 768, .n_experts = 128, .experts_per_token = 8, .tensor = 1, .expert = 4
    };
    const fpm_table_cell cells[] = {
        { .kind = FPM_TABLE_MOE, .weights = FPM_FP8, .moe = moe, .count = 64, .ms = 3 },
        { .kind = FPM_TABLE_COLLECTIVE, .collective = FPM_ALL_GATHER, .ranks = 8, .count = 8192, .ms = 0.5 },
    };
    fpm_operator_tables *tables = tables_of(cells, 2);
    const fpm_operators with = operators_of(tables);
    fpm_operation experts = { .kind = FPM_OPERATION_MOE, .count = 1 },
                  gather = { .kind = FPM_OPERATION_COLLECTIVE, .count = 2 };
    experts.shape.moe.weights = FPM_FP8;
    experts.shape.moe.shape = moe;
    experts.shape.moe.shape.skew = 1; // routing is no part of a shape
    experts.shape.moe.shape.imbalance = 1.3;
    gather.shape.collective.collective = FPM_ALL_GATHER;
    gather.shape.collective.ranks = 8;
    gather.shape.collective.bytes_per_token = 4096;
    cr_expect_float_eq(fpm_operation_price_at(&experts, &with, 64).ms, 3, 1e-12);
    cr_expect_float_eq(fpm_operation_price_at(&gather, &with, 2).ms, 1, 1e-12); // counted in bytes
    cr_expect(fpm_operation_is_from_table(&gather, &with, 2));
    experts.shape.moe.shape.is_ungated = true;
    cr_expect_not(fpm_operation_has_table(&experts, &with));
    fpm_operator_tables_free(tables);
}

Test(operator_tables, cells_that_cannot_be_are_refused_at_their_line) {
    const struct {
        fpm_table_cell cells[3];
        int64_t line;
        const char *message;
    } cases[] = {
        { { gemm(16, 0.02, 2), gemm(64, 0.01, 3), gemm(256, 0.05, 4) },
          3,
          "0.01 ms is faster than gpu allows, which needs 0.01" },
        { { gemm(16, 0.02, 2), gemm(256, 0.05, 3), gemm(64, 0.019, 4) },
          4,
          "m = 64 takes 0.019 ms, but m = 16 of the same shape took 0.02 ms in line 2 (time must not fall as m "
          "grows)" },
        { { gemm(16, 0.02, 2), gemm(256, 0.05, 3), gemm(16, 0.02, 4) }, 4, "the cell was given in line 2" },
        { { gemm(16, 0.001, 2), gemm(64, 0.001, 3), gemm(256, 0.05, 4) }, 2, "; 1 more cells cannot be" },
        { { gemm(16, 0.02, 2),
            gemm(17, 0.02, 3),
            { .kind = FPM_TABLE_COLLECTIVE, .ranks = 8, .count = 1e9, .ms = 1, .file = "collective.csv", .line = 7 } },
          7,
          "1 ms is faster than gpu allows, which needs 1.944 ms" },
    };
    const fpm_operators operators = operators_of(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fpm_operator_tables *tables;
        fpm_error error = { .code = FPM_OK };
        cr_expect_eq(fpm_operator_tables_new(&tables, cases[i].cells, 3, &operators, &error), FPM_OUT_OF_RANGE, "%zu",
                     i);
        cr_expect_null(tables);
        cr_expect_eq(error.line, cases[i].line, "%zu: %lld", i, (long long)error.line);
        cr_expect(strstr(error.message, cases[i].message), "%zu: %s", i, error.message);
        cr_expect(strstr(error.file, ".csv"));
    }
}

// The compiled plan holds what the operations say.
Test(operator_tables, the_plan_is_made_of_the_tables) {
    const fpm_table_cell cells[] = { gemm(1, 0.1, 2), gemm(256, 0.1, 3) };
    fpm_operator_tables *tables = tables_of(cells, 2);
    const fpm_operators with = operators_of(tables);
    static fpm_graph graph;
    static fpm_plan plan;
    graph.operations[0] = gemm_operation();
    graph.n_operations = 1;
    fpm_calibration calibration = fpm_calibration_default();
    for (int t = 0; t < FPM_TERMS; t++) calibration.terms[t] = t == FPM_TERM_GEMM_BF16 ? 2 : 0;
    fpm_plan_build(&plan, &graph, &with, &calibration, false);
    const fpm_batch batch = { .tokens = 100 };
    cr_expect_float_eq(fpm_plan_rank_ms(&plan, &batch), 2 * 32 * 0.1, 1e-12);
    fpm_operator_tables_free(tables);
}

// A flat curve, whose rest and floor have different factors.
Test(operator_tables, calibrated_prices_grow_whatever_the_factor_of_the_floor) {
    static const double first_ms[] = { 0.013, 0.1, 1 };
    for (int i = 0; i < 3; i++) {
        const fpm_table_cell cells[] = { gemm(1, first_ms[i], 2), gemm(256, first_ms[i] * 1.001, 3) };
        fpm_operator_tables *tables = tables_of(cells, 2);
        const fpm_operators with = operators_of(tables);
        fpm_operation operation = gemm_operation();
        operation.term = FPM_TERM_GEMM_BF16;
        operation.floor_term = FPM_TERM_MEMORY;
        fpm_calibration calibration = fpm_calibration_default();
        calibration.terms[FPM_TERM_GEMM_BF16] = 0.5;
        calibration.terms[FPM_TERM_MEMORY] = 3;
        double before = 0;
        for (double m = 0.5; m < 10000; m *= 1.07) {
            const fpm_price price = fpm_operation_price_at(&operation, &with, m);
            const double ms = fpm_operation_calibrated_ms(&operation, &price, &calibration);
            cr_assert_geq(price.ms, price.floor_ms);
            cr_assert_geq(ms, before, "m = %g", m);
            before = ms;
        }
        fpm_operator_tables_free(tables);
    }
}
