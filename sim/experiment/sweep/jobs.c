// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/sweep/jobs.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "sim/experiment/row_pool.h"
#include "sim/workload/load.h"

static sim_status set_seed(sim_config *config, uint32_t repeat, uint64_t *seed, sim_error *error) {
    sim_load_config load;
    char text[64];
    sim_config_fill(config, &sim_load_keys, &load);
    *seed = (uint64_t)load.seed + repeat;
    snprintf(text, sizeof text, "load.seed=%" PRIu64, *seed);
    return repeat ? sim_config_set(config, text, error) : SIM_OK;
}

sim_status sim_job_run(const sim_space *space, sim_trials *trials, const sim_job *job, const sim_rivals *rivals,
                       sim_job_outcome *outcome, sim_error *error) {
    sim_config *config;
    sim_rivals_watch watch;
    sim_trial trial = { .outcome = SIM_TRIAL_DONE };
    *outcome = (sim_job_outcome){ .status = "" };
    sim_status status = sim_space_config(space, job->point, &config, error);
    if (status) return status;
    status = set_seed(config, job->repeat, &outcome->seed, error);
    if (rivals) sim_rivals_watch_init(&watch, rivals);
    if (!status) status = sim_trial_run_watched(trials, config, rivals ? &watch.watch : NULL, &trial, error);
    sim_config_free(config);
    if (status) return status;
    outcome->status = sim_trial_outcome_names[trial.outcome];
    outcome->cpu_s = trial.cpu_s;
    const bool is_out_of_reach = trial.outcome == SIM_TRIAL_STOPPED && rivals;
    snprintf(outcome->reason, sizeof outcome->reason, "%s", is_out_of_reach ? watch.reason : trial.reason);
    if (trial.summary && !(outcome->summary = cJSON_PrintUnformatted(trial.summary)))
        status = sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    sim_trial_clear(&trial);
    return status;
}

typedef struct pool {
    const sim_space *space;
    sim_trials *trials;
    const sim_job *jobs;
    const sim_jobs_options *options;
    sim_job_done *done;
    void *self;
    pthread_mutex_t lock; // one `done` at a time
} pool;

static sim_status run_row(void *self, size_t row, sim_error *error) {
    pool *all = self;
    sim_job_outcome outcome;
    sim_status status = sim_signal_status(all->options->stopped);
    if (status) return status;
    status = sim_job_run(all->space, all->trials, &all->jobs[row], all->options->rivals, &outcome, error);
    if (status) return status;
    pthread_mutex_lock(&all->lock);
    status = all->done(all->self, row, &outcome, error);
    pthread_mutex_unlock(&all->lock);
    free(outcome.summary);
    return status;
}

static void describe(void *self, char *text, size_t n) {
    pool *all = self;
    if (!all->options->describe) return;
    pthread_mutex_lock(&all->lock);
    all->options->describe(all->self, text, n);
    pthread_mutex_unlock(&all->lock);
}

sim_status sim_jobs_run(const sim_space *space, sim_trials *trials, const sim_job *jobs, size_t n_jobs,
                        const sim_jobs_options *options, sim_job_done *done, void *self, sim_error *error) {
    pool all = { space, trials, jobs, options, done, self, PTHREAD_MUTEX_INITIALIZER };
    const sim_row_pool_options rows = { .n_threads = options->n_threads,
                                        .progress = options->progress,
                                        .stopped = options->stopped,
                                        .what = "runs",
                                        .describe = describe };
    const sim_status status = sim_row_pool_run(n_jobs, run_row, &all, &rows, error);
    pthread_mutex_destroy(&all.lock);
    return status;
}
