// SPDX-License-Identifier: GPL-3.0-or-later
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/experiment/plan/plan_report.h"
#include "sim/kernel/clock.h"

static const char *unit_of(const sim_plan_answer *answer) {
    if (answer->plan.find == SIM_PLAN_MAX_RATE) return " requests/s";
    return answer->plan.find == SIM_PLAN_MAX_CONCURRENCY ? " in flight" : "";
}

// Of what is searched along: a speedup is found as the rate that it makes.
static const char *name_of(const sim_plan_answer *answer) {
    return answer->plan.find == SIM_PLAN_MAX_RATE ? "arrival rate" : answer->space.inner->key;
}

static void put_gpus(const sim_plan_point *point, FILE *out) {
    fprintf(out, "%" PRIu64 " GPU%s", point->gpus, point->gpus == 1 ? "" : "s");
    if (point->gpu_hour_price > 0) fprintf(out, ", %.4g an hour", (double)point->gpus * point->gpu_hour_price);
}

static void put_question(const sim_plan_answer *answer, FILE *out) {
    static const char *const questions[] = { "smallest", "cheapest", "highest", "highest" };
    const sim_sla_config *sla = sim_plan_points_sla(answer->points);
    const sim_plan_axis *axis = answer->space.inner;
    const char *over = answer->space.n_outers > 1 && axis ? "mix" : axis ? name_of(answer) : "layout";
    fprintf(out, "Question         %s %s with", questions[answer->plan.find], over);
    const char *separator = " ";
    static const char *const titles[SIM_PLAN_BOUNDS] = { "TTFT", "TPOT", "E2E" };
    for (sim_plan_bound b = 0; b < SIM_PLAN_BOUNDS; b++) {
        if (sim_plan_bound_ns(sla, b) == 0) continue;
        fprintf(out, "%s%s %.6g ms", separator, titles[b], sim_ms_from_ns(sim_plan_bound_ns(sla, b)));
        separator = ", ";
    }
    fprintf(out, " for %g %% of requests", sla->percentile);
    if (axis) fprintf(out, "; %s from %g to %g", name_of(answer), axis->low, axis->high);
    fputc('\n', out);
}

static void put_choice(const sim_plan_answer *answer, const sim_plan_choice *choice, FILE *out) {
    const sim_plan_axis *axis = answer->space.inner;
    if (!choice->point)
        fputs("none", out);
    else if (axis && answer->space.n_outers == 1)
        fprintf(out, "%g%s", sim_plan_axis_value(axis, choice->found.answer), unit_of(answer));
    else
        fputs(choice->point->assignments, out);
}

static void put_answer(const sim_plan_answer *answer, FILE *out) {
    const sim_plan_choice *choice = &answer->choices[SIM_PLAN_AS_MODELLED];
    fputs("Answer           ", out);
    if (!choice->point && answer->is_stopped) {
        fputs("not found yet; what was tried is below\n", out);
        return;
    }
    if (!choice->point) {
        char text[512];
        sim_plan_answer_refusal(answer, text, sizeof text);
        fprintf(out, "%s\n", text);
        return;
    }
    double low, high;
    put_choice(answer, choice, out);
    sim_plan_answer_interval(answer, &low, &high);
    if (low < high) fprintf(out, " (undecided from %g to %g)", low, high);
    if (answer->space.trace_rate > 0 && answer->plan.find == SIM_PLAN_MAX_RATE)
        fprintf(out, " (load.speedup = %.4g)",
                sim_plan_axis_value(answer->space.inner, choice->found.answer) / answer->space.trace_rate);
    fputs(": ", out);
    put_gpus(choice->point, out);
    fputc('\n', out);
}

static void put_binding(const sim_plan_answer *answer, FILE *out) {
    const bool is_of_load = answer->plan.find == SIM_PLAN_MAX_RATE || answer->plan.find == SIM_PLAN_MAX_CONCURRENCY;
    if (!answer->choices[SIM_PLAN_AS_MODELLED].point) return;
    if (!answer->beyond) {
        double low, high;
        sim_plan_answer_interval(answer, &low, &high);
        fprintf(out, "Binding          nothing found: the %s of the range %s\n",
                is_of_load            ? "highest load"
                : answer->space.inner ? "lowest value"
                                      : "cheapest layout",
                low < high ? "may meet [sla] as well, which is undecided" : "meets [sla] as well");
        return;
    }
    char missed[400];
    sim_plan_answer_missed(answer, answer->beyond, missed, sizeof missed);
    fprintf(out, "Binding          %s", answer->cause.text);
    if (answer->cause.percentile_ms > 0)
        fprintf(out, " (%.4g ms; %.4g ms when served one at a time)", answer->cause.percentile_ms,
                answer->cause.lone_percentile_ms);
    fprintf(out, "\n%-17s", is_of_load ? "Next higher" : "Next cheaper");
    if (isnan(answer->beyond_value) || answer->space.n_outers > 1)
        fputs(answer->beyond->assignments, out);
    else
        fprintf(out, "%g", answer->beyond_value);
    fputs(" (", out);
    put_gpus(answer->beyond, out);
    fprintf(out, "): %s\n", missed);
}

