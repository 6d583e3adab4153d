// SPDX-License-Identifier: GPL-3.0-or-later
//
// Layouts are numbered keys because a line of a configuration holds 199 bytes and its keys are known beforehand; each is written as on a command line.
#include "sim/experiment/plan/plan_settings.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char *const sim_plan_find_names[] = { "min_gpus", "min_cost", "max_rate", "max_concurrency", NULL };
const char *const sim_plan_judge_names[] = { "auto", "seeds", "trace", "batches", NULL };

// A number with or without a size suffix.
static const char *parse_bound(const char *text, double *value) {
    int64_t count;
    if (!sim_parse_real(text, value)) return NULL;
    const char *hint = sim_parse_size(text, &count);
    if (!hint) *value = (double)count;
    return hint;
}

// The bytes from `from` to `end` without blanks around them; false when there are none or too many.
static bool cut_out(const char *from, const char *end, char *text, size_t size) {
    while (from < end && (*from == ' ' || *from == '\t')) from++;
    while (end > from && (end[-1] == ' ' || end[-1] == '\t')) end--;
    if (from == end || (size_t)(end - from) >= size) return false;
    memcpy(text, from, (size_t)(end - from));
    text[end - from] = '\0';
    return true;
}

static const char *parse_ranges(const char *text, void *out) {
    static const char hint[] = "give LOW:HIGH with LOW at most HIGH, such as 1:64; one such pair per key, with commas "
                               "between them";
    sim_plan_ranges ranges = { .n = 0 };
    for (const char *at = text;; at++) {
        const char *end = at + strcspn(at, ","), *colon = memchr(at, ':', (size_t)(end - at));
        char low[64], high[64];
        if (!colon || ranges.n == SIM_PLAN_MAX_KEYS || !cut_out(at, colon, low, sizeof low) ||
            !cut_out(colon + 1, end, high, sizeof high))
            return hint;
        if (parse_bound(low, &ranges.low[ranges.n]) || parse_bound(high, &ranges.high[ranges.n]) ||
            ranges.low[ranges.n] > ranges.high[ranges.n])
            return hint;
        ranges.n++;
        at = end;
        if (*at == '\0') break;
    }
    *(sim_plan_ranges *)out = ranges;
    return NULL;
}

#define AT(field) offsetof(sim_plan_config, field)
#define LAYOUT(number, digits)                                                                                 \
    {                                                                                                          \
        .name = "layout_" digits, .type = SIM_KEY_TEXT, .offset = AT(layouts[(number)-1]), .default_text = "", \
        .help = (number) > 1 ? "another layout"                                                                \
                             : "over = layouts: section.key=value words with blanks between them, "            \
                               "such as parallel.tensor=4 cluster.replicas=2"                                  \
    }
#define MODEL_ERROR(key, field, text)                                                                          \
    {                                                                                                          \
        .name = key, .type = SIM_KEY_REAL, .offset = AT(field), .default_text = "auto", .min = 0, .max = 0.95, \
        .word = "auto", .word_value = -1, .unit = "fraction", .help = text                                     \
    }
static const sim_key keys[] = {
    { .name = "find",
      .type = SIM_KEY_CHOICE,
      .offset = AT(find),
      .default_text = "min_gpus",
      .choices = sim_plan_find_names,
      .help = "smallest value of `over`, cheapest layout or mix, highest arrival rate or most requests in flight that "
              "meet [sla]" },
    { .name = "over",
      .type = SIM_KEY_TEXT,
      .offset = AT(over),
      .default_text = "",
      .help = "min_gpus: a key that holds a number, or layouts; min_cost: layouts and keys, the last one searched by "
              "bisection; empty = layouts where there are any, else cluster.replicas; max_rate and max_concurrency "
              "vary the load" },
    { .name = "range",
      .type = SIM_KEY_CUSTOM,
      .offset = AT(range),
      .default_text = "1:64",
      .parse = parse_ranges,
      .help = "lowest and highest value, one pair per key; max_rate: requests per second, or with over = load.speedup "
              "that factor" },
    { .name = "resolution",
      .type = SIM_KEY_REAL,
      .offset = AT(resolution_frac),
      .default_text = "0.01",
      .min = 1e-4,
      .max = 1,
      .unit = "fraction",
      .help = "distance of neighbouring values of a real key, relative to them" },
    { .name = "confidence",
      .type = SIM_KEY_REAL,
      .offset = AT(confidence),
      .default_text = "0.95",
      .min = 0.5,
      .max = 0.9999,
      .unit = "fraction",
      .help = "of the verdict on one value, over all looks at its replicates" },
    { .name = "max_repeats",
      .type = SIM_KEY_INT,
      .offset = AT(max_repeats),
      .default_text = "32",
      .min = 1,
      .max = 4096,
      .unit = "seeds",
      .help = "replicates of one value at most, seeds load.seed and up; 1 = one run, taken as it is" },
    { .name = "judge_by",
      .type = SIM_KEY_CHOICE,
      .offset = AT(judge_by),
      .default_text = "auto",
      .choices = sim_plan_judge_names,
      .help = "seeds: interval over replicates; trace: one run, exact for this traffic; batches: one run, interval "
              "over its stretches; auto: seeds, or trace where the seed changes nothing" },
    MODEL_ERROR("model_error_ttft", model_error_ttft_frac,
                "relative error of predicted TTFT; auto = what the calibration states"),
    MODEL_ERROR("model_error_tpot", model_error_tpot_frac,
                "relative error of predicted TPOT; auto = what the calibration states"),
    LAYOUT(1, "1"),
    LAYOUT(2, "2"),
    LAYOUT(3, "3"),
    LAYOUT(4, "4"),
    LAYOUT(5, "5"),
    LAYOUT(6, "6"),
    LAYOUT(7, "7"),
    LAYOUT(8, "8"),
    LAYOUT(9, "9"),
    LAYOUT(10, "10"),
    LAYOUT(11, "11"),
    LAYOUT(12, "12"),
    LAYOUT(13, "13"),
    LAYOUT(14, "14"),
    LAYOUT(15, "15"),
    LAYOUT(16, "16"),
    LAYOUT(17, "17"),
    LAYOUT(18, "18"),
    LAYOUT(19, "19"),
    LAYOUT(20, "20"),
    LAYOUT(21, "21"),
    LAYOUT(22, "22"),
    LAYOUT(23, "23"),
    LAYOUT(24, "24"),
};
void sim_plan_choose_over(sim_plan_config *plan) {
    const bool is_of_load = plan->find == SIM_PLAN_MAX_RATE || plan->find == SIM_PLAN_MAX_CONCURRENCY;
    if (is_of_load || plan->over[0]) return;
    plan->over = "cluster.replicas";
    for (size_t i = 0; i < SIM_PLAN_MAX_LAYOUTS; i++)
        if (plan->layouts[i][0]) plan->over = "layouts";
}

const sim_key_table sim_plan_keys = { "plan", "the search of forepass plan", keys, sizeof keys / sizeof *keys };
