// SPDX-License-Identifier: GPL-3.0-or-later
//
// Two tables with a key of every type, for the tests of the configuration.
#ifndef TESTS_SUPPORT_CONFIG_FIXTURE_H
#define TESTS_SUPPORT_CONFIG_FIXTURE_H

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/config/config.h"

typedef struct pair {
    double first, second;
} pair;

static inline const char *parse_pair(const char *text, void *out) {
    pair *value = out;
    char rest;
    return sscanf(text, "%lf/%lf%c", &value->first, &value->second, &rest) == 2 ? NULL : "two numbers such as 1/2";
}

typedef struct engine_settings {
    bool is_chunked;
    int64_t max_num_seqs;
    int64_t num_blocks;
    double fraction;
    int64_t interval_ns;
    int preemption;
    int mode;
    pair ratio;
} engine_settings;

static const char *const preemption_names[] = { "lifo", "fifo", NULL };
static const char *const mode_names[] = { "", "timestamps", "concurrency", NULL };

static const sim_key engine_keys_of_test[] = {
    { .name = "chunked_prefill",
      .type = SIM_KEY_BOOL,
      .offset = offsetof(engine_settings, is_chunked),
      .default_text = "true",
      .unit = "",
      .help = "split long prompts" },
    { .name = "max_num_seqs",
      .type = SIM_KEY_INT,
      .offset = offsetof(engine_settings, max_num_seqs),
      .default_text = "256",
      .min = 1,
      .max = 4294967295.0,
      .unit = "requests",
      .help = "running at most" },
    { .name = "num_blocks",
      .type = SIM_KEY_INT,
      .offset = offsetof(engine_settings, num_blocks),
      .default_text = "auto",
      .min = 1,
      .max = DBL_MAX,
      .word = "auto",
      .word_value = -1,
      .unit = "blocks",
      .help = "pool of one rank" },
    { .name = "fraction",
      .type = SIM_KEY_REAL,
      .offset = offsetof(engine_settings, fraction),
      .default_text = "0.9",
      .min = 0,
      .max = 1,
      .is_min_exclusive = true,
      .unit = "",
      .help = "share of memory" },
    { .name = "interval",
      .type = SIM_KEY_DURATION,
      .offset = offsetof(engine_settings, interval_ns),
      .default_text = "0s",
      .min = 0,
      .max = 3.6e12,
      .unit = "",
      .help = "between samples" },
    { .name = "preemption",
      .type = SIM_KEY_CHOICE,
      .offset = offsetof(engine_settings, preemption),
      .default_text = "lifo",
      .choices = preemption_names,
      .unit = "",
      .help = "who goes first" },
    { .name = "mode",
      .type = SIM_KEY_CHOICE,
      .offset = offsetof(engine_settings, mode),
      .default_text = "",
      .choices = mode_names,
      .unit = "",
      .help = "when it is asked" },
    { .name = "ratio",
      .type = SIM_KEY_CUSTOM,
      .offset = offsetof(engine_settings, ratio),
      .default_text = "1/2",
      .parse = parse_pair,
      .unit = "",
      .help = "two numbers" },
};
static const sim_key_table engine_table = { "engine", "one worker", engine_keys_of_test,
                                            sizeof engine_keys_of_test / sizeof *engine_keys_of_test };

typedef struct trace_settings {
    const char *path;
    const char *title;
    double prefill_ms;
} trace_settings;

static const sim_key trace_keys_of_test[] = {
    { .name = "path",
      .type = SIM_KEY_PATH,
      .offset = offsetof(trace_settings, path),
      .default_text = "",
      .unit = "",
      .help = "the trace" },
    { .name = "title",
      .type = SIM_KEY_TEXT,
      .offset = offsetof(trace_settings, title),
      .default_text = "",
      .unit = "",
      .help = "for the report" },
    { .name = "prefill_ms",
      .type = SIM_KEY_MS,
      .offset = offsetof(trace_settings, prefill_ms),
      .default_text = "",
      .min = 0,
      .max = 1e9,
      .word = "",
      .word_value = -1,
      .unit = "ms",
      .help = "cost of a prefill pass" },
};
static const sim_key_table trace_table = { "prefill.trace", "what is read", trace_keys_of_test,
                                           sizeof trace_keys_of_test / sizeof *trace_keys_of_test };

static const sim_key_table *const both_tables[] = { &engine_table, &trace_table };

static inline sim_config *new_config(void) {
    sim_config *config = NULL;
    sim_error error = { 0 };
    if (sim_config_new(&config, both_tables, 2, &error) != SIM_OK) {
        fprintf(stderr, "%s\n", error.message);
        abort();
    }
    return config;
}

static inline sim_status load_text(sim_config *config, const char *text, sim_error *error) {
    return sim_config_load_text(config, text, strlen(text), "test.ini", error);
}

static inline engine_settings engine_of(const sim_config *config) {
    engine_settings settings;
    sim_config_fill(config, &engine_table, &settings);
    return settings;
}

static inline trace_settings trace_of(const sim_config *config) {
    trace_settings settings;
    sim_config_fill(config, &trace_table, &settings);
    return settings;
}

#endif