static void put_headroom(const sim_plan_answer *answer, FILE *out) {
    const sim_plan_headroom *headroom = &answer->headroom;
    if (!headroom->is_known) return;
    const bool is_rate = headroom->axis.per_unit != 1;
    fprintf(out, "Headroom         the load may be %s%.2f times as high (%s %.4g; tried in steps of 5 %%)\n",
            headroom->is_at_least ? "at least " : "", headroom->factor, is_rate ? "requests/s" : headroom->axis.key,
            headroom->value);
}

static void put_error(const sim_plan_answer *answer, FILE *out) {
    const sim_plan_model_error *error = &answer->model_error;
    if (error->source[0] == '\0') return;
    fprintf(out, "Model error      TTFT %.1f %%, TPOT %.1f %% (%s): ", error->pct[SIM_PLAN_TTFT],
            error->pct[SIM_PLAN_TPOT], error->source);
    put_choice(answer, &answer->choices[SIM_PLAN_FASTER], out);
    fputs(" if the hardware is that much faster, ", out);
    put_choice(answer, &answer->choices[SIM_PLAN_SLOWER], out);
    fputs(" if slower\n", out);
}

static void put_effort(const sim_plan_answer *answer, FILE *out) {
    const char *judged_by = sim_plan_judged_by(answer);
    fprintf(out, "Effort           %zu runs of %zu points; ", sim_plan_points_n_runs(answer->points),
            sim_plan_points_n_tried(answer->points));
    if (judged_by[0] == 's')
        fprintf(out, "each verdict at %g %% confidence, over at most %lld seeds\n", answer->plan.confidence * 100,
                (long long)answer->plan.max_repeats);
    else if (judged_by[0] == 'r')
        fputs("one run of each, taken as it is\n", out);
    else if (judged_by[0] == 't')
        fprintf(out, "%sverdicts are of this very trace, intervals of traffic like it\n",
                answer->plan.judge_by == SIM_PLAN_BY_AUTO ? "the seed changes nothing: " : "one run of each: ");
    else
        fprintf(out, "each verdict at %g %% confidence, over stretches of one run\n", answer->plan.confidence * 100);
}

// --- the curve -------------------------------------------------------------------------------------------------------------

// Of the column of layouts.
static int layout_width(const sim_plan_answer *answer) {
    size_t widest = strlen("layout");
    for (size_t i = 0; i < answer->n_rows; i++) {
        const size_t n = strlen(answer->rows[i].point->assignments);
        if (n > widest) widest = n;
    }
    return (int)widest;
}

static void put_row(const sim_plan_answer *answer, const sim_plan_row *row, int width, FILE *out) {
    const sim_sla_config *sla = sim_plan_points_sla(answer->points);
    const sim_plan_point *point = row->point;
    if (isnan(row->value))
        fprintf(out, "%c %-*s", row->is_answer ? '>' : ' ', width, point->assignments);
    else
        fprintf(out, "%c %12.6g", row->is_answer ? '>' : ' ', row->value);
    fprintf(out, " %6" PRIu64, point->gpus);
    if (point->fate.outcome != SIM_TRIAL_DONE) {
        fprintf(out, "  %s\n", point->fate.reason);
        return;
    }
    const sim_interval good = sim_plan_point_attainment(answer->points, point, SIM_PLAN_AS_MODELLED);
    fprintf(out, "  %-9s %4zu %8.3f [%7.3f, %7.3f]", sim_plan_verdict_names[point->verdicts[SIM_PLAN_AS_MODELLED]],
            point->n_replicates, good.mean * 100, good.low * 100, good.high * 100);
    for (sim_plan_bound b = 0; b < SIM_PLAN_BOUNDS; b++)
        if (sim_plan_bound_ns(sla, b) > 0)
            fprintf(out, " %14.2f", sim_plan_point_percentile(answer->points, point, b).mean);
    fputc('\n', out);
}

static void put_curve(const sim_plan_answer *answer, FILE *out) {
    const sim_sla_config *sla = sim_plan_points_sla(answer->points);
    const int width = layout_width(answer);
    if (answer->space.inner && !answer->is_stopped)
        fprintf(out, "\n  %12s", "value");
    else
        fprintf(out, "\n  %-*s", width, answer->is_stopped ? "tried" : "layout");
    fprintf(out, " %6s  %-9s %4s %8s  %-17s", "GPUs", "SLA", "runs", "good %", "interval");
    for (sim_plan_bound b = 0; b < SIM_PLAN_BOUNDS; b++) {
        if (sim_plan_bound_ns(sla, b) == 0) continue;
        char title[64];
        sim_plan_bound_title(sla, b, title, sizeof title);
        fprintf(out, " %14s", title);
    }
    fputc('\n', out);
    for (size_t i = 0; i < answer->n_rows; i++) put_row(answer, &answer->rows[i], width, out);
}

sim_status sim_plan_write_table(const sim_plan_answer *answer, FILE *out, sim_error *error) {
    put_question(answer, out);
    put_answer(answer, out);
    if (!answer->is_stopped) {
        put_binding(answer, out);
        put_headroom(answer, out);
        put_error(answer, out);
    }
    put_effort(answer, out);
    put_curve(answer, out);
    return ferror(out) ? sim_error_set(error, SIM_IO, NULL, 0, "the plan could not be written") : SIM_OK;
}
