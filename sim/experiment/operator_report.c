// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/operator_report.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_in(const sim_operator_row *row, const sim_operator_sample *sample) {
    if (row->kind == SIM_SAMPLE_KINDS) return sim_sample_kind_class(sample->kind) == row->class_of;
    return sample->kind == row->kind && (row->backend < 0 || sample->backend == row->backend) &&
           (row->format < 0 || sample->format == row->format);
}

// Prices and samples of one system, priced once.
typedef struct priced {
    const sim_operator_sample **samples;
    fpm_price *prices;
    double *ratios; // room for as many
    size_t n;
} priced;

static void free_priced(priced *on) {
    free(on->samples);
    free(on->prices);
    free(on->ratios);
}

static bool price_all(priced *on, const sim_operator_curves *curves, const sim_sample_set *set, size_t system) {
    *on = (priced){ .samples = malloc((set->n + 1) * sizeof *on->samples),
                    .prices = malloc((set->n + 1) * sizeof *on->prices),
                    .ratios = malloc((set->n + 1) * sizeof *on->ratios) };
    if (!on->samples || !on->prices || !on->ratios) return false;
    for (size_t i = 0; i < set->n; i++) {
        const sim_operator_sample *sample = &set->samples[i];
        if (sample->system != system) continue;
        on->samples[on->n] = sample;
        on->prices[on->n++] = sim_sample_price(sample, &curves->operators[sample->backend]);
    }
    return true;
}

static double median_of(double *values, size_t n) {
    gsl_sort(values, 1, n);
    return gsl_stats_median_from_sorted_data(values, 1, n);
}

static void fill_all(sim_operator_row *row, const priced *on) {
    size_t n = 0;
    for (size_t i = 0; i < on->n; i++)
        if (is_in(row, on->samples[i])) on->ratios[n++] = fabs(on->prices[i].ms / on->samples[i]->ms - 1);
    if (n > 0) row->all_median_error_frac = median_of(on->ratios, n);
}

static void fill_row(sim_operator_row *row, const priced *on) {
    fill_all(row, on);
    double *ratios = on->ratios;
    size_t n = 0;
    for (size_t i = 0; i < on->n; i++) {
        const sim_operator_sample *sample = on->samples[i];
        if (!is_in(row, sample)) continue;
        if (sample->is_host_bound) {
            row->n_host_bound++;
            continue;
        }
        const fpm_price *price = &on->prices[i];
        row->n_cached += sample->ms < price->bound_ms;
        ratios[n++] = price->ms / fmax(sample->ms, price->bound_ms) - 1;
    }
    row->n_samples = n;
    if (n == 0) return;
    row->bias_frac = median_of(ratios, n);
    for (size_t i = 0; i < n; i++) ratios[i] = fabs(ratios[i]);
    row->median_error_frac = median_of(ratios, n);
    row->p90_error_frac = gsl_stats_quantile_from_sorted_data(ratios, 1, n, 0.9);
}

static void add_row(sim_operator_row *rows, size_t *n_rows, const priced *on, sim_operator_row row) {
    fill_row(&row, on);
    if (row.n_samples + row.n_host_bound > 0) rows[(*n_rows)++] = row;
}

sim_status sim_operator_report(const sim_operator_curves *curves, const sim_sample_set *set, size_t system,
                               sim_operator_grouping grouping, sim_operator_row *rows, size_t *n_rows,
                               sim_error *error) {
    const int n_backends = grouping == SIM_GROUP_KIND ? 1 : FPM_BACKENDS + 1;
    const int n_formats = grouping == SIM_GROUP_FORMAT ? FPM_FORMATS : 1;
    *n_rows = 0;
    priced on;
    const bool has_prices = price_all(&on, curves, set, system);
    for (int kind = 0; kind < SIM_SAMPLE_KINDS && has_prices; kind++)
        for (int group = 0; group < n_backends * n_formats; group++)
            add_row(rows, n_rows, &on,
                    (sim_operator_row){ .kind = (sim_sample_kind)kind,
                                        .class_of = sim_sample_kind_class((sim_sample_kind)kind),
                                        .backend = n_backends == 1 ? -1 : group / n_formats,
                                        .format = n_formats == 1 ? -1 : group % n_formats });
    for (int i = 0; i < SIM_SAMPLE_CLASSES && has_prices; i++)
        add_row(rows, n_rows, &on,
                (sim_operator_row){
                    .kind = SIM_SAMPLE_KINDS, .class_of = (sim_sample_class)i, .backend = -1, .format = -1 });
    free_priced(&on);
    if (!has_prices) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    return SIM_OK;
}

void sim_operator_row_name(const sim_operator_row *row, char name[64]) {
    static const char *const backends[] = {
#define X(code, text) " " text,
        FPM_BACKEND_LIST(X)
#undef X
            " all"
    };
    const char *kind =
        row->kind == SIM_SAMPLE_KINDS ? sim_sample_class_name(row->class_of) : sim_sample_kind_name(row->kind);
    snprintf(name, 64, "%s%s%s%s", kind, row->backend < 0 ? "" : backends[row->backend], row->format < 0 ? "" : " ",
             row->format < 0 ? "" : fpm_format_name(row->format));
}

// ---------------------------------------------------------------------------------------------------------------------
// The file of a system
// ---------------------------------------------------------------------------------------------------------------------

static void write_sources(const sim_sample_set *set, size_t system, FILE *out) {
    bool is_used[SIM_MAX_SOURCES] = { false };
    for (size_t i = 0; i < set->n; i++)
        if (set->samples[i].system == system && !set->samples[i].is_host_bound) is_used[set->samples[i].source] = true;
    fprintf(
        out,
        "; Measured by AIConfigurator (ai-dynamo/aiconfigurator systems/data, Apache-2.0): file, engine, version\n");
    for (size_t i = 0; i < set->n_sources; i++)
        if (is_used[i]) fprintf(out, ";   %s\n", set->sources[i]);
}

static void write_errors(const sim_operator_row *rows, size_t n_rows, FILE *out) {
    fprintf(out, "; Error of the prices below, |price / measured - 1|: median, nine tenths, samples\n");
    for (size_t i = 0; i < n_rows; i++) {
        char name[64];
        sim_operator_row_name(&rows[i], name);
        if (rows[i].n_samples > 0)
            fprintf(out, ";   %-24s %5.1f %% %6.1f %% %6zu\n", name, 100 * rows[i].median_error_frac,
                    100 * rows[i].p90_error_frac, rows[i].n_samples);
    }
}

bool sim_operator_report_write(const sim_operator_curves *curves, const sim_sample_set *set, size_t system,
                               const sim_operator_row *rows, size_t n_rows, FILE *out) {
    fprintf(out, "; What kernels cost on %s. Written by `forepass accuracy DIR --calibrate OUT`; do not edit.\n",
            set->systems[system].name);
    write_sources(set, system, out);
    write_errors(rows, n_rows, out);
    return sim_operator_curves_write(curves, out);
}
