// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/plan/plan_warnings.h"

#include <math.h>

static void warn_of_disorder(sim_plan_answer *answer) {
    const sim_plan_choice *choice = &answer->choices[SIM_PLAN_AS_MODELLED];
    const sim_plan_axis *axis = answer->space.inner;
    if (!choice->point || !axis || choice->found.is_monotone) return;
    const double value = sim_plan_axis_value(axis, choice->found.answer);
    if (choice->found.safe == SIM_PLAN_NOWHERE) {
        sim_text_list_add(
            &answer->warnings,
            "meeting the SLA is not monotone in %s: %g meets it, but values beyond it miss it again, up to the end of "
            "the range",
            axis->key, value);
        return;
    }
    sim_text_list_add(&answer->warnings,
                      "meeting the SLA is not monotone in %s: %g meets it, but some values between it and %g miss it "
                      "(%zu tried); from %g on all that were tried meet it",
                      axis->key, value, sim_plan_axis_value(axis, choice->found.safe), choice->found.n_scanned,
                      sim_plan_axis_value(axis, choice->found.safe));
}

static void warn_of_undecided(sim_plan_answer *answer) {
    double low, high;
    char what[64] = "the stretches of one run do";
    if (answer->plan.judge_by != SIM_PLAN_BY_BATCHES)
        snprintf(what, sizeof what, "%lld replicates do", (long long)answer->plan.max_repeats);
    sim_plan_answer_interval(answer, &low, &high);
    if (answer->choices[SIM_PLAN_AS_MODELLED].point && answer->space.inner && low != high)
        sim_text_list_add(&answer->warnings,
                          "%s not decide where the answer lies from %g to %g (%smore requests per run, or a coarser "
                          "plan.resolution)",
                          what, low, high, answer->plan.judge_by == SIM_PLAN_BY_BATCHES ? "" : "plan.max_repeats, ");
    else if (answer->choices[SIM_PLAN_AS_MODELLED].has_undecided)
        sim_text_list_add(&answer->warnings,
                          "%s not decide whether a cheaper layout meets the SLA (%smore requests per run)", what,
                          answer->plan.judge_by == SIM_PLAN_BY_BATCHES ? "" : "plan.max_repeats, or ");
}

// However many requests do without a miss, the next one may have it. A trace is exempt: the verdict is of it alone.
static void warn_of_certainty(sim_plan_answer *answer, const sim_plan_point *point, double n_arrived) {
    const double confidence = answer->plan.confidence;
    if (point->is_seedless || answer->plan.judge_by == SIM_PLAN_BY_TRACE) return;
    sim_text_list_add(
        &answer->warnings,
        "the verdict on the answer rests on %.0f requests without a miss: at %g %% confidence, up to %.2g %% of all "
        "may miss the SLA (sla.percentile = 100 is never proven)",
        n_arrived, confidence * 100, 100 * (1 - pow(1 - confidence, 1 / n_arrived)));
}

// A share of misses that is allowed must be some requests, or chance decides.
static void warn_of_short_runs(sim_plan_answer *answer) {
    enum { FEW = 10 };
    const sim_plan_point *point = answer->choices[SIM_PLAN_AS_MODELLED].point;
    const double percentile = sim_plan_points_sla(answer->points)->percentile;
    double n_arrived = 0;
    if (!point) return;
    for (size_t i = 0; i < point->n_replicates; i++) n_arrived += (double)point->replicates[i].n_arrived;
    if (percentile >= 100) {
        warn_of_certainty(answer, point, n_arrived);
        return;
    }
    if (n_arrived * (100 - percentile) / 100 >= FEW) return;
    sim_text_list_add(
        &answer->warnings,
        "the verdict on the answer rests on %.0f requests, of which %g %% may miss the SLA: too few to tell (more "
        "requests per run, or a lower sla.percentile)",
        n_arrived, 100 - percentile);
}

void sim_plan_warn_of_idle_axis(sim_plan_answer *answer) {
    const sim_plan_point *first = NULL, *point;
    size_t n = 0;
    for (size_t i = 0; (point = sim_plan_points_at(answer->points, i)); i++) {
        if (point->n_replicates == 0) continue;
        if (!first) first = point;
        if (point->replicates[0].digest != first->replicates[0].digest) return;
        n++;
    }
    if (n < 2) return;
    sim_text_list_add(&answer->warnings, "%s changes nothing here: all %zu %s that were tried give the same run",
                      answer->space.inner ? answer->space.inner->key : "the layout", n,
                      answer->space.inner ? "values" : "layouts");
}

void sim_plan_warn_of_answer(sim_plan_answer *answer) {
    warn_of_disorder(answer);
    warn_of_undecided(answer);
    warn_of_short_runs(answer);
}
