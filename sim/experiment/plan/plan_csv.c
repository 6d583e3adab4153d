// SPDX-License-Identifier: GPL-3.0-or-later
#include <inttypes.h>
#include <math.h>

#include "perfmodel/perfmodel.h"
#include "sim/experiment/plan/plan_report.h"
#include "sim/report/csv_text.h"

static void put_number(FILE *out, double value) {
    char text[FPM_NUMBER_BYTES] = "";
    if (isfinite(value)) fpm_format_number(text, value);
    fprintf(out, ",%s", text);
}

static void put_interval(FILE *out, const sim_interval *interval) {
    put_number(out, interval->mean);
    put_number(out, interval->low);
    put_number(out, interval->high);
}

static void put_header(FILE *out, const sim_sla_config *sla) {
    fputs("value,assignments,gpus,cost_per_hour,verdict,replicates,attainment,attainment_low,attainment_high", out);
    for (sim_plan_bound b = 0; b < SIM_PLAN_BOUNDS; b++) {
        char key[64];
        if (sim_plan_bound_ns(sla, b) == 0) continue;
        sim_plan_bound_key(sla, b, key, sizeof key);
        fprintf(out, ",%s,%s_low,%s_high", key, key, key);
    }
    fputc('\n', out);
}

static void put_row(FILE *out, const sim_plan_answer *answer, const sim_plan_row *row) {
    const sim_sla_config *sla = sim_plan_points_sla(answer->points);
    const sim_plan_point *point = row->point;
    const sim_interval none = { (double)NAN, (double)NAN, (double)NAN };
    const bool has_run = point->n_replicates > 0 && point->fate.outcome == SIM_TRIAL_DONE;
    char text[FPM_NUMBER_BYTES] = "";
    if (!isnan(row->value)) fpm_format_number(text, row->value);
    fprintf(out, "%s,", text);
    sim_csv_put_text(out, point->assignments);
    fprintf(out, ",%" PRIu64, point->gpus);
    put_number(out, point->gpu_hour_price > 0 ? (double)point->gpus * point->gpu_hour_price : (double)NAN);
    fprintf(out, ",%s,%zu",
            has_run ? sim_plan_verdict_names[point->verdicts[SIM_PLAN_AS_MODELLED]]
                    : sim_trial_outcome_names[point->fate.outcome],
            point->n_replicates);
    const sim_interval attainment =
        has_run ? sim_plan_point_attainment(answer->points, point, SIM_PLAN_AS_MODELLED) : none;
    put_interval(out, &attainment);
    for (sim_plan_bound b = 0; b < SIM_PLAN_BOUNDS; b++) {
        if (sim_plan_bound_ns(sla, b) == 0) continue;
        const sim_interval percentile = has_run ? sim_plan_point_percentile(answer->points, point, b) : none;
        put_interval(out, &percentile);
    }
    fputc('\n', out);
}

sim_status sim_plan_write_csv(const sim_plan_answer *answer, FILE *out, sim_error *error) {
    put_header(out, sim_plan_points_sla(answer->points));
    for (size_t i = 0; i < answer->n_rows; i++) put_row(out, answer, &answer->rows[i]);
    return ferror(out) ? sim_error_set(error, SIM_IO, NULL, 0, "the margin curve could not be written") : SIM_OK;
}
