// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/report/tuning_block.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

#include "sim/kernel/clock.h"
#include "sim/report/json_fields.h"

static const fpm_kind kinds[SIM_N_KINDS] = { FPM_PREFILL, FPM_DECODE, FPM_MIXED };

bool sim_tuning_factors(const sim_tuning_result *result, fpm_kind kind, fpm_factors *factors) {
    *factors = (fpm_factors){ .n_buckets = 0 };
    double sum = 0;
    for (size_t i = 0; i < result->n_models; i++) {
        fpm_factors own;
        if (!fpm_model_factors(result->models[i], kind, &own)) continue;
        if (factors->n_buckets == 0 || own.min < factors->min) factors->min = own.min;
        if (factors->n_buckets == 0 || own.max > factors->max) factors->max = own.max;
        factors->n_buckets += own.n_buckets;
        sum += own.avg * (double)own.n_buckets;
    }
    if (factors->n_buckets > 0) factors->avg = sum / (double)factors->n_buckets;
    return factors->n_buckets > 0;
}

// Is the least or largest ratio that is believed what some passes are corrected by (a smooth surface comes near it)? The model would go further then, if it
// were allowed to.
typedef struct bounds_met {
    const fpm_model_options *options;
    bool is_faster_met, is_slower_met;
} bounds_met;

static bounds_met find_bounds_met(const sim_tuning_result *result, fpm_kind kind) {
    bounds_met met = { .options = NULL };
    fpm_factors factors;
    if (!sim_tuning_factors(result, kind, &factors)) return met;
    met.options = fpm_model_get_options(result->models[0]);
    met.is_faster_met =
        !met.options->is_faster_unbounded && factors.min <= 1.001 * met.options->min_faster_correction_factor;
    met.is_slower_met =
        !met.options->is_slower_unbounded && factors.max >= 0.999 * met.options->max_slower_correction_factor;
    return met;
}

uint64_t sim_tuning_retained(const sim_tuning_result *result, fpm_kind kind) {
    uint64_t n = 0;
    for (size_t i = 0; i < result->n_models; i++) n += fpm_model_retained(result->models[i], kind);
    return n;
}

// --- JSON -------------------------------------------------------------------------------------------------------------

static void add_pct(cJSON *object, const char *key, uint64_t n, double fraction) {
    if (n > 0)
        sim_json_add_number(object, key, 100 * fraction);
    else
        cJSON_AddNullToObject(object, key);
}

static void add_untuned(cJSON *block, const sim_error_measures *m) {
    add_pct(block, "mape_untuned_pct", m->all.n, m->all.mape);
    add_pct(block, "mape_settled_untuned_pct", m->settled.n, m->settled.mape);
    add_pct(block, "mape_final_untuned_pct", m->final.n, m->final.mape);
    add_pct(block, "bias_untuned_pct", m->all.n, m->all.bias);
    add_pct(block, "p50_ape_untuned_pct", m->all.n, m->p50_ape);
    add_pct(block, "p90_ape_untuned_pct", m->all.n, m->p90_ape);
    add_pct(block, "p99_ape_untuned_pct", m->all.n, m->p99_ape);
    add_pct(block, "max_ape_untuned_pct", m->all.n, m->max_ape);
}

static void add_tuned(cJSON *block, const sim_kind_measures *kind) {
    const sim_error_measures *m = &kind->tuned;
    add_pct(block, "mape_tuned_pct", m->all.n, m->all.mape);
    add_pct(block, "mape_settled_pct", m->settled.n, m->settled.mape);
    add_pct(block, "mape_final_pct", m->final.n, m->final.mape);
    if (kind->n_outliers > 0)
        add_pct(block, "mape_without_outliers_pct", m->without_outliers.n, m->without_outliers.mape);
    add_pct(block, "bias_tuned_pct", m->all.n, m->all.bias);
    add_pct(block, "bias_final_pct", m->final.n, m->final.bias);
    add_pct(block, "p50_ape_pct", m->all.n, m->p50_ape);
    add_pct(block, "p90_ape_pct", m->all.n, m->p90_ape);
    add_pct(block, "p99_ape_pct", m->all.n, m->p99_ape);
    add_pct(block, "max_ape_pct", m->all.n, m->max_ape);
}

