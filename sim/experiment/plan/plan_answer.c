// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/plan/plan_answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/experiment/plan/plan_warnings.h"

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

static bool is_of_load(const sim_plan_config *plan) {
    return plan->find == SIM_PLAN_MAX_RATE || plan->find == SIM_PLAN_MAX_CONCURRENCY;
}

static sim_plan_line whole_line(const sim_plan_answer *answer, size_t outer) {
    return sim_plan_line_of(&answer->space, answer->points, outer, SIM_PLAN_AS_MODELLED);
}

static const sim_plan_choice *choice_of(const sim_plan_answer *answer) {
    return &answer->choices[SIM_PLAN_AS_MODELLED];
}

// --- the question ----------------------------------------------------------------------------------------------------------

static sim_status check_sla(const sim_config *config, sim_error *error) {
    sim_sla_config sla;
    sim_config_fill(config, &sim_sla_keys, &sla);
    const sim_status status = sim_sla_check(config, &sla, error);
    if (status) return status;
    for (sim_plan_bound b = 0; b < SIM_PLAN_BOUNDS; b++)
        if (sim_plan_bound_ns(&sla, b) > 0) return SIM_OK;
    return sim_config_contradiction(config, error, "sla", "percentile",
                                    "a plan needs bounds to meet (give [sla] ttft, tpot or e2e)");
}

// The workload of the configuration decides what its load is.
static sim_status find_space(sim_plan_answer *answer, const sim_config *config, sim_workload_store *store,
                             sim_error *error) {
    sim_workload_config settings = { .source = 0 };
    sim_load_config load;
    const sim_workload *workload;
    sim_config_fill(config, &sim_workload_keys, &settings);
    sim_config_fill(config, &sim_csv_keys, &settings.csv);
    sim_config_fill(config, &sim_load_keys, &load);
    sim_status status = sim_workload_store_take(store, config, &settings, (uint64_t)load.seed, &workload, error);
    if (status) return status;
    for (size_t i = 0; i < workload->n_warnings; i++) sim_text_list_add(&answer->warnings, "%s", workload->warnings[i]);
    status = sim_plan_space_init(&answer->space, config, &answer->plan, workload, error);
    sim_workload_store_give_back(store, workload);
    return status;
}

// What is stated of the model's error: by [plan], else by the calibration of a native estimator.
static sim_plan_model_error find_error(const sim_plan_config *plan, const sim_settings *settings) {
    sim_plan_model_error error = { .source = "" };
    const bool is_native = sim_pricing_is_native(&settings->pricing, &settings->deployment);
    const sim_calibration_error_stated *stated = &settings->prices.calibration.error;
    const double pct[] = { is_native ? stated->ttft_mape_pct : 0, is_native ? stated->tpot_mape_pct : 0 };
    const double given[] = { plan->model_error_ttft_frac, plan->model_error_tpot_frac };
    for (int b = 0; b < 2; b++) {
        error.pct[b] = given[b] >= 0 ? given[b] * 100 : fmin(pct[b], 95); // a bound stays above 0
        if (error.pct[b] > 0) error.source = given[b] >= 0 ? "plan" : "calibration";
    }
    error.pct[SIM_PLAN_E2E] = fmax(error.pct[SIM_PLAN_TTFT], error.pct[SIM_PLAN_TPOT]);
    return error;
}

// The model at one place. SIM_USAGE: it cannot run, and why, at its key.
static sim_status read_model(sim_plan_answer *answer, const sim_config *config, size_t outer, int64_t place,
                             sim_error *error) {
    char word[256] = "";
    sim_settings settings;
    sim_config *copy;
    sim_status status = sim_config_copy(&copy, config, error);
    if (status) return status;
    status = sim_plan_assign(copy, answer->space.outers[outer], error);
    if (answer->space.inner) sim_plan_axis_assign(answer->space.inner, place, word, sizeof word);
    if (!status) status = sim_plan_assign(copy, word, error);
    if (!status) status = sim_settings_read(copy, &settings, error);
    if (!status) answer->model_error = find_error(&answer->plan, &settings);
    sim_config_free(copy);
    return status;
}

// Look for something that can run, before thousands of places are tried one by one: the easiest place of every line, and sixteenths of it. When nothing can, the first
// reason is the error.
static sim_status check_model(sim_plan_answer *answer, const sim_config *config, sim_error *error) {
    const int64_t last = answer->space.inner ? answer->space.inner->n - 1 : 0;
    sim_error why;
    sim_status status = read_model(answer, config, 0, last, error);
    for (size_t outer = 0; outer < answer->space.n_outers; outer++)
        for (int64_t i = 0; i <= 16 && status == SIM_USAGE; i++)
            status = read_model(answer, config, outer, last - last * i / 16, &why);
    return status;
}

