// SPDX-License-Identifier: GPL-3.0-or-later
#include "perfmodel/native/operator_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// All that tells shapes apart: kind, format, and up to seven widths.
enum { KEY_LENGTH = 9 };
typedef struct key {
    double values[KEY_LENGTH];
} key;

struct fpm_table_curve {
    key key;
    size_t begin, end; // of points
};

typedef struct point {
    double count, ms, log_count, log_ms;
} point;

struct fpm_operator_tables {
    point *points; // by shape and count
    fpm_table_curve *curves;
    size_t n_curves;
};

const char *fpm_table_kind_name(fpm_table_kind kind) {
    static const char *const names[] = {
#define X(code, name) name,
        FPM_TABLE_KIND_LIST(X)
#undef X
    };
    return names[kind];
}

static key key_of(const fpm_table_cell *cell) {
    const double kind = cell->kind, format = fpm_format(cell->weights, cell->has_16bit_activations);
    const fpm_moe_shape *moe = &cell->moe;
    switch (cell->kind) {
    case FPM_TABLE_GEMM:
        return (key){ { kind, format, cell->n, cell->k } };
    case FPM_TABLE_MOE:
        return (key){ { kind, format, moe->hidden, moe->intermediate, moe->n_experts, moe->experts_per_token,
                        moe->tensor, moe->expert, moe->is_ungated } };
    case FPM_TABLE_COLLECTIVE:
        return (key){ { kind, cell->collective, cell->ranks } };
    case FPM_TABLE_KINDS:
        break;
    }
    return (key){ { kind } };
}

static int by_key(const key *a, const key *b) {
    for (int i = 0; i < KEY_LENGTH; i++)
        if (a->values[i] != b->values[i]) return a->values[i] < b->values[i] ? -1 : 1;
    return 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Checks
// ---------------------------------------------------------------------------------------------------------------------

typedef struct entry {
    const fpm_table_cell *cell;
    key key;
} entry;

static int by_place(const void *a, const void *b) {
    const entry *left = a, *right = b;
    const int order = by_key(&left->key, &right->key);
    if (order) return order;
    if (left->cell->count != right->cell->count) return left->cell->count < right->cell->count ? -1 : 1;
    return (left->cell > right->cell) - (left->cell < right->cell);
}

// What no such kernel can beat: ranks evenly loaded, experts as unevenly as the formula has them.
static fpm_price bound_of(const fpm_operators *operators, const fpm_table_cell *cell) {
    fpm_moe_shape shape = cell->moe;
    switch (cell->kind) {
    case FPM_TABLE_GEMM:
        return fpm_gemm_price(operators, cell->weights, cell->has_16bit_activations, cell->count, cell->n, cell->k);
    case FPM_TABLE_MOE:
        shape.imbalance = 1;
        shape.skew = FPM_ROUTING_SKEW;
        return fpm_moe_price(operators, cell->weights, cell->has_16bit_activations, &shape, cell->count);
    case FPM_TABLE_COLLECTIVE:
        return fpm_collective_price(operators, cell->collective, cell->ranks, cell->count);
    case FPM_TABLE_KINDS:
        break;
    }
    return (fpm_price){ .ms = 0 };
}

typedef enum fault { NO_FAULT, TOO_FAST, FALLING, TWICE } fault;

// `before`: the cell of the same shape and the next smaller or equal count; NULL without.
static fault fault_of(const fpm_operators *operators, const fpm_table_cell *cell, const fpm_table_cell *before) {
    if (before && before->count == cell->count) return TWICE;
    if (cell->ms < bound_of(operators, cell).bound_ms) return TOO_FAST;
    return before && before->ms > cell->ms ? FALLING : NO_FAULT;
}

static const char *count_name(fpm_table_kind kind) {
    static const char *const names[] = {
        [FPM_TABLE_GEMM] = "m", [FPM_TABLE_MOE] = "tokens", [FPM_TABLE_COLLECTIVE] = "bytes"
    };
    return names[kind];
}

static void describe(fault what, const fpm_operators *operators, const fpm_table_cell *cell,
                     const fpm_table_cell *before, size_t n_faults, fpm_error *error) {
    char others[48] = "";
    if (n_faults > 1) snprintf(others, sizeof others, "; %zu more cells cannot be", n_faults - 1);
    const char *count = count_name(cell->kind);
    const long long line = before ? (long long)before->line : 0;
    if (what == TOO_FAST)
        fpm_error_set(
            error, FPM_OUT_OF_RANGE,
            "%.9g ms is faster than %s allows, which needs %.4g ms (measure with weights out of the caches)%s",
            cell->ms, operators->system->name, bound_of(operators, cell).bound_ms, others);
    else if (what == FALLING)
        fpm_error_set(error, FPM_OUT_OF_RANGE,
                      "%s = %.0f takes %.9g ms, but %s = %.0f of the same shape took %.9g ms in line %lld (time must "
                      "not fall as %s grows)%s",
                      count, cell->count, cell->ms, count, before->count, before->ms, line, count, others);
    else
        fpm_error_set(error, FPM_OUT_OF_RANGE, "the cell was given in line %lld (once is enough)%s", line, others);
    if (!error) return;
    snprintf(error->file, sizeof error->file, "%s", cell->file ? cell->file : "");
    error->line = cell->line;
}

static fpm_status check(const entry *entries, size_t n, const fpm_operators *operators, fpm_error *error) {
    size_t n_faults = 0, first = 0;
    for (size_t i = 0; i < n; i++) {
        const bool has_before = i > 0 && by_key(&entries[i - 1].key, &entries[i].key) == 0;
        if (!fault_of(operators, entries[i].cell, has_before ? entries[i - 1].cell : NULL)) continue;
        if (n_faults++ == 0 || entries[i].cell < entries[first].cell) first = i;
    }
    if (n_faults == 0) return FPM_OK;
    const fpm_table_cell *cell = entries[first].cell;
    const bool has_before = first > 0 && by_key(&entries[first - 1].key, &entries[first].key) == 0;
    const fpm_table_cell *before = has_before ? entries[first - 1].cell : NULL;
    describe(fault_of(operators, cell, before), operators, cell, before, n_faults, error);
    return FPM_OUT_OF_RANGE;
}

// ---------------------------------------------------------------------------------------------------------------------
// Building
// ---------------------------------------------------------------------------------------------------------------------

static void fill(fpm_operator_tables *tables, const entry *entries, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const fpm_table_cell *cell = entries[i].cell;
        tables->points[i] = (point){ cell->count, cell->ms, log(cell->count), log(cell->ms) };
        if (i == 0 || by_key(&entries[i - 1].key, &entries[i].key) != 0)
            tables->curves[tables->n_curves++] = (fpm_table_curve){ .key = entries[i].key, .begin = i };
        tables->curves[tables->n_curves - 1].end = i + 1;
    }
}

