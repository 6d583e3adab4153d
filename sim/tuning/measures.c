// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/tuning/measures.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "sim/tuning/ape_histogram.h"

enum { N_WINDOWS = 128 }; // even

typedef struct error_sum {
    uint64_t n;
    double ape, error;
} error_sum;

typedef struct window {
    uint64_t n;
    int64_t first_ns, last_ns;
    error_sum untuned, tuned;
} window;

// Every pass is in one class, so that it is added once; what is asked for are unions.
enum { IS_SETTLED = 1, IS_OUTLIER = 2, N_CLASSES = 4 };
typedef struct error_record {
    error_sum classes[N_CLASSES];
    sim_ape_histogram apes;
} error_record;

typedef struct kind_record {
    uint64_t n, n_outliers, n_unpredicted;
    error_record untuned, tuned;
    error_sum floor;
    window windows[N_WINDOWS]; // the first n_windows of them are in use, all but the last are full
    size_t n_windows;
    uint64_t width; // passes of a full window
} kind_record;

struct sim_measures {
    kind_record kinds[SIM_N_KINDS];
};

sim_measures *sim_measures_new(void) {
    sim_measures *measures = calloc(1, sizeof *measures);
    for (int i = 0; measures && i < SIM_N_KINDS; i++) measures->kinds[i].width = 1;
    return measures;
}

void sim_measures_free(sim_measures *measures) { free(measures); }

// --- sums -------------------------------------------------------------------------------------------------------------

static void add_error(error_sum *sum, double error) {
    sum->n++;
    sum->ape += fabs(error);
    sum->error += error;
}

static error_sum join(error_sum a, error_sum b) { return (error_sum){ a.n + b.n, a.ape + b.ape, a.error + b.error }; }

static sim_error_mean mean_of(error_sum sum) {
    if (sum.n == 0) return (sim_error_mean){ .n = 0 };
    return (sim_error_mean){ sum.n, sum.ape / (double)sum.n, sum.error / (double)sum.n };
}

// --- windows ----------------------------------------------------------------------------------------------------------

static window merge(const window *a, const window *b) {
    return (window){ a->n + b->n, a->first_ns, b->last_ns, join(a->untuned, b->untuned), join(a->tuned, b->tuned) };
}

static void merge_neighbours(kind_record *kind) {
    for (size_t i = 0; i < N_WINDOWS / 2; i++)
        kind->windows[i] = merge(&kind->windows[2 * i], &kind->windows[2 * i + 1]);
    kind->n_windows = N_WINDOWS / 2;
    kind->width *= 2;
}

// The window that takes the next pass.
static window *open_window(kind_record *kind, int64_t time_ns) {
    const bool is_full = kind->n_windows == 0 || kind->windows[kind->n_windows - 1].n == kind->width;
    if (is_full) {
        if (kind->n_windows == N_WINDOWS) merge_neighbours(kind);
        kind->windows[kind->n_windows++] = (window){ .first_ns = time_ns };
    }
    return &kind->windows[kind->n_windows - 1];
}

// --- adding -----------------------------------------------------------------------------------------------------------

static void add_estimate(error_record *record, error_sum *in_window, unsigned class, double estimate_ms,
                         double observed_ms) {
    if (estimate_ms < 0) return;
    const double error = (estimate_ms - observed_ms) / observed_ms;
    add_error(&record->classes[class], error);
    add_error(in_window, error);
    sim_ape_histogram_add(&record->apes, fabs(error));
}

void sim_measures_add(sim_measures *measures, const sim_observation *observation) {
    assert(observation->kind != FPM_EMPTY && observation->observed_ms > 0);
    const double observed_ms = observation->observed_ms;
    kind_record *kind = &measures->kinds[observation->kind - FPM_PREFILL];
    window *at = open_window(kind, observation->time_ns);
    at->n++;
    at->last_ns = observation->time_ns;
    kind->n++;
    kind->n_outliers += observation->is_outlier;
    kind->n_unpredicted += observation->tuned_ms < 0;
    const unsigned class =
        (kind->n > SIM_SETTLING_PASSES ? IS_SETTLED : 0) | (observation->is_outlier ? IS_OUTLIER : 0);
    add_estimate(&kind->untuned, &at->untuned, class, observation->base_ms, observed_ms);
    add_estimate(&kind->tuned, &at->tuned, class, observation->tuned_ms, observed_ms);
    if (observation->noiseless_ms >= 0)
        add_error(&kind->floor, (observation->noiseless_ms - observed_ms) / observed_ms);
}

// --- asking -----------------------------------------------------------------------------------------------------------

// The newest windows that hold at least a tenth of the passes.
static window last_tenth(const kind_record *kind) {
    window sum = { .n = 0 };
    const uint64_t wanted = kind->n / 10 + (kind->n % 10 > 0);
    for (size_t i = kind->n_windows; i > 0 && sum.n < wanted; i--) sum = merge(&kind->windows[i - 1], &sum);
    return sum;
}

static sim_error_measures measures_of(const error_record *record, error_sum final) {
    const error_sum *classes = record->classes;
    const error_sum settled = join(classes[IS_SETTLED], classes[IS_SETTLED | IS_OUTLIER]);
    const error_sum unsettled = join(classes[0], classes[IS_OUTLIER]);
    return (sim_error_measures){
        .all = mean_of(join(unsettled, settled)),
        .settled = mean_of(settled),
        .final = mean_of(final),
        .without_outliers = mean_of(join(classes[0], classes[IS_SETTLED])),
        .p50_ape = sim_ape_histogram_percentile(&record->apes, 50),
        .p90_ape = sim_ape_histogram_percentile(&record->apes, 90),
        .p99_ape = sim_ape_histogram_percentile(&record->apes, 99),
        .max_ape = record->apes.max,
    };
}

sim_kind_measures sim_measures_of(const sim_measures *measures, fpm_kind kind) {
    const kind_record *record = &measures->kinds[kind - FPM_PREFILL];
    const window final = last_tenth(record);
    return (sim_kind_measures){
        .n_observations = record->n,
        .n_outliers = record->n_outliers,
        .n_unpredicted = record->n_unpredicted,
        .untuned = measures_of(&record->untuned, final.untuned),
        .tuned = measures_of(&record->tuned, final.tuned),
        .floor = mean_of(record->floor),
    };
}

size_t sim_measures_windows(const sim_measures *measures, fpm_kind kind, size_t most, sim_error_window *windows) {
    const kind_record *record = &measures->kinds[kind - FPM_PREFILL];
    const size_t group = record->n_windows > most ? (record->n_windows + most - 1) / most : 1;
    size_t n = 0;
    for (size_t i = 0; i < record->n_windows; i += group) {
        window sum = record->windows[i];
        for (size_t k = i + 1; k < i + group && k < record->n_windows; k++) sum = merge(&sum, &record->windows[k]);
        windows[n++] = (sim_error_window){ sum.n, sum.first_ns, sum.last_ns, mean_of(sum.untuned), mean_of(sum.tuned) };
    }
    return n;
}
