// SPDX-License-Identifier: GPL-3.0-or-later
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/perfmodel.h"
#include "sim/experiment/plan/plan_report.h"
#include "sim/kernel/clock.h"
#include "sim/report/json_fields.h"

void sim_plan_bound_key(const sim_sla_config *sla, sim_plan_bound bound, char *text, size_t size) {
    static const char *const names[SIM_PLAN_BOUNDS] = { "ttft", "tpot", "e2e_latency" }; // as in a summary
    char percent[FPM_NUMBER_BYTES];
    fpm_format_number(percent, sla->percentile);
    for (char *at = percent; *at; at++)
        if (*at == '.') *at = '_';
    snprintf(text, size, "p%s_%s_ms", percent, names[bound]);
}

const char *sim_plan_judged_by(const sim_plan_answer *answer) {
    if (answer->plan.judge_by != SIM_PLAN_BY_AUTO) return sim_plan_judge_names[answer->plan.judge_by];
    if (answer->plan.max_repeats == 1) return "run";
    for (size_t i = 0; i < answer->n_rows; i++)
        if (answer->rows[i].point->n_replicates > 1) return "seeds";
    return "trace";
}

static void add_interval(cJSON *to, const char *key, const sim_interval *interval) {
    char name[80];
    sim_json_add_number(to, key, interval->mean);
    snprintf(name, sizeof name, "%s_low", key);
    sim_json_add_number(to, name, interval->low);
    snprintf(name, sizeof name, "%s_high", key);
    sim_json_add_number(to, name, interval->high);
}

// What was run at a point.
static void add_figures(cJSON *to, const sim_plan_answer *answer, const sim_plan_point *point) {
    const sim_sla_config *sla = sim_plan_points_sla(answer->points);
    cJSON_AddStringToObject(to, "verdict", sim_plan_verdict_names[point->verdicts[SIM_PLAN_AS_MODELLED]]);
    if (point->fate.outcome != SIM_TRIAL_DONE) {
        cJSON_AddStringToObject(to, "reason", point->fate.reason);
        return;
    }
    sim_json_add_count(to, "replicates", point->n_replicates);
    const sim_interval attainment = sim_plan_point_attainment(answer->points, point, SIM_PLAN_AS_MODELLED);
    add_interval(to, "attainment", &attainment);
    for (sim_plan_bound b = 0; b < SIM_PLAN_BOUNDS; b++) {
        if (sim_plan_bound_ns(sla, b) == 0) continue;
        char key[64];
        const sim_interval percentile = sim_plan_point_percentile(answer->points, point, b);
        sim_plan_bound_key(sla, b, key, sizeof key);
        add_interval(to, key, &percentile);
    }
}

static void add_place(cJSON *to, const sim_plan_answer *answer, const sim_plan_point *point, double value) {
    if (!isnan(value)) sim_json_add_number(to, "value", value);
    cJSON_AddStringToObject(to, "assignments", point->assignments);
    sim_json_add_count(to, "gpus", point->gpus);
    if (point->gpu_hour_price > 0)
        sim_json_add_number(to, "cost_per_hour", (double)point->gpus * point->gpu_hour_price);
    add_figures(to, answer, point);
}

static void add_question(cJSON *to, const sim_plan_answer *answer) {
    const sim_sla_config *sla = sim_plan_points_sla(answer->points);
    const sim_plan_axis *axis = answer->space.inner;
    cJSON_AddStringToObject(to, "find", sim_plan_find_names[answer->plan.find]);
    cJSON_AddStringToObject(to, "over", axis ? axis->key : "layouts");
    if (axis) {
        cJSON *range = cJSON_AddObjectToObject(to, "range");
        sim_json_add_number(range, "low", axis->low);
        sim_json_add_number(range, "high", axis->high);
    }
    cJSON *bounds = cJSON_AddObjectToObject(to, "sla");
    for (sim_plan_bound b = 0; b < SIM_PLAN_BOUNDS; b++) {
        char key[32];
        snprintf(key, sizeof key, "%s_ms", sim_plan_bound_names[b]);
        if (sim_plan_bound_ns(sla, b) > 0) sim_json_add_number(bounds, key, sim_ms_from_ns(sim_plan_bound_ns(sla, b)));
    }
    sim_json_add_number(bounds, "percentile", sla->percentile);
}

// The value of the answer, or its layout.
static void add_value(cJSON *to, const char *key, const sim_plan_answer *answer, const sim_plan_choice *choice) {
    const bool is_number = answer->space.inner && answer->space.n_outers == 1;
    if (!choice->point)
        cJSON_AddNullToObject(to, key);
    else if (is_number)
        sim_json_add_number(to, key, sim_plan_axis_value(answer->space.inner, choice->found.answer));
    else
        cJSON_AddStringToObject(to, key, choice->point->assignments);
}

static void add_answer(cJSON *to, const sim_plan_answer *answer) {
    const sim_plan_choice *choice = &answer->choices[SIM_PLAN_AS_MODELLED];
    double low, high;
    sim_plan_answer_interval(answer, &low, &high);
    if (answer->is_stopped)
        cJSON_AddTrueToObject(to, "interrupted");
    else
        cJSON_AddBoolToObject(to, "feasible", choice->point != NULL);
    add_value(to, "answer", answer, choice);
    if (!choice->point) return;
    cJSON_AddBoolToObject(to, "decided", !(low < high) && !choice->has_undecided);
    if (low <= high) {
        sim_json_add_number(to, "answer_low", low);
        sim_json_add_number(to, "answer_high", high);
    }
    if (answer->space.trace_rate > 0 && answer->plan.find == SIM_PLAN_MAX_RATE)
        sim_json_add_number(to, "answer_speedup",
                            sim_plan_axis_value(answer->space.inner, choice->found.answer) / answer->space.trace_rate);
    cJSON_AddStringToObject(to, "assignments", choice->point->assignments);
    sim_json_add_count(to, "gpus", choice->point->gpus);
    if (choice->point->gpu_hour_price > 0)
        sim_json_add_number(to, "cost_per_hour", (double)choice->point->gpus * choice->point->gpu_hour_price);
    cJSON_AddBoolToObject(to, "monotone", choice->found.is_monotone);
    if (!choice->found.is_monotone && choice->found.safe != SIM_PLAN_NOWHERE)
        sim_json_add_number(to, "answer_safe", sim_plan_axis_value(answer->space.inner, choice->found.safe));
}

