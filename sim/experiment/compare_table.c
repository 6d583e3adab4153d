// SPDX-License-Identifier: GPL-3.0-or-later
//
// A comparison for people: the verdict first, then what it rests on.
#include <math.h>
#include <string.h>

#include "sim/experiment/compare.h"

enum { N_WORST = 5 };

static const char *const rule = "--------------------------------------------------------------------------------"
                                "----------------------";

// Decimals by size, so that columns hold both 0.0123 and 123456.
static void put_value(FILE *out, int width, double value) {
    const double size = fabs(value);
    fprintf(out, "%*.*f", width, size >= 1e5 || value == floor(value) ? 0 : size >= 10 ? 2 : 4, value);
}

static void put_signed(FILE *out, int width, double value) {
    const double size = fabs(value);
    fprintf(out, "%+*.*f", width, size >= 1e5 || value == floor(value) ? 0 : size >= 10 ? 2 : 4, value);
}

static void put_pct(FILE *out, int width, double share) {
    if (isfinite(share))
        fprintf(out, "%+*.1f", width, 100 * share);
    else
        fprintf(out, "%*s", width, "-");
}

// ---------------------------------------------------------------------------------------------------------------------
// Request by request
// ---------------------------------------------------------------------------------------------------------------------

static void describe_pairing(FILE *out, const sim_comparison_pair *pair) {
    const sim_pairing *pairing = &pair->pairing;
    const char *a = pair->sides[0]->name, *b = pair->sides[1]->name;
    if (!pairing->is_paired) {
        fprintf(out, "%s against %s, unpaired: the requests are not the same (%s)\n", b, a, pairing->reason);
        return;
    }
    fprintf(out, "%s against %s, %zu requests in pairs", b, a, pairing->n[0]);
    if (pairing->n_left_out > 0) fprintf(out, ", %zu with times in one run only left out", pairing->n_left_out);
    fputc('\n', out);
}

static void describe_blocks(FILE *out, const sim_estimate_set *set) {
    if (!set->has_blocks) {
        fprintf(out, "No intervals: they need %d requests.\n", SIM_BOOTSTRAP_MIN_REQUESTS);
        return;
    }
    const sim_blocks *blocks = &set->blocks[set->blocks[1].n_blocks < set->blocks[0].n_blocks ? 1 : 0];
    fprintf(out, "Intervals of 95 %% from %d resamples of %u blocks of %.0f requests; * significant\n",
            SIM_BOOTSTRAP_REPLICATES, blocks->n_blocks,
            (double)blocks->n_requests * blocks->block_cells / blocks->n_cells);
    if (set->blocks[0].is_short || set->blocks[1].is_short)
        fputs("The run is short for how long its congestion lasts: intervals of high percentiles may be too narrow.\n",
              out);
}

static void put_interval(FILE *out, const sim_interval *interval, double factor) {
    char text[64];
    if (!isfinite(interval->low) || !isfinite(interval->high)) {
        fprintf(out, "%24s", "-");
        return;
    }
    const double low = factor * interval->low, high = factor * interval->high;
    const double size = fmax(fabs(low), fabs(high));
    snprintf(text, sizeof text, "[%.*f, %.*f]",
             size >= 1e3  ? 0
             : size >= 10 ? 1
                          : 3,
             low,
             size >= 1e3  ? 0
             : size >= 10 ? 1
                          : 3,
             high);
    fprintf(out, "%24s", text);
}

// Attainment in per cent and its difference in points; all else as it is.
static void put_estimate(FILE *out, const sim_figure *figure, const sim_estimate *estimate, const char *name) {
    const sim_difference *difference = &estimate->difference;
    const bool is_share = figure->kind == SIM_FIGURE_ATTAINMENT, is_class = figure->kind == SIM_FIGURE_CLASS_MEAN;
    const double factor = is_share ? 100 : 1;
    fprintf(out, "%-32s", name);
    put_value(out, 12, factor * estimate->values[0]);
    put_value(out, 12, factor * estimate->values[1]);
    put_signed(out, 12, factor * difference->absolute);
    if (difference->has_interval)
        put_interval(out, is_class ? &difference->family_absolute : &difference->absolute_interval, factor);
    put_pct(out, 10, difference->relative);
    if (difference->has_interval)
        put_interval(out, is_class ? &difference->family_relative : &difference->relative_interval, 100);
    fprintf(out, "%s\n", difference->has_interval && difference->is_significant ? " *" : "");
}

