// SPDX-License-Identifier: GPL-3.0-or-later
//
// Runs an experiment given as `section.key=value` lines, as `forepass replay --set` would, and hands back its figures and request records.
#ifndef TESTS_SUPPORT_REPLAY_H
#define TESTS_SUPPORT_REPLAY_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/experiment/run.h"

typedef struct replay {
    sim_config *config;
    sim_settings settings;
    sim_run_options options;
    sim_run *run;
    sim_status status;
    sim_error error;
    const sim_summary *summary;
    const sim_request_record *records;
} replay;

// `sets` ends with NULL. Passes have the prices of the polynomial unless it says otherwise.
static inline void replay_run_watched(replay *r, const char *const *sets, const sim_run_watch *watch) {
    *r = (replay){ .options = { .n_threads = 1, .watch = watch } };
    cr_assert_eq(sim_config_new(&r->config, sim_settings_tables, sim_settings_n_tables, &r->error), SIM_OK);
    cr_assert_eq(sim_config_set(r->config, "perfmodel.estimator=polynomial", &r->error), SIM_OK);
    for (; *sets; sets++)
        cr_assert_eq(sim_config_set(r->config, *sets, &r->error), SIM_OK, "%s: %s", *sets, r->error.message);
    r->status = sim_settings_read(r->config, &r->settings, &r->error);
    if (!r->status) r->status = sim_run_execute(&r->run, r->config, &r->settings, &r->options, &r->error);
    if (!r->run) return;
    r->summary = sim_run_summary(r->run);
    r->records = r->summary->facts->collector->records;
}

static inline void replay_run(replay *r, const char *const *sets) { replay_run_watched(r, sets, NULL); }

static inline void replay_free(replay *r) {
    sim_run_free(r->run);
    sim_config_free(r->config);
}

// A trace file made for one test: the path to it, to be unlinked.
static inline const char *replay_trace(const char *text) {
    static char path[32];
    strcpy(path, "/tmp/forepass-test-XXXXXX");
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return path;
}

#endif