static void add_binding(cJSON *to, const sim_plan_answer *answer) {
    if (!answer->beyond) {
        cJSON_AddNullToObject(to, "binding");
        return;
    }
    cJSON_AddStringToObject(to, "binding", answer->cause.text);
    cJSON_AddStringToObject(to, "binding_cause", sim_plan_cause_name(answer->cause.kind));
    if (answer->cause.percentile_ms > 0) {
        cJSON_AddStringToObject(to, "binding_bound", sim_plan_bound_names[answer->cause.bound]);
        sim_json_add_number(to, "binding_ms", answer->cause.percentile_ms);
        sim_json_add_number(to, "binding_alone_ms", answer->cause.lone_percentile_ms);
    }
    const bool is_of_load = answer->plan.find == SIM_PLAN_MAX_RATE || answer->plan.find == SIM_PLAN_MAX_CONCURRENCY;
    cJSON *next = cJSON_AddObjectToObject(to, is_of_load ? "next_higher" : "next_cheaper");
    char missed[400];
    add_place(next, answer, answer->beyond, answer->beyond_value);
    sim_plan_answer_missed(answer, answer->beyond, missed, sizeof missed);
    cJSON_AddStringToObject(next, "missed", missed);
}

static void add_headroom(cJSON *to, const sim_plan_answer *answer) {
    const sim_plan_headroom *headroom = &answer->headroom;
    if (!headroom->is_known) return;
    cJSON *block = cJSON_AddObjectToObject(to, "headroom");
    cJSON_AddStringToObject(block, "load", headroom->axis.per_unit != 1 ? "requests/s" : headroom->axis.key);
    sim_json_add_number(block, "value", headroom->value);
    sim_json_add_number(block, "factor", headroom->factor);
    cJSON_AddBoolToObject(block, "at_least", headroom->is_at_least);
}

static void add_error_case(cJSON *to, const char *key, const sim_plan_answer *answer, sim_plan_scenario scenario) {
    const sim_plan_choice *choice = &answer->choices[scenario];
    cJSON *block = cJSON_AddObjectToObject(to, key);
    cJSON_AddBoolToObject(block, "feasible", choice->point != NULL);
    add_value(block, "answer", answer, choice);
    if (choice->point) sim_json_add_count(block, "gpus", choice->point->gpus);
}

static void add_model_error(cJSON *to, const sim_plan_answer *answer) {
    const sim_plan_model_error *error = &answer->model_error;
    if (error->source[0] == '\0') return;
    cJSON *block = cJSON_AddObjectToObject(to, "model_error");
    cJSON_AddStringToObject(block, "source", error->source);
    sim_json_add_number(block, "ttft_pct", error->pct[SIM_PLAN_TTFT]);
    sim_json_add_number(block, "tpot_pct", error->pct[SIM_PLAN_TPOT]);
    add_error_case(block, "if_slower", answer, SIM_PLAN_SLOWER);
    add_error_case(block, "if_faster", answer, SIM_PLAN_FASTER);
}

static void add_effort(cJSON *to, const sim_plan_answer *answer) {
    sim_json_add_number(to, "confidence", answer->plan.confidence);
    sim_json_add_count(to, "max_repeats", (uint64_t)answer->plan.max_repeats);
    cJSON_AddStringToObject(to, "judged_by", sim_plan_judged_by(answer));
    sim_json_add_count(to, "runs", sim_plan_points_n_runs(answer->points));
    sim_json_add_count(to, "points", sim_plan_points_n_tried(answer->points));
}

static cJSON *document(const sim_plan_answer *answer) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "schema", "forepass.plan");
    sim_json_add_count(root, "version", 1);
    cJSON *plan = cJSON_AddObjectToObject(root, "plan");
    add_question(plan, answer);
    add_answer(plan, answer);
    if (!answer->is_stopped) {
        add_binding(plan, answer);
        add_headroom(plan, answer);
        add_model_error(plan, answer);
    }
    add_effort(plan, answer);
    cJSON *margin = cJSON_AddArrayToObject(plan, "margin");
    for (size_t i = 0; i < answer->n_rows; i++)
        add_place(sim_json_add_item(margin), answer, answer->rows[i].point, answer->rows[i].value);
    cJSON *warnings = cJSON_AddArrayToObject(plan, "warnings");
    for (size_t i = 0; i < answer->warnings.n; i++)
        cJSON_AddItemToArray(warnings, cJSON_CreateString(answer->warnings.items[i]));
    cJSON *missing = cJSON_AddArrayToObject(root, "not_modelled");
    for (size_t i = 0; sim_not_modelled[i]; i++) cJSON_AddItemToArray(missing, cJSON_CreateString(sim_not_modelled[i]));
    return root;
}

sim_status sim_plan_write_json(const sim_plan_answer *answer, FILE *out, sim_error *error) {
    cJSON *root = document(answer);
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    const bool is_written = fputs(text, out) >= 0 && fputc('\n', out) != EOF;
    free(text);
    return is_written ? SIM_OK : sim_error_set(error, SIM_IO, NULL, 0, "the plan could not be written");
}
