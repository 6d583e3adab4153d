// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/compare_figures.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/kernel/clock.h"
#include "sim/workload/growable.h"

static const double percents[] = { 50, 90, 95, 99 };
enum {
    N_PERCENTS = sizeof percents / sizeof *percents,
    MAX_FIGURES = SIM_LATENCIES * (1 + N_PERCENTS) + 2 + SIM_LATENCIES * SIM_MAX_CLASSES
};

typedef struct building {
    sim_compared_figures *out;
    const sim_compared_run *runs;
    const sim_pairing *pairing;
    double *latencies[2][SIM_LATENCIES]; // by place in the order; NAN = none, in either run when they are paired
    sim_ranking *rankings[2][SIM_LATENCIES];
    double autocorrelation_cells; // longest so far
    bool has_all;                 // false: no memory
} building;

// ---------------------------------------------------------------------------------------------------------------------
// Memory
// ---------------------------------------------------------------------------------------------------------------------

// Zeros that live as long as the figures. NULL: no memory, which `has_all` tells in the end.
static void *own(building *in, size_t n, size_t element_bytes) {
    sim_compared_figures *out = in->out;
    void **owned = sim_grown(out->owned, &out->owned_capacity, out->n_owned + 1, sizeof *owned);
    if (owned) out->owned = owned;
    void *made = owned ? calloc(n ? n : 1, element_bytes) : NULL;
    if (made)
        owned[out->n_owned++] = made;
    else
        in->has_all = false;
    return made;
}

static const sim_request_outcome *row_of(const building *in, int side, size_t place) {
    return &in->runs[side].table->rows[in->pairing->order[side][place]];
}

static sim_figure *add(building *in, sim_figure_kind kind, uint32_t family, sim_estimate **estimate) {
    const size_t at = in->out->set.n++;
    *estimate = &in->out->set.estimates[at];
    **estimate = (sim_estimate){ .family = family };
    in->out->figures[at] = (sim_figure){ .kind = kind };
    return &in->out->figures[at];
}

// Sums of cells to running totals.
static void accumulate(double *sums, const sim_blocks *blocks) {
    for (uint32_t c = 0; c < blocks->n_cells; c++) sums[c + 1] += sums[c];
}

static sim_ratio new_ratio(building *in, int side) {
    const size_t n = (size_t)in->out->set.blocks[side].n_cells + 1;
    return (sim_ratio){ own(in, n, sizeof(double)), own(in, n, sizeof(double)) };
}

static void put(const building *in, sim_ratio *to, int side, size_t place, double amount, double of) {
    const uint32_t cell = sim_blocks_cell(&in->out->set.blocks[side], place);
    to->amount[cell + 1] += amount;
    to->of[cell + 1] += of;
}

static void close_ratio(const building *in, sim_ratio *ratio, int side) {
    accumulate(ratio->amount, &in->out->set.blocks[side]);
    accumulate(ratio->of, &in->out->set.blocks[side]);
}

// ---------------------------------------------------------------------------------------------------------------------
// Latencies
// ---------------------------------------------------------------------------------------------------------------------

static double latency(const building *in, int side, size_t place, int which) {
    const sim_request_outcome *row = row_of(in, side, place);
    if (!row->is_measured || row->status != SIM_REQUEST_COMPLETED) return (double)NAN;
    return row->ms[which];
}

static void collect(building *in) {
    for (int side = 0; side < 2; side++)
        for (int which = 0; which < SIM_LATENCIES; which++) {
            double *values = in->latencies[side][which] = own(in, in->pairing->n[side], sizeof *values);
            for (size_t i = 0; values && i < in->pairing->n[side]; i++) {
                values[i] = latency(in, side, i, which);
                if (in->pairing->is_paired && isnan(latency(in, 1 - side, i, which))) values[i] = (double)NAN;
            }
        }
}

