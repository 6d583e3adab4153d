// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/plan/plan_choice.h"

#include <math.h>
#include <stdlib.h>

double sim_plan_cost(const sim_plan_space *space, const sim_plan_point *point) {
    const bool is_priced = !space->counts_gpus && point->gpu_hour_price > 0;
    return (double)point->gpus * (is_priced ? point->gpu_hour_price : 1);
}

sim_plan_line sim_plan_line_of(const sim_plan_space *space, sim_plan_points *points, size_t outer,
                               sim_plan_scenario scenario) {
    return (sim_plan_line){
        .points = points,
        .outer = space->outers[outer],
        .axis = space->inner,
        .n_places = space->inner ? space->inner->n : 1,
        .scenario = scenario,
    };
}

// --- costs, which no run is needed for -----------------------------------------------------------------------------------

static sim_status cost_at(const sim_plan_space *space, const sim_plan_line *line, int64_t place, double *cost,
                          sim_error *error) {
    sim_plan_point *point;
    const sim_status status = sim_plan_line_point(line, place, &point, error);
    if (!status) *cost = sim_plan_cost(space, point);
    return status;
}

// Leave only places that cost less than `limit`, by bisection: more of what an axis counts does not cost less.
static sim_status cut_line(const sim_plan_space *space, sim_plan_line *line, double limit, sim_error *error) {
    int64_t cheap = -1, dear = line->n_places;
    while (dear - cheap > 1) {
        const int64_t middle = cheap + (dear - cheap) / 2;
        double cost;
        const sim_status status = cost_at(space, line, middle, &cost, error);
        if (status) return status;
        if (cost < limit)
            cheap = middle;
        else
            dear = middle;
    }
    line->n_places = dear;
    return SIM_OK;
}

typedef struct priced {
    size_t outer;
    double cost; // of its hardest place
} priced;

static int by_cost(const void *a, const void *b) {
    const priced *x = a, *y = b;
    if (x->cost != y->cost) return x->cost < y->cost ? -1 : 1;
    return x->outer < y->outer ? -1 : 1;
}

static sim_status price(const sim_plan_space *space, sim_plan_points *points, priced **list, sim_error *error) {
    *list = calloc(space->n_outers, sizeof **list);
    if (!*list) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    size_t n_priced = 0;
    for (size_t i = 0; i < space->n_outers; i++) {
        const sim_plan_line line = sim_plan_line_of(space, points, i, SIM_PLAN_AS_MODELLED);
        sim_plan_point *point;
        const sim_status status = sim_plan_line_point(&line, 0, &point, error);
        if (status) return status;
        (*list)[i] = (priced){ i, sim_plan_cost(space, point) };
        n_priced += point->gpu_hour_price > 0;
    }
    if (!space->counts_gpus && n_priced > 0 && n_priced < space->n_outers)
        return sim_error_set(error, SIM_USAGE, NULL, 0,
                             "plan: some layouts have a cluster.gpu_hour_price and some have none, so they cannot be "
                             "compared");
    qsort(*list, space->n_outers, sizeof **list, by_cost);
    return SIM_OK;
}

// --- the choice ----------------------------------------------------------------------------------------------------------

static sim_status point_of(const sim_plan_line *line, const sim_plan_found *found, sim_plan_point **point,
                           sim_error *error) {
    *point = NULL;
    return found->answer == SIM_PLAN_NOWHERE ? SIM_OK : sim_plan_line_point(line, found->answer, point, error);
}

// Take the outer assignment over where it has something cheaper.
static sim_status consider(const sim_plan_space *space, sim_plan_points *points, sim_plan_scenario scenario,
                           size_t outer, sim_plan_choice *best, sim_error *error) {
    sim_plan_line line = sim_plan_line_of(space, points, outer, scenario);
    sim_plan_found found;
    sim_plan_point *point;
    sim_status status = best->point ? cut_line(space, &line, sim_plan_cost(space, best->point), error) : SIM_OK;
    if (status || line.n_places == 0) return status;
    status = sim_plan_bisect(&line, &found, error);
    if (!status) status = point_of(&line, &found, &point, error);
    if (status) return status;
    if (found.open != found.answer) best->has_undecided = true;
    if (!point && best->point) return SIM_OK;
    best->outer = outer; // without an answer so far: the dearest that was tried
    best->found = found;
    best->point = point;
    return SIM_OK;
}

static sim_status choose_cheapest(const sim_plan_space *space, sim_plan_points *points, sim_plan_scenario scenario,
                                  sim_plan_choice *best, sim_error *error) {
    priced *list;
    sim_status status = price(space, points, &list, error);
    for (size_t i = 0; i < space->n_outers && !status; i++)
        status = consider(space, points, scenario, list[i].outer, best, error);
    free(list);
    return status;
}

sim_status sim_plan_choose(const sim_plan_space *space, sim_plan_points *points, sim_plan_scenario scenario,
                           bool is_checked, sim_plan_choice *choice, sim_error *error) {
    *choice = (sim_plan_choice){ .outer = space->n_outers, .found.answer = SIM_PLAN_NOWHERE };
    sim_status status = SIM_OK;
    if (space->n_outers > 1) {
        status = choose_cheapest(space, points, scenario, choice, error);
        if (status || !choice->point || !space->inner) return status;
    } else {
        choice->outer = 0;
    }
    const sim_plan_line line = sim_plan_line_of(space, points, choice->outer, scenario);
    if (is_checked)
        status = sim_plan_search(&line, SIM_PLAN_NEAR, &choice->found, error);
    else
        status = sim_plan_bisect(&line, &choice->found, error);
    if (!status) status = point_of(&line, &choice->found, &choice->point, error);
    return status;
}
