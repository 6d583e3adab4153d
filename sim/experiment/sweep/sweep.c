// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/experiment/sweep/sweep.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/experiment/settings.h"
#include "sim/experiment/sweep/sweep_report.h"
#include "sim/experiment/sweep/sweep_state.h"

static const char *const output_names[] = { "sweep.csv", "config.ini", NULL };

static sim_status no_memory(sim_error *error) { return sim_error_set(error, SIM_NO_MEMORY, NULL, 0, "out of memory"); }

// --- the database ----------------------------------------------------------------------------------------------------

static sim_status open_results(sim_sweep *sweep, sim_error *error) {
    const sim_sweep_options *options = sweep->options;
    char path[4200];
    if (!options->output) return sim_results_open(&sweep->results, NULL, error);
    sim_status status =
        sim_output_dir_open(&sweep->dir, options->output, options->overwrite || options->resume, output_names, error);
    snprintf(path, sizeof path, "%s/sweep.db", options->output);
    if (!status && options->overwrite) status = sim_results_remove(path, error);
    return status ? status : sim_results_open(&sweep->results, path, error);
}

// {"cluster.replicas": 2, "engine.backend": "vllm"}
static char *keys_json(const sim_space *space, const sim_point *point) {
    cJSON *object = cJSON_CreateObject();
    for (size_t k = 0; k < sim_space_n_keys(space); k++) {
        double number;
        const char *text = point->values[k];
        if (!text) continue;
        if (!sim_parse_real(text, &number))
            cJSON_AddRawToObject(object, sim_space_key(space, k), text);
        else
            cJSON_AddStringToObject(object, sim_space_key(space, k), text);
    }
    char *json = cJSON_PrintUnformatted(object);
    cJSON_Delete(object);
    return json;
}

static sim_status put(sim_sweep *sweep, const sim_job *job, const sim_job_outcome *outcome, sim_error *error) {
    const sim_result result = {
        .point = job->point->hash.text,
        .repeat = job->repeat,
        .seed = outcome->seed,
        .trace_hash = job->point->trace_hash.text,
        .status = outcome->status,
        .reason = outcome->reason,
        .summary = outcome->summary,
        .cpu_s = outcome->cpu_s,
    };
    return sim_results_put(sweep->results, &result, sweep->options->version, error);
}

// A point into the design of the database. One that a constraint excludes is its own result.
static sim_status store_point(sim_sweep *sweep, size_t position, sim_error *error) {
    const sim_point *point = &sweep->design.points[position];
    char *keys = keys_json(sweep->space, point);
    if (!keys) return no_memory(error);
    sim_status status = sim_results_add_point(sweep->results, position, point->hash.text, keys, error);
    free(keys);
    if (status || !point->reason) return status;
    const sim_job job = { point, 0 };
    sim_job_outcome outcome = { .status = sim_trial_outcome_names[SIM_TRIAL_INFEASIBLE] };
    snprintf(outcome.reason, sizeof outcome.reason, "%s", point->reason);
    return put(sweep, &job, &outcome, error);
}

sim_status sim_sweep_give_up(sim_sweep *sweep, size_t position, const char *reason, sim_error *error) {
    bool is_there;
    const sim_job job = { &sweep->design.points[position], 0 };
    sim_job_outcome outcome = { .status = sim_trial_outcome_names[SIM_TRIAL_STOPPED] };
    const sim_status status =
        sim_results_has(sweep->results, job.point->hash.text, 0, sweep->options->version, false, &is_there, error);
    if (status || is_there) return status;
    snprintf(outcome.reason, sizeof outcome.reason, "%s", reason);
    return put(sweep, &job, &outcome, error);
}

// The configuration as text, for those who find the database.
static char *config_text(const sim_config *config) {
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    if (!out) return NULL;
    const bool is_written = sim_config_write(config, out);
    if (fclose(out) == 0 && is_written) return text;
    free(text);
    return NULL;
}

