// SPDX-License-Identifier: GPL-3.0-or-later
//
// The keys of [csv], and which of them contradict each other or the rest.
#include "sim/workload/csv_keys.h"

#include "sim/workload/contradiction.h"

static const char *const unit_names[] = { "s", "ns", "us", "ms", "calendar", NULL }; // of sim_csv_unit

#define COLUMN(field, text)                                                                                  \
    {                                                                                                        \
        .name = #field, .type = SIM_KEY_TEXT, .offset = offsetof(sim_csv_config, field), .default_text = "", \
        .unit = "", .help = text                                                                             \
    }

static const sim_key keys[] = {
    COLUMN(arrival, "column of the arrival time; empty = the file has none, so load.mode is concurrency by default"),
    { .name = "unit",
      .type = SIM_KEY_CHOICE,
      .offset = offsetof(sim_csv_config, unit),
      .default_text = "s",
      .choices = unit_names,
      .unit = "",
      .help = "unit of the arrival column; calendar: YYYY-MM-DD HH:MM:SS with an optional fraction and zone" },
    COLUMN(input_tokens, "column of the prompt length; required by format = csv"),
    COLUMN(output_tokens, "column of the answer length; required by format = csv"),
    COLUMN(session,
           "column of the conversation: rows with the same text are its turns, in file order; an empty cell: none"),
    COLUMN(priority, "column of a priority; refused, as no scheduler of this version orders by one"),
    COLUMN(cached_tokens,
           "column of cached prompt tokens; refused, as the caches of this version follow from the content of prompts"),
};
#undef COLUMN

const sim_key_table sim_csv_keys = {
    .section = "csv",
    .help = "columns of a trace with format = csv",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
};

static bool is_text(const char *text) { return text && *text; }

// The first key that does not stand at its default; NULL when all do.
static const char *given_key(const sim_csv_config *csv) {
    if (is_text(csv->arrival)) return "arrival";
    if (is_text(csv->input_tokens)) return "input_tokens";
    if (is_text(csv->output_tokens)) return "output_tokens";
    if (is_text(csv->session)) return "session";
    if (is_text(csv->priority)) return "priority";
    if (is_text(csv->cached_tokens)) return "cached_tokens";
    return csv->unit != SIM_CSV_S ? "unit" : NULL;
}

sim_time_unit sim_csv_time_unit(const sim_csv_config *csv) {
    static const sim_time_unit units[] = {
        [SIM_CSV_S] = SIM_UNIT_S,
        [SIM_CSV_NS] = SIM_UNIT_NS,
        [SIM_CSV_US] = SIM_UNIT_US,
        [SIM_CSV_MS] = SIM_UNIT_MS,
        [SIM_CSV_CALENDAR] = SIM_UNIT_CALENDAR,
    };
    return units[csv->unit];
}

bool sim_csv_is_given(const sim_csv_config *csv) { return given_key(csv) != NULL; }

static sim_status check_columns(const sim_config *config, const sim_csv_config *csv, sim_error *error) {
    if (is_text(csv->priority))
        return sim_contradiction(config, error, "csv", "priority",
                                 "no scheduler of this version orders requests by priority (leave csv.priority out)");
    if (is_text(csv->cached_tokens))
        return sim_contradiction(config, error, "csv", "cached_tokens",
                                 "prefix hits follow from the content of prompts, which a number of cached tokens does "
                                 "not tell (leave csv.cached_tokens out)");
    const char *missing = !is_text(csv->input_tokens)    ? "input_tokens"
                          : !is_text(csv->output_tokens) ? "output_tokens"
                                                         : NULL;
    if (missing)
        return sim_contradiction(config, error, "csv", missing,
                                 "format = csv needs csv.%s, the name of the column with the length of the %s", missing,
                                 missing[0] == 'i' ? "prompt" : "answer");
    if (is_text(csv->arrival) || csv->unit == SIM_CSV_S) return SIM_OK;
    return sim_contradiction(config, error, "csv", "unit", "csv.unit has no effect without csv.arrival");
}

sim_status sim_csv_check(const sim_config *config, const sim_workload_config *settings, sim_error *error) {
    const char *key = given_key(&settings->csv);
    const bool is_auto = settings->format == 0;
    if (key && settings->source != SIM_SOURCE_TRACE)
        return sim_contradiction(config, error, "csv", key,
                                 "csv.%s has no effect without a trace (workload.source = trace)", key);
    if (key && !is_auto && !sim_workload_is_csv(settings))
        return sim_contradiction(config, error, "csv", key, "csv.%s has no effect with format = %s (format = csv)", key,
                                 sim_trace_format_names[settings->format]);
    if (!sim_workload_is_csv(settings)) return SIM_OK;
    if (settings->time_unit != SIM_UNIT_FORMAT)
        return sim_contradiction(config, error, "workload", "time_unit",
                                 "workload.time_unit has no effect with format = csv (csv.unit says it)");
    return check_columns(config, &settings->csv, error);
}