static void add_factors(cJSON *block, const sim_tuning_result *result, fpm_kind kind) {
    static const char *const keys[] = { "min_correction_factor", "avg_correction_factor", "max_correction_factor" };
    fpm_factors factors;
    const bool has_factors = sim_tuning_factors(result, kind, &factors);
    const double values[] = { factors.min, factors.avg, factors.max };
    for (size_t i = 0; i < 3; i++) {
        if (has_factors)
            sim_json_add_number(block, keys[i], values[i]);
        else
            cJSON_AddNullToObject(block, keys[i]);
    }
    const bounds_met met = find_bounds_met(result, kind);
    if (met.is_faster_met) cJSON_AddTrueToObject(block, "min_faster_correction_factor_met");
    if (met.is_slower_met) cJSON_AddTrueToObject(block, "max_slower_correction_factor_met");
}

static void add_pair(cJSON *object, const char *key, const double values[2], size_t n) {
    cJSON *list = cJSON_AddArrayToObject(object, key);
    for (size_t i = 0; i < n; i++) {
        char text[FPM_NUMBER_BYTES];
        fpm_format_number(text, values[i]);
        cJSON *item = cJSON_CreateRaw(text);
        if (!cJSON_AddItemToArray(list, item)) cJSON_Delete(item);
    }
}

static void add_cell(cJSON *grid, const fpm_cell *cell, fpm_kind kind, bool has_workers, size_t worker) {
    cJSON *item = sim_json_add_item(grid);
    const size_t n_axes = kind == FPM_PREFILL ? 1 : 2;
    if (has_workers) sim_json_add_count(item, "worker", worker);
    add_pair(item, "low", cell->low, n_axes);
    add_pair(item, "high", cell->high, n_axes);
    sim_json_add_count(item, "samples", cell->n_samples);
    if (cell->factor > 0) sim_json_add_number(item, "median_factor", cell->factor);
}

static void add_grid(cJSON *block, const sim_tuning_result *result, fpm_kind kind) {
    cJSON *grid = cJSON_AddArrayToObject(block, "grid");
    for (size_t i = 0; i < result->n_models; i++) {
        const size_t n = fpm_model_cells(result->models[i], kind, NULL, 0);
        fpm_cell *cells = malloc((n ? n : 1) * sizeof *cells);
        if (!cells) return;
        fpm_model_cells(result->models[i], kind, cells, n);
        for (size_t k = 0; k < n; k++) add_cell(grid, &cells[k], kind, result->n_models > 1, i);
        free(cells);
    }
}

enum { MOST_WINDOWS = 16 };

static void add_windows(cJSON *block, const sim_tuning_result *result, fpm_kind kind) {
    sim_error_window windows[MOST_WINDOWS];
    const size_t n = sim_measures_windows(result->measures, kind, MOST_WINDOWS, windows);
    cJSON *list = cJSON_AddArrayToObject(block, "windows");
    for (size_t i = 0; i < n; i++) {
        const sim_error_window *w = &windows[i];
        cJSON *item = sim_json_add_item(list);
        sim_json_add_count(item, "passes", w->n);
        sim_json_add_number(item, "from_ms", sim_ms_from_ns(w->first_ns));
        sim_json_add_number(item, "to_ms", sim_ms_from_ns(w->last_ns));
        add_pct(item, "mape_untuned_pct", w->untuned.n, w->untuned.mape);
        if (result->n_models == 0) continue;
        add_pct(item, "mape_tuned_pct", w->tuned.n, w->tuned.mape);
        add_pct(item, "bias_tuned_pct", w->tuned.n, w->tuned.bias);
    }
}

static void add_kind(cJSON *object, const sim_tuning_result *result, fpm_kind kind) {
    const sim_kind_measures measures = sim_measures_of(result->measures, kind);
    cJSON *block = cJSON_AddObjectToObject(object, fpm_kind_name(kind));
    sim_json_add_count(block, "observations", measures.n_observations);
    sim_json_add_count(block, "retained_observations", sim_tuning_retained(result, kind));
    if (measures.n_outliers > 0) sim_json_add_count(block, "outliers", measures.n_outliers);
    if (result->n_models > 0 && measures.n_unpredicted > 0)
        sim_json_add_count(block, "unpredicted", measures.n_unpredicted);
    if (measures.floor.n > 0) add_pct(block, "mape_floor_pct", measures.floor.n, measures.floor.mape);
    add_untuned(block, &measures.untuned);
    if (result->n_models > 0) {
        add_tuned(block, &measures);
        add_factors(block, result, kind);
        add_grid(block, result, kind);
    }
    add_windows(block, result, kind);
}