static bool has_error(const sim_plan_answer *answer) { return answer->model_error.source[0] != '\0'; }

// --- around the answer -----------------------------------------------------------------------------------------------------

static sim_status add_row(sim_plan_answer *answer, const sim_plan_point *point, double value, sim_error *error) {
    sim_plan_row *more = realloc(answer->rows, (answer->n_rows + 1) * sizeof *more);
    if (!more) return no_memory(error);
    answer->rows = more;
    answer->rows[answer->n_rows++] = (sim_plan_row){ point, value, point == choice_of(answer)->point };
    return SIM_OK;
}

// Along the axis: neighbours, and where those are close to each other some further away.
static sim_status rows_of_line(sim_plan_answer *answer, const sim_plan_line *line, int64_t centre, sim_error *error) {
    static const int64_t steps[] = { -10, -6, -3, -2, -1, 0, 1, 2, 3, 6, 10 };
    enum { N = sizeof steps / sizeof *steps };
    const int64_t n_near = line->axis->is_integer ? SIM_PLAN_NEAR : 10;
    int64_t places[N];
    sim_plan_point *points[N];
    for (int i = 0; i < N; i++) places[i] = llabs(steps[i]) <= n_near ? centre + steps[i] : SIM_PLAN_NOWHERE;
    sim_status status = sim_plan_line_judge(line, places, N, points, error);
    for (int i = 0; i < N && !status; i++) {
        const int at = line->axis->is_falling ? N - 1 - i : i; // in order of value
        if (points[at]) status = add_row(answer, points[at], sim_plan_axis_value(line->axis, places[at]), error);
    }
    return status;
}

// In order of cost; of equals the one that stands first in the question.
static sim_status rows_of_layouts(sim_plan_answer *answer, sim_error *error) {
    sim_status status = SIM_OK;
    for (size_t i = 0; i < answer->space.n_outers && !status; i++) {
        const sim_plan_line line = whole_line(answer, i);
        sim_plan_point *point;
        status = sim_plan_line_point(&line, 0, &point, error);
        if (!status && point->verdicts[SIM_PLAN_AS_MODELLED] != SIM_PLAN_OPEN)
            status = add_row(answer, point, (double)NAN, error);
    }
    for (size_t i = 1; i < answer->n_rows; i++) {
        const sim_plan_row row = answer->rows[i];
        size_t at = i;
        for (; at > 0 &&
               sim_plan_cost(&answer->space, answer->rows[at - 1].point) > sim_plan_cost(&answer->space, row.point);
             at--)
            answer->rows[at] = answer->rows[at - 1];
        answer->rows[at] = row;
    }
    return status;
}

static sim_status find_rows(sim_plan_answer *answer, sim_error *error) {
    const sim_plan_choice *choice = choice_of(answer);
    sim_plan_points_tell(answer->points, "the curve around the answer");
    if (!answer->space.inner) return rows_of_layouts(answer, error);
    const sim_plan_line line = whole_line(answer, choice->outer);
    return rows_of_line(answer, &line, choice->point ? choice->found.answer : choice->found.easiest, error);
}

// The layout that comes nearest to the answer's cost from below.
static void find_cheaper_layout(sim_plan_answer *answer) {
    const sim_plan_point *chosen = choice_of(answer)->point;
    for (size_t i = 0; i < answer->n_rows && chosen; i++) {
        if (answer->rows[i].is_answer) break;
        answer->beyond = answer->rows[i].point;
    }
    answer->beyond_value = (double)NAN;
}

// One step harder than the answer; where the replicates do not decide, the first step that is decided.
static sim_status find_beyond(sim_plan_answer *answer, sim_error *error) {
    const sim_plan_choice *choice = choice_of(answer);
    if (!choice->point) return SIM_OK;
    if (!answer->space.inner) {
        find_cheaper_layout(answer);
        return SIM_OK;
    }
    const sim_plan_line line = whole_line(answer, choice->outer);
    const int64_t place = choice->found.open - 1;
    sim_plan_point *point;
    const sim_status status = sim_plan_line_judge(&line, &place, 1, &point, error);
    if (status || !point) return status;
    answer->beyond = point;
    answer->beyond_value = sim_plan_axis_value(line.axis, place);
    return SIM_OK;
}

// --- how much more the answer takes ----------------------------------------------------------------------------------------

