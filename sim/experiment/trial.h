// SPDX-License-Identifier: GPL-3.0-or-later
//
// One run among many: no files, the workload shared with the others, and an outcome instead of an error when the configuration itself cannot run. For several
// threads at a time.
#ifndef SIM_EXPERIMENT_TRIAL_H
#define SIM_EXPERIMENT_TRIAL_H

#include <signal.h>

#include "sim/config/config.h"

struct sim_run_watch; // run.h

typedef enum sim_trial_outcome {
    SIM_TRIAL_DONE,
    SIM_TRIAL_INFEASIBLE, // the configuration contradicts itself, does not fit the GPU, ...
    SIM_TRIAL_FAILED,     // it ran into a dead end, or out of memory
    SIM_TRIAL_STOPPED     // given up: [sla] could not be met any more, or its watch thought so
} sim_trial_outcome;
extern const char *const sim_trial_outcome_names[]; // "done", "infeasible", "failed", "stopped", NULL

typedef struct sim_trial {
    sim_trial_outcome outcome;
    char reason[512];      // one line without the place; "" when done
    struct cJSON *summary; // as summary.json; NULL unless done
    double cpu_s;          // of the thread, the loading of a shared workload left out
} sim_trial;

typedef struct sim_trials sim_trials; // what the runs share

// `stopped` as in sim_run_options. `n_threads`: how many runs go on at a time. Runs that cannot meet their [sla] any more go on to their end unless
// sim_trials_give_up was called.
sim_status sim_trials_new(sim_trials **trials, uint32_t n_threads, const volatile sig_atomic_t *stopped,
                          sim_error *error);
void sim_trials_give_up(sim_trials *trials);
void sim_trials_free(sim_trials *trials);

// Run `config` on one thread. SIM_OK whatever its outcome; another status is one that the next run would meet as well (a trace that cannot be read), or a signal.
sim_status sim_trial_run(sim_trials *trials, const sim_config *config, sim_trial *trial, sim_error *error);
// The same under a watch, which is asked again and again whether the run is worth its while (NULL = none).
sim_status sim_trial_run_watched(sim_trials *trials, const sim_config *config, const struct sim_run_watch *watch,
                                 sim_trial *trial, sim_error *error);
// Requests of the workload of `config`, which stays loaded for its runs.
sim_status sim_trial_count_requests(sim_trials *trials, const sim_config *config, size_t *n_requests, sim_error *error);
void sim_trial_clear(sim_trial *trial);

// A number of the summary by its key, "block.key" for one inside a block. False when there is none of that name, or it is no number.
bool sim_trial_figure(const sim_trial *trial, const char *key, double *value);
bool sim_summary_figure(const struct cJSON *summary, const char *key, double *value);

// The summary of one small request under [report], [sla] and the price of `config`: it has every key that runs of `config` can have, whatever they serve.
sim_status sim_trial_example(const sim_config *config, struct cJSON **summary, sim_error *error);

#endif
