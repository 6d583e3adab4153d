// SPDX-License-Identifier: GPL-3.0-or-later
//
// A user's measured kernels in place of the formulas. Cells of one shape are a curve over its count (rows of a matrix product, tokens of the experts, bytes of a
// collective): straight between measured points on logarithmic scales. Nothing is extrapolated: below the first point and above the last one the formula
// holds, scaled to meet the curve there; shapes without a cell have their formula. So a price stays continuous, grows with its count as long as the cells do (which is
// checked) and never undercuts the hardware. The factor of the calibration applies as it does to a formula: curves are fits to measured kernels themselves.
//
// Tables enter where an operation is priced (fpm_operation_price_at), so that the compiled plan and whoever explains a price both see them, and an estimate pays
// nothing. Attention has none: its price is a form over sums of the batch, which a table of single shapes does not determine.
#ifndef PERFMODEL_NATIVE_OPERATOR_TABLES_H
#define PERFMODEL_NATIVE_OPERATOR_TABLES_H

#include "perfmodel/native/graph.h"

// enumerator, name of the kind
#define FPM_TABLE_KIND_LIST(X) \
    X(FPM_TABLE_GEMM, "gemm")  \
    X(FPM_TABLE_MOE, "moe")    \
    X(FPM_TABLE_COLLECTIVE, "collective")
typedef enum fpm_table_kind {
#define X(code, name) code,
    FPM_TABLE_KIND_LIST(X)
#undef X
        FPM_TABLE_KINDS
} fpm_table_kind;
const char *fpm_table_kind_name(fpm_table_kind kind);

typedef struct fpm_table_cell {
    fpm_table_kind kind;
    fpm_precision weights;      // gemm, moe
    bool has_16bit_activations; // gemm, moe
    double n, k;                // gemm, of one rank
    fpm_moe_shape moe;          // moe; imbalance and skew are not part of the shape
    fpm_collective collective;
    double ranks;     // collective
    double count;     // m, tokens or bytes; > 0
    double ms;        // > 0
    const char *file; // for messages; borrowed while the tables are made
    int64_t line;
} fpm_table_cell;

// Checks every cell against the system of `operators` and its neighbours. FPM_OUT_OF_RANGE, with the file and line of the first cell (in the order given) that cannot
// be and the number of all such: faster than the hardware allows, faster than a cell of the same shape with a smaller count, measured twice.
// FPM_NO_MEMORY. O(n log n).
fpm_status fpm_operator_tables_new(fpm_operator_tables **tables, const fpm_table_cell *cells, size_t n_cells,
                                   const fpm_operators *operators, fpm_error *error);
void fpm_operator_tables_free(fpm_operator_tables *tables);
bool fpm_operator_tables_has_kind(const fpm_operator_tables *tables, fpm_table_kind kind);

// The curve of one shape, found by a cell that names it (count and time are not read); NULL without one. O(log n).
typedef struct fpm_table_curve fpm_table_curve;
const fpm_table_curve *fpm_operator_tables_find(const fpm_operator_tables *tables, const fpm_table_cell *shape);
// Smallest and largest measured count.
double fpm_table_curve_first(const fpm_operator_tables *tables, const fpm_table_curve *curve);
double fpm_table_curve_last(const fpm_operator_tables *tables, const fpm_table_curve *curve);
// Milliseconds at a count within these.
double fpm_table_curve_ms(const fpm_operator_tables *tables, const fpm_table_curve *curve, double count);

// --- of operations (graph.h) ---

// The shape of an operation as a cell. False: a kind that has no tables.
bool fpm_operation_table_shape(const fpm_operation *operation, fpm_table_cell *shape);
// Do operators->tables hold the shape of this operation?
bool fpm_operation_has_table(const fpm_operation *operation, const fpm_operators *operators);
// Is fpm_operation_price_at(operation, operators, count) a measured one, i.e. does the count lie within those that were measured?
bool fpm_operation_is_from_table(const fpm_operation *operation, const fpm_operators *operators, double count);
// The price of one of its launches, `formula` being what the formula says; that, where there is no table.
fpm_price fpm_table_price(const fpm_operation *operation, const fpm_operators *operators, double count,
                          fpm_price formula);

#endif
