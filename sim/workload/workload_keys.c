// SPDX-License-Identifier: GPL-3.0-or-later
//
// The keys of [workload], and which of them contradict each other.
#include "sim/workload/contradiction.h"
#include "sim/workload/csv_keys.h"
#include "sim/workload/distribution.h"
#include "sim/workload/workload.h"

static const char *const source_names[] = { "synthetic", "trace", "sessions", NULL };
static const char *const bad_record_names[] = { "fail", "skip", NULL };
const char *const sim_block_rounding_names[] = { "", "ceil", "floor", NULL };
const char *const sim_time_unit_names[] = { "", "ns", "us", "ms", "s", "calendar", NULL };

#define AT(field) offsetof(sim_workload_config, field)

static const sim_key keys[] = {
    { .name = "source",
      .type = SIM_KEY_CHOICE,
      .offset = AT(source),
      .default_text = "synthetic",
      .choices = source_names,
      .unit = "",
      .help = "where requests come from: a generator, a recorded trace, or a generator of conversations" },
    { .name = "format",
      .type = SIM_KEY_CHOICE,
      .offset = AT(format),
      .default_text = "auto",
      .choices = sim_trace_format_names,
      .unit = "",
      .help = "trace: its format; auto decides by the first record and says so" },
    { .name = "path",
      .type = SIM_KEY_PATH,
      .offset = AT(path),
      .default_text = "",
      .unit = "",
      .help = "trace: the file, plain, gzip or zstd" },
    { .name = "block_size",
      .type = SIM_KEY_INT,
      .offset = AT(block_size),
      .default_text = "",
      .min = 1,
      .max = 1 << 20,
      .word = "",
      .word_value = 0,
      .unit = "tokens",
      .help = "trace: tokens per hash id; empty = the format's own" },
    { .name = "block_rounding",
      .type = SIM_KEY_CHOICE,
      .offset = AT(block_rounding),
      .default_text = "",
      .choices = sim_block_rounding_names,
      .unit = "",
      .help = "trace: does a partial last block have a hash id (ceil) or not (floor); empty = the format's own" },
    { .name = "time_unit",
      .type = SIM_KEY_CHOICE,
      .offset = AT(time_unit),
      .default_text = "",
      .choices = sim_time_unit_names,
      .unit = "",
      .help = "trace: unit of the timestamps; empty = the format's own" },
    { .name = "rebase",
      .type = SIM_KEY_BOOL,
      .offset = AT(rebase),
      .default_text = "true",
      .unit = "",
      .help = "trace: the first arrival becomes 0; false refuses negative timestamps" },
    { .name = "limit",
      .type = SIM_KEY_INT,
      .offset = AT(limit),
      .default_text = "0",
      .min = 0,
      .max = 4e9,
      .unit = "requests",
      .help = "trace: only the first N good requests of the file; 0 = all" },
    { .name = "on_bad_record",
      .type = SIM_KEY_CHOICE,
      .offset = AT(on_bad_record),
      .default_text = "fail",
      .choices = bad_record_names,
      .unit = "",
      .help = "trace: stop at a bad record, or skip and count it by reason" },
    { .name = "input_tokens",
      .type = SIM_KEY_CUSTOM,
      .offset = AT(input_tokens),
      .default_text = "1024",
      .parse = sim_distribution_parse,
      .unit = "tokens",
      .help = "synthetic: N, uniform(a,b), normal(m,sd), lognormal(median,sigma), gamma(shape,mean) or zipf(s,n)" },
    { .name = "output_tokens",
      .type = SIM_KEY_CUSTOM,
      .offset = AT(output_tokens),
      .default_text = "128",
      .parse = sim_distribution_parse,
      .unit = "tokens",
      .help = "synthetic: likewise" },
    { .name = "requests",
      .type = SIM_KEY_INT,
      .offset = AT(requests),
      .default_text = "100",
      .min = 1,
      .max = 4e9,
      .unit = "requests",
      .help = "synthetic: how many" },
    { .name = "shared_prefix_tokens",
      .type = SIM_KEY_INT,
      .offset = AT(shared_prefix_tokens),
      .default_text = "0",
      .min = 0,
      .max = SIM_MAX_TOKENS / 2,
      .unit = "tokens",
      .help = "synthetic: common head of every prompt of a group, in front of and not counted in input_tokens" },
    { .name = "prefix_groups",
      .type = SIM_KEY_INT,
      .offset = AT(prefix_groups),
      .default_text = "1",
      .min = 1,
      .max = 4e9,
      .unit = "groups",
      .help = "synthetic: number of different heads, drawn uniformly" },
    { .name = "turns",
      .type = SIM_KEY_INT,
      .offset = AT(turns),
      .default_text = "4",
      .min = 1,
      .max = 1e6,
      .unit = "turns",
      .help = "sessions: turns of each; the next prompt is the previous prompt, its answer and input_tokens more" },
    { .name = "think_time",
      .type = SIM_KEY_DURATION,
      .offset = AT(think_time_ns),
      .default_text = "0s",
      .min = 0,
      .max = 9.2e18,
      .help = "sessions: from the end of a turn to the next" },
};