static bool is_same_time(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

// Of all rows, those of the warm-up too.
static bool is_identical(const building *in) {
    const sim_request_table *tables[2] = { in->runs[0].table, in->runs[1].table };
    const bool has_arrivals = tables[0]->has_arrivals && tables[1]->has_arrivals;
    if (!in->pairing->is_paired) return false;
    for (size_t i = 0; i < tables[0]->n_rows; i++) {
        const sim_request_outcome *a = &tables[0]->rows[i], *b = &tables[1]->rows[i];
        if (a->status != b->status) return false;
        if (has_arrivals && a->status != SIM_REQUEST_PENDING && a->arrival_ns != b->arrival_ns) return false;
        for (int which = 0; which < SIM_LATENCIES; which++)
            if (!is_same_time(a->ms[which], b->ms[which])) return false;
    }
    return true;
}

static void add_mean(building *in, int which) {
    sim_estimate *estimate;
    sim_figure *figure = add(in, SIM_FIGURE_MEAN, SIM_FAMILY_ALL, &estimate);
    figure->latency = (sim_latency)which;
    snprintf(figure->key, sizeof figure->key, "mean_%s_ms", sim_latencies[which].stem);
    snprintf(figure->heading, sizeof figure->heading, "mean %s", sim_latencies[which].heading);
    for (int side = 0; side < 2; side++) {
        sim_ratio *ratio = &estimate->ratios[side];
        *ratio = new_ratio(in, side);
        if (!in->has_all) return;
        const double *values = in->latencies[side][which];
        for (size_t i = 0; i < in->pairing->n[side]; i++)
            if (!isnan(values[i])) put(in, ratio, side, i, values[i], 1);
        close_ratio(in, ratio, side);
    }
}

static void rank(building *in, int side, int which, const double *counts) {
    const size_t n = in->pairing->n[side];
    const double *values = in->latencies[side][which];
    sim_ranking *ranking = in->rankings[side][which] = own(in, 1, sizeof *ranking);
    double *kept = own(in, n, sizeof *kept);
    uint32_t *cells = own(in, n, sizeof *cells);
    size_t *order = malloc((n ? n : 1) * sizeof *order);
    in->has_all &= order != NULL;
    if (!in->has_all) {
        free(order);
        return;
    }
    *ranking = (sim_ranking){ .values = kept, .cells = cells, .counts = counts };
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i])) kept[ranking->n++] = values[i];
    // places of the kept values, which gsl_sort_index gives back by rank
    size_t *place = own(in, n, sizeof *place);
    for (size_t i = 0, k = 0; place && i < n; i++)
        if (!isnan(values[i])) place[k++] = i;
    gsl_sort_index(order, kept, 1, ranking->n);
    for (size_t i = 0; place && i < ranking->n; i++)
        cells[i] = sim_blocks_cell(&in->out->set.blocks[side], place[order[i]]);
    gsl_sort(kept, 1, ranking->n);
    free(order);
}

static void add_percentile(building *in, int which, double percent) {
    sim_estimate *estimate;
    sim_figure *figure = add(in, SIM_FIGURE_PERCENTILE, SIM_FAMILY_ALL, &estimate);
    figure->latency = (sim_latency)which;
    figure->percent = percent;
    char name[16] = "median";
    if (percent != 50) snprintf(name, sizeof name, "p%g", percent);
    snprintf(figure->key, sizeof figure->key, "%s_%s_ms", name, sim_latencies[which].stem);
    snprintf(figure->heading, sizeof figure->heading, "%s %s", name, sim_latencies[which].heading);
    estimate->percent = percent;
    for (int side = 0; side < 2; side++) estimate->rankings[side] = in->rankings[side][which];
}

static bool has_values(const building *in, int which) {
    for (int side = 0; side < 2; side++) {
        size_t i = 0;
        while (i < in->pairing->n[side] && isnan(in->latencies[side][which][i])) i++;
        if (i == in->pairing->n[side]) return false;
    }
    return true;
}

