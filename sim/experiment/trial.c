// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/trial.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/experiment/run.h"
#include "sim/experiment/workload_store.h"

const char *const sim_trial_outcome_names[] = { "done", "infeasible", "failed", "stopped", NULL };

struct sim_trials {
    sim_workload_store *workloads;
    const volatile sig_atomic_t *stopped;
    bool gives_up;
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

void sim_trials_give_up(sim_trials *trials) { trials->gives_up = true; }

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
                         const sim_workload *workload, const sim_run_watch *watch, sim_trial *trial, sim_error *error) {
    const sim_run_options options = {
        .workload = workload, .n_threads = 1, .gives_up = trials->gives_up, .watch = watch, .stopped = trials->stopped
    };
    const double started_s = thread_cpu_s();
    sim_run *run = NULL;
    sim_status status = sim_run_execute(&run, config, settings, &options, error);
    if (!status && !(trial->summary = sim_summary_json(sim_run_summary(run))))
        status = sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    sim_run_free(run);
    trial->cpu_s = thread_cpu_s() - started_s;
    return status;
}

static sim_status run_config(sim_trials *trials, const sim_config *config, const sim_run_watch *watch, sim_trial *trial,
                             sim_error *error) {
    sim_settings settings;
    const sim_workload *workload;
    sim_status status = sim_settings_read(config, &settings, error);
    if (!status)
        status = sim_workload_store_take(trials->workloads, config, &settings.workload, (uint64_t)settings.load.seed,
                                         &workload, error);
    if (status) return status;
    status = run_on(trials, config, &settings, workload, watch, trial, error);
    sim_workload_store_give_back(trials->workloads, workload);
    return status;
}

sim_status sim_trial_run(sim_trials *trials, const sim_config *config, sim_trial *trial, sim_error *error) {
    return sim_trial_run_watched(trials, config, NULL, trial, error);
}

sim_status sim_trial_run_watched(sim_trials *trials, const sim_config *config, const sim_run_watch *watch,
                                 sim_trial *trial, sim_error *error) {
    sim_error why = { .code = SIM_OK };
    *trial = (sim_trial){ .outcome = SIM_TRIAL_DONE };
    const sim_status status = run_config(trials, config, watch, trial, &why);
    if (!status) return SIM_OK;
    const bool is_own =
        status == SIM_USAGE || status == SIM_DEAD_END || status == SIM_NO_MEMORY || status == SIM_GIVEN_UP;
    if (!is_own) {
        if (error) *error = why;
        return status;
    }
    trial->outcome = status == SIM_USAGE      ? SIM_TRIAL_INFEASIBLE
                     : status == SIM_GIVEN_UP ? SIM_TRIAL_STOPPED
                                              : SIM_TRIAL_FAILED;
    if (status == SIM_GIVEN_UP)
        snprintf(trial->reason, sizeof trial->reason, "%s", watch ? "out of reach" : "[sla] cannot be met any more");
    else
        snprintf(trial->reason, sizeof trial->reason, "%s", why.message);
    return SIM_OK;
}

sim_status sim_trial_count_requests(sim_trials *trials, const sim_config *config, size_t *n_requests,
                                    sim_error *error) {
    sim_workload_config settings;
    sim_load_config load;
    const sim_workload *workload;
    sim_config_fill(config, &sim_workload_keys, &settings);
    sim_config_fill(config, &sim_csv_keys, &settings.csv);
    sim_config_fill(config, &sim_load_keys, &load);
    const sim_status status =
        sim_workload_store_take(trials->workloads, config, &settings, (uint64_t)load.seed, &workload, error);
    if (status) return status;
    *n_requests = workload->n_requests;
    sim_workload_store_give_back(trials->workloads, workload);
    return SIM_OK;
}

void sim_trial_clear(sim_trial *trial) {
    cJSON_Delete(trial->summary);
    trial->summary = NULL;
}

// Numbers of a summary stand as raw text, which is exact (summary_json.c); in one that was read back they are numbers.
static bool read_number(const cJSON *item, double *value) {
    char *end = NULL;
    if (cJSON_IsNumber(item)) {
        *value = item->valuedouble;
        return true;
    }
    if (!cJSON_IsRaw(item)) return false;
    *value = strtod(item->valuestring, &end);
    return end != item->valuestring && *end == '\0';
}

bool sim_summary_figure(const cJSON *summary, const char *key, double *value) {
    const size_t n_block = strcspn(key, ".");
    if (key[n_block] == '\0') return read_number(cJSON_GetObjectItemCaseSensitive(summary, key), value);
    char block[64];
    snprintf(block, sizeof block, "%.*s", (int)n_block, key);
    const cJSON *inside = cJSON_GetObjectItemCaseSensitive(summary, block);
    return read_number(cJSON_GetObjectItemCaseSensitive(inside, key + n_block + 1), value);
}

bool sim_trial_figure(const sim_trial *trial, const char *key, double *value) {
    return sim_summary_figure(trial->summary, key, value);
}

// --- an example ------------------------------------------------------------------------------------------------------

typedef struct copying {
    sim_config *to;
    sim_status status;
    sim_error *error;
} copying;

static void copy_key(void *self, const char *section, const sim_key *key, const char *spelled) {
    copying *in = self;
    char name[SIM_SECTION_BYTES + 80];
    snprintf(name, sizeof name, "%s.%s", section, key->name);
    if (!in->status) in->status = sim_config_set_at(in->to, name, spelled, "(example)", 0, in->error);
}

sim_status sim_trial_example(const sim_config *config, cJSON **summary, sim_error *error) {
    static const char plain[] = "[workload]\nrequests = 1\ninput_tokens = 16\noutput_tokens = 2\n"
                                "[kv_cache]\nnum_blocks = 64\n"
                                "[perfmodel]\nestimator = fixed\nprefill_ms = 1\ndecode_ms = 1\n";
    sim_trials *trials = NULL;
    sim_trial trial = { .outcome = SIM_TRIAL_DONE };
    sim_config *example;
    sim_cluster_config cluster;
    sim_status status = sim_config_new(&example, sim_settings_tables, sim_settings_n_tables, error);
    if (status) return status;
    status = sim_config_load_text(example, plain, sizeof plain - 1, "(example)", error);
    copying in = { example, status, error };
    sim_config_visit(config, &sim_report_keys, copy_key, &in);
    sim_config_visit(config, &sim_sla_keys, copy_key, &in);
    sim_config_fill(config, &sim_cluster_keys, &cluster);
    if (!in.status && cluster.gpu_hour_price > 0)
        in.status = sim_config_set_at(example, "cluster.gpu_hour_price", "1", "(example)", 0, error);
    if (!in.status) in.status = sim_trials_new(&trials, 1, NULL, error);
    if (!in.status) in.status = sim_trial_run(trials, example, &trial, error);
    if (!in.status && !trial.summary) in.status = sim_error_set(error, SIM_USAGE, NULL, 0, "%s", trial.reason);
    *summary = trial.summary;
    sim_trials_free(trials);
    sim_config_free(example);
    return in.status;
}