typedef struct comparison {
    const sim_sweep *sweep;
    const char *config;
    size_t position;
    bool is_same;
} comparison;

static sim_status compare_config(void *self, const sim_results_row *row, sim_error *error) {
    comparison *with = self;
    (void)error;
    with->is_same = strcmp(row->texts[0], with->config) == 0;
    return SIM_OK;
}

static sim_status compare_point(void *self, const sim_results_row *row, sim_error *error) {
    comparison *with = self;
    const sim_design *design = &with->sweep->design;
    (void)error;
    const size_t i = with->position++;
    with->is_same &= with->sweep->settings.method == SIM_SWEEP_BAYES ||
                     (i < design->n_points && strcmp(design->points[i].hash.text, row->texts[0]) == 0);
    return SIM_OK;
}

// Is this the sweep that is in the database, begun again? Then a run given up is as good as done; in any other one it might not be given up.
static sim_status compare_with_stored(sim_sweep *sweep, const char *config, sim_error *error) {
    comparison with = { .sweep = sweep, .config = config };
    sim_status status =
        sim_results_query(sweep->results, "SELECT config FROM experiment", compare_config, &with, error);
    if (!status)
        status = sim_results_query(sweep->results, "SELECT point FROM design ORDER BY position", compare_point, &with,
                                   error);
    // Bayes has no design yet, and comes to the same points again.
    sweep->takes_stopped =
        with.is_same && (sweep->settings.method == SIM_SWEEP_BAYES || with.position == sweep->design.n_points);
    return status;
}

static sim_status begin_experiment(sim_sweep *sweep, sim_error *error) {
    const size_t n_keys = sweep->n_shown_keys;
    const char **keys = calloc(n_keys + 1, sizeof *keys);
    char *text = config_text(sweep->config);
    for (size_t k = 0; keys && k < n_keys; k++) keys[k] = sim_space_key(sweep->space, k);
    const sim_experiment experiment = {
        text ? text : "",  sim_sweep_method_names[sweep->settings.method], sweep->options->version, keys, n_keys,
        &sweep->objectives
    };
    sim_status status = keys && text ? compare_with_stored(sweep, text, error) : no_memory(error);
    if (!status) status = sim_results_begin(sweep->results, &experiment, error);
    free(keys);
    free(text);
    return status;
}

// --- pending runs ----------------------------------------------------------------------------------------------------

void sim_sweep_clear_jobs(sim_sweep *sweep) {
    free(sweep->jobs);
    sweep->jobs = NULL;
    sweep->n_jobs = 0;
}

static sim_status add_job(sim_sweep *sweep, const sim_job *job, sim_error *error) {
    const size_t n = sweep->n_jobs;
    const bool is_full = (n & (n - 1)) == 0; // room grows by doubling
    if (is_full) {
        sim_job *more = realloc(sweep->jobs, (n ? 2 * n : 1) * sizeof *more);
        if (!more) return no_memory(error);
        sweep->jobs = more;
    }
    sweep->jobs[sweep->n_jobs++] = *job;
    return SIM_OK;
}

sim_status sim_sweep_add_jobs(sim_sweep *sweep, const sim_point *point, sim_error *error) {
    for (uint32_t repeat = 0; repeat < (uint32_t)sweep->settings.repeat && !point->reason; repeat++) {
        bool is_there;
        const sim_job job = { point, repeat };
        sim_status status = sim_results_has(sweep->results, point->hash.text, repeat, sweep->options->version,
                                            sweep->takes_stopped, &is_there, error);
        if (!status && !is_there) status = add_job(sweep, &job, error);
        if (status) return status;
        sweep->counts.planned++;
        sweep->counts.reused += is_there;
    }
    return SIM_OK;
}

static bool is_of_shard(const sim_sweep *sweep, size_t position) {
    return position % sweep->options->n_shards == sweep->options->shard;
}

