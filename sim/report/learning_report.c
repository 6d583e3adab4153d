// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/report/learning_report.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

#include "sim/report/json_fields.h"
#include "sim/report/tuning_block.h"

static const fpm_kind kinds[SIM_N_KINDS] = { FPM_PREFILL, FPM_DECODE, FPM_MIXED };

typedef unsigned long long count;

// --- JSON -------------------------------------------------------------------------------------------------------------

static void add_input(cJSON *root, const sim_learning_report *report) {
    const sim_log_counts *counts = report->counts;
    cJSON *input = cJSON_AddObjectToObject(root, "input");
    cJSON_AddStringToObject(input, "path", report->feed->path);
    sim_json_add_count(input, "iterations", counts->n_iterations);
    sim_json_add_count(input, "learned", counts->n_learned);
    sim_json_add_count(input, "held_out", counts->n_held_out);
    sim_json_add_count(input, "without_work", counts->n_idle);
    sim_json_add_count(input, "without_wall_time", counts->n_without_time);
    sim_json_add_count(input, "with_differing_wall_times", counts->n_disagreeing);
}

static void add_measures(cJSON *object, const char *key, const sim_log_learner *learner, const sim_measures *measures) {
    const fpm_model *models[] = { learner->model };
    const sim_tuning_result result = { .measures = measures, .models = models, .n_models = 1 };
    cJSON *block = cJSON_AddObjectToObject(object, key);
    sim_tuning_add_kinds(block, &result);
}

static void add_learner(cJSON *object, const sim_learning_report *report, const sim_log_learner *learner) {
    add_measures(object, "tuning", learner, learner->learned);
    if (!learner->held_out) return;
    add_measures(object, "held_out", learner, learner->held_out);
    sim_json_add_number(cJSON_GetObjectItemCaseSensitive(object, "held_out"), "share", report->feed->held_out_share);
}

sim_status sim_learning_report_write_json(const sim_learning_report *report, FILE *out, sim_error *error) {
    const sim_log_feed *feed = report->feed;
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "schema", "forepass.tune");
    sim_json_add_count(root, "version", 1);
    add_input(root, report);
    cJSON *variants = report->is_comparison ? cJSON_AddArrayToObject(root, "variants") : NULL;
    for (size_t i = 0; i < feed->n_learners; i++) {
        cJSON *object = report->is_comparison ? sim_json_add_item(variants) : root;
        if (report->is_comparison) cJSON_AddStringToObject(object, "name", feed->learners[i].name);
        add_learner(object, report, &feed->learners[i]);
    }
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    const bool is_written = fputs(text, out) >= 0 && fputc('\n', out) != EOF;
    free(text);
    return is_written ? SIM_OK : sim_error_set(error, SIM_IO, NULL, 0, "the report could not be written");
}

// --- table ------------------------------------------------------------------------------------------------------------

static void put_input(FILE *out, const sim_log_counts *counts) {
    fprintf(out, "%llu iterations: %llu learned", (count)counts->n_iterations, (count)counts->n_learned);
    if (counts->n_held_out > 0) fprintf(out, ", %llu held out", (count)counts->n_held_out);
    if (counts->n_idle > 0) fprintf(out, ", %llu without work", (count)counts->n_idle);
    if (counts->n_without_time > 0) fprintf(out, ", %llu without a wall time", (count)counts->n_without_time);
    fputc('\n', out);
    if (counts->n_disagreeing > 0)
        fprintf(out, "The ranks of %llu passes give different wall times; the slowest one's counts.\n",
                (count)counts->n_disagreeing);
}

static sim_status put_one(const sim_learning_report *report, FILE *out, sim_error *error) {
    const sim_log_learner *learner = &report->feed->learners[0];
    const fpm_model *models[] = { learner->model };
    sim_tuning_result result = { .measures = learner->learned, .models = models, .n_models = 1 };
    fputs("\nEstimated, then learned:\n", out);
    const sim_status status = sim_tuning_write_table(&result, out, error);
    if (status || !learner->held_out) return status;
    fprintf(out, "\nHeld out, the last %g %% of the passes, estimated by what was learned before:\n",
            100 * report->feed->held_out_share);
    result.measures = learner->held_out;
    return sim_tuning_write_table(&result, out, error);
}

static void put_pct(FILE *out, uint64_t n, double fraction) {
    if (n > 0)
        fprintf(out, "%10.2f", 100 * fraction);
    else
        fprintf(out, "%10s", "-");
}

static void put_variant(FILE *out, const char *name, const sim_error_measures *errors, const sim_error_mean *held_out) {
    fprintf(out, "  %-12s%10llu", name, (count)errors->all.n);
    put_pct(out, errors->all.n, errors->all.mape);
    put_pct(out, errors->all.n, errors->all.bias);
    put_pct(out, errors->settled.n, errors->settled.mape);
    put_pct(out, errors->final.n, errors->final.mape);
    put_pct(out, errors->all.n, errors->p50_ape);
    put_pct(out, errors->all.n, errors->p90_ape);
    put_pct(out, errors->all.n, errors->p99_ape);
    if (held_out) put_pct(out, held_out->n, held_out->mape);
    fputc('\n', out);
}

// One kind: the base estimate, then every learner.
static void put_kind(FILE *out, const sim_log_feed *feed, fpm_kind kind) {
    for (size_t i = 0; i < feed->n_learners; i++) {
        const sim_log_learner *learner = &feed->learners[i];
        const sim_kind_measures learned = sim_measures_of(learner->learned, kind);
        sim_kind_measures held_out = { .n_observations = 0 };
        if (learner->held_out) held_out = sim_measures_of(learner->held_out, kind);
        if (learned.n_observations + held_out.n_observations == 0) return;
        const bool has_held_out = learner->held_out != NULL;
        if (i == 0) {
            fprintf(out, "%s: %llu passes%s", fpm_kind_name(kind), (count)learned.n_observations,
                    has_held_out ? ", " : "\n");
            if (has_held_out) fprintf(out, "%llu held out\n", (count)held_out.n_observations);
            if (feed->base) put_variant(out, "untuned", &learned.untuned, has_held_out ? &held_out.untuned.all : NULL);
        }
        put_variant(out, learner->name, &learned.tuned, has_held_out ? &held_out.tuned.all : NULL);
    }
}

static void put_comparison(const sim_learning_report *report, FILE *out) {
    const sim_log_feed *feed = report->feed;
    fprintf(out, "\n%-14s%10s%10s%10s%10s%10s%10s%10s%10s%s\n", "MAPE in %", "estimates", "all", "bias", "settled",
            "last 10%", "p50", "p90", "p99", feed->held_out_share > 0 ? "  held out" : "");
    for (size_t i = 0; i < SIM_N_KINDS; i++) put_kind(out, feed, kinds[i]);
    fprintf(out,
            "Each pass is estimated before it is learned. Estimates: of the passes, those a learner had one for;\n"
            "settled: without the first %d of a kind.\n",
            SIM_SETTLING_PASSES);
}

sim_status sim_learning_report_write_table(const sim_learning_report *report, FILE *out, sim_error *error) {
    put_input(out, report->counts);
    sim_status status = SIM_OK;
    if (report->is_comparison)
        put_comparison(report, out);
    else
        status = put_one(report, out, error);
    if (!status && ferror(out)) return sim_error_set(error, SIM_IO, NULL, 0, "the report could not be written");
    return status;
}
