// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/sweep/objective.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/experiment/trial.h"

typedef struct words {
    char text[200];
    char *list[8];
    size_t n;
} words;

static void split(words *out, const char *text, size_t n) {
    char *save = NULL;
    snprintf(out->text, sizeof out->text, "%.*s", (int)n, text);
    out->n = 0;
    for (char *word = strtok_r(out->text, " \t", &save); word && out->n < 8; word = strtok_r(NULL, " \t", &save))
        out->list[out->n++] = word;
}

// Less is better of times, costs and what goes wrong; more of throughput, shares and goodput.
static bool is_smaller_better(const char *figure) {
    static const char *const marks[] = { "_ms",       "cost",       "gpu_hours",   "num_gpus",  "rejected",
                                         "truncated", "incomplete", "preemptions", "iterations" };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(figure, marks[i])) return true;
    return false;
}

static void make_name(sim_objective *objective) {
    static const char *const suffixes[] = { "", "_per_gpu", "_per_dollar" };
    const char *dot = strchr(objective->figure, '.'); // a block's name says nothing its figures do not
    snprintf(objective->name, sizeof objective->name, "%s%s", dot ? dot + 1 : objective->figure,
             suffixes[objective->per]);
    for (char *c = objective->name; *c; c++)
        if (!isalnum((unsigned char)*c)) *c = '_';
}

typedef struct reading {
    const sim_config *config;
    const cJSON *example;
    sim_error *error;
} reading;

static sim_status unknown_figure(const reading *in, const char *figure) {
    enum { MAX_NAMES = 512 };
    static const char hint[] = "see forepass replay --format json; blocks sla and cost need [sla] and "
                               "cluster.gpu_hour_price";
    const char *names[MAX_NAMES];
    size_t n = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, in->example) if (cJSON_IsRaw(item) && n < MAX_NAMES) names[n++] = item->string;
    const char *nearest = sim_nearest_name(figure, names, n);
    if (nearest)
        return sim_config_contradiction(in->config, in->error, "sweep", "objective",
                                        "objective: %s is no number of the summary (did you mean %s? %s)", figure,
                                        nearest, hint);
    return sim_config_contradiction(in->config, in->error, "sweep", "objective",
                                    "objective: %s is no number of the summary (%s)", figure, hint);
}

static sim_status read_one(const reading *in, const char *text, size_t n, sim_objective *objective) {
    words all;
    double value;
    size_t at = 0;
    split(&all, text, n);
    *objective = (sim_objective){ .per = SIM_PER_RUN };
    const bool is_max = all.n > 1 && strcmp(all.list[0], "max") == 0;
    const bool is_min = all.n > 1 && strcmp(all.list[0], "min") == 0;
    if (is_max || is_min) at++;
    const size_t n_left = all.n - at;
    const bool has_per = n_left == 3 && strcmp(all.list[at + 1], "per") == 0;
    const bool is_gpu = has_per && strcmp(all.list[at + 2], "gpu") == 0;
    const bool is_dollar = has_per && strcmp(all.list[at + 2], "dollar") == 0;
    if (n_left == 0 || (n_left > 1 && !is_gpu && !is_dollar))
        return sim_config_contradiction(
            in->config, in->error, "sweep", "objective",
            "objective: \"%.*s\" is none (write [max|min] KEY [per gpu|per dollar], several "
            "with commas between)",
            (int)n, text);
    objective->per = is_gpu ? SIM_PER_GPU : is_dollar ? SIM_PER_DOLLAR : SIM_PER_RUN;
    snprintf(objective->figure, sizeof objective->figure, "%s", all.list[at]);
    objective->is_smaller_better = is_min || (!is_max && is_smaller_better(objective->figure));
    make_name(objective);
    if (!sim_summary_figure(in->example, objective->figure, &value)) return unknown_figure(in, objective->figure);
    if (is_dollar && !sim_summary_figure(in->example, "cost.gpu_hour_price", &value))
        return sim_config_contradiction(in->config, in->error, "sweep", "objective",
                                        "objective: per dollar needs a price (cluster.gpu_hour_price)");
    return SIM_OK;
}

sim_status sim_objectives_read(sim_objectives *objectives, const sim_config *config, const char *text,
                               const cJSON *example, sim_error *error) {
    const reading in = { config, example, error };
    objectives->n = 0;
    for (const char *at = text; at;) {
        const size_t n = strcspn(at, ",");
        if (objectives->n == SIM_OBJECTIVES)
            return sim_config_contradiction(config, error, "sweep", "objective", "objective: %d are the most",
                                            SIM_OBJECTIVES);
        const sim_status status = read_one(&in, at, n, &objectives->list[objectives->n]);
        if (status) return status;
        for (size_t i = 0; i < objectives->n; i++)
            if (strcmp(objectives->list[i].name, objectives->list[objectives->n].name) == 0)
                return sim_config_contradiction(config, error, "sweep", "objective", "objective: %s stands there twice",
                                                objectives->list[i].name);
        objectives->n++;
        at = at[n] ? at + n + 1 : NULL;
    }
    return SIM_OK;
}

double sim_objective_value(const sim_objective *objective, const cJSON *summary) {
    double value, gpus, price = 1;
    if (!summary || !sim_summary_figure(summary, objective->figure, &value)) return (double)NAN;
    if (objective->per == SIM_PER_RUN) return value;
    const bool has_price =
        objective->per != SIM_PER_DOLLAR || sim_summary_figure(summary, "cost.gpu_hour_price", &price);
    return sim_summary_figure(summary, "num_gpus", &gpus) && has_price
               ? sim_objective_per(objective, value, gpus, price)
               : (double)NAN;
}

double sim_objective_per(const sim_objective *objective, double figure, double gpus, double gpu_hour_price) {
    if (objective->per == SIM_PER_RUN) return figure;
    return figure / (gpus * (objective->per == SIM_PER_DOLLAR ? gpu_hour_price : 1));
}

bool sim_objective_is_better(const sim_objective *objective, double a, double b) {
    if (isnan(a)) return false;
    if (isnan(b)) return true;
    return objective->is_smaller_better ? a < b : a > b;
}