static fpm_operator_tables *room_for(size_t n) {
    fpm_operator_tables *tables = calloc(1, sizeof *tables);
    if (!tables) return NULL;
    tables->points = calloc(n ? n : 1, sizeof *tables->points);
    tables->curves = calloc(n ? n : 1, sizeof *tables->curves);
    if (tables->points && tables->curves) return tables;
    fpm_operator_tables_free(tables);
    return NULL;
}

fpm_status fpm_operator_tables_new(fpm_operator_tables **tables, const fpm_table_cell *cells, size_t n_cells,
                                   const fpm_operators *operators, fpm_error *error) {
    *tables = NULL;
    entry *entries = calloc(n_cells ? n_cells : 1, sizeof *entries);
    if (!entries) return fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < n_cells; i++) entries[i] = (entry){ &cells[i], key_of(&cells[i]) };
    qsort(entries, n_cells, sizeof *entries, by_place);
    fpm_status status = check(entries, n_cells, operators, error);
    if (!status) {
        *tables = room_for(n_cells);
        if (*tables)
            fill(*tables, entries, n_cells);
        else
            status = fpm_error_set(error, FPM_NO_MEMORY, "out of memory");
    }
    free(entries);
    return status;
}

void fpm_operator_tables_free(fpm_operator_tables *tables) {
    if (!tables) return;
    free(tables->points);
    free(tables->curves);
    free(tables);
}

bool fpm_operator_tables_has_kind(const fpm_operator_tables *tables, fpm_table_kind kind) {
    for (size_t i = 0; i < tables->n_curves; i++)
        if (tables->curves[i].key.values[0] == (double)kind) return true;
    return false;
}

// ---------------------------------------------------------------------------------------------------------------------
// Asking
// ---------------------------------------------------------------------------------------------------------------------

