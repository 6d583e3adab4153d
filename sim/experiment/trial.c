// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/trial.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/experiment/run.h"
#include "sim/experiment/workload_store.h"

const char *const sim_trial_outcome_names[] = { "done", "infeasible", "failed", NULL };

struct sim_trials {
    sim_workload_store *workloads;
    const volatile sig_atomic_t *stopped;
};

sim_status sim_trials_new(sim_trials **trials, uint32_t n_threads, const volatile sig_atomic_t *stopped,
                          sim_error *error) {
    sim_trials *made = calloc(1, sizeof *made);
    if (!made) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    made->stopped = stopped;
    const sim_status status = sim_workload_store_new(&made->workloads, (size_t)n_threads + 1, error);
    if (status) {
        free(made);
        return status;
    }
    *trials = made;
    return SIM_OK;
}

void sim_trials_free(sim_trials *trials) {
    if (!trials) return;
    sim_workload_store_free(trials->workloads);
    free(trials);
}

static double thread_cpu_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static sim_status run_on(const sim_trials *trials, const sim_config *config, const sim_settings *settings,
                         const sim_workload *workload, sim_trial *trial, sim_error *error) {
    const sim_run_options options = { .workload = workload, .n_threads = 1, .stopped = trials->stopped };
    const double started_s = thread_cpu_s();
    sim_run *run = NULL;
    sim_status status = sim_run_execute(&run, config, settings, &options, error);
    if (!status && !(trial->summary = sim_summary_json(sim_run_summary(run))))
        status = sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    sim_run_free(run);
    trial->cpu_s = thread_cpu_s() - started_s;
    return status;
}

static sim_status run_config(sim_trials *trials, const sim_config *config, sim_trial *trial, sim_error *error) {
    sim_settings settings;
    const sim_workload *workload;
    sim_status status = sim_settings_read(config, &settings, error);
    if (!status)
        status = sim_workload_store_take(trials->workloads, config, &settings.workload, (uint64_t)settings.load.seed,
                                         &workload, error);
    if (status) return status;
    status = run_on(trials, config, &settings, workload, trial, error);
    sim_workload_store_give_back(trials->workloads, workload);
    return status;
}

sim_status sim_trial_run(sim_trials *trials, const sim_config *config, sim_trial *trial, sim_error *error) {
    sim_error why = { .code = SIM_OK };
    *trial = (sim_trial){ .outcome = SIM_TRIAL_DONE };
    const sim_status status = run_config(trials, config, trial, &why);
    if (!status) return SIM_OK;
    const bool is_own = status == SIM_USAGE || status == SIM_DEAD_END || status == SIM_NO_MEMORY;
    if (!is_own) {
        if (error) *error = why;
        return status;
    }
    trial->outcome = status == SIM_USAGE ? SIM_TRIAL_INFEASIBLE : SIM_TRIAL_FAILED;
    snprintf(trial->reason, sizeof trial->reason, "%s", why.message);
    return SIM_OK;
}

void sim_trial_clear(sim_trial *trial) {
    cJSON_Delete(trial->summary);
    trial->summary = NULL;
}

// Numbers of a summary stand as raw text, which is exact (summary_json.c).
static bool read_number(const cJSON *item, double *value) {
    char *end = NULL;
    if (!cJSON_IsRaw(item)) return false;
    *value = strtod(item->valuestring, &end);
    return end != item->valuestring && *end == '\0';
}

bool sim_trial_figure(const sim_trial *trial, const char *key, double *value) {
    const size_t n_block = strcspn(key, ".");
    if (key[n_block] == '\0') return read_number(cJSON_GetObjectItemCaseSensitive(trial->summary, key), value);
    char block[64];
    snprintf(block, sizeof block, "%.*s", (int)n_block, key);
    const cJSON *inside = cJSON_GetObjectItemCaseSensitive(trial->summary, block);
    return read_number(cJSON_GetObjectItemCaseSensitive(inside, key + n_block + 1), value);
}