static void add_latency(building *in, int which) {
    if (!has_values(in, which)) return;
    const sim_estimate *mean = &in->out->set.estimates[in->out->set.n];
    add_mean(in, which);
    for (int side = 0; side < 2 && in->has_all; side++) rank(in, side, which, mean->ratios[side].of);
    for (size_t p = 0; p < N_PERCENTS && in->has_all; p++) add_percentile(in, which, percents[p]);
}

// ---------------------------------------------------------------------------------------------------------------------
// Attainment and throughput
// ---------------------------------------------------------------------------------------------------------------------

// As the summary has it: a completed request without output is good only under an e2e bound alone.
static bool is_good(const sim_sla_config *sla, const sim_request_outcome *row) {
    const double *ms = row->ms;
    if (row->status != SIM_REQUEST_COMPLETED) return false;
    if (isnan(ms[SIM_LATENCY_TTFT]) && (sla->ttft_ns > 0 || sla->tpot_ns > 0)) return false;
    if (sla->ttft_ns > 0 && ms[SIM_LATENCY_TTFT] > sim_ms_from_ns(sla->ttft_ns)) return false;
    if (sla->tpot_ns > 0 && ms[SIM_LATENCY_TPOT] > sim_ms_from_ns(sla->tpot_ns)) return false; // NAN: one token
    return sla->e2e_ns == 0 || !(ms[SIM_LATENCY_E2E] > sim_ms_from_ns(sla->e2e_ns));
}

static void add_attainment(building *in) {
    sim_estimate *estimate;
    if (!in->runs[0].sla || !in->runs[1].sla) return;
    sim_figure *figure = add(in, SIM_FIGURE_ATTAINMENT, SIM_FAMILY_ALL, &estimate);
    estimate->is_share = true;
    snprintf(figure->key, sizeof figure->key, "sla_attainment");
    snprintf(figure->heading, sizeof figure->heading, "SLA attainment");
    for (int side = 0; side < 2; side++) {
        sim_ratio *ratio = &estimate->ratios[side];
        *ratio = new_ratio(in, side);
        if (!in->has_all) return;
        for (size_t i = 0; i < in->pairing->n[side]; i++)
            put(in, ratio, side, i, is_good(in->runs[side].sla, row_of(in, side, i)), 1);
        close_ratio(in, ratio, side);
    }
}

static double finish_ms(const sim_request_outcome *row) {
    return sim_ms_from_ns(row->arrival_ns) + row->ms[SIM_LATENCY_E2E];
}

static int by_finish(const void *a, const void *b) {
    const sim_request_outcome *x = *(const sim_request_outcome *const *)a, *y = *(const sim_request_outcome *const *)b;
    const double first = finish_ms(x), second = finish_ms(y);
    if (first != second) return first < second ? -1 : 1;
    return (x > y) - (x < y); // of one array
}

// Completed requests with output, by the end of their last token; *n of them.
static const sim_request_outcome **list_finished(building *in, int side, size_t *n, double *first_arrival_ms) {
    const sim_request_table *table = in->runs[side].table;
    const sim_request_outcome **rows = own(in, table->n_rows, sizeof *rows);
    *n = 0;
    *first_arrival_ms = (double)INFINITY;
    for (size_t i = 0; rows && i < table->n_rows; i++) {
        const sim_request_outcome *row = &table->rows[i];
        if (row->status == SIM_REQUEST_PENDING) continue;
        *first_arrival_ms = fmin(*first_arrival_ms, sim_ms_from_ns(row->arrival_ns));
        if (row->status == SIM_REQUEST_COMPLETED && !isnan(row->ms[SIM_LATENCY_E2E])) rows[(*n)++] = row;
    }
    if (rows) qsort(rows, *n, sizeof *rows, by_finish);
    return rows;
}