static void put_estimates(FILE *out, const sim_comparison_pair *pair) {
    const sim_compared_figures *figures = &pair->figures;
    fprintf(out, "%-32s%12s%12s%12s%24s%10s%24s\n", "", pair->sides[0]->name, pair->sides[1]->name, "difference",
            "interval", "%", "interval");
    for (size_t i = 0; i < figures->set.n; i++) {
        const sim_figure *figure = &figures->figures[i];
        if (figure->kind == SIM_FIGURE_CLASS_MEAN) continue;
        char name[64];
        const char *unit = figure->kind == SIM_FIGURE_ATTAINMENT   ? "%"
                           : figure->kind == SIM_FIGURE_THROUGHPUT ? "tokens/s"
                                                                   : "ms";
        snprintf(name, sizeof name, "%s (%s)", figure->heading, unit);
        put_estimate(out, figure, &figures->set.estimates[i], name);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Classes
// ---------------------------------------------------------------------------------------------------------------------

// The class figure that is worst hit among those less so than `below`; n when there is none.
static size_t next_worst(const sim_compared_figures *figures, double below) {
    size_t found = figures->set.n;
    double worst = 0;
    for (size_t i = 0; i < figures->set.n; i++) {
        const sim_difference *difference = &figures->set.estimates[i].difference;
        if (figures->figures[i].kind != SIM_FIGURE_CLASS_MEAN || !difference->has_interval) continue;
        if (!difference->is_significant || !(difference->family_relative.low > worst)) continue;
        if (!(difference->family_relative.low < below)) continue;
        worst = difference->family_relative.low;
        found = i;
    }
    return found;
}

static void put_classes(FILE *out, const sim_comparison_pair *pair) {
    const sim_compared_figures *figures = &pair->figures;
    double below = (double)INFINITY;
    if (figures->classes.n == 0) return;
    size_t at = next_worst(figures, below);
    if (at == figures->set.n) {
        fprintf(out, "No class of requests is worse in %s (%zu classes by length, turn and cached share)\n",
                pair->sides[1]->name, figures->classes.n);
        return;
    }
    fprintf(out, "Worst hit of %zu classes of requests (intervals allow for how many there are)\n", figures->classes.n);
    for (int i = 0; i < N_WORST && at != figures->set.n; i++) {
        const sim_figure *figure = &figures->figures[at];
        fprintf(out, "  %s, %s (ms)\n", figures->classes.classes[figure->class_index].text, figure->heading);
        put_estimate(out, figure, &figures->set.estimates[at], "");
        below = figures->set.estimates[at].difference.family_relative.low;
        at = next_worst(figures, below);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Side by side
// ---------------------------------------------------------------------------------------------------------------------

static void put_side_by_side(FILE *out, const sim_comparison *comparison) {
    fprintf(out, "%-44s%16s", "", comparison->sides[0].name);
    for (size_t s = 1; s < comparison->n_sides; s++)
        fprintf(out, "%16s%16s%10s", comparison->sides[s].name, "difference", "%");
    fputc('\n', out);
    const sim_summary_figures *first = &comparison->sides[0].figures;
    for (size_t i = 0; i < first->n; i++) {
        const double a = first->items[i].value;
        fprintf(out, "%-44s", first->items[i].key);
        put_value(out, 16, a);
        for (size_t s = 1; s < comparison->n_sides; s++) {
            double b;
            if (!sim_summary_figures_find(&comparison->sides[s].figures, first->items[i].key, &b)) {
                fprintf(out, "%16s%16s%10s", "-", "-", "-");
                continue;
            }
            put_value(out, 16, b);
            put_signed(out, 16, b - a);
            put_pct(out, 10, a != 0 ? (b - a) / fabs(a) : b == a ? 0 : (double)NAN);
        }
        fputc('\n', out);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// All of it
// ---------------------------------------------------------------------------------------------------------------------

static void put_verdicts(FILE *out, const sim_comparison *comparison) {
    for (size_t s = 0; s < comparison->n_sides; s++)
        fprintf(out, "%-10s%s\n", comparison->sides[s].name, comparison->sides[s].path);
    fprintf(out, "%s\n", rule);
    for (size_t p = 0; p + 1 < comparison->n_sides; p++) {
        const sim_comparison_pair *pair = &comparison->pairs[p];
        if (!pair->pairing.is_paired)
            fprintf(out, "%s and %s are compared unpaired: their requests are not the same\n", pair->sides[0]->name,
                    pair->sides[1]->name);
        for (size_t i = 0; i < pair->verdict.n; i++) fprintf(out, "%s\n", pair->verdict.items[i]);
    }
}

sim_status sim_comparison_write_table(const sim_comparison *comparison, FILE *out, sim_error *error) {
    put_verdicts(out, comparison);
    for (size_t p = 0; p + 1 < comparison->n_sides; p++) {
        const sim_comparison_pair *pair = &comparison->pairs[p];
        fprintf(out, "%s\n", rule);
        describe_pairing(out, pair);
        if (pair->figures.is_identical) continue;
        describe_blocks(out, &pair->figures.set);
        put_estimates(out, pair);
        put_classes(out, pair);
    }
    fprintf(out, "%s\n", rule);
    put_side_by_side(out, comparison);
    return ferror(out) ? sim_error_set(error, SIM_IO, NULL, 0, "the comparison could not be written") : SIM_OK;
}
