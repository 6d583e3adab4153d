// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the tests of sim/workload share: settings at their defaults, workloads from text.
#ifndef TESTS_SUPPORT_WORKLOAD_FIXTURE_H
#define TESTS_SUPPORT_WORKLOAD_FIXTURE_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/line_reader.h"
#include "sim/workload/load.h"
#include "sim/workload/trace_reader.h"

static inline sim_workload_config synthetic_settings(void) {
    return (sim_workload_config){ .path = "",
                                  .rebase = true,
                                  .input_tokens = { SIM_DIST_CONSTANT, 1024, 0 },
                                  .output_tokens = { SIM_DIST_CONSTANT, 128, 0 },
                                  .requests = 100,
                                  .prefix_groups = 1,
                                  .turns = 4 };
}

static inline sim_workload_config trace_settings(void) {
    sim_workload_config settings = synthetic_settings();
    settings.source = SIM_SOURCE_TRACE;
    settings.path = "t";
    return settings;
}

static inline sim_load_config load_settings(void) {
    return (sim_load_config){ .speedup = 1, .concurrency = 10, .seed = 42 };
}

// Read `text` as the trace "t". On failure NULL, and *error is filled.
static inline sim_workload *workload_from_text(const char *text, size_t n_bytes, const sim_workload_config *settings,
                                               sim_error *error) {
    fpm_line_reader *lines;
    fpm_error fault;
    if (fpm_line_reader_open_memory(&lines, text, n_bytes, "t", 0, &fault)) {
        sim_error_from_fpm(error, &fault);
        return NULL;
    }
    sim_workload *workload;
    sim_workload_from_lines(&workload, lines, NULL, settings, error);
    fpm_line_reader_free(lines);
    return workload;
}

// The same for text that must be good.
static inline sim_workload *good_workload(const char *text, const sim_workload_config *settings) {
    sim_error error = { 0 };
    sim_workload *workload = workload_from_text(text, strlen(text), settings, &error);
    cr_assert(workload, "%s:%lld: %s", error.file, (long long)error.line, error.message);
    return workload;
}

static inline bool has_text(char *const *texts, size_t n, const char *part) {
    for (size_t i = 0; i < n; i++)
        if (strstr(texts[i], part)) return true;
    return false;
}

#endif