// All points of a design that is known beforehand.
static sim_status lay_out(sim_sweep *sweep, sim_error *error) {
    const size_t n = sweep->design.n_points;
    sim_status status = sim_results_transaction(sweep->results, true, error);
    if (!status) status = begin_experiment(sweep, error);
    for (size_t i = 0; i < n && !status; i++) status = store_point(sweep, i, error);
    for (size_t i = 0; i < n && !status; i++)
        if (!sim_sweep_is_search(&sweep->settings) && is_of_shard(sweep, i))
            status = sim_sweep_add_jobs(sweep, &sweep->design.points[i], error);
    return status ? status : sim_results_transaction(sweep->results, false, error);
}

sim_status sim_sweep_add_point(sim_sweep *sweep, sim_point *point, size_t *position, sim_error *error) {
    sim_design *design = &sweep->design;
    for (*position = 0; *position < design->n_points; ++*position) {
        if (strcmp(design->points[*position].hash.text, point->hash.text) != 0) continue;
        sim_point_clear(point, sim_space_n_keys(sweep->space));
        sweep->counts.same++;
        return SIM_OK;
    }
    sim_status status = sim_design_add(design, point, error);
    if (status) {
        sim_point_clear(point, sim_space_n_keys(sweep->space));
        return status;
    }
    sweep->counts.points++;
    return store_point(sweep, *position, error);
}

// --- life ------------------------------------------------------------------------------------------------------------

static sim_status read_settings(sim_sweep *sweep, sim_error *error) {
    sim_load_config load;
    cJSON *example = NULL;
    sim_config_fill(sweep->config, &sim_sweep_keys, &sweep->settings);
    sim_config_fill(sweep->config, &sim_load_keys, &load);
    sweep->seed = (uint64_t)(sweep->settings.seed >= 0 ? sweep->settings.seed : load.seed);
    sweep->best = (double)NAN;
    sim_status status = sim_trial_example(sweep->config, &example, error);
    if (!status)
        status = sim_objectives_read(&sweep->objectives, sweep->config, sweep->settings.objective, example, error);
    cJSON_Delete(example);
    return status;
}

// The ranking shows what is varied: the columns of a list, too, but not the key by which halving cuts the workload.
static sim_status make_design(sim_sweep *sweep, sim_error *error) {
    const bool is_halving = sweep->settings.method == SIM_SWEEP_HALVING;
    sim_status status = SIM_OK;
    sweep->n_shown_keys = sim_space_n_keys(sweep->space);
    if (is_halving) status = sim_sweep_add_share_key(sweep->space, sweep->config, &sweep->share_key, error);
    if (!status) status = sim_design_new(&sweep->design, sweep->space, &sweep->settings, sweep->seed, error);
    if (!is_halving) sweep->n_shown_keys = sim_space_n_keys(sweep->space);
    return status;
}

static sim_status prepare(sim_sweep *sweep, sim_error *error) {
    const sim_sweep_options *options = sweep->options;
    sim_status status = read_settings(sweep, error);
    if (!status)
        status = sim_space_new(&sweep->space, sweep->config, &sweep->settings, sim_settings_tables,
                               sim_settings_n_tables, error);
    if (!status) status = sim_sweep_check(sweep, error);
    if (!status) status = make_design(sweep, error);
    if (!status) status = sim_trials_new(&sweep->trials, options->n_threads, options->stopped, error);
    if (!status && sweep->settings.early_stop == SIM_EARLY_STOP_SLA) sim_trials_give_up(sweep->trials);
    if (!status) status = open_results(sweep, error);
    if (!status) sim_sweep_warn_of_idle_keys(sweep);
    sweep->counts.points = sweep->design.n_points;
    sweep->counts.same = sweep->design.n_same;
    return status ? status : lay_out(sweep, error);
}

sim_status sim_sweep_new(sim_sweep **sweep, const sim_config *config, const sim_sweep_options *options,
                         sim_error *error) {
    sim_sweep *made = calloc(1, sizeof *made);
    if (!made) return no_memory(error);
    made->config = config;
    made->options = options;
    const sim_status status = prepare(made, error);
    if (status) {
        sim_sweep_free(made);
        return status;
    }
    *sweep = made;
    return SIM_OK;
}

