// SPDX-License-Identifier: GPL-3.0-or-later
//
// The verdict: what of the differences is more than chance, in words. A difference, of all requests or of a class of them, is named when it is significant in
// its family (estimates.h); the interval behind a figure is its own, of 95 %, that behind a class allows for how many classes there are.
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "sim/experiment/compare.h"

enum { SENTENCE_BYTES = 640 };

typedef struct sentence {
    char text[SENTENCE_BYTES];
    size_t n;
} sentence;

static void say(sentence *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(sentence *to, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(to->text + to->n, sizeof to->text - to->n, format, arguments);
    va_end(arguments);
    to->n = n < 0 || to->n + (size_t)n >= sizeof to->text ? sizeof to->text - 1 : to->n + (size_t)n;
}

// As many digits as the interval gives reason to.
static int decimals_for(double low, double high) {
    const double half = (high - low) / 2;
    return half >= 2 ? 0 : half >= 0.2 ? 1 : half >= 0.02 ? 2 : 3;
}

// "31 % [27, 35]"; `sign` turns a fall into a positive number.
static void say_amount(sentence *to, double value, sim_interval interval, double sign, const char *unit) {
    const double low = sign > 0 ? interval.low : -interval.high, high = sign > 0 ? interval.high : -interval.low;
    const int digits = decimals_for(100 * low, 100 * high);
    say(to, "%.*f %s [%.*f, %.*f]", digits, 100 * sign * value, unit, digits, 100 * low, digits, 100 * high);
}

static void say_difference(sentence *to, const sim_figure *figure, const sim_difference *difference) {
    const double sign = difference->absolute < 0 ? -1 : 1;
    const bool is_share = figure->kind == SIM_FIGURE_ATTAINMENT, has_ratio = !isnan(difference->relative);
    say(to, "%s by ", figure->heading);
    if (is_share)
        say_amount(to, difference->absolute, difference->absolute_interval, sign, "points");
    else if (has_ratio)
        say_amount(to, difference->relative, difference->relative_interval, sign, "%");
    else
        say(to, "%.6g", sign * difference->absolute);
}

static const char *verb(const sim_difference *difference) { return difference->absolute < 0 ? "lowers" : "raises"; }

// ---------------------------------------------------------------------------------------------------------------------
// Classes
// ---------------------------------------------------------------------------------------------------------------------

static bool is_class_of(const sim_compared_figures *figures, size_t i, sim_latency latency) {
    return figures->figures[i].kind == SIM_FIGURE_CLASS_MEAN && figures->figures[i].latency == latency;
}

// The significant class that the change does most harm (`sign` 1) or good (-1) by the near end of its interval, which is beyond `from`; n without one.
static size_t find_class(const sim_compared_figures *figures, sim_latency latency, double sign, double from) {
    size_t found = figures->set.n;
    double furthest = from;
    for (size_t i = 0; i < figures->set.n; i++) {
        const sim_difference *difference = &figures->set.estimates[i].difference;
        if (!is_class_of(figures, i, latency) || !difference->has_interval || !difference->is_significant) continue;
        const double end = sign > 0 ? difference->family_relative.low : -difference->family_relative.high;
        if (!(end > furthest)) continue;
        furthest = end;
        found = i;
    }
    return found;
}

static void say_class(sentence *to, const sim_compared_figures *figures, size_t i, const char *how) {
    if (i == figures->set.n) return;
    const sim_figure *figure = &figures->figures[i];
    const sim_difference *difference = &figures->set.estimates[i].difference;
    const int digits = decimals_for(100 * difference->family_relative.low, 100 * difference->family_relative.high);
    say(to, "; %s for %s (%s %+.*f %% [%+.*f, %+.*f])", how, figures->classes.classes[figure->class_index].text,
        figure->heading, digits, 100 * difference->relative, digits, 100 * difference->family_relative.low, digits,
        100 * difference->family_relative.high);
}

// ---------------------------------------------------------------------------------------------------------------------
// Figures
// ---------------------------------------------------------------------------------------------------------------------

static size_t find_figure(const sim_compared_figures *figures, sim_figure_kind kind, sim_latency latency,
                          double percent) {
    size_t i = 0;
    while (i < figures->set.n && (figures->figures[i].kind != kind || figures->figures[i].latency != latency ||
                                  figures->figures[i].percent != percent))
        i++;
    return i;
}

static bool is_significant(const sim_compared_figures *figures, size_t i) {
    if (i == figures->set.n) return false;
    const sim_difference *difference = &figures->set.estimates[i].difference;
    return difference->has_interval && difference->is_significant;
}

// The mean and the p99 where they are significant, else the highest percentile that is. False: none is.
static bool choose(const sim_compared_figures *figures, sim_latency latency, size_t chosen[2]) {
    static const double percents[] = { 95, 90, 50 };
    const size_t none = figures->set.n;
    chosen[0] = find_figure(figures, SIM_FIGURE_MEAN, latency, 0);
    chosen[1] = find_figure(figures, SIM_FIGURE_PERCENTILE, latency, 99);
    for (int i = 0; i < 2; i++)
        if (!is_significant(figures, chosen[i])) chosen[i] = none;
    for (size_t p = 0; chosen[0] == none && chosen[1] == none && p < sizeof percents / sizeof *percents; p++) {
        chosen[0] = find_figure(figures, SIM_FIGURE_PERCENTILE, latency, percents[p]);
        if (!is_significant(figures, chosen[0])) chosen[0] = none;
    }
    return chosen[0] != none || chosen[1] != none;
}

static bool judge_latency(sim_comparison_pair *pair, sim_latency latency) {
    const sim_compared_figures *figures = &pair->figures;
    const size_t none = figures->set.n;
    sentence said = { .n = 0 };
    size_t chosen[2];
    const char *b = pair->sides[1]->name;
    double overall = 0;
    if (choose(figures, latency, chosen)) {
        const char *before = NULL;
        say(&said, "%s ", b);
        for (int i = 0; i < 2; i++) {
            if (chosen[i] == none) continue;
            const sim_difference *difference = &figures->set.estimates[chosen[i]].difference;
            const bool is_same = before && strcmp(before, verb(difference)) == 0;
            say(&said, "%s%s%s", before ? is_same ? " and " : ", but " : "", is_same ? "" : verb(difference),
                is_same ? "" : " ");
            say_difference(&said, &figures->figures[chosen[i]], difference);
            overall = before ? overall : difference->relative;
            before = verb(difference);
        }
    }
    const size_t worse = find_class(figures, latency, 1, fmax(overall, 0));
    const size_t better = overall < 0 ? none : find_class(figures, latency, -1, 0);
    if (said.n == 0 && worse == none && better == none) return true;
    if (said.n == 0) say(&said, "%s: no significant change of %s as a whole", b, sim_latencies[latency].heading);
    say_class(&said, figures, worse, overall > 0 ? "most" : "worse");
    say_class(&said, figures, better, "better");
    return sim_text_list_add(&pair->verdict, "%s", said.text);
}

static bool judge_other(sim_comparison_pair *pair, sim_figure_kind kind) {
    const sim_compared_figures *figures = &pair->figures;
    const size_t i = find_figure(figures, kind, 0, 0);
    if (!is_significant(figures, i)) return true;
    const sim_difference *difference = &figures->set.estimates[i].difference;
    sentence said = { .n = 0 };
    say(&said, "%s %s ", pair->sides[1]->name, verb(difference));
    say_difference(&said, &figures->figures[i], difference);
    return sim_text_list_add(&pair->verdict, "%s", said.text);
}

// ---------------------------------------------------------------------------------------------------------------------
// What is said beside the figures
// ---------------------------------------------------------------------------------------------------------------------

static size_t count_completed(const sim_request_table *table) {
    size_t n = 0;
    for (size_t i = 0; i < table->n_rows; i++) n += table->rows[i].status == SIM_REQUEST_COMPLETED;
    return n;
}

// Requests that a run lost have no times, so its times alone would flatter it.
static bool judge_completion(sim_comparison_pair *pair) {
    const sim_request_table *a = &pair->sides[0]->table, *b = &pair->sides[1]->table;
    const size_t n_a = count_completed(a), n_b = count_completed(b);
    if (n_a == n_b && a->n_rows == b->n_rows) return true;
    if (n_a == a->n_rows && n_b == b->n_rows) return true;
    return sim_text_list_add(&pair->verdict, "%s completes %zu of its %zu requests, %s %zu of %zu",
                             pair->sides[1]->name, n_b, b->n_rows, pair->sides[0]->name, n_a, a->n_rows);
}

static bool say_nothing_found(sim_comparison_pair *pair) {
    const sim_compared_figures *figures = &pair->figures;
    const size_t i = find_figure(figures, SIM_FIGURE_MEAN, SIM_LATENCY_TTFT, 0);
    const char *name = pair->sides[1]->name;
    if (!figures->set.has_blocks)
        return sim_text_list_add(
            &pair->verdict, "%s: no verdict, %zu requests are too few to tell a difference from chance (%d needed)",
            name, pair->pairing.n[1] < pair->pairing.n[0] ? pair->pairing.n[1] : pair->pairing.n[0],
            SIM_BOOTSTRAP_MIN_REQUESTS);
    if (i == figures->set.n || !figures->set.estimates[i].difference.has_interval)
        return sim_text_list_add(&pair->verdict, "%s: no significant difference", name);
    const sim_difference *difference = &figures->set.estimates[i].difference;
    sentence said = { .n = 0 };
    say_amount(&said, difference->relative, difference->relative_interval, 1, "%");
    return sim_text_list_add(&pair->verdict, "%s: no significant difference (mean TTFT %s)", name, said.text);
}

bool sim_comparison_judge(sim_comparison_pair *pair) {
    const sim_compared_figures *figures = &pair->figures;
    if (count_completed(&pair->sides[0]->table) + count_completed(&pair->sides[1]->table) == 0)
        return sim_text_list_add(&pair->verdict, "%s: no verdict, neither run completes a request",
                                 pair->sides[1]->name);
    if (figures->is_identical)
        return sim_text_list_add(&pair->verdict, "%s: no difference: all %zu requests have the same times",
                                 pair->sides[1]->name, pair->sides[1]->table.n_rows);
    bool has_all = true;
    if (figures->set.has_blocks) {
        for (int i = 0; i < SIM_LATENCIES && has_all; i++) has_all = judge_latency(pair, (sim_latency)i);
        has_all = has_all && judge_other(pair, SIM_FIGURE_ATTAINMENT) && judge_other(pair, SIM_FIGURE_THROUGHPUT);
    }
    if (has_all && pair->verdict.n == 0) has_all = say_nothing_found(pair);
    return has_all && judge_completion(pair);
}
