// SPDX-License-Identifier: GPL-3.0-or-later
//
// What an answer says in words.
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "sim/experiment/plan/plan_answer.h"
#include "sim/kernel/clock.h"

void sim_plan_answer_interval(const sim_plan_answer *answer, double *low, double *high) {
    const sim_plan_choice *choice = &answer->choices[SIM_PLAN_AS_MODELLED];
    const sim_plan_axis *axis = answer->space.inner;
    *low = *high = (double)NAN;
    if (!axis || !choice->point) return;
    const double answered = sim_plan_axis_value(axis, choice->found.answer);
    const double open = sim_plan_axis_value(axis, choice->found.open);
    *low = fmin(answered, open);
    *high = fmax(answered, open);
}

// The bound that most requests of the point miss; -1: none is given.
static int worst_bound(const sim_plan_answer *answer, const sim_plan_point *point) {
    const sim_sla_config *sla = sim_plan_points_sla(answer->points);
    int worst = -1;
    for (int b = 0; b < SIM_PLAN_BOUNDS; b++) {
        if (sim_plan_bound_ns(sla, (sim_plan_bound)b) == 0) continue;
        if (worst < 0 || sim_plan_point_missed_share(point, (sim_plan_bound)b) >
                             sim_plan_point_missed_share(point, (sim_plan_bound)worst))
            worst = b;
    }
    return worst;
}

// Append to a text of `size` bytes that holds `n`; what does not fit is cut.
__attribute__((format(printf, 4, 5))) static size_t put(char *text, size_t size, size_t n, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int more = vsnprintf(text + n, size - n, format, arguments);
    va_end(arguments);
    const size_t after = n + (more > 0 ? (size_t)more : 0);
    return after < size ? after : size - 1;
}

void sim_plan_answer_missed(const sim_plan_answer *answer, const sim_plan_point *point, char *text, size_t size) {
    const sim_sla_config *sla = sim_plan_points_sla(answer->points);
    if (point->fate.outcome != SIM_TRIAL_DONE) {
        snprintf(text, size, "%s: %s", point->fate.outcome == SIM_TRIAL_FAILED ? "does not finish" : "cannot run",
                 point->fate.reason);
        return;
    }
    static const char *const titles[SIM_PLAN_BOUNDS] = { "TTFT", "TPOT", "E2E" };
    const double good = sim_plan_point_attainment(answer->points, point, SIM_PLAN_AS_MODELLED).mean;
    size_t n = put(text, size, 0, "%.2f %% of requests are good (%g %% wanted)", good * 100, sla->percentile);
    for (sim_plan_bound b = 0; b < SIM_PLAN_BOUNDS; b++)
        if (sim_plan_bound_ns(sla, b) > 0)
            n = put(text, size, n, ", %.2f %% miss %s", sim_plan_point_missed_share(point, b) * 100, titles[b]);
    const double unserved = sim_plan_point_unserved_share(point);
    if (unserved > 0) n = put(text, size, n, ", %.2f %% are rejected or unfinished", unserved * 100);
    const int bound = worst_bound(answer, point);
    char title[64];
    sim_plan_bound_title(sla, (sim_plan_bound)bound, title, sizeof title);
    put(text, size, n, "; %s is %.6g ms of %.6g ms", title,
        sim_plan_point_percentile(answer->points, point, (sim_plan_bound)bound).mean,
        sim_ms_from_ns(sim_plan_bound_ns(sla, (sim_plan_bound)bound)));
}

void sim_plan_answer_refusal(const sim_plan_answer *answer, char *text, size_t size) {
    const sim_plan_choice *choice = &answer->choices[SIM_PLAN_AS_MODELLED];
    const sim_plan_axis *axis = answer->space.inner;
    const sim_plan_row *last = NULL;
    char missed[360] = "nothing can run";
    for (size_t i = 0; i < answer->n_rows; i++) {
        const sim_plan_point *point = answer->rows[i].point;
        const bool is_last = axis ? answer->rows[i].value == sim_plan_axis_value(axis, choice->found.easiest)
                                  : point->fate.outcome == SIM_TRIAL_DONE;
        if (is_last) last = &answer->rows[i];
    }
    if (last) sim_plan_answer_missed(answer, last->point, missed, sizeof missed);
    const char *what =
        last && last->point->verdicts[SIM_PLAN_AS_MODELLED] == SIM_PLAN_UNDECIDED ? "is certain to meet" : "meets";
    const bool is_rate = answer->plan.find == SIM_PLAN_MAX_RATE;
    if (axis && answer->space.n_outers > 1)
        snprintf(text, size, "no mix %s [sla]: with %s, %s", what, last ? last->point->assignments : "any of them",
                 missed);
    else if (axis)
        snprintf(text, size, "no %s%s in %g:%g %s [sla]: at %g, %s", is_rate ? "" : "value of ",
                 is_rate ? "arrival rate" : axis->key, axis->low, axis->high, what, last ? last->value : (double)NAN,
                 missed);
    else
        snprintf(text, size, "none of the %zu layouts %s [sla]: with %s, %s", answer->space.n_outers, what,
                 last ? last->point->assignments : "any of them", missed);
}