void sim_sweep_free(sim_sweep *sweep) {
    if (!sweep) return;
    sim_results_close(sweep->results);
    sim_output_dir_free(sweep->dir);
    sim_trials_free(sweep->trials);
    if (sweep->space) sim_design_clear(&sweep->design, sweep->space);
    sim_space_free(sweep->space);
    sim_rivals_clear(&sweep->rivals);
    free(sweep->jobs);
    free(sweep);
}

// --- run -------------------------------------------------------------------------------------------------------------

static void note_best(sim_sweep *sweep, const char *summary) {
    cJSON *parsed = cJSON_Parse(summary); // numbers as doubles are good enough for a progress line
    const cJSON *figure = cJSON_GetObjectItemCaseSensitive(parsed, sweep->objectives.list[0].figure);
    if (cJSON_IsNumber(figure) && sim_objective_is_better(&sweep->objectives.list[0], figure->valuedouble, sweep->best))
        sweep->best = figure->valuedouble;
    cJSON_Delete(parsed);
}

static sim_status take_outcome(void *self, size_t job, const sim_job_outcome *outcome, sim_error *error) {
    sim_sweep *sweep = self;
    if (outcome->summary && sweep->options->progress) note_best(sweep, outcome->summary);
    return put(sweep, &sweep->jobs[sweep->first_running + job], outcome, error);
}

static void describe_best(void *self, char *text, size_t n) {
    const sim_sweep *sweep = self;
    if (!isnan(sweep->best)) snprintf(text, n, "best %s %.6g", sweep->objectives.list[0].figure, sweep->best);
}

// A list's keys are the columns of its file, which the design reads.
static sim_status add_columns(sim_space *space, const sim_sweep_config *settings, sim_error *error) {
    sim_design design;
    const sim_status status = sim_design_new(&design, space, settings, 0, error);
    if (!status) sim_design_clear(&design, space);
    return status;
}

static sim_status run_jobs(sim_sweep *sweep, size_t first, size_t n, sim_error *error) {
    const sim_job *jobs = &sweep->jobs[first];
    const sim_jobs_options options = { .n_threads = sweep->options->n_threads,
                                       .progress = sweep->options->progress,
                                       .stopped = sweep->options->stopped,
                                       .rivals = sweep->settings.early_stop == SIM_EARLY_STOP_DOMINATED ? &sweep->rivals
                                                                                                        : NULL,
                                       .describe = describe_best };
    const sim_ranks *ranks = &sweep->options->ranks;
    if (n == 0) return sim_signal_status(sweep->options->stopped);
    sweep->first_running = first;
    if (ranks->n > 1)
        return sim_ranks_run(ranks, sweep->space, sweep->trials, jobs, n, &options, take_outcome, sweep, error);
    return sim_jobs_run(sweep->space, sweep->trials, jobs, n, &options, take_outcome, sweep, error);
}

sim_status sim_sweep_run_jobs(sim_sweep *sweep, sim_error *error) { return run_jobs(sweep, 0, sweep->n_jobs, error); }

// Round by round, each among the best of those before. A round is of so many points wherever they run, so that nothing depends on who was first.
static sim_status run_rounds(sim_sweep *sweep, sim_error *error) {
    const size_t n_points = sweep->design.n_points, n_round = (size_t)sweep->settings.round;
    size_t first_job = 0;
    sim_status status = SIM_OK;
    sim_rivals_init(&sweep->rivals, &sweep->objectives);
    for (size_t first = 0; first < n_points && !status; first += n_round) {
        const size_t end = first + n_round < n_points ? first + n_round : n_points;
        size_t n_jobs = 0;
        while (first_job + n_jobs < sweep->n_jobs && sweep->jobs[first_job + n_jobs].point < &sweep->design.points[end])
            n_jobs++;
        status = run_jobs(sweep, first_job, n_jobs, error);
        if (!status)
            status = sim_rivals_add_round(&sweep->rivals, sweep->results, first, end, (uint32_t)sweep->settings.repeat,
                                          error);
        first_job += n_jobs;
    }
    return status;
}

