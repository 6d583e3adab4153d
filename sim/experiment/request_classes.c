// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/request_classes.h"

#include <math.h>
#include <stdlib.h>

const char *const sim_class_by_names[SIM_CLASS_BYS] = {
#define X(code, name) [code] = name,
    SIM_CLASS_BY_LIST(X)
#undef X
};

// Bins before joining: 0, then powers of two. Bin b > 0 begins at 2^(b - 1); shares: 0, then quarters.
enum { N_BINS = 33, N_SHARES = 4, MAX_CLASSES_PER_KIND = SIM_MAX_CLASSES / SIM_CLASS_BYS };

static double lower_edge(sim_class_by by, int bin) {
    if (by != SIM_BY_CACHED_SHARE) return bin == 0 ? 0 : exp2(bin - 1);
    // the smallest share above 0 opens the first quarter
    return bin == 0 ? 0 : bin == 1 ? nextafter(0, 1) : (bin - 1.0) / N_SHARES;
}

static int bin_of(sim_class_by by, double x) {
    if (!(x > 0)) return 0;
    if (by != SIM_BY_CACHED_SHARE) return ilogb(x) + 1;
    const int bin = (int)(x * N_SHARES) + 1;
    return bin > N_SHARES ? N_SHARES : bin; // a prompt that was cached to its end
}

// What classes are told by; negative: the request has none.
static double value_of(const sim_request_table *table, const sim_request_outcome *row, sim_class_by by) {
    switch (by) {
    case SIM_BY_INPUT_TOKENS:
        return table->has_input_tokens ? row->input_tokens : -1.0;
    case SIM_BY_OUTPUT_TOKENS:
        return table->has_output_tokens && row->status == SIM_REQUEST_COMPLETED ? row->output_tokens : -1.0;
    case SIM_BY_TURN:
        return row->turn > 0 ? row->turn : -1.0;
    case SIM_BY_CACHED_SHARE:
        if (!row->has_cached || !table->has_input_tokens || row->input_tokens == 0) return -1;
        return (double)row->cached_tokens / row->input_tokens;
    case SIM_CLASS_BYS:
        break;
    }
    return -1;
}

// ---------------------------------------------------------------------------------------------------------------------
// Names
// ---------------------------------------------------------------------------------------------------------------------

// 32768 as 32k.
static void put_count(char *text, size_t size, double value) {
    if (value >= 1024 && fmod(value, 1024) == 0)
        snprintf(text, size, "%.0fk", value / 1024);
    else
        snprintf(text, size, "%.0f", value);
}

static void name_lengths(sim_request_class *of, const char *what, bool is_first) {
    char low[24], high[24];
    put_count(low, sizeof low, of->low);
    put_count(high, sizeof high, of->high);
    if (isinf(of->high))
        snprintf(of->text, sizeof of->text, "%s of %s tokens and more", what, low);
    else if (is_first)
        snprintf(of->text, sizeof of->text, "%s under %s tokens", what, high);
    else
        snprintf(of->text, sizeof of->text, "%s of %s to %s tokens", what, low, high);
}

static void name_turns(sim_request_class *of) {
    if (isinf(of->high))
        snprintf(of->text, sizeof of->text, "turns from the %.0f. on", of->low);
    else if (of->high - of->low <= 1)
        snprintf(of->text, sizeof of->text, "turn %.0f", of->low);
    else
        snprintf(of->text, sizeof of->text, "turns %.0f to %.0f", fmax(of->low, 1), of->high - 1);
}

static void name_shares(sim_request_class *of) {
    const double low = 100 * of->low, high = isinf(of->high) ? 100 : 100 * of->high;
    if (of->high == lower_edge(SIM_BY_CACHED_SHARE, 1))
        snprintf(of->text, sizeof of->text, "prompts with nothing cached");
    else
        snprintf(of->text, sizeof of->text, "prompts cached to %.0f-%.0f %%", low, high);
}