// Output tokens and the time since the request that finished before, in order of finishing: what blocks of them add up to is a throughput.
static void fill_throughput(building *in, int side, sim_ratio *ratio) {
    size_t n;
    double previous_ms;
    const sim_request_outcome **rows = list_finished(in, side, &n, &previous_ms);
    *ratio = new_ratio(in, side);
    if (!in->has_all) return;
    const sim_blocks *blocks = &in->out->set.blocks[side];
    for (size_t i = 0; i < n; i++) {
        const uint32_t cell = (uint32_t)((uint64_t)i * blocks->n_cells / n);
        ratio->amount[cell + 1] += rows[i]->output_tokens;
        ratio->of[cell + 1] += (finish_ms(rows[i]) - previous_ms) / 1e3;
        previous_ms = finish_ms(rows[i]);
    }
    close_ratio(in, ratio, side);
}

static void add_throughput(building *in) {
    sim_estimate *estimate;
    for (int side = 0; side < 2; side++)
        if (!in->runs[side].table->has_arrivals || !in->runs[side].table->has_output_tokens) return;
    if (!has_values(in, SIM_LATENCY_E2E)) return;
    sim_figure *figure = add(in, SIM_FIGURE_THROUGHPUT, SIM_FAMILY_ALL, &estimate);
    snprintf(figure->key, sizeof figure->key, "output_throughput_tok_s");
    snprintf(figure->heading, sizeof figure->heading, "output throughput");
    for (int side = 0; side < 2 && in->has_all; side++) fill_throughput(in, side, &estimate->ratios[side]);
}

// ---------------------------------------------------------------------------------------------------------------------
// Classes
// ---------------------------------------------------------------------------------------------------------------------

static void add_class_mean(building *in, size_t index, int which) {
    const sim_request_class *of = &in->out->classes.classes[index];
    const uint8_t *classes = in->out->classes.of[of->by];
    sim_estimate *estimate;
    sim_figure *figure = add(in, SIM_FIGURE_CLASS_MEAN, SIM_FAMILY_CLASSES, &estimate);
    figure->latency = (sim_latency)which;
    figure->class_index = index;
    snprintf(figure->key, sizeof figure->key, "mean_%s_ms", sim_latencies[which].stem);
    snprintf(figure->heading, sizeof figure->heading, "mean %s", sim_latencies[which].heading);
    for (int side = 0; side < 2; side++) {
        sim_ratio *ratio = &estimate->ratios[side];
        *ratio = new_ratio(in, side);
        if (!in->has_all) return;
        const double *values = in->latencies[side][which];
        for (size_t i = 0; i < in->pairing->n[side]; i++)
            if (classes[i] == index && !isnan(values[i])) put(in, ratio, side, i, values[i], 1);
        close_ratio(in, ratio, side);
    }
}

static sim_status add_classes(building *in, sim_error *error) {
    const size_t n = in->pairing->n[0], share = n / 50;
    if (!in->pairing->is_paired || !in->out->set.has_blocks) return SIM_OK;
    // A table that lacks a column may find it in the other: lengths and turns are the same in both.
    const sim_request_table *a = in->runs[0].table, *b = in->runs[1].table;
    const bool is_b = !a->has_input_tokens && b->has_input_tokens;
    const sim_status status =
        sim_request_classes_new(&in->out->classes, is_b ? b : a, in->pairing->order[is_b ? 1 : 0], n,
                                share > SIM_BOOTSTRAP_MIN_REQUESTS ? share : SIM_BOOTSTRAP_MIN_REQUESTS, error);
    if (status) return status;
    for (size_t c = 0; c < in->out->classes.n && in->has_all; c++)
        for (int which = 0; which < SIM_LATENCIES && in->has_all; which++)
            if (has_values(in, which)) add_class_mean(in, c, which);
    return SIM_OK;
}

// ---------------------------------------------------------------------------------------------------------------------
// Blocks
// ---------------------------------------------------------------------------------------------------------------------

// The series of cells of some value of requests: its mean in each, and the mean of all in a cell without any.
typedef double request_value(const building *in, int side, int which, size_t place);

