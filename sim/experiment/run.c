// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/run.h"

#include <stdlib.h>
#include <time.h>

#include "sim/experiment/paired.h"
#include "sim/report/fpm_log.h"
#include "sim/report/output_dir.h"
#include "sim/report/progress.h"
#include "sim/report/requests_csv.h"

struct sim_run {
    const sim_config *config;
    const sim_settings *settings;
    const sim_run_options *options;
    const sim_workload *workload;
    sim_workload *own_workload; // the same when this run loaded it, else NULL
    sim_load *load;
    fpm_estimator *estimator;
    sim_tuner *tuner; // NULL: there is no truth
    sim_cluster *cluster;
    sim_collector collector;
    sim_output_dir *dir;
    sim_fpm_log fpm_log;
    sim_progress progress;
    sim_run_facts facts;
    sim_summary summary;
    sim_paired paired;
    double *watch_values; // NULL: nobody watches
};

// Every name a run may write into its directory.
static const char *const output_names[] = { "summary.json", "config.ini", "requests.csv", "fpm.jsonl", NULL };

static bool is_stop(sim_status status) { return status == SIM_INTERRUPTED || status == SIM_TERMINATED; }

static double wall_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void warn(const sim_run *run, const char *line) {
    if (run->options->warn) run->options->warn(run->options->context, line);
}

static uint64_t count_gpus(const sim_settings *settings) {
    const sim_parallel_config *parallel = &settings->parallel;
    return (uint64_t)settings->cluster.replicas * (uint64_t)(parallel->tensor * parallel->pipeline * parallel->data);
}

// What is known while the run goes on; its end adds the rest.
static sim_run_facts facts_so_far(const sim_run *run) {
    return (sim_run_facts){
        .workload = run->workload,
        .collector = &run->collector,
        .counts = &run->collector.lanes[0],
        .cluster = run->cluster,
        .tuner = run->tuner,
        .cluster_config = &run->settings->cluster,
        .num_gpus = count_gpus(run->settings),
        .report = &run->settings->report,
        .sla = &run->settings->sla,
    };
}

static bool ask_watch(void *self) {
    sim_run *run = self;
    const sim_run_facts facts = facts_so_far(run);
    return run->options->watch->is_worthwhile(run->options->watch->self, &facts, run->watch_values);
}

static sim_status begin_watch(sim_run *run, sim_error *error) {
    enum { N_LOOKS = 8 };
    const size_t n = run->workload->n_requests;
    if (!run->options->watch || run->options->n_threads > 1) return SIM_OK;
    run->watch_values = malloc((n ? n : 1) * sizeof *run->watch_values);
    if (!run->watch_values) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    run->collector.is_worthwhile = ask_watch;
    run->collector.watcher = run;
    run->collector.watch_every = n / N_LOOKS + 1;
    return SIM_OK;
}

// What the run reads must not be what it writes.
static sim_status refuse_own_input(const sim_run *run, sim_error *error) {
    const sim_settings *settings = run->settings;
    const struct {
        const char *section, *key, *path;
    } inputs[] = {
        { "workload", "path", settings->workload.source == SIM_SOURCE_TRACE ? settings->workload.path : "" },
        { "truth", "path", settings->truth.path },
        { "perfmodel", "state", settings->pricing.state },
    };
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        for (size_t k = 0; inputs[i].path[0] && output_names[k]; k++) {
            char path[4200];
            snprintf(path, sizeof path, "%s/%s", run->options->output, output_names[k]);
            if (sim_output_is_input(path, inputs[i].path))
                return sim_config_contradiction(run->config, error, inputs[i].section, inputs[i].key,
                                                "%s.%s is a file that the run would write itself (choose another -o)",
                                                inputs[i].section, inputs[i].key);
        }
    return SIM_OK;
}

// Files that grow while the run goes on are begun before it, so that an output that cannot be written is known at once.
static sim_status open_outputs(sim_run *run, sim_error *error) {
    const sim_run_options *options = run->options;
    if (!options->output) return SIM_OK;
    sim_status status = refuse_own_input(run, error);
    if (!status) status = sim_output_dir_open(&run->dir, options->output, options->overwrite, output_names, error);
    if (!status && options->wants_fpm) status = sim_output_dir_create(run->dir, "fpm.jsonl", &run->fpm_log.file, error);
    return status;
}

static sim_status load_workload(sim_run *run, sim_error *error) {
    run->workload = run->options->workload;
    if (run->workload) return SIM_OK;
    const uint64_t seed = (uint64_t)run->settings->load.seed;
    const sim_status status = sim_workload_new(&run->own_workload, run->config, &run->settings->workload, seed, error);
    run->workload = run->own_workload;
    return status;
}

static sim_status put_together(sim_run *run, sim_error *error) {
    const sim_settings *settings = run->settings;
    sim_status status = load_workload(run, error);
    if (status) return status;
    for (size_t i = 0; i < run->workload->n_warnings; i++) warn(run, run->workload->warnings[i]);
    if (run->options->note && *settings->deployment.note)
        run->options->note(run->options->context, settings->deployment.note);
    if (*settings->prices.note) warn(run, settings->prices.note);
    for (size_t i = 0; run->options->note && i < run->workload->n_notes; i++)
        run->options->note(run->options->context, run->workload->notes[i]);
    status = sim_load_new(&run->load, run->config, &settings->load, run->workload, error);
    if (!status) status = sim_settings_estimator(run->config, settings, &run->estimator, error);
    if (!status) status = sim_settings_tuner(run->config, settings, run->estimator, &run->tuner, error);
    if (!status)
        status = sim_collector_init(&run->collector, run->options->n_threads, run->workload->n_requests,
                                    settings->load.warmup_ns, (uint64_t)settings->load.warmup_requests, error);
    if (status) return status;
    run->collector.stopped = run->options->stopped;
    if (run->options->gives_up && sim_sla_is_given(&settings->sla)) {
        run->collector.give_up_on = &settings->sla;
        run->collector.max_misses = sim_sla_allowed_misses(&settings->sla, run->workload->n_requests);
    }
    status = begin_watch(run, error);
    if (status) return status;
    if (run->fpm_log.file) sim_collector_log_passes(&run->collector, &run->fpm_log);
    return sim_settings_cluster(settings, run->workload, run->estimator, run->tuner, run->collector.observers,
                                run->options->n_threads, &run->cluster, error);
}

