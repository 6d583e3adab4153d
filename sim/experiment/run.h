// SPDX-License-Identifier: GPL-3.0-or-later
//
// One run: load the workload, put the rooms together, let virtual time pass, compute the figures, write the files asked for.
#ifndef SIM_EXPERIMENT_RUN_H
#define SIM_EXPERIMENT_RUN_H

#include "sim/experiment/settings.h"

// Looks at a run on one thread while it goes on, each time an eighth of its requests has ended.
typedef struct sim_run_watch {
    // False gives the run up, with SIM_GIVEN_UP. `facts` and `values` are for sim_outlook_best.
    bool (*is_worthwhile)(void *self, const sim_run_facts *facts, double *values);
    void *self;
} sim_run_watch;

typedef struct sim_run_options {
    const sim_workload
        *workload;      // what [workload], [csv] and the seed say, loaded already (workload_store.h); NULL = load it
    const char *output; // directory; NULL = no files
    bool overwrite;
    bool wants_requests;        // requests.csv
    bool wants_fpm;             // fpm.jsonl
    bool is_paired;             // run again without tuning and on the clock of the truth (paired.h); needs a [truth]
    uint32_t n_threads;         // >= 1; the results are the same with any number
    FILE *progress;             // where a progress line goes; NULL = none
    bool gives_up;              // once [sla] cannot be met any more, with SIM_GIVEN_UP
    const sim_run_watch *watch; // NULL = none
    const volatile sig_atomic_t *stopped; // set by a signal handler; NULL = never
    // Called with one line each for what a user must know though the run goes on, and for what was decided in his place; NULL = not told.
    void (*warn)(void *context, const char *line);
    void (*note)(void *context, const char *line);
    void *context;
} sim_run_options;

typedef struct sim_run sim_run;

// `config` and `settings` must outlive the run. On SIM_OK, SIM_INTERRUPTED and SIM_TERMINATED *run holds the figures (of what was done) and the
// files are in place; on every other status there is neither.
sim_status sim_run_execute(sim_run **run, const sim_config *config, const sim_settings *settings,
                           const sim_run_options *options, sim_error *error);
void sim_run_free(sim_run *run);
const sim_summary *sim_run_summary(const sim_run *run);

#endif