static void name(sim_request_class *of, bool is_first) {
    if (of->by == SIM_BY_INPUT_TOKENS) name_lengths(of, "prompts", is_first);
    if (of->by == SIM_BY_OUTPUT_TOKENS) name_lengths(of, "answers", is_first);
    if (of->by == SIM_BY_TURN) name_turns(of);
    if (of->by == SIM_BY_CACHED_SHARE) name_shares(of);
}

// ---------------------------------------------------------------------------------------------------------------------
// Bins to classes
// ---------------------------------------------------------------------------------------------------------------------

typedef struct joining {
    sim_class_by by;
    size_t counts[N_BINS];
    uint8_t class_of[N_BINS];
} joining;

// A class ends behind its last request, not where the next one begins, so that "1k to 2k" is what is in it.
static void open_class(sim_request_classes *all, const joining *in, int bin, size_t n_before) {
    int last = bin - 1;
    while (last > 0 && in->counts[last] == 0) last--;
    if (all->n > n_before) all->classes[all->n - 1].high = lower_edge(in->by, last + 1);
    all->classes[all->n++] = (sim_request_class){
        .by = in->by,
        .low = lower_edge(in->by, bin),
        .high = (double)INFINITY,
    };
}

// From the smallest on: a class is closed as soon as it has enough, and what is left at the end goes to the last one. One more than has room joins it too.
static void join_bins(sim_request_classes *all, joining *in, size_t least) {
    const size_t n_before = all->n;
    size_t left = 0;
    for (int bin = 0; bin < N_BINS; bin++) left += in->counts[bin];
    for (int bin = 0; bin < N_BINS; bin++) {
        sim_request_class *last = all->n > n_before ? &all->classes[all->n - 1] : NULL;
        const bool is_due = in->counts[bin] > 0 && (!last || (last->n_requests >= least && left >= least));
        if (is_due && all->n - n_before < MAX_CLASSES_PER_KIND) open_class(all, in, bin, n_before);
        in->class_of[bin] = all->n > n_before ? (uint8_t)(all->n - 1) : SIM_NO_CLASS;
        if (all->n > n_before) all->classes[all->n - 1].n_requests += in->counts[bin];
        left -= in->counts[bin];
    }
    if (all->n == n_before + 1) all->n = n_before; // everybody: no class
    for (size_t c = n_before; c < all->n; c++) name(&all->classes[c], c == n_before);
}

static void classify(sim_request_classes *all, const sim_request_table *table, const size_t *order, sim_class_by by,
                     size_t least) {
    joining in = { .by = by };
    const size_t n_before = all->n;
    for (size_t i = 0; i < all->n_rows; i++) {
        const double x = value_of(table, &table->rows[order[i]], by);
        if (x >= 0) in.counts[bin_of(by, x)]++;
    }
    join_bins(all, &in, least);
    for (size_t i = 0; i < all->n_rows; i++) {
        const double x = value_of(table, &table->rows[order[i]], by);
        const bool has_class = x >= 0 && all->n > n_before;
        all->of[by][i] = has_class ? in.class_of[bin_of(by, x)] : SIM_NO_CLASS;
    }
}

sim_status sim_request_classes_new(sim_request_classes *classes, const sim_request_table *table, const size_t *order,
                                   size_t n, size_t least, sim_error *error) {
    *classes = (sim_request_classes){ .n_rows = n };
    for (int by = 0; by < SIM_CLASS_BYS; by++) {
        classes->of[by] = malloc(n ? n : 1);
        if (classes->of[by]) continue;
        sim_request_classes_clear(classes);
        return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    }
    for (int by = 0; by < SIM_CLASS_BYS; by++) classify(classes, table, order, (sim_class_by)by, least);
    return SIM_OK;
}

void sim_request_classes_clear(sim_request_classes *classes) {
    for (int by = 0; by < SIM_CLASS_BYS; by++) free(classes->of[by]);
    *classes = (sim_request_classes){ .n = 0 };
}