static sim_status simulate(sim_run *run, sim_error *error) {
    if (run->options->progress) {
        sim_progress_begin(&run->progress, run->options->progress, run->workload->n_requests);
        run->collector.progress = &run->progress;
    }
    sim_status status = sim_cluster_run(run->cluster, run->load, run->settings->load.max_time_ns, error);
    if (run->options->progress) sim_progress_end(&run->progress);
    return status;
}

// Requests that load.admit_until kept out are not part of the run; those that load.max_time or a signal cut off are, as incomplete ones.
static uint64_t count_not_admitted(const sim_run *run, sim_status status) {
    const sim_load_config *load = &run->settings->load;
    bool is_cut_first = load->max_time_ns > 0 && load->max_time_ns < load->admit_until_ns;
    if (load->admit_until_ns == 0 || is_cut_first || is_stop(status)) return 0;
    return sim_load_remaining(run->load);
}

static void warn_of_rejections(const sim_run *run) {
    const sim_collector_lane *counts = run->facts.counts;
    for (int i = 0; i < SIM_REJECT_REASONS; i++) {
        if (!counts->rejected[i]) continue;
        char line[160];
        snprintf(line, sizeof line, "%llu of %llu requests were rejected: %s", (unsigned long long)counts->rejected[i],
                 (unsigned long long)run->collector.n_arrived, sim_reject_reason_names[i]);
        warn(run, line);
    }
}

// The file `name`, filled by `write`.
static sim_status write_file(sim_run *run, const char *name,
                             sim_status (*write)(const sim_run *, FILE *, const char *path, sim_error *),
                             sim_error *error) {
    sim_output_file *file;
    sim_status status = sim_output_dir_create(run->dir, name, &file, error);
    return status ? status : write(run, sim_output_file_stream(file), sim_output_file_path(file), error);
}

static sim_status write_summary(const sim_run *run, FILE *out, const char *path, sim_error *error) {
    (void)path;
    return sim_summary_write_json(&run->summary, out, error);
}

static sim_status write_config(const sim_run *run, FILE *out, const char *path, sim_error *error) {
    if (sim_settings_write(run->config, run->settings, out)) return SIM_OK;
    return sim_error_set(error, SIM_IO, path, 0, "the configuration could not be written");
}

static sim_status write_requests(const sim_run *run, FILE *out, const char *path, sim_error *error) {
    return sim_requests_csv_write(&run->collector, run->workload, run->facts.n_not_admitted > 0, out, path, error);
}

static sim_status write_outputs(sim_run *run, sim_error *error) {
    if (!run->dir) return SIM_OK;
    sim_status status = write_file(run, "summary.json", write_summary, error);
    if (!status) status = write_file(run, "config.ini", write_config, error);
    if (!status && run->options->wants_requests) status = write_file(run, "requests.csv", write_requests, error);
    return status ? status : sim_output_dir_commit(run->dir, error);
}

static sim_status finish(sim_run *run, sim_status outcome, double started_ms, sim_error *error) {
    sim_collector_join(&run->collector); // into the first lane
    run->facts = facts_so_far(run);
    run->facts.is_interrupted = is_stop(outcome);
    run->facts.n_not_admitted = count_not_admitted(run, outcome);
    run->facts.wall_time_ms = wall_ms() - started_ms;
    warn_of_rejections(run);
    sim_status status = sim_summary_compute(&run->facts, &run->summary, error);
    if (!status && run->options->is_paired && !is_stop(outcome)) {
        status = sim_paired_execute(run->config, run->settings, run->options, &run->summary, &run->paired, error);
        if (!status) run->facts.paired = &run->paired;
    }
    if (status && !is_stop(status)) return status;
    const sim_status written = write_outputs(run, error); // a signal in the second run keeps the first
    return written ? written : status;
}

sim_status sim_run_execute(sim_run **run, const sim_config *config, const sim_settings *settings,
                           const sim_run_options *options, sim_error *error) {
    double started_ms = wall_ms();
    sim_run *made = calloc(1, sizeof *made);
    if (!made) return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory");
    made->config = config;
    made->settings = settings;
    made->options = options;
    sim_status status = open_outputs(made, error);
    if (!status) status = put_together(made, error);
    if (!status) status = simulate(made, error);
    if (!status || is_stop(status)) {
        sim_status finished = finish(made, status, started_ms, error);
        if (finished) status = finished;
    }
    if (status && !is_stop(status)) {
        sim_run_free(made);
        return status;
    }
    *run = made;
    return status;
}

void sim_run_free(sim_run *run) {
    if (!run) return;
    sim_output_dir_free(run->dir);
    sim_cluster_free(run->cluster);
    sim_tuner_free(run->tuner);
    sim_load_free(run->load);
    sim_workload_free(run->own_workload);
    fpm_estimator_free(run->estimator);
    sim_collector_clear(&run->collector);
    free(run->watch_values);
    free(run);
}

const sim_summary *sim_run_summary(const sim_run *run) { return &run->summary; }
