// SPDX-License-Identifier: GPL-3.0-or-later
//
// A comparison as JSON: runs[] with all their figures, then comparisons[], each with its verdict, metrics[] (every figure of the summaries), intervals[] and
// classes[] (request by request, with intervals).
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/experiment/compare.h"
#include "sim/report/json_fields.h"

static const double per_cent = 100;

static void add_pct(cJSON *object, const char *key, double share) {
    sim_json_add_number(object, key, per_cent * share);
}

static void add_runs(cJSON *root, const sim_comparison *comparison) {
    cJSON *list = cJSON_AddArrayToObject(root, "runs");
    for (size_t i = 0; i < comparison->n_sides; i++) {
        const sim_side *side = &comparison->sides[i];
        cJSON *run = sim_json_add_item(list);
        cJSON_AddStringToObject(run, "name", side->name);
        cJSON_AddStringToObject(run, "kind", sim_side_kind_names[side->kind]);
        cJSON_AddStringToObject(run, "path", side->path);
        cJSON *figures = cJSON_AddObjectToObject(run, "figures");
        for (size_t k = 0; k < side->figures.n; k++)
            sim_json_add_number(figures, side->figures.items[k].key, side->figures.items[k].value);
    }
}

// Every figure that both summaries have.
static void add_metrics(cJSON *object, const sim_comparison_pair *pair) {
    cJSON *list = cJSON_AddArrayToObject(object, "metrics");
    const sim_summary_figures *a = &pair->sides[0]->figures;
    for (size_t i = 0; i < a->n; i++) {
        const double first = a->items[i].value;
        double second;
        if (!sim_summary_figures_find(&pair->sides[1]->figures, a->items[i].key, &second)) continue;
        cJSON *metric = sim_json_add_item(list);
        cJSON_AddStringToObject(metric, "key", a->items[i].key);
        sim_json_add_number(metric, "a", first);
        sim_json_add_number(metric, "b", second);
        sim_json_add_number(metric, "difference", second - first);
        add_pct(metric, "difference_pct", first != 0 ? (second - first) / fabs(first) : (double)NAN);
    }
}

static void add_interval(cJSON *object, const sim_interval *absolute, const sim_interval *relative, bool has_it) {
    const double none = (double)NAN;
    sim_json_add_number(object, "difference_low", has_it ? absolute->low : none);
    sim_json_add_number(object, "difference_high", has_it ? absolute->high : none);
    add_pct(object, "difference_pct_low", has_it ? relative->low : none);
    add_pct(object, "difference_pct_high", has_it ? relative->high : none);
}

// Of classes the intervals for all of them together: one picks the worst.
static void add_estimate(cJSON *object, const sim_figure *figure, const sim_estimate *estimate) {
    const sim_difference *difference = &estimate->difference;
    const bool is_class = figure->kind == SIM_FIGURE_CLASS_MEAN;
    cJSON_AddStringToObject(object, "key", figure->key);
    sim_json_add_number(object, "a", estimate->values[0]);
    sim_json_add_number(object, "b", estimate->values[1]);
    sim_json_add_number(object, "difference", difference->absolute);
    add_pct(object, "difference_pct", difference->relative);
    add_interval(object, is_class ? &difference->family_absolute : &difference->absolute_interval,
                 is_class ? &difference->family_relative : &difference->relative_interval, difference->has_interval);
    cJSON_AddBoolToObject(object, "significant", difference->has_interval && difference->is_significant);
}

static void add_intervals(cJSON *object, const sim_compared_figures *figures) {
    cJSON *list = cJSON_AddArrayToObject(object, "intervals");
    for (size_t i = 0; i < figures->set.n; i++)
        if (figures->figures[i].kind != SIM_FIGURE_CLASS_MEAN)
            add_estimate(sim_json_add_item(list), &figures->figures[i], &figures->set.estimates[i]);
}

static void add_classes(cJSON *object, const sim_compared_figures *figures) {
    cJSON *list = cJSON_AddArrayToObject(object, "classes");
    for (size_t i = 0; i < figures->set.n; i++) {
        const sim_figure *figure = &figures->figures[i];
        if (figure->kind != SIM_FIGURE_CLASS_MEAN) continue;
        const sim_request_class *of = &figures->classes.classes[figure->class_index];
        cJSON *item = sim_json_add_item(list);
        cJSON_AddStringToObject(item, "by", sim_class_by_names[of->by]);
        cJSON_AddStringToObject(item, "class", of->text);
        sim_json_add_number(item, "from", of->low);
        sim_json_add_number(item, "below", of->high); // null: no end
        sim_json_add_count(item, "requests", of->n_requests);
        add_estimate(item, figure, &figures->set.estimates[i]);
    }
}

static void add_resampling(cJSON *object, const sim_estimate_set *set) {
    cJSON *block = cJSON_AddObjectToObject(object, "bootstrap");
    const sim_blocks *blocks = &set->blocks[set->blocks[1].n_blocks < set->blocks[0].n_blocks ? 1 : 0];
    sim_json_add_count(block, "replicates", set->has_blocks ? SIM_BOOTSTRAP_REPLICATES : 0);
    sim_json_add_count(block, "blocks", set->has_blocks ? blocks->n_blocks : 0);
    sim_json_add_number(block, "block_requests",
                        set->has_blocks ? (double)blocks->n_requests * blocks->block_cells / blocks->n_cells
                                        : (double)NAN);
    cJSON_AddBoolToObject(block, "is_short", set->has_blocks && (set->blocks[0].is_short || set->blocks[1].is_short));
}

static void add_pair(cJSON *list, const sim_comparison_pair *pair) {
    cJSON *object = sim_json_add_item(list);
    cJSON_AddStringToObject(object, "name", pair->sides[1]->name);
    cJSON_AddStringToObject(object, "against", pair->sides[0]->name);
    cJSON_AddBoolToObject(object, "paired", pair->pairing.is_paired);
    if (!pair->pairing.is_paired) cJSON_AddStringToObject(object, "unpaired_because", pair->pairing.reason);
    cJSON_AddBoolToObject(object, "identical", pair->figures.is_identical);
    sim_json_add_count(object, "requests", pair->pairing.n[1]);
    if (pair->pairing.is_paired) sim_json_add_count(object, "left_out_requests", pair->pairing.n_left_out);
    cJSON *verdict = cJSON_AddArrayToObject(object, "verdict");
    for (size_t i = 0; i < pair->verdict.n; i++) {
        cJSON *text = cJSON_CreateString(pair->verdict.items[i]);
        if (!cJSON_AddItemToArray(verdict, text)) cJSON_Delete(text);
    }
    add_resampling(object, &pair->figures.set);
    add_intervals(object, &pair->figures);
    add_classes(object, &pair->figures);
    add_metrics(object, pair);
}

sim_status sim_comparison_write_json(const sim_comparison *comparison, FILE *out, sim_error *error) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "schema", "forepass.compare");
    sim_json_add_count(root, "version", 1);
    sim_json_add_number(root, "confidence_pct", 95);
    sim_json_add_count(root, "seed", comparison->seed);
    add_runs(root, comparison);
    cJSON *list = cJSON_AddArrayToObject(root, "comparisons");
    for (size_t i = 0; i + 1 < comparison->n_sides; i++) add_pair(list, &comparison->pairs[i]);
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    const bool is_written = fputs(text, out) >= 0 && fputc('\n', out) != EOF;
    free(text);
    return is_written ? SIM_OK : sim_error_set(error, SIM_IO, NULL, 0, "the comparison could not be written");
}