const sim_key_table sim_workload_keys = {
    .section = "workload",
    .help = "what is asked",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
};

static bool is_constant(const sim_distribution *distribution, double value) {
    return distribution->kind == SIM_DIST_CONSTANT && distribution->a == value;
}

// The first key of the other source that does not stand at its default; NULL when there is none.
static const char *foreign_key(const sim_workload_config *settings) {
    if (settings->source != SIM_SOURCE_SESSIONS && settings->turns != 4) return "turns";
    if (settings->source != SIM_SOURCE_SESSIONS && settings->think_time_ns != 0) return "think_time";
    if (settings->source == SIM_SOURCE_TRACE) {
        if (!is_constant(&settings->input_tokens, 1024)) return "input_tokens";
        if (!is_constant(&settings->output_tokens, 128)) return "output_tokens";
        if (settings->requests != 100) return "requests";
        if (settings->shared_prefix_tokens != 0) return "shared_prefix_tokens";
        return settings->prefix_groups != 1 ? "prefix_groups" : NULL;
    }
    if (settings->path[0]) return "path";
    if (settings->format != 0) return "format";
    if (settings->block_size != 0) return "block_size";
    if (settings->block_rounding != SIM_ROUNDING_FORMAT) return "block_rounding";
    if (settings->time_unit != SIM_UNIT_FORMAT) return "time_unit";
    if (!settings->rebase) return "rebase";
    if (settings->limit != 0) return "limit";
    return settings->on_bad_record != SIM_BAD_RECORD_FAIL ? "on_bad_record" : NULL;
}

sim_status sim_workload_check(const sim_config *config, const sim_workload_config *settings, sim_error *error) {
    const bool is_trace = settings->source == SIM_SOURCE_TRACE;
    const char *foreign = foreign_key(settings);
    if (foreign)
        return sim_contradiction(config, error, "workload", foreign, "%s has no effect with source = %s (%s)", foreign,
                                 source_names[settings->source],
                                 is_trace ? "a trace has lengths of its own; workload.limit takes fewer requests"
                                          : "source = trace reads a trace");
    if (is_trace && !settings->path[0])
        return sim_contradiction(config, error, "workload", "source", "source = trace needs workload.path");
    sim_status status = sim_csv_check(config, settings, error);
    if (status || is_trace) return status;
    if (sim_distribution_reaches_below(&settings->input_tokens, 1))
        return sim_contradiction(config, error, "workload", "input_tokens", "a prompt has at least 1 token");
    if (settings->prefix_groups > 1 && settings->shared_prefix_tokens == 0)
        return sim_contradiction(config, error, "workload", "prefix_groups",
                                 "prefix groups differ in their shared head (set workload.shared_prefix_tokens)");
    return SIM_OK;
}