const fpm_table_curve *fpm_operator_tables_find(const fpm_operator_tables *tables, const fpm_table_cell *shape) {
    const key wanted = key_of(shape);
    size_t low = 0, high = tables->n_curves;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = by_key(&tables->curves[middle].key, &wanted);
        if (order == 0) return &tables->curves[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

double fpm_table_curve_first(const fpm_operator_tables *tables, const fpm_table_curve *curve) {
    return tables->points[curve->begin].count;
}

double fpm_table_curve_last(const fpm_operator_tables *tables, const fpm_table_curve *curve) {
    return tables->points[curve->end - 1].count;
}

double fpm_table_curve_ms(const fpm_operator_tables *tables, const fpm_table_curve *curve, double count) {
    size_t low = curve->begin, high = curve->end - 1;
    while (low < high) { // the first point at or above the count
        const size_t middle = low + (high - low) / 2;
        if (tables->points[middle].count < count)
            low = middle + 1;
        else
            high = middle;
    }
    const point *right = &tables->points[low];
    if (low == curve->begin || right->count == count) return right->ms;
    const point *left = right - 1;
    const double share = (log(count) - left->log_count) / (right->log_count - left->log_count);
    return exp(left->log_ms + (right->log_ms - left->log_ms) * share);
}

// ---------------------------------------------------------------------------------------------------------------------
// Operations
// ---------------------------------------------------------------------------------------------------------------------

bool fpm_operation_table_shape(const fpm_operation *o, fpm_table_cell *shape) {
    *shape = (fpm_table_cell){ .kind = FPM_TABLE_GEMM };
    switch (o->kind) {
    case FPM_OPERATION_GEMM:
        shape->weights = o->shape.gemm.weights;
        shape->has_16bit_activations = o->shape.gemm.has_16bit_activations;
        shape->n = o->shape.gemm.n;
        shape->k = o->shape.gemm.k;
        return true;
    case FPM_OPERATION_MOE:
        shape->kind = FPM_TABLE_MOE;
        shape->weights = o->shape.moe.weights;
        shape->has_16bit_activations = o->shape.moe.has_16bit_activations;
        shape->moe = o->shape.moe.shape;
        return true;
    case FPM_OPERATION_COLLECTIVE:
        shape->kind = FPM_TABLE_COLLECTIVE;
        shape->collective = o->shape.collective.collective;
        shape->ranks = o->shape.collective.ranks;
        return true;
    case FPM_OPERATION_SEND:
    case FPM_OPERATION_MEMORY:
    case FPM_OPERATION_ATTENTION:
        break;
    }
    return false;
}

static const fpm_table_curve *curve_of(const fpm_operation *operation, const fpm_operators *operators) {
    fpm_table_cell shape;
    if (!operators->tables || !fpm_operation_table_shape(operation, &shape)) return NULL;
    return fpm_operator_tables_find(operators->tables, &shape);
}

// What a table counts, per token of the operation.
static double counts_per_token(const fpm_operation *o) {
    return o->kind == FPM_OPERATION_COLLECTIVE ? o->shape.collective.bytes_per_token : 1;
}

bool fpm_operation_has_table(const fpm_operation *operation, const fpm_operators *operators) {
    return curve_of(operation, operators) != NULL;
}

bool fpm_operation_is_from_table(const fpm_operation *operation, const fpm_operators *operators, double count) {
    const fpm_table_curve *curve = curve_of(operation, operators);
    const double measured = count * counts_per_token(operation);
    return curve && measured >= fpm_table_curve_first(operators->tables, curve) &&
           measured <= fpm_table_curve_last(operators->tables, curve);
}

// The part of the formula's floor that a curve has: as much as fits below every one of its prices, whatever the count, so that what the calibration makes of
// floor and rest grows with the price.
static double floor_share(const fpm_operation *operation, const fpm_operators *operators,
                          const fpm_table_curve *curve) {
    const double first = fpm_table_curve_first(operators->tables, curve);
    const double share = fpm_table_curve_ms(operators->tables, curve, first) /
                         fpm_operation_formula(operation, operators, first / counts_per_token(operation)).ms;
    return share < 1 ? share : 1;
}

fpm_price fpm_table_price(const fpm_operation *operation, const fpm_operators *operators, double count,
                          fpm_price formula) {
    const fpm_table_curve *curve = curve_of(operation, operators);
    if (!curve) return formula;
    const double first = fpm_table_curve_first(operators->tables, curve);
    const double last = fpm_table_curve_last(operators->tables, curve);
    const double measured = count * counts_per_token(operation);
    const double at = measured < first ? first : measured > last ? last : measured;
    double ms = fpm_table_curve_ms(operators->tables, curve, at);
    if (at != measured)
        ms *= formula.ms / fpm_operation_formula(operation, operators, at / counts_per_token(operation)).ms;
    formula.ms = ms > formula.bound_ms ? ms : formula.bound_ms;
    formula.floor_ms *= floor_share(operation, operators, curve);
    return formula;
}