void sim_tuning_add_kinds(cJSON *object, const sim_tuning_result *result) {
    cJSON *all = cJSON_AddObjectToObject(object, "kinds");
    for (size_t i = 0; i < SIM_N_KINDS; i++) add_kind(all, result, kinds[i]);
}

// --- table ------------------------------------------------------------------------------------------------------------

static void put_pct(FILE *out, uint64_t n, double fraction) {
    if (n > 0)
        fprintf(out, "%9.2f", 100 * fraction);
    else
        fprintf(out, "%9s", "-");
}

static void put_kind(FILE *out, const sim_tuning_result *result, fpm_kind kind) {
    const sim_kind_measures m = sim_measures_of(result->measures, kind);
    if (m.n_observations == 0) return;
    fprintf(out, "%-8s%10llu", fpm_kind_name(kind), (unsigned long long)m.n_observations);
    put_pct(out, m.untuned.all.n, m.untuned.all.mape);
    put_pct(out, m.untuned.all.n, m.untuned.all.bias);
    if (result->n_models > 0) {
        fpm_factors factors;
        put_pct(out, m.tuned.all.n, m.tuned.all.mape);
        put_pct(out, m.tuned.all.n, m.tuned.all.bias);
        put_pct(out, m.tuned.all.n, m.tuned.p50_ape);
        put_pct(out, m.tuned.all.n, m.tuned.p90_ape);
        put_pct(out, m.tuned.all.n, m.tuned.p99_ape);
        put_pct(out, m.tuned.final.n, m.tuned.final.mape);
        fprintf(out, "%10llu", (unsigned long long)sim_tuning_retained(result, kind));
        if (sim_tuning_factors(result, kind, &factors))
            fprintf(out, "   %.3f / %.3f / %.3f", factors.min, factors.avg, factors.max);
    }
    fputc('\n', out);
}

static void put_bounds_met(FILE *out, const sim_tuning_result *result, fpm_kind kind) {
    const bounds_met met = find_bounds_met(result, kind);
    if (met.is_faster_met)
        fprintf(
            out,
            "Held: %s passes are corrected by no less than perfmodel.min_faster_correction_factor = %g (none = any)\n",
            fpm_kind_name(kind), met.options->min_faster_correction_factor);
    if (met.is_slower_met)
        fprintf(
            out,
            "Held: %s passes are corrected by no more than perfmodel.max_slower_correction_factor = %g (none = any)\n",
            fpm_kind_name(kind), met.options->max_slower_correction_factor);
}

// A regression has no estimate before it has a fit, or where that comes to nothing: such passes are in no error of the model.
static void put_unpredicted(FILE *out, const sim_tuning_result *result, fpm_kind kind) {
    const sim_kind_measures m = sim_measures_of(result->measures, kind);
    if (result->n_models == 0 || m.n_unpredicted == 0) return;
    fprintf(out, "No estimate: %llu of the %llu %s passes, on which the tuned errors say nothing\n",
            (unsigned long long)m.n_unpredicted, (unsigned long long)m.n_observations, fpm_kind_name(kind));
}

sim_status sim_tuning_write_table(const sim_tuning_result *result, FILE *out, sim_error *error) {
    fprintf(out, "%-8s%10s%9s%9s", "Kind", "passes", "untuned", "bias");
    if (result->n_models > 0)
        fprintf(out, "%9s%9s%9s%9s%9s%9s%10s   %s", "tuned", "bias", "p50", "p90", "p99", "last 10%", "retained",
                "factor min / avg / max");
    fputc('\n', out);
    for (size_t i = 0; i < SIM_N_KINDS; i++) put_kind(out, result, kinds[i]);
    fputs(result->n_models > 0
              ? "Errors in per cent of the observed time; p50 to last 10% are of the tuned estimates.\n"
              : "Errors in per cent of the observed time.\n",
          out);
    for (size_t i = 0; i < SIM_N_KINDS; i++) put_unpredicted(out, result, kinds[i]);
    for (size_t i = 0; i < SIM_N_KINDS; i++) put_bounds_met(out, result, kinds[i]);
    return ferror(out) ? sim_error_set(error, SIM_IO, NULL, 0, "the table could not be written") : SIM_OK;
}