sim_status sim_sweep_run(sim_sweep *sweep, sim_error *error) {
    if (sweep->settings.early_stop == SIM_EARLY_STOP_DOMINATED) return run_rounds(sweep, error);
    return sim_sweep_is_search(&sweep->settings) ? sim_sweep_search(sweep, error) : sim_sweep_run_jobs(sweep, error);
}

void sim_sweep_serve(const sim_config *config, const volatile sig_atomic_t *stopped) {
    sim_sweep_config settings;
    sim_space *space = NULL;
    sim_trials *trials = NULL;
    size_t share_key;
    sim_error error = { .code = SIM_OK };
    sim_config_fill(config, &sim_sweep_keys, &settings);
    sim_status status = sim_space_new(&space, config, &settings, sim_settings_tables, sim_settings_n_tables, &error);
    if (!status && settings.method == SIM_SWEEP_LIST) status = add_columns(space, &settings, &error);
    if (!status && settings.method == SIM_SWEEP_HALVING)
        status = sim_sweep_add_share_key(space, config, &share_key, &error);
    if (!status) status = sim_trials_new(&trials, 1, stopped, &error);
    if (!status && settings.early_stop == SIM_EARLY_STOP_SLA) sim_trials_give_up(trials);
    sim_ranks_serve(space, trials, status, &error);
    sim_trials_free(trials);
    sim_space_free(space);
}

// --- results ---------------------------------------------------------------------------------------------------------

sim_status sim_sweep_write_files(sim_sweep *sweep, sim_error *error) {
    sim_output_file *file;
    if (!sweep->dir) return SIM_OK;
    sim_status status = sim_output_dir_create(sweep->dir, "sweep.csv", &file, error);
    if (!status) status = sim_sweep_write_csv(sweep->results, sim_output_file_stream(file), error);
    if (!status) status = sim_output_dir_create(sweep->dir, "config.ini", &file, error);
    if (!status && !sim_config_write(sweep->config, sim_output_file_stream(file)))
        status = sim_error_set(error, SIM_IO, sim_output_file_path(file), 0, "the configuration could not be written");
    return status ? status : sim_output_dir_commit(sweep->dir, error);
}

const sim_sweep_config *sim_sweep_settings(const sim_sweep *sweep) { return &sweep->settings; }
const sim_space *sim_sweep_space(const sim_sweep *sweep) { return sweep->space; }
size_t sim_sweep_n_keys(const sim_sweep *sweep) { return sweep->n_shown_keys; }
const sim_design *sim_sweep_design(const sim_sweep *sweep) { return &sweep->design; }
const sim_objectives *sim_sweep_objectives(const sim_sweep *sweep) { return &sweep->objectives; }
sim_results *sim_sweep_results(sim_sweep *sweep) { return sweep->results; }

static sim_status take_count(void *self, const sim_results_row *row, sim_error *error) {
    (void)error;
    sim_sweep_counts *counts = self;
    const size_t number = (size_t)strtoull(row->texts[1], NULL, 10);
    if (strcmp(row->texts[0], "done") == 0) counts->done = number;
    if (strcmp(row->texts[0], "infeasible") == 0) counts->infeasible = number;
    if (strcmp(row->texts[0], "failed") == 0) counts->failed = number;
    if (strcmp(row->texts[0], "stopped") == 0) counts->stopped = number;
    return SIM_OK;
}

sim_sweep_counts sim_sweep_count(const sim_sweep *sweep) {
    sim_sweep_counts counts = sweep->counts;
    sim_results_query(sweep->results, "SELECT status, count(*) FROM ranking GROUP BY status", take_count, &counts,
                      NULL);
    return counts;
}