static double latency_at(const building *in, int side, int which, size_t place) {
    return in->latencies[side][which][place];
}
static double difference_at(const building *in, int side, int which, size_t place) {
    (void)side;
    return in->latencies[1][which][place] - in->latencies[0][which][place];
}

static void correlate(building *in, int side, int which, request_value *value_at) {
    const sim_blocks *blocks = &in->out->set.blocks[side];
    double *sums = calloc(blocks->n_cells, sizeof *sums), *counts = calloc(blocks->n_cells, sizeof *counts);
    double total = 0, n = 0;
    in->has_all &= sums && counts;
    for (size_t i = 0; in->has_all && i < in->pairing->n[side]; i++) {
        const double value = value_at(in, side, which, i);
        if (isnan(value)) continue;
        const uint32_t cell = sim_blocks_cell(blocks, i);
        sums[cell] += value;
        counts[cell]++;
        total += value;
        n++;
    }
    if (in->has_all && n > 0) {
        for (uint32_t c = 0; c < blocks->n_cells; c++) sums[c] = counts[c] > 0 ? sums[c] / counts[c] : total / n;
        in->autocorrelation_cells = fmax(in->autocorrelation_cells, sim_autocorrelation_time(sums, blocks->n_cells));
    }
    free(sums);
    free(counts);
}

static void choose_blocks(building *in) {
    sim_estimate_set *set = &in->out->set;
    set->has_blocks = true;
    for (int side = 0; side < 2; side++) {
        set->has_blocks &= in->pairing->n[side] >= SIM_BOOTSTRAP_MIN_REQUESTS;
        if (side == 0 || !set->is_paired) in->autocorrelation_cells = 1;
        for (int which = 0; which < SIM_LATENCIES && in->has_all; which++) {
            correlate(in, side, which, latency_at);
            if (side == 1 && set->is_paired) correlate(in, side, which, difference_at);
        }
        sim_blocks_choose(&set->blocks[side], in->autocorrelation_cells);
    }
    if (set->is_paired) set->blocks[0] = set->blocks[1];
}

static sim_status build(building *in, sim_error *error) {
    sim_estimate_set *set = &in->out->set;
    in->out->figures = own(in, MAX_FIGURES, sizeof *in->out->figures);
    set->estimates = calloc(MAX_FIGURES, sizeof *set->estimates);
    in->has_all &= set->estimates != NULL;
    if (in->has_all) collect(in);
    if (in->has_all) choose_blocks(in);
    for (int which = 0; which < SIM_LATENCIES && in->has_all; which++) add_latency(in, which);
    if (in->has_all) add_attainment(in);
    if (in->has_all) add_throughput(in);
    const sim_status status = in->has_all ? add_classes(in, error) : SIM_OK;
    if (!in->has_all) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    in->out->is_identical = set->is_identical = is_identical(in);
    return status;
}

sim_status sim_compared_figures_new(sim_compared_figures *figures, const sim_compared_run runs[2],
                                    const sim_pairing *pairing, uint64_t seed, const sim_row_pool_options *pool,
                                    sim_error *error) {
    *figures = (sim_compared_figures){
        .set = { .n_families = SIM_FAMILIES, .is_paired = pairing->is_paired, .seed = seed },
    };
    for (int side = 0; side < 2; side++)
        figures->set.blocks[side] = sim_blocks_new(pairing->n[side] ? pairing->n[side] : 1);
    building in = { .out = figures, .runs = runs, .pairing = pairing, .has_all = true };
    sim_status status = build(&in, error);
    if (!status) status = sim_estimates_run(&figures->set, pool, error);
    if (status) sim_compared_figures_clear(figures);
    return status;
}

void sim_compared_figures_clear(sim_compared_figures *figures) {
    sim_estimates_clear(&figures->set);
    sim_request_classes_clear(&figures->classes);
    for (size_t i = 0; i < figures->n_owned; i++) free(figures->owned[i]);
    free(figures->owned);
    *figures = (sim_compared_figures){ .figures = NULL };
}