static sim_status find_headroom(sim_plan_answer *answer, const sim_config *config, sim_error *error) {
    enum { MOST_TIMES = 4 };
    static const double resolution_frac = 0.05;
    sim_plan_headroom *headroom = &answer->headroom;
    sim_plan_found found;
    sim_status status =
        sim_plan_load_axis(&headroom->axis, &answer->space, config, 1, MOST_TIMES, resolution_frac, error);
    if (status) return status;
    const sim_plan_line line = {
        .points = answer->points,
        .outer = choice_of(answer)->point->assignments,
        .axis = &headroom->axis,
        .n_places = headroom->axis.n,
        .scenario = SIM_PLAN_AS_MODELLED,
    };
    status = sim_plan_bisect(&line, &found, error);
    if (status || found.answer == SIM_PLAN_NOWHERE) return status;
    headroom->is_known = true;
    headroom->is_at_least = found.answer == 0;
    headroom->value = sim_plan_axis_value(&headroom->axis, found.answer);
    headroom->factor = headroom->value / sim_plan_axis_value(&headroom->axis, headroom->axis.n - 1);
    return SIM_OK;
}

// A layout that sets the load itself has no load to be varied.
static bool has_own_load(const sim_plan_answer *answer) {
    return strstr(choice_of(answer)->point->assignments, "load.") != NULL;
}

// --- all of it -------------------------------------------------------------------------------------------------------------

static sim_status choose(sim_plan_answer *answer, sim_plan_scenario scenario, sim_error *error) {
    const sim_status status = sim_plan_choose(&answer->space, answer->points, scenario,
                                              scenario == SIM_PLAN_AS_MODELLED, &answer->choices[scenario], error);
    if (status) answer->choices[scenario] = (sim_plan_choice){ .point = NULL }; // a search cut short has found nothing
    return status;
}

static sim_status explore(sim_plan_answer *answer, const sim_config *config, sim_error *error) {
    sim_status status = choose(answer, SIM_PLAN_AS_MODELLED, error);
    if (!status && has_error(answer)) status = choose(answer, SIM_PLAN_SLOWER, error);
    if (!status && has_error(answer)) status = choose(answer, SIM_PLAN_FASTER, error);
    if (!status) status = find_rows(answer, error);
    if (!status) status = find_beyond(answer, error);
    if (!status && answer->beyond) status = sim_plan_explain(answer->points, answer->beyond, &answer->cause, error);
    if (!status) sim_plan_warn_of_idle_axis(answer); // before the load is varied
    const bool has_load = choice_of(answer)->point && !is_of_load(&answer->plan) && !has_own_load(answer);
    if (!status && has_load) status = find_headroom(answer, config, error);
    if (status) return status;
    sim_plan_warn_of_answer(answer);
    return SIM_OK;
}

// What a signal leaves: everything that has a verdict. Without one there is nothing to keep.
static sim_status keep_tried(sim_plan_answer *answer, sim_status stopped, sim_error *error) {
    const sim_plan_point *point;
    sim_status status = SIM_OK;
    answer->n_rows = 0;
    for (size_t i = 0; (point = sim_plan_points_at(answer->points, i)) && !status; i++)
        if (point->verdicts[SIM_PLAN_AS_MODELLED] != SIM_PLAN_OPEN) status = add_row(answer, point, (double)NAN, error);
    answer->is_stopped = answer->n_rows > 0;
    return status ? status : stopped;
}

static sim_status execute(sim_plan_answer *answer, const sim_config *config, const sim_plan_run_options *options,
                          sim_error *error) {
    sim_config_fill(config, &sim_plan_keys, &answer->plan);
    sim_plan_choose_over(&answer->plan);
    sim_status status = check_sla(config, error);
    if (!status) status = sim_plan_points_new(&answer->points, config, &answer->plan, options, error);
    if (!status) status = find_space(answer, config, sim_plan_points_prober(answer->points)->workloads, error);
    if (!status) status = check_model(answer, config, error);
    if (status) return status;
    double frac[SIM_PLAN_BOUNDS];
    for (int b = 0; b < SIM_PLAN_BOUNDS; b++) frac[b] = answer->model_error.pct[b] / 100;
    sim_plan_points_set_error(answer->points, frac);
    status = explore(answer, config, error);
    return status == SIM_INTERRUPTED || status == SIM_TERMINATED ? keep_tried(answer, status, error) : status;
}

sim_status sim_plan_execute(const sim_config *config, const sim_plan_run_options *options, sim_plan_answer *answer,
                            sim_error *error) {
    *answer = (sim_plan_answer){ .n_rows = 0, .model_error.source = "" };
    const sim_status status = execute(answer, config, options, error);
    if (options->progress) fputs("\r\033[K", options->progress);
    if (status && !answer->is_stopped) sim_plan_answer_clear(answer);
    return status;
}

void sim_plan_answer_clear(sim_plan_answer *answer) {
    sim_text_list_clear(&answer->warnings);
    free(answer->rows);
    sim_plan_points_free(answer->points);
    sim_plan_space_clear(&answer->space);
    *answer = (sim_plan_answer){ .n_rows = 0, .model_error.source = "" };
}
